"""The walk over a space's folder: which names are documents, which are refused and why, which are ignored."""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from reverie import files, syscalls
from reverie.documents.layout import is_conflict_copy
from reverie.documents.parse import has_too_many_items
from reverie.paths import DOCUMENT_SUFFIXES, PATH_BYTES_MAX, fold_name, segment_error

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterable, Mapping

    from reverie.sync.root import Root


Reason: TypeAlias = Literal[
    "symlink",
    "fifo",
    "socket",
    "device",
    "folder",
    "not_a_folder",
    "hard_link",
    "too_large",
    "too_many_memories",
    "growing",
    "merging",
    "not_utf8",
    "nul",
    "name",
    "collision",
    "copy",
    "unreadable",
    "other_file_system",
    "too_deep",
    "too_many",
]

_HINTS: Final[dict[Reason, str]] = {
    "symlink": "put the file itself there; links are not followed",
    "fifo": "remove the pipe, or give it another ending",
    "socket": "remove the socket, or give it another ending",
    "device": "remove the device node, or give it another ending",
    "folder": "rename the folder: its name ends like a document's",
    "not_a_folder": "move the file away: there are documents in a folder of this name",
    "hard_link": "remove the other hard link, or replace the file by a copy of it",
    "too_large": "split the file, or move it out of the folder",
    "too_many_memories": "split the file: it has more memories than one file may have",
    "growing": "it is being written; it is read once it is quiet",
    "merging": "finish the merge: it has conflict markers (<<<<<<<), and is read once they are gone",
    "not_utf8": "save the file as UTF-8",
    "nul": "it has a zero byte, so it is no text; move it out of the folder",
    "name": "rename it to a plain name such as user.md",
    "collision": "rename one of the two: on other systems they are one file",
    "copy": "put what is new in it into the other file, and remove it; or give it a name of its own",
    "unreadable": "let your user read it (chmod u+r)",
    "other_file_system": "another file system is mounted there; put the files into the folder itself",
    "too_deep": "move it nearer to the top of the folder",
    "too_many": "move some files out of the folder",
}


_NAME_DETAILS: Final = {
    "absolute": "it begins like a home or a variable",
    "control": "it has a control character",
    "encoded": "it has an escape such as %2F",
    "look_alike": "it has a character that looks like a slash or a dot",
    "not_nfc": "an accent is a character of its own",
    "not_portable": 'it has one of \\ : * ? " < > |, ends in a dot or a space, or is the name of a device elsewhere',
    "too_long": "it is longer than 255 bytes",
}


class Stamp(NamedTuple):
    """A file's identity and times, by which an unchanged file is known without reading it; nanoseconds and bytes.

    A tuple and no dataclass: there is one for each file of a folder.
    """

    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def file_id(self) -> tuple[int, int]:
        """The file's identity across renames: inode and modification time, since inode numbers are reused."""
        return self.ino, self.mtime_ns


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a path is not synced, and what a person can do; a folder's covers all that is below it.

    `detail` is the fault that `paths.safe_relative` found in the name, or the other name of a collision or copy.
    """

    path: str
    reason: Reason
    hint: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits: bytes of one file, files of a folder, path segments from the root to a file."""

    file_bytes: int = 1024 * 1024
    files: int = 100_000
    depth: int = 32


def refusal(path: str, reason: Reason, detail: str | None = None) -> Refusal:
    """Return the refusal of `path`; its name is made printable, whatever bytes it has."""
    printable = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    more = _NAME_DETAILS.get(detail or "", detail)
    return Refusal(printable, reason, f"{_HINTS[reason]} ({more})" if more else _HINTS[reason], detail)


