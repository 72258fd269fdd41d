"""The walk over a space's folder: which names are documents, which are refused and why, which are ignored."""

from __future__ import annotations

import os
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING, Final

from reverie import atomic_no_symlink_file_io
from reverie.documents import is_conflict_copy
from reverie.path_validation import DOCUMENT_SUFFIXES, PATH_BYTES_MAX, fold_name, segment_error
from reverie.sync.file_stamp_or_refusal import Limits, Refusal, Stamp, classify, refusal, refusal_of_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable

    from reverie.sync.open_and_verify_root_folder import Root

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK
_SUFFIXES: Final = tuple(DOCUMENT_SUFFIXES)
_IGNORED_FAULTS: Final = frozenset({"hidden", "temporary"})
_OWN_FOLDER: Final = "archives"
_SHORT_CHARACTERS: Final = PATH_BYTES_MAX // 4
"""Characters of a path that cannot be too many bytes: UTF-8 takes at most four for each. Saves encoding every path."""


class Walk:
    """One walk over the whole folder: `run` fills `stamps`, `copies` (conflict copies) and `refused`."""

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
        """Walk the folder. Raises OSError if the root itself cannot be listed, or no more handles can be had."""
        self._list_folder("")
        while self._pending:
            path = self._pending.pop()
            try:
                self._list_folder(path + "/")
            except OSError as error:
                # A folder that was listed and is gone was renamed just now. Whether its files are gone is not known, so
                # it is refused: a refused path never counts as deleted. The next scan knows.
                self.refused[path] = refusal_of_error(path, error) or refusal(path, "growing")
            if len(self.stamps) > self.limits.files:
                self.refused[""] = refusal("", "too_many", f"more than {self.limits.files} documents")
                return

    def _list_folder(self, prefix: str) -> None:
        """List one folder; `prefix` is its path with a closing slash, or empty for the root."""
        handle = self.root.open_below(prefix[:-1], _FOLDER_FLAGS) if prefix else os.dup(self.root.handle)
        folders: dict[str, str] = {}
        documents: dict[str, str] = {}
        try:
            with os.scandir(handle) as entries:
                listed = list(entries)
            names = {entry.name for entry in listed}
            for entry in listed:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    self._add_folder(prefix, name, names, folders)
                elif name.endswith(_SUFFIXES):
                    if self._has_valid_name(prefix, name, names):
                        self._add_document(prefix, entry, documents)
                elif not name.startswith("."):
                    self._check_other(prefix + name, entry)
        finally:
            atomic_no_symlink_file_io.close_quietly(handle)
        self._pending.extend(prefix + name for name in folders.values())

    def _add_folder(self, prefix: str, name: str, names: set[str], folders: dict[str, str]) -> None:
        """Add a folder to those that are to be listed, or refuse it."""
        path = prefix + name
        if not self._has_valid_name(prefix, name, names) or (not prefix and name.casefold() == _OWN_FOLDER):
            return
        if name.endswith(_SUFFIXES):
            self.refused[path] = refusal(path, "folder")
        elif path.count("/") + 2 > self.limits.depth:
            self.refused[path] = refusal(path, "too_deep")
        elif (loser := _resolve_collision(prefix, name, folders, lambda: self._known_folders)) is not None:
            self.refused[prefix + loser] = refusal(prefix + loser, "collision", folders[fold_name(name)])

    def _add_document(self, prefix: str, entry: os.DirEntry[str], documents: dict[str, str]) -> None:
        """Add a document's stamp, or its refusal."""
        path = prefix + entry.name
        try:
            status = classify(path, entry.stat(follow_symlinks=False), self._device, self.limits)
        except FileNotFoundError:
            status = refusal(path, "growing")
        except OSError as error:
            status = refusal_of_error(path, error) or refusal(path, "growing")
        if isinstance(status, Refusal):
            self.refused[path] = status
        elif is_conflict_copy(path):
            self.copies[path] = status
        else:
            self.stamps[path] = status
            if (loser := _resolve_collision(prefix, entry.name, documents, lambda: self.known)) is not None:
                self.stamps.pop(prefix + loser)
                self.refused[prefix + loser] = refusal(prefix + loser, "collision", documents[fold_name(loser)])

    def _check_other(self, path: str, entry: os.DirEntry[str]) -> None:
        """Refuse a link, or a file in the place of a folder of documents; ignore any other entry."""
        if entry.is_symlink():
            if path in self._known_folders or "." not in entry.name:
                self.refused[path] = refusal(path, "symlink")
        elif path in self._known_folders:
            self.refused[path] = refusal(path, "not_a_folder")

    def _has_valid_name(self, prefix: str, name: str, names: set[str]) -> bool:
        """Return True if the name may be a document's or a folder's; if not, it is refused unless it is ignored."""
        path = prefix + name
        reason = segment_error(name, first=not prefix)
        if reason is None and len(path) > _SHORT_CHARACTERS and len(path.encode()) > PATH_BYTES_MAX:
            reason = "too_long"
        if reason is None:
            return True
        if reason not in _IGNORED_FAULTS:
            composed = unicodedata.normalize("NFC", name)
            is_twin = reason == "not_nfc" and composed in names
            self.refused[path] = refusal(path, "collision", composed) if is_twin else refusal(path, "name", reason)
        return False

    @cached_property
    def _known_folders(self) -> frozenset[str]:
        """The folders that hold a document of the last scan or of the baseline."""
        return frozenset(_folders_of(self.known))


class FolderNames:
    """Finds names in one folder that are the same file where case is ignored; a folder is listed once for all paths."""

    def __init__(self, root: Root) -> None:
        self._root = root
        self._listed: dict[str, dict[str, list[str]]] = {}

    def colliding(self, path: str, known: Container[str]) -> str | None:
        """Return another name in the folder that is the same file on other systems and wins over `path`'s, or None.

        Raises OSError.
        """
        folder, _, name = path.rpartition("/")
        prefix = path[: len(path) - len(name)]
        for other in self._names_by_folded(folder, path).get(fold_name(name), ()):
            if other != name and (prefix + other in known or other < name):
                return other
        return None

    def _names_by_folded(self, folder: str, path: str) -> dict[str, list[str]]:
        """Return the names in a folder, grouped by what they are on systems that ignore case and composition."""
        if folder not in self._listed:
            with self._root.folder_of(path) as (handle, _):
                names = os.listdir(handle)  # noqa: PTH208 - a handle, no path
            groups: dict[str, list[str]] = {}
            for name in names:
                groups.setdefault(fold_name(name), []).append(name)
            self._listed[folder] = groups
        return self._listed[folder]


def _resolve_collision(
    prefix: str, name: str, taken: dict[str, str], known_paths: Callable[[], Container[str]]
) -> str | None:
    """Resolve a case or NFC collision in `taken`: the path in the baseline wins, else the first; return the loser.

    Returns None if there is no collision. Example: "User.md" and "user.md" are one file on macOS and Windows; if only
    "user.md" is known, it stays and "User.md" is returned.
    """
    key = fold_name(name)
    other = taken.setdefault(key, name)
    if other == name:
        return None
    first, second = sorted((name, other))
    paths = known_paths()
    taken[key] = second if prefix + second in paths and prefix + first not in paths else first
    return first if taken[key] == second else second


def _folders_of(paths: Iterable[str]) -> Iterable[str]:
    """Yield every folder above each of the paths."""
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent:
            yield parent
            parent = parent.rpartition("/")[0]
