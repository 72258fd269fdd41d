"""Folder scan: stamps of all documents without reading them, one path's state, one file's bytes; compares nothing.

A refusal is not an absence. A path that is refused, or below a refused folder, may still be there: see `covering`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from reverie import atomic_no_symlink_file_io, linux_syscalls
from reverie.documents import has_too_many_items
from reverie.path_validation import DOCUMENT_SUFFIXES, PATH_BYTES_MAX, segment_error
from reverie.sync.file_stamp_or_refusal import Limits, Reason, Refusal, Stamp, classify, refusal, refusal_of_error
from reverie.sync.folder_walk import FolderNames, Walk

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reverie.sync.open_and_verify_root_folder import Root

__all__ = [
    "FileContent",
    "FolderNames",
    "Limits",
    "Reason",
    "Refusal",
    "Scan",
    "Stamp",
    "covering",
    "read_file",
    "scan",
    "scan_path",
    "text_refusal",
]

_READ_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK
# Of a file that changes while it is read: an editor's save is mostly over by the second. What still changes then, such
# as a log, is `growing`, and is read again by a later scan.
_READ_ATTEMPTS: Final = 2


_MARKERS: Final = ("<<<<<<<", "=======", ">>>>>>>")
_FENCES: Final = ("```", "~~~")


@dataclass(frozen=True, slots=True)
class Scan:
    """The stamps of documents, the refused paths and the conflict copies that a scan found.

    A path in none of the three does not exist, or is no document's; but see `covering`.

    `copies` are conflict copies, which a person has yet to settle.
    """

    stamps: dict[str, Stamp]
    refused: dict[str, Refusal]
    copies: dict[str, Stamp] = field(default_factory=dict)

    def covering(self, path: str) -> Refusal | None:
        """Return the refusal of `path` or of a folder above it in this scan, or None."""
        return covering(self.refused, path)


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
    walk = Walk(root, known, limits or Limits())
    try:
        walk.run()
    except OSError as error:
        raise atomic_no_symlink_file_io.translate_os_error("list", root.real, error) from error
    return Scan(walk.stamps, walk.refused, walk.copies)


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
        atomic_no_symlink_file_io.close_quietly(handle)


def _read_stable(handle: int, path: str, device: int, limits: Limits) -> FileContent | Refusal:
    """Read an open file whose stamp is the same before and after."""
    for _ in range(_READ_ATTEMPTS):
        before = classify(path, os.fstat(handle), device, limits)
        if isinstance(before, Refusal):
            return before
        data = _read_bytes(handle, before.size)
        # This order: a writer who closed the file before the question has changed the stamp that is compared next.
        writing = linux_syscalls.is_open_for_writing(handle)
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
