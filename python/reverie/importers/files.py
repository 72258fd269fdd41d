"""Transcripts on disk: finding them, opening them plain or gzipped, and reading them piece by piece.

The only part of the importers that does I/O, and only on paths that it is given. Memory is bounded by one piece and
one line (CHUNK_BYTES + LINE_BYTES_MAX) whatever the size of the file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from reverie.errors import Forbidden, NotFound, StorageFailed, TooLarge, ValidationError
from reverie.importers.gunzip import UNPACKED_BYTES_MAX, Gunzip
from reverie.importers.plan import ChunkPlan, Inside, plan_chunk
from reverie.importers.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.models import Entry

__all__ = [
    "CHUNK_BYTES",
    "FILES_MAX",
    "PREFIX_BYTES",
    "Identity",
    "discover",
    "entries",
    "identity",
    "plans",
    "same_beginning",
    "source",
]

CHUNK_BYTES: Final = 4 * 1024 * 1024
PREFIX_BYTES: Final = 4096
"""How much of a file's beginning tells it from another that took its name."""
FILES_MAX: Final = 100_000
"""Session files in one call of `discover`."""

_ENDINGS: Final = (".jsonl", ".jsonl.gz")
_GZIP: Final = b"\x1f\x8b"
_HEAD_BYTES: Final = 512
_TAR: Final = slice(257, 262)  # where a tar says `ustar`
_SESSION_BYTES: Final = 64 * 1024  # the first lines may name no session, and be long
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')


class Source(Protocol):
    """Unpacked bytes of a transcript from some offset on; `problem` says why they ended early, if they did."""

    problem: str | None

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """Which conversation a file holds, and how to know the file again.

    `session` is the UUID in the file's name, else the first `sessionId` in it, else its name. `agent` names the
    subagent whose file it is: its lines are sidechains of `session`. `sha256` is of the first `prefix_bytes`
    unpacked bytes.
    """

    session: str
    agent: str | None
    prefix_bytes: int
    sha256: str


def discover(paths: Iterable[Path]) -> list[Path]:
    """The transcripts at `paths`, sorted, each once: files as given, folders searched for `*.jsonl` and `*.jsonl.gz`.

    Links to folders are not followed, and what is no regular file is passed over in a folder. Raises NotFound for a
    path that does not exist, TooLarge beyond FILES_MAX.
    """
    found: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise NotFound(f"{path} does not exist", hint="give a session file, or a folder that holds some")
        found.update(_under(path) if path.is_dir() else (path,))
        if len(found) > FILES_MAX:
            raise TooLarge(f"more than {FILES_MAX} session files", hint="import one folder at a time")
    return sorted(found)


@contextmanager
def source(path: Path, *, offset: int = 0) -> Iterator[Source]:
    """Opens a transcript at `offset` of its unpacked bytes.

    Raises ValidationError for a folder, a pipe, a device, an archive; NotFound, Forbidden; StorageFailed for a disk
    that fails. Gzip is known by its first bytes, not by the name.
    """
    with _opened(path) as plain:
        head = plain.read(_HEAD_BYTES)
        _refuse_archive(path, head)
        if not head.startswith(_GZIP):
            plain.seek(offset)
            yield plain
            return
        plain.seek(0)
        unpacked = Gunzip(plain.read, limit=UNPACKED_BYTES_MAX)
        _refuse_archive(path, unpacked.peek(_HEAD_BYTES))
        unpacked.skip(offset)
        yield unpacked


def plans(
    path: Path, *, offset: int = 0, first_line: int = 1, inside: Inside = Inside.NOTHING, tokens: bool = True
) -> Iterator[ChunkPlan]:
    """A transcript piece by piece, from where an earlier reading stopped (`offset` counts unpacked bytes).

    The last plan is the one at the end of what is there now; a file that ends early (a cut gzip stream) says so in its
    problems, with line 0. Raises what `source` and `plan_chunk` raise.
    """
    with source(path, offset=offset) as opened:
        data, final = b"", False
        while not final:
            piece = opened.read(CHUNK_BYTES)
            data += piece
            final = not piece
            # A stream that broke off does not tell whether its last line was whole.
            plan = plan_chunk(
                data, first_line=first_line, final=final and opened.problem is None, inside=inside, tokens=tokens
            )
            if final and opened.problem is not None:
                plan = replace(plan, problems=(*plan.problems, Problem(0, opened.problem)))
            data = data[plan.consumed :]
            first_line, inside = first_line + plan.lines, plan.inside
            yield plan
            # Not to be held beside the next one: it has many small values where lines are short.
            del plan


