"""Which documents are in a space's folder: a look at all without reading any, at one, and the reading of one."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from reverie import files, kernel
from reverie.documents import holds_too_many
from reverie.paths import DOCUMENT_SUFFIXES, PATH_BYTES_MAX, fault
from reverie.sync.file_status import Limits, Reason, Refusal, Stamp, judged, refused, unreachable
from reverie.sync.walk import Names, Walk

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reverie.sync.root import Root

__all__ = [
    "Limits",
    "Names",
    "Read",
    "Reason",
    "Refusal",
    "Scan",
    "Stamp",
    "covering",
    "look",
    "no_text",
    "read",
    "scan",
]

_FILE: Final = os.O_RDONLY | os.O_NONBLOCK
_TRIES: Final = 2


@dataclass(frozen=True, slots=True)
class Scan:
    """What is in the folder. A path in none of the three is not there, or is no document's; but see `covering`.

    `copies` are conflict copies, which somebody has yet to look at. `sha256` holds what a deep scan read.
    """

    stamps: dict[str, Stamp]
    refused: dict[str, Refusal]
    copies: dict[str, Stamp] = field(default_factory=dict)
    sha256: dict[str, str] = field(default_factory=dict)

    def covering(self, path: str) -> Refusal | None:
        """As `covering`, of what was refused in this scan."""
        return covering(self.refused, path)


@dataclass(frozen=True, slots=True)
class Read:
    """A whole file, that was the same before and after: its bytes are UTF-8 without a zero byte."""

    data: bytes
    sha256: str
    stamp: Stamp


def scan(root: Root, *, known: Collection[str], limits: Limits | None = None, deep: bool = False) -> Scan:
    """A look at the whole folder; no file is read unless `deep`, which reads every one.

    `known` are the documents of the last look: of two names that are one on other systems the known one stays.
    Hidden names, editors' temporary files, our own folders and files with other endings are passed over.
    Raises Forbidden or StorageFailed when the root itself cannot be listed.
    """
    limits = limits or Limits()
    walk = Walk(root, known, limits)
    try:
        walk.run()
    except OSError as error:
        raise files.failure("list", root.real, error) from error
    found = Scan(walk.stamps, walk.refused, walk.copies)
    if deep:
        _deepen(root, found, limits)
    return found


def covering(refused: Mapping[str, Refusal], path: str) -> Refusal | None:
    """The refusal of `path` or of a folder above it: it cannot be said whether the file is there."""
    while path:
        found = refused.get(path)  # asked once: another thread may look at the path meanwhile
        if found is not None:
            return found
        path = path.rpartition("/")[0]
    return refused.get("")


def look(
    root: Root, path: str, *, known: Collection[str], limits: Limits | None = None, names: Names | None = None
) -> Stamp | Refusal | None:
    """What `scan` says of one path; None where no file is there, or where `scan` would pass it over.

    Who looks at many gives the same `names` for all of them.
    """
    limits = limits or Limits()
    named = _name_refused(path, limits)
    if named is not None:
        return named if isinstance(named, Refusal) else None
    try:
        with root.folder_of(path) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        other = None if path in known else (names or Names(root)).twin(path, known)
    except OSError as error:
        return unreachable(path, error)
    return refused(path, "collision", other) if other else judged(path, found, root.identity[0], limits)


def read(root: Root, path: str, *, limit: int) -> Read | Refusal | None:
    """The bytes of one file, at most `limit`; None where none is there.

    A file that changes while it is read is read once more, and then refused as `growing`. So is one that somebody has
    open for writing, where the system can tell: an editor that emptied it is about to go on, and half a text is not
    what anybody wrote. Raises OSError when the process has no room for another handle.
    """
    limits = Limits(file_bytes=limit)
    try:
        handle = root.open_below(path, _FILE)
    except OSError as error:
        return _unopened(root, path, error, limits)
    try:
        return _read(handle, path, root.identity[0], limits)
    except OSError as error:
        return unreachable(path, error)
    finally:
        files.release(handle)


def _read(handle: int, path: str, device: int, limits: Limits) -> Read | Refusal:
    for _ in range(_TRIES):
        before = judged(path, os.fstat(handle), device, limits)
        if isinstance(before, Refusal):
            return before
        data = _whole(handle, before.size)
        # Asked before the last look: a writer who is gone by now has changed the stamp.
        writing = kernel.is_open_for_writing(handle)
        if not writing and len(data) == before.size and before == judged(path, os.fstat(handle), device, limits):
            break
    else:
        return refused(path, "growing")
    return no_text(path, data) or Read(data, sha256(data).hexdigest(), before)


def no_text(path: str, data: bytes) -> Refusal | None:
    """Why bytes cannot be a document's text at `path`; None where they can."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return refused(path, "not_utf8", f"at byte {error.start}")
    if b"\0" in data:
        return refused(path, "nul", f"at byte {data.index(0)}")
    return refused(path, "too_many_memories") if holds_too_many(path, text) else None


def _whole(handle: int, size: int) -> bytes:
    """From the start, one byte more than expected at most: more means that the file grows."""
    data = os.pread(handle, size + 1, 0)
    while 0 < len(data) < size:
        more = os.pread(handle, size + 1 - len(data), len(data))
        if not more:
            break
        data += more
    return data


def _unopened(root: Root, path: str, error: OSError, limits: Limits) -> Refusal | None:
    if isinstance(error, FileNotFoundError):
        return None
    try:
        with root.folder_of(path) as (folder, name):
            found = judged(path, os.stat(name, dir_fd=folder, follow_symlinks=False), root.identity[0], limits)
    except OSError as reached:
        return unreachable(path, reached)
    return found if isinstance(found, Refusal) else unreachable(path, error)


def _name_refused(path: str, limits: Limits) -> Refusal | str | None:
    """Why the name takes no part: a refusal, or in one word why it is passed over."""
    steps = path.split("/")
    if not path.endswith(tuple(DOCUMENT_SUFFIXES)) or steps[0].casefold() == "archives":
        return "no document"
    if len(steps) > limits.depth:
        return refused(path, "too_deep")
    for number, step in enumerate(steps):
        reason = fault(step, first=number == 0)
        if reason is not None:
            return reason if reason in {"hidden", "temporary"} else refused(path, "name", reason)
    if len(path.encode()) > PATH_BYTES_MAX:
        return refused(path, "name", "too_long")
    return None


def _deepen(root: Root, found: Scan, limits: Limits) -> None:
    for path in list(found.stamps):
        got = read(root, path, limit=limits.file_bytes)
        if isinstance(got, Read):
            found.stamps[path], found.sha256[path] = got.stamp, got.sha256
            continue
        del found.stamps[path]
        if got is not None:
            found.refused[path] = got
