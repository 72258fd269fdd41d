"""Sends one session file's bytes to the daemon, from where it was taken in before to its last whole line."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie.errors import Busy, TooLarge
from reverie.importers import files
from reverie.wire import CHUNK_MAX_BYTES, Problem

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reverie.client import Client
    from reverie.importers.files import TranscriptStream
    from reverie.wire import ChunkAnswer, ImportPlace

__all__ = ["FileReport", "import_file"]

BUSY_TRIES_MAX = 60
_PIECE_BYTES = files.CHUNK_BYTES


@dataclass(slots=True)
class FileReport:
    """What importing one file did. `error` says why it stopped early, if it did; what was taken in before stays."""

    path: str
    thread: str | None = None
    bytes: int = 0
    lines: int = 0
    added: int = 0
    duplicates: int = 0
    redacted: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    error: str | None = None

    def take(self, answer: ChunkAnswer) -> None:
        """Add what one chunk did."""
        self.bytes, self.lines = answer.offset, answer.lines
        self.added += answer.added
        self.duplicates += answer.duplicates
        self.redacted += answer.redacted
        self.counts.update(answer.counts)
        self.problems.extend(answer.problems)


def import_file(client: Client, path: Path, *, moved: Callable[[int], None] = lambda _: None) -> FileReport:
    """Bring `path` up to date in its thread. `moved` hears how many unpacked bytes are dealt with.

    Raises what `reverie.importers.files.open_transcript` raises for an unreadable file, TooLarge for a line longer than
    a chunk that the daemon does not skip, and the errors of the client.
    """
    if path.stat().st_size == 0:
        return FileReport(str(path))
    identity = files.read_identity(path)
    session = identity.session if identity.agent is None else f"{identity.session}/{identity.agent}"
    place = client.start_import("claude-code", session, source=os.fsencode(path).decode("utf-8", "replace"))
    report = FileReport(os.fsencode(path).decode("utf-8", "replace"), thread=place.thread)
    with files.open_transcript(path) as opened:
        known = _is_known(opened, place)
        if known:
            report.bytes, report.lines = place.offset, place.lines
            moved(place.offset)
            _send(client, opened, place, report, moved)
    if not known:
        # Other bytes stand where the last chunk was: read all of it again, the daemon adds only what is new.
        again = _at_beginning(place)
        with files.open_transcript(path) as opened:
            _send(client, opened, again, report, moved)
    return report


def _is_known(opened: TranscriptStream, place: ImportPlace) -> bool:
    """Whether the file still holds what was taken in last. Leaves `opened` at `place.offset` if so."""
    digest, at = hashlib.sha256(), 0
    while at < place.offset:
        end = place.check_from if at < place.check_from else place.offset
        piece = opened.read(min(_PIECE_BYTES, end - at))
        if not piece:
            return False
        if at >= place.check_from:
            digest.update(piece)
        at += len(piece)
    return place.offset == 0 or digest.hexdigest() == place.sha256


def _at_beginning(place: ImportPlace) -> ImportPlace:
    return type(place)(id=place.id, thread=place.thread, offset=0, lines=0)


def _send(
    client: Client, opened: TranscriptStream, place: ImportPlace, report: FileReport, moved: Callable[[int], None]
) -> None:
    """Chunk by chunk to the end of what is there; half a last line stays for next time."""
    offset, lines, data, final = place.offset, place.lines, b"", False
    while not final:
        piece = opened.read(min(_PIECE_BYTES, CHUNK_MAX_BYTES - len(data)))
        data, final = data + piece, not piece
        if not data:
            break
        # A packed stream that broke off does not tell whether its last line was whole.
        answer = _patiently(client, place.id, data, offset, lines + 1, final=final and opened.problem is None)
        report.take(answer)
        if answer.offset == offset and len(data) >= CHUNK_MAX_BYTES:
            raise TooLarge(
                f"line {lines + 1} is longer than {CHUNK_MAX_BYTES} bytes", hint="shorten or remove the line"
            )
        data, offset, lines = data[answer.offset - offset :], answer.offset, answer.lines
        moved(offset)
    if opened.problem is not None:
        report.problems.append(Problem(line=0, why=opened.problem))


def _patiently(
    client: Client, import_id: str, data: bytes, offset: int, first_line: int, *, final: bool
) -> ChunkAnswer:
    """Send a chunk, waiting while the daemon has agents to serve first."""
    for _ in range(BUSY_TRIES_MAX):
        try:
            return client.send_chunk(import_id, data, offset=offset, first_line=first_line, final=final)
        except Busy as busy:
            time.sleep(_seconds(busy))
    return client.send_chunk(import_id, data, offset=offset, first_line=first_line, final=final)


def _seconds(busy: Busy) -> float:
    try:
        return min(max(float(busy.details.get("retryAfter", 1)), 0.05), 10.0)
    except (TypeError, ValueError):
        return 1.0
