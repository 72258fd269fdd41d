"""Transcript files: discovery, opening (plain or packed), and reading in chunks.

The only part of the importers that does I/O, and only on paths that it is given. Memory is bounded by one piece and
one line (CHUNK_BYTES + LINE_BYTES_MAX) whatever the size of the file.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import structs

from reverie import compression
from reverie.errors import Forbidden, NotFound, ReverieError, StorageFailed, TooLarge, ValidationError
from reverie.importers.chunks import ChunkPlan, PartialLine, plan_chunk
from reverie.importers.detect import folder_of, is_understood, program_of
from reverie.importers.lines import Problem
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from reverie.models import Entry


CHUNK_BYTES: Final = 4 * 1024 * 1024
FILES_MAX: Final = 100_000
"""Session files in one call of `discover`."""

_ENDINGS: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_HEAD_BYTES: Final = 512
_TAR: Final = slice(257, 262)  # where a tar says `ustar`
_BLANK: Final = b"\0 \t\r\n"
_SESSION_BYTES: Final = 64 * 1024  # the first lines may name no session and no time, and be long
_UUID = lazy_regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(rb'"timestamp"\s*:\s*"(\d{4}-[^"\\]{6,36})"')  # noqa: TID251 - bytes
_SESSION = re.compile(rb'"sessionId"\s*:\s*"([^"\\]{1,200})"')  # noqa: TID251 - bytes

UNPACKED_BYTES_MAX: Final = 2 * 1024 * 1024 * 1024
"""One packed transcript gives at most this much. 42 KiB can unpack to 4 GiB; the longest real session is 0.1 GiB."""


class TranscriptStream(Protocol):
    """Uncompressed bytes of a transcript from an offset; `problem` says why they ended early."""

    problem: str | None

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; empty at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Identity:
    """The session a file holds.

    `session` is the UUID in the file's name, else the first `sessionId` in it, else its name. `agent` names the
    subagent whose file it is: its lines are sidechains of `session`. `program` (of `detect.FORMATS`) is the one whose
    form its first lines have, None where they do not tell.
    """

    session: str
    agent: str | None
    program: str | None = None


def find_transcripts(paths: Iterable[Path]) -> list[Path]:
    """Return transcripts at `paths`, sorted and distinct; folders are searched for `*.jsonl`, `.gz` and `.zst` too.

    Links to folders are not followed, and what is no regular file is passed over in a folder. Raises NotFound for a
    path that does not exist, TooLarge beyond FILES_MAX.
    """
    files: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise NotFound(f"{path} does not exist", hint="give a session file, or a folder that holds some")
        files.update(_session_files(path) if path.is_dir() else (path,))
        if len(files) > FILES_MAX:
            raise TooLarge(f"more than {FILES_MAX} session files", hint="import one folder at a time")
    return sorted(files)


def oldest_first(paths: Iterable[Path]) -> list[Path]:
    """Return transcripts sorted by the first time in them, the oldest first.

    Files have random names, such as the ids of sessions. One whose first lines tell no time, or that cannot be read,
    comes before the others, by its path.
    """
    return sorted(paths, key=lambda path: (_began_at(path), path))


def _began_at(path: Path) -> str:
    """Return the first time in the beginning of a transcript (RFC 3339), or nothing."""
    try:
        with open_transcript(path) as opened:
            time = _TIME.search(opened.read(_SESSION_BYTES))
    except ReverieError:
        return ""  # reading the file whole says why
    return "" if time is None else time[1].decode()


@contextmanager
def open_transcript(path: Path, *, offset: int = 0) -> Iterator[TranscriptStream]:
    """Yield an open transcript, at `offset` of its uncompressed bytes; closed at the end of the block.

    Raises ValidationError for a folder, a pipe, a device, an archive; NotFound, Forbidden; StorageFailed for a disk
    that fails. Gzip and zstd are known by the first bytes, not by the name.
    """
    with _open_regular(path) as plain:
        head = plain.read(_HEAD_BYTES)
        _refuse_archive(path, head)
        stream = unpacked(head, plain.read, limit=UNPACKED_BYTES_MAX)
        if stream is None:
            plain.seek(offset)
            yield plain
            return
        plain.seek(0)
        _refuse_archive(path, stream.peek(_HEAD_BYTES))
        stream.skip(offset)
        yield stream


def read_chunks(
    path: Path, *, offset: int = 0, first_line: int = 1, inside: PartialLine = PartialLine.NOTHING, tokens: bool = True
) -> Iterator[ChunkPlan]:
    """Yield the entries and problems of a transcript, chunk by chunk, from `offset` (in uncompressed bytes) on.

    The last plan is the one at the end of what is there now; a file that ends early (a cut stream) says so in its
    problems, with line 0. Raises what `open_transcript` and `plan_chunk` raise.
    """
    with open_transcript(path, offset=offset) as opened:
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


def read_entries(path: Path, *, tokens: bool = True) -> Iterator[Entry]:
    """Yield every entry of a transcript in file order, `seq` numbered from 1."""
    seq = 0
    for plan in read_chunks(path, tokens=tokens):
        for entry in plan.entries:
            seq += 1
            yield structs.replace(entry, seq=seq)


def folders_of(path: Path) -> Iterator[str]:
    """Yield the folders that the lines of a transcript name, in their order and as often as they do."""
    return (folder for entry in read_entries(path, tokens=False) if (folder := folder_of(entry.extra)) is not None)


def skip_imported(stream: TranscriptStream, *, offset: int, check_from: int, sha256: str) -> bool:
    """Read up to `offset`; return True if the bytes from `check_from` on have the checksum of the last chunk.

    Only the last chunk is compared: transcripts are append-only, and a rewritten one differs at its end too.
    """
    digest, at = hashlib.sha256(), 0
    while at < offset:
        end = check_from if at < check_from else offset
        data = stream.read(min(CHUNK_BYTES, end - at))
        if not data:
            return False
        if at >= check_from:
            digest.update(data)
        at += len(data)
    return offset == 0 or digest.hexdigest() == sha256


def read_identity(path: Path) -> Identity:
    """Return the session of a file by its name and first lines.

    Raises:
        ValidationError: it holds something, and no line of it is one of a session.
    """
    with open_transcript(path) as opened:
        head = _read_exactly(opened, _SESSION_BYTES)
    program = program_of(head.splitlines())
    # A disk that lost its power leaves NUL bytes.
    if program is None and head.strip(_BLANK) and not _is_session(path):
        raise ValidationError(
            f"{path} is not a session: no line of it is understood",
            hint="give the session files of Claude Code, Codex or pi, or a folder of them",
        )
    stem = path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl")
    agent = stem.removeprefix("agent-") if stem.startswith("agent-") else None
    named = _UUID.search(stem) if agent is None else None
    in_head = _SESSION.search(head)
    session = named.group() if named else in_head.group(1).decode("utf-8", "replace") if in_head else stem
    return Identity(session, agent, program)


def _is_session(path: Path) -> bool:
    """Return True if any line of a file is one of a session, or if its first one is still being written."""
    entries = (entry for plan in read_chunks(path, tokens=False) for entry in plan.entries)
    first = next(entries, None)
    return first is None or is_understood(first) or any(map(is_understood, entries))


def _read_exactly(opened: TranscriptStream, size: int) -> bytes:
    """Return `size` bytes if there are as many: a single read may return fewer."""
    data = b""
    while len(data) < size and (piece := opened.read(size - len(data))):
        data += piece
    return data


class _Plain:
    """An uncompressed file whose errors are translated into this project's errors."""

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
def _open_regular(path: Path) -> Iterator[_Plain]:
    """Yield an open regular file; other kinds are refused, and a pipe is never waited for."""
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