def classify(path: str, status: os.stat_result, device: int, limits: Limits) -> Stamp | Refusal:
    """Return the stamp of an ordinary file, or why it is refused; `device` is the file system of the root."""
    if not stat.S_ISREG(status.st_mode):
        return refusal(path, _kind(status.st_mode))
    if status.st_dev != device:
        return refusal(path, "other_file_system")
    if status.st_nlink != 1:  # 0: unlinked while it was open; 2: a replaced file would lose its other name
        return refusal(path, "hard_link" if status.st_nlink else "growing")
    if status.st_size > limits.file_bytes:
        return refusal(path, "too_large", f"{status.st_size:,} bytes")
    return Stamp(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def refusal_of_error(path: str, error: OSError) -> Refusal | None:
    """Return why `path` could not be reached, or None if it does not exist. Raises the error if handles run out."""
    match error.errno:
        case errno.ENOENT:
            return None
        case errno.ELOOP:
            return refusal(path, "symlink")
        case errno.ENOTDIR:
            return refusal(path, "not_a_folder")
        case errno.EXDEV:
            return refusal(path, "other_file_system")
        case errno.EACCES | errno.EPERM:
            return refusal(path, "unreadable")
        case errno.EMFILE | errno.ENFILE | errno.ENOMEM:
            raise error
        case _:
            return refusal(path, "unreadable", error.strerror)


def _kind(mode: int) -> Reason:
    if stat.S_ISLNK(mode):
        return "symlink"
    if stat.S_ISFIFO(mode):
        return "fifo"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "folder" if stat.S_ISDIR(mode) else "device"


_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK
_SUFFIXES: Final = tuple(DOCUMENT_SUFFIXES)
_IGNORED_FAULTS: Final = frozenset({"hidden", "temporary"})
_OWN_FOLDER: Final = "archives"
_SHORT_CHARACTERS: Final = PATH_BYTES_MAX // 4
"""Characters of a path that cannot be too many bytes: UTF-8 takes at most four for each. Saves encoding every path."""


class Scan:
    """A walk over the whole folder, and what `run` found: stamps of documents, conflict copies, refused paths.

    A path in none of the three does not exist, or is no document's; but see `covering`. `copies` are conflict copies,
    which a person has yet to settle.
    """

    def __init__(self, root: Root, known: Collection[str], limits: Limits) -> None:
        self.root = root
        self.known = known
        self.limits = limits
        self.stamps: dict[str, Stamp] = {}
        self.copies: dict[str, Stamp] = {}
        self.refused: dict[str, Refusal] = {}
        self._device = root.identity[0]
        self._pending: list[str] = []

    def covering(self, path: str) -> Refusal | None:
        """Return the refusal of `path` or of a folder above it in this scan, or None."""
        return covering(self.refused, path)

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
            files.close_quietly(handle)
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
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent:
            yield parent
            parent = parent.rpartition("/")[0]


_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK
# Of a file that changes while it is read: an editor's save is mostly over by the second. What still changes then, such
# as a log, is `growing`, and is read again by a later scan.
_READ_ATTEMPTS: Final = 2


_MARKERS: Final = ("<<<<<<<", "=======", ">>>>>>>")
_FENCES: Final = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a whole file that did not change while it was read: UTF-8 without a zero byte."""

    data: bytes
    sha256: str
    stamp: Stamp


def scan(root: Root, *, known: Collection[str], limits: Limits | None = None) -> Scan:
    """Scan the whole folder without reading any file.

    `known` are the documents of the last scan: of two names that are one on other systems the known one stays.
    Hidden names, editors' temporary files, our own folders and files with other endings are ignored.
    Raises Forbidden or StorageFailed if the root itself cannot be listed.
    """
    found = Scan(root, known, limits or Limits())
    try:
        found.run()
    except OSError as error:
        raise files.translate_os_error("list", root.real, error) from error
    return found


def covering(refused: Mapping[str, Refusal], path: str) -> Refusal | None:
    """Return the refusal of `path` or of a folder above it, or None; below a refused path a file may exist or not."""
    while path:
        entry = refused.get(path)  # one call: another thread may scan the path meanwhile
        if entry is not None:
            return entry
        path = path.rpartition("/")[0]
    return refused.get("")


def scan_path(
    root: Root, path: str, *, known: Collection[str], limits: Limits | None = None, names: FolderNames | None = None
) -> Stamp | Refusal | None:
    """Return what `scan` finds at one path; None if there is no file, or one that `scan` would ignore.

    A caller that scans many paths gives the same `names` for all of them.
    """
    limits = limits or Limits()
    name_refusal = _name_refusal(path, limits)
    if name_refusal is not None:
        return name_refusal if isinstance(name_refusal, Refusal) else None
    try:
        with root.folder_of(path) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        other = None if path in known else (names or FolderNames(root)).colliding(path, known)
    except OSError as error:
        return refusal_of_error(path, error)
    return refusal(path, "collision", other) if other else classify(path, status, root.identity[0], limits)


def read_file(root: Root, path: str, *, limit: int) -> FileContent | Refusal | None:
    """Return the content of one file of at most `limit` bytes, the reason why it is refused, or None if there is none.

    A file that changes while it is read is read once more, and then refused as `growing`. So is one that somebody has
    open for writing, where the system can tell: an editor that emptied it is about to go on, and half a text is not
    what anybody wrote. Raises OSError if the process has no room for another handle.
    """
    limits = Limits(file_bytes=limit)
    try:
        handle = root.open_below(path, _READ_FLAGS)
    except OSError as error:
        return _refusal_of_open(root, path, error, limits)
    try:
        return _read_stable(handle, path, root.identity[0], limits)
    except OSError as error:
        return refusal_of_error(path, error)
    finally:
        files.close_quietly(handle)


def _read_stable(handle: int, path: str, device: int, limits: Limits) -> FileContent | Refusal:
    """Read an open file whose stamp is the same before and after."""
    for _ in range(_READ_ATTEMPTS):
        before = classify(path, os.fstat(handle), device, limits)
        if isinstance(before, Refusal):
            return before
        data = _read_bytes(handle, before.size)
        # This order: a writer who closed the file before the question has changed the stamp that is compared next.
        writing = syscalls.is_open_for_writing(handle)
        if not writing and len(data) == before.size and before == classify(path, os.fstat(handle), device, limits):
            break
    else:
        return refusal(path, "growing")
    return text_refusal(path, data) or FileContent(data, sha256(data).hexdigest(), before)


def text_refusal(path: str, data: bytes) -> Refusal | None:
    """Return why these bytes cannot be a document's text at `path`, or None if they can."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return refusal(path, "not_utf8", f"at byte {error.start}")
    if b"\0" in data:
        return refusal(path, "nul", f"at byte {data.index(0)}")
    if b"<<<<<<<" in data and _has_conflict_markers(text):
        return refusal(path, "merging")
    return refusal(path, "too_many_memories") if has_too_many_items(path, text) else None


def _has_conflict_markers(text: str) -> bool:
    """Return True if a text has an open conflict as git writes it; an example in a fenced block of code is none."""
    expected, is_code = 0, False
    for line in text.splitlines():
        if line.startswith(_FENCES) and not expected:
            is_code = not is_code
        elif not is_code and line.startswith(_MARKERS[expected]) and line[7:8] in {"", " "}:
            expected += 1
            if expected == len(_MARKERS):
                return True
    return False


def _read_bytes(handle: int, size: int) -> bytes:
    """Return the file's bytes from its start, at most `size` + 1: one more than expected shows that the file grows."""
    data = os.pread(handle, size + 1, 0)
    while 0 < len(data) < size:
        more = os.pread(handle, size + 1 - len(data), len(data))
        if not more:
            break
        data += more
    return data


def _refusal_of_open(root: Root, path: str, error: OSError, limits: Limits) -> Refusal | None:
    """Return the refusal of a file that could not be opened, by its status or the error; None if it is missing."""
    if isinstance(error, FileNotFoundError):
        return None
    try:
        with root.folder_of(path) as (folder, name):
            status = classify(path, os.stat(name, dir_fd=folder, follow_symlinks=False), root.identity[0], limits)
    except OSError as stat_error:
        return refusal_of_error(path, stat_error)
    return status if isinstance(status, Refusal) else refusal_of_error(path, error)


def _name_refusal(path: str, limits: Limits) -> Refusal | str | None:
    """Return the refusal of a path by its name, the reason in one word why it is ignored, or None if it is valid."""
    segments = path.split("/")
    if not path.endswith(tuple(DOCUMENT_SUFFIXES)) or segments[0].casefold() == "archives":
        return "no document"
    if len(segments) > limits.depth:
        return refusal(path, "too_deep")
    for number, segment in enumerate(segments):
        reason = segment_error(segment, first=number == 0)
        if reason is not None:
            return reason if reason in {"hidden", "temporary"} else refusal(path, "name", reason)
        if number < len(segments) - 1 and segment.endswith(tuple(DOCUMENT_SUFFIXES)):
            folder = "/".join(segments[: number + 1])
            return refusal(folder, "folder")
    if len(path.encode()) > PATH_BYTES_MAX:
        return refusal(path, "name", "too_long")
    return None
