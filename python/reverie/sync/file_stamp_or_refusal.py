"""The status of a path: the stamp of an ordinary file, or the reason why it is refused."""

from __future__ import annotations

import errno
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import os

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
    """Return the reason to refuse anything that is no regular file."""
    if stat.S_ISLNK(mode):
        return "symlink"
    if stat.S_ISFIFO(mode):
        return "fifo"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "folder" if stat.S_ISDIR(mode) else "device"