def _session_files(folder: Path) -> Iterator[Path]:
    """Yield the session files below a folder."""
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = Path(where, name)
            if name.endswith(_ENDINGS) and path.is_file():
                yield path


_PACKED_BYTES: Final = 64 * 1024
_ROOM_BYTES: Final = 1024 * 1024  # of one step of zstd
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib's word for "the largest window, with a gzip header"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


class _Damaged(Exception):
    """Raised for bytes that cannot be unpacked: the reason, and what was unpacked before it in the same step."""

    def __init__(self, why: str, before: bytes = b"") -> None:
        super().__init__(why)
        self.before = before


class _Codec(Protocol):
    """Unpacks one stream, whose parts (members, frames) may follow one another."""

    name: str

    def step(self, packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
        """Return up to `size` unpacked bytes, the packed ones not taken in, and whether a part ended. Raises _Damaged.

        It may return nothing although more follows.
        """
        ...


class _Gzip:
    """The members of a gzip stream."""

    name = "gzip"

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)

    def step(self, packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
        before = self._member.copy()
        try:
            piece = self._member.decompress(packed, size)
        except zlib.error as error:
            raise _Damaged(str(error), _rescued(before, packed)[:size]) from error
        if not self._member.eof:
            return piece, self._member.unconsumed_tail, False
        left = self._member.unused_data.lstrip(b"\0")  # zeros behind the last member are padding
        self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)
        return piece, left, True


