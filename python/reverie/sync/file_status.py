"""What is at a path: an ordinary file with a stamp, or the reason why it takes no part in the sync."""

from __future__ import annotations

import errno
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import os

__all__ = ["Limits", "Reason", "Refusal", "Stamp", "judged", "refused", "unreachable"]

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
    "not_utf8",
    "nul",
    "name",
    "collision",
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
    "not_a_folder": "move the file away: documents are kept in a folder of this name",
    "hard_link": "give the file one name only: copy it, and remove the link",
    "too_large": "split the file, or move it out of the folder",
    "too_many_memories": "split the file: it holds more memories than are read from one",
    "growing": "it is being written; it is read once it is quiet",
    "not_utf8": "save the file as UTF-8",
    "nul": "it holds a zero byte, so it is no text; move it out of the folder",
    "name": "rename it to a plain name such as user.md",
    "collision": "rename one of the two: on other systems they are one file",
    "unreadable": "let your user read it (chmod u+r)",
    "other_file_system": "another file system is mounted there; put the files into the folder itself",
    "too_deep": "move it nearer to the top of the folder",
    "too_many": "move some files out of the folder",
}


_NAMES: Final = {
    "absolute": "it begins like a home or a variable",
    "control": "it has a control character",
    "encoded": "it has an escape such as %2F",
    "look_alike": "it has a character that looks like a slash or a dot",
    "not_nfc": "an accent is a character of its own",
    "not_portable": 'it has one of \\ : * ? " < > |, ends in a dot or a space, or is the name of a device elsewhere',
    "too_long": "it is longer than 255 bytes",
}


class Stamp(NamedTuple):
    """What tells an unchanged file without reading it; times are nanoseconds, size bytes. A tuple: there are many."""

    ino: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @property
    def file(self) -> tuple[int, int]:
        """Which file it is, whatever its name: an inode alone is used again as soon as its file is gone."""
        return self.ino, self.mtime_ns


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a path takes no part, and what a person can do. That of a folder holds for all that is below it.

    `detail` says more where there is more: the reason of `paths.safe_relative`, the other name of a collision.
    """

    path: str
    reason: Reason
    hint: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is taken: bytes of one file, files of a folder, steps from the root to a file."""

    file_bytes: int = 1024 * 1024
    files: int = 100_000
    depth: int = 32


def refused(path: str, reason: Reason, detail: str | None = None) -> Refusal:
    """The refusal of `path`, whose name can be shown whatever bytes it holds."""
    shown = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    more = _NAMES.get(detail or "", detail)
    return Refusal(shown, reason, f"{_HINTS[reason]} ({more})" if more else _HINTS[reason], detail)


def judged(path: str, found: os.stat_result, device: int, limits: Limits) -> Stamp | Refusal:
    """What a file's status says: `device` is the file system of the root."""
    if not stat.S_ISREG(found.st_mode):
        return refused(path, _kind(found.st_mode))
    if found.st_dev != device:
        return refused(path, "other_file_system")
    if found.st_nlink != 1:
        return refused(path, "hard_link" if found.st_nlink else "growing")
    if found.st_size > limits.file_bytes:
        return refused(path, "too_large", f"{found.st_size:,} bytes")
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def unreachable(path: str, error: OSError) -> Refusal | None:
    """What an error on the way to `path` means; None: it is not there. Raises it where too much is open."""
    match error.errno:
        case errno.ENOENT:
            return None
        case errno.ELOOP:
            return refused(path, "symlink")
        case errno.ENOTDIR:
            return refused(path, "not_a_folder")
        case errno.EXDEV:
            return refused(path, "other_file_system")
        case errno.EACCES | errno.EPERM:
            return refused(path, "unreadable")
        case errno.EMFILE | errno.ENFILE | errno.ENOMEM:
            raise error
        case _:
            return refused(path, "unreadable", error.strerror)


def _kind(mode: int) -> Reason:
    if stat.S_ISLNK(mode):
        return "symlink"
    if stat.S_ISFIFO(mode):
        return "fifo"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "folder" if stat.S_ISDIR(mode) else "device"