def entries(path: Path, *, tokens: bool = True) -> Iterator[Entry]:
    """Every entry of a transcript in file order, `seq` counted from 1 as in a thread of its own."""
    seq = 0
    for plan in plans(path, tokens=tokens):
        for entry in plan.entries:
            seq += 1
            yield replace(entry, seq=seq)


def identity(path: Path) -> Identity:
    """Who is speaking in this file. Reads no more than its beginning.

    Raises:
        ValidationError: it holds something, and no line of its beginning starts a JSON object: it is no session.
    """
    with source(path) as opened:
        head = _filled(opened, _SESSION_BYTES)
    if head.strip() and not any(line.lstrip().startswith(b"{") for line in head.splitlines()):
        raise ValidationError(
            f"{path} is not a session: no line of it begins a JSON object",
            hint="give the .jsonl files of ~/.claude/projects, or a folder of them",
        )
    prefix = head[:PREFIX_BYTES]
    stem = path.name.removesuffix(".gz").removesuffix(".jsonl")
    agent = stem.removeprefix("agent-") if stem.startswith("agent-") else None
    named = _UUID.search(stem) if agent is None else None
    told = _SESSION.search(head)
    session = named.group() if named else told.group(1).decode("utf-8", "replace") if told else stem
    return Identity(session, agent, len(prefix), hashlib.sha256(prefix).hexdigest())


def same_beginning(path: Path, known: Identity) -> bool:
    """Whether the file still begins as it did when `known` was taken of it, so that the rest may be read on."""
    with source(path) as opened:
        prefix = _filled(opened, known.prefix_bytes)
    return len(prefix) == known.prefix_bytes and hashlib.sha256(prefix).hexdigest() == known.sha256


def _filled(opened: Source, size: int) -> bytes:
    """`size` bytes where there are so many: one read may give fewer."""
    data = b""
    while len(data) < size and (piece := opened.read(size - len(data))):
        data += piece
    return data


class _Plain:
    """A file that is what it seems, whose failures are told in this project's words."""

    problem: str | None = None

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def read(self, size: int) -> bytes:
        try:
            return os.read(self._descriptor, size)
        except OSError as error:
            raise StorageFailed(
                f"{self._path} could not be read: {error.strerror}", hint="check the disk it is on, then try again"
            ) from error

    def seek(self, offset: int) -> None:
        os.lseek(self._descriptor, offset, os.SEEK_SET)


@contextmanager
def _opened(path: Path) -> Iterator[_Plain]:
    """Opens without waiting (a pipe would block) and keeps only regular files."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist", hint="check the path") from error
    except PermissionError as error:
        raise Forbidden(f"{path} may not be read", hint=f"check its permissions: ls -l {path}") from error
    except OSError as error:
        raise ValidationError(f"{path} cannot be opened: {error.strerror}", hint="give a session file") from error
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise ValidationError(f"{path} is {_called(mode)}, not a file", hint="give a session file (*.jsonl)")
        yield _Plain(path, descriptor)
    finally:
        os.close(descriptor)


def _called(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "a folder"
    return "a pipe" if stat.S_ISFIFO(mode) else "a device" if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) else "special"


def _refuse_archive(path: Path, head: bytes) -> None:
    if head.startswith(b"PK\x03\x04") or head[_TAR] == b"ustar":
        raise ValidationError(f"{path} is an archive of files", hint="unpack it, then import the folder")


def _under(folder: Path) -> Iterator[Path]:
    """The session files below a folder."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = Path(where, name)
            if name.endswith(_ENDINGS) and path.is_file():
                yield path