def _rescued(member: zlib._Decompress, packed: bytes) -> bytes:
    """Return what is unpacked up to a damaged byte, by feeding the input byte by byte."""
    pieces: list[bytes] = []
    for index in range(len(packed)):
        try:
            pieces.append(member.decompress(packed[index : index + 1]))
        except zlib.error:
            break
    return b"".join(pieces)


class _Zstd:
    """The frames of a zstd stream."""

    name = "zstd"

    def __init__(self) -> None:
        self._decoder = compression.ZstdDecoder()

    def step(self, packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
        step = self._decoder.step(packed, min(size, _ROOM_BYTES))
        if step is None:
            raise _Damaged("no frame, or a damaged one")
        taken, piece, ended = step
        return piece, packed[taken:], ended


class Unpacked:
    """Streaming reader over `packed(size)`, limited to `limit` output bytes.

    When it ends early, `problem` says why, and what was readable was given.
    """

    def __init__(self, codec: _Codec, packed: Callable[[int], bytes], *, limit: int) -> None:
        self.problem: str | None = None
        self._codec = codec
        self._packed = packed
        self._limit = limit
        self._given = 0
        self._waiting = b""  # packed bytes not taken in yet
        self._ready = b""  # unpacked bytes that were looked at before they were asked for
        self._begun = False  # inside a part, so that the end of the file is too early

    def read(self, size: int) -> bytes:
        """Return up to `size` uncompressed bytes; fewer only at the end."""
        pieces = [self._ready[:size]]
        self._ready = self._ready[size:]
        missing = size - len(pieces[0])
        while missing > 0:
            piece = self._unpack(missing)
            if not piece:
                break
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        if len(self._ready) < size:
            self._ready = self.read(size)  # which begins with what was ready
        return self._ready[:size]

    def skip(self, size: int) -> None:
        """Discard the next uncompressed bytes."""
        while size > 0 and (piece := self.read(min(size, _PACKED_BYTES * 16))):
            size -= len(piece)

    def _unpack(self, size: int) -> bytes:
        """Return some uncompressed bytes, or none at the end of the file."""
        while self.problem is None:
            if not self._waiting:
                self._waiting = self._packed(_PACKED_BYTES)
            if not self._waiting and not self._begun:
                return b""  # the end, where it may be
            piece = self._step(size)
            if piece:
                return piece
        return b""

    def _step(self, size: int) -> bytes:
        """Feed input to the codec once; may return nothing although more follows."""
        name, fed = self._codec.name, bool(self._waiting)
        try:
            piece, self._waiting, ended = self._codec.step(self._waiting, min(size, self._limit + 1 - self._given))
        except _Damaged as damage:
            self.problem = f"the {name} stream is damaged ({damage}); the part before the damage was read"
            return damage.before
        if not piece and not fed:
            self.problem = f"the {name} stream is cut off; the part before the cut was read"
        self._begun = not ended
        self._given += len(piece)
        if self._given > self._limit:
            self.problem = f"it unpacks to more than {self._limit} bytes; the part before that was read"
            return b""
        return piece


def unpacked(head: bytes, packed: Callable[[int], bytes], *, limit: int) -> Unpacked | None:
    """Return the unpacked stream of a file that begins with `head`; None for one that is not packed."""
    if head.startswith(_GZIP):
        return Unpacked(_Gzip(), packed, limit=limit)
    return Unpacked(_Zstd(), packed, limit=limit) if head.startswith(_ZSTD) else None
