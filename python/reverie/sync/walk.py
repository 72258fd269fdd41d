"""The walk over a space's folder: which names are documents, which take no part and why, which are passed over."""

from __future__ import annotations

import os
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING, Final

from reverie import files
from reverie.documents import is_conflict_copy
from reverie.paths import DOCUMENT_SUFFIXES, PATH_BYTES_MAX, fault, folded
from reverie.sync.file_status import Limits, Refusal, Stamp, judged, refused, unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from reverie.sync.root import Root

__all__ = ["Names", "Walk"]

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK
_SUFFIXES: Final = tuple(DOCUMENT_SUFFIXES)
_PASSED_OVER: Final = frozenset({"hidden", "temporary"})
_OURS: Final = "archives"
_SHORT_BYTES: Final = PATH_BYTES_MAX // 4  # so many characters are never too many bytes


class Walk:
    """One look at the whole folder: `run` fills `stamps`, `copies` and `refused`."""

    def __init__(self, root: Root, known: Collection[str], limits: Limits) -> None:
        self.root = root
        self.known = known
        self.limits = limits
        self.stamps: dict[str, Stamp] = {}
        self.copies: dict[str, Stamp] = {}
        self.refused: dict[str, Refusal] = {}
        self._device = root.identity[0]
        self._pending: list[str] = []

    def run(self) -> None:
        """Raises OSError when the root itself cannot be listed, or no more handles can be had."""
        self._folder("")
        while self._pending:
            path = self._pending.pop()
            try:
                self._folder(path + "/")
            except OSError as error:
                # A folder that was listed and is gone was renamed just now: whether its files are, the next look says.
                self.refused[path] = unreachable(path, error) or refused(path, "growing")
            if len(self.stamps) > self.limits.files:
                self.refused[""] = refused("", "too_many", f"more than {self.limits.files} documents")
                return

    def _folder(self, prefix: str) -> None:
        """One folder; `prefix` is its path with a closing slash, or nothing for the root."""
        handle = self.root.open_below(prefix[:-1], _FOLDER) if prefix else os.dup(self.root.handle)
        folders: dict[str, str] = {}
        documents: dict[str, str] = {}
        try:
            with os.scandir(handle) as entries:
                listed = list(entries)
            names = {entry.name for entry in listed}
            for entry in listed:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    self._take_folder(prefix, name, names, folders)
                elif name.endswith(_SUFFIXES):
                    if self._may_be(prefix, name, names):
                        self._take_document(prefix, entry, documents)
                elif not name.startswith("."):
                    self._take_other(prefix + name, entry)
        finally:
            files.release(handle)
        self._pending.extend(prefix + name for name in folders.values())

    def _take_folder(self, prefix: str, name: str, names: set[str], folders: dict[str, str]) -> None:
        path = prefix + name
        if not self._may_be(prefix, name, names) or (not prefix and name.casefold() == _OURS):
            return
        if name.endswith(_SUFFIXES):
            self.refused[path] = refused(path, "folder")
        elif path.count("/") + 2 > self.limits.depth:
            self.refused[path] = refused(path, "too_deep")
        elif (loser := _settle(prefix, name, folders, lambda: self._folders_known)) is not None:
            self.refused[prefix + loser] = refused(prefix + loser, "collision", folders[folded(name)])

    def _take_document(self, prefix: str, entry: os.DirEntry[str], documents: dict[str, str]) -> None:
        path = prefix + entry.name
        try:
            found = judged(path, entry.stat(follow_symlinks=False), self._device, self.limits)
        except FileNotFoundError:
            found = refused(path, "growing")
        except OSError as error:
            found = unreachable(path, error) or refused(path, "growing")
        if isinstance(found, Refusal):
            self.refused[path] = found
        elif is_conflict_copy(path):
            self.copies[path] = found
        else:
            self.stamps[path] = found
            if (loser := _settle(prefix, entry.name, documents, lambda: self.known)) is not None:
                self.stamps.pop(prefix + loser)
                self.refused[prefix + loser] = refused(prefix + loser, "collision", documents[folded(loser)])

    def _take_other(self, path: str, entry: os.DirEntry[str]) -> None:
        """What is no document is only told where documents were, or may be, below its name."""
        if entry.is_symlink():
            if path in self._folders_known or "." not in entry.name:
                self.refused[path] = refused(path, "symlink")
        elif path in self._folders_known:
            self.refused[path] = refused(path, "not_a_folder")

    def _may_be(self, prefix: str, name: str, names: set[str]) -> bool:
        """Whether the name may be a document's or a folder's; if not, that is told unless it is passed over."""
        path = prefix + name
        reason = fault(name, first=not prefix)
        if reason is None and len(path) > _SHORT_BYTES and len(path.encode()) > PATH_BYTES_MAX:
            reason = "too_long"
        if reason is None:
            return True
        if reason not in _PASSED_OVER:
            composed = unicodedata.normalize("NFC", name)
            twin = reason == "not_nfc" and composed in names
            self.refused[path] = refused(path, "collision", composed) if twin else refused(path, "name", reason)
        return False

    @cached_property
    def _folders_known(self) -> frozenset[str]:
        return frozenset(_folders(self.known))


class Names:
    """The names in folders, each listed once, for as many paths as are looked at one by one."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._listed: dict[str, dict[str, list[str]]] = {}

    def twin(self, path: str, known: Container[str]) -> str | None:
        """Another name in the folder that on other systems is the last part of `path`, and goes before it.

        Raises OSError.
        """
        folder, _, name = path.rpartition("/")
        prefix = path[: len(path) - len(name)]
        for other in self._same(folder, path).get(folded(name), ()):
            if other != name and (prefix + other in known or other < name):
                return other
        return None

    def _same(self, folder: str, path: str) -> dict[str, list[str]]:
        if folder not in self._listed:
            with self._root.folder_of(path) as (handle, _):
                names = os.listdir(handle)  # noqa: PTH208 - a handle, no path
            same: dict[str, list[str]] = {}
            for name in names:
                same.setdefault(folded(name), []).append(name)
            self._listed[folder] = same
        return self._listed[folder]


def _settle(prefix: str, name: str, taken: dict[str, str], known_paths: Callable[[], Container[str]]) -> str | None:
    """Takes `name`, or of two that are one on other systems the known one, else the first; the other is returned."""
    one = folded(name)
    other = taken.setdefault(one, name)
    if other == name:
        return None
    first, second = sorted((name, other))
    known = known_paths()
    taken[one] = second if prefix + second in known and prefix + first not in known else first
    return first if taken[one] == second else second


def _folders(paths: Iterable[str]) -> Iterable[str]:
    for path in paths:
        above = path.rpartition("/")[0]
        while above:
            yield above
            above = above.rpartition("/")[0]
