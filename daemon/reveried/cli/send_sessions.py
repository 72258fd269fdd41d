"""Send session files to the daemon, from the end of the last import on.

The protocol is that of `reverie.wire.threads`: the daemon answers how many bytes of a session it
has, and the SHA-256 of the last chunk. If the file still has those bytes there, only the rest is sent, else all of it:
the daemon adds only what is new.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from reverie import git
from reverie.errors import Busy, DaemonNotRunning, ReverieError, TooLarge, ValidationError
from reverie.importers import find
from reverie.wire import CHUNK_MAX_BYTES, Problem
from reveried.cli.output import import_progress

if TYPE_CHECKING:
    from reverie.client import Client
    from reverie.importers.find import TranscriptStream
    from reverie.wire import ChunkAnswer, ImportClient, ImportPlace

BUSY_TRIES_MAX = 60  # of one chunk, 1 s apart unless the daemon says otherwise: about a minute of full queues
_PIECE_BYTES = find.CHUNK_BYTES


class FileReport(msgspec.Struct, rename="camel"):
    """Result of importing one file.

    `error` says why it stopped early, if it did, and `hint` what to do; lines added before that stay.
    `retry`: the same file may be taken later.
    `forgotten`: a person deleted the thread of this session, so the file was left out.
    `ignored`: the folder that the session is of and that a person ignores, so the file was left out.
    """

    path: str
    thread: str | None = None
    bytes: int = 0
    lines: int = 0
    added: int = 0
    duplicates: int = 0
    redacted: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    kinds: dict[str, int] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)
    error: str | None = None
    hint: str | None = None
    retry: bool = False
    forgotten: bool = False
    ignored: str | None = None

    def add(self, answer: ChunkAnswer) -> None:
        """Add the result of one chunk."""
        self.bytes, self.lines = answer.offset, answer.lines
        self.added += answer.added
        self.duplicates += answer.duplicates
        self.redacted += answer.redacted
        for kind, number in answer.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number
        for kind, number in answer.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + number
        self.problems.extend(answer.problems)


def import_files(
    client: Client,
    paths: list[Path],
    *,
    program: ImportClient,
    quiet: bool = False,
    reports: list[FileReport] | None = None,
    sources: dict[Path, str] | None = None,
    again: bool = False,
) -> list[FileReport]:
    """Import each file; one that fails is reported and does not stop the rest. Reports are appended to `reports`.

    `sources` are what to call files that are not the ones that the person gave. A session whose thread was deleted is
    left out; with `again` it is brought back. One that is all of ignored folders is left out too, and without a
    thread or a position of its import: a later one takes it, once the folder is no longer ignored.

    Raises:
        DaemonNotRunning: the daemon stopped; what it added before is stored.
    """
    reports = [] if reports is None else reports
    ignored = client.privacy().ignored
    with import_progress(paths, quiet=quiet) as begin:
        for path in paths:
            on_bytes = begin(path)
            source = (sources or {}).get(path)
            try:
                if (folder := _ignored_folder(path, ignored)) is not None:
                    reports.append(FileReport(source or str(path), ignored=folder))
                    continue
                report = import_file(client, path, program=program, source=source, again=again, on_bytes=on_bytes)
                reports.append(report)
            except DaemonNotRunning:
                raise
            except ReverieError as error:
                if error.details.get("forgotten"):
                    reports.append(FileReport(source or str(path), forgotten=True))
                    continue
                reports.append(FileReport(str(path), error=error.message, hint=error.hint, retry=error.retry))
    return reports


def _ignored_folder(path: Path, ignored: list[str]) -> str | None:
    """Return which of the ignored folders a session is of; None where it names no folder, or another one too."""
    found = None
    known: dict[str, str | None] = {}
    for folder in find.folders_of(path) if ignored else ():
        if folder not in known:
            known[folder] = git.below(folder, ignored) or git.below(git.real_folder(folder), ignored)
        found = known[folder]
        if found is None:
            break
    return found


def import_file(
    client: Client,
    path: Path,
    *,
    program: ImportClient,
    source: str | None = None,
    again: bool = False,
    on_bytes: Callable[[int], None] = lambda _: None,
) -> FileReport:
    """Send what is new in one session file to its thread, and return a report of what was added.

    `source` is what the file is called in the report, else its path.

    `on_bytes` is called with the unpacked bytes done so far.

    Raises what `find.open_transcript` raises for an unreadable file, ValidationError for
    a session of another program, Conflict for one whose thread was deleted and is not wanted `again`, TooLarge for
    a line longer than a chunk that the daemon does not skip, and the errors of the client.
    """
    if path.stat().st_size == 0:
        return FileReport(str(path))
    identity = find.read_identity(path)
    # The exports of ChatGPT are converted to lines that look like Claude Code's.
    if program != "chatgpt" and identity.program not in {None, program}:
        raise ValidationError(
            f"{path} is a session of {identity.program}, not of {program}",
            hint=f"reverie import {identity.program} {shlex.quote(str(path))}",
        )
    session = identity.session if identity.agent is None else f"{identity.session}/{identity.agent}"
    # The daemon reads the file again by its whole path where a redaction is allowed.
    whole = source or os.fsencode(path.absolute()).decode("utf-8", "replace")
    import_position = client.start_import(program, session, source=whole, again=again)
    report = FileReport(source or os.fsencode(path).decode("utf-8", "replace"), thread=import_position.thread)
    with find.open_transcript(path) as stream:
        unchanged = find.skip_imported(
            stream, offset=import_position.offset, check_from=import_position.check_from, sha256=import_position.sha256
        )
        if unchanged:
            report.bytes, report.lines = import_position.offset, import_position.lines
            on_bytes(import_position.offset)
            _send(client, stream, import_position, report, on_bytes)
    if not unchanged:
        # The file was rewritten: send all of it again, the daemon adds only the lines that it does not have.
        from_start = type(import_position)(id=import_position.id, thread=import_position.thread, offset=0, lines=0)
        with find.open_transcript(path) as stream:
            _send(client, stream, from_start, report, on_bytes)
    return report


def _send(
    client: Client,
    stream: TranscriptStream,
    place: ImportPlace,
    report: FileReport,
    on_bytes: Callable[[int], None],
) -> None:
    """Send chunk by chunk up to the end of the file; an incomplete last line is left for the next import."""
    offset, lines, data, final = place.offset, place.lines, b"", False
    while not final:
        piece = stream.read(min(_PIECE_BYTES, CHUNK_MAX_BYTES - len(data)))
        data, final = data + piece, not piece
        if not data:
            break
        # A gzip stream that ends early does not tell whether its last line was complete.
        last = final and stream.problem is None
        answer = _send_chunk(client, place.id, data, offset, lines + 1, final=last)
        report.add(answer)
        if answer.offset == offset and len(data) >= CHUNK_MAX_BYTES:
            raise TooLarge(
                f"line {lines + 1} is longer than {CHUNK_MAX_BYTES} bytes", hint="shorten or remove the line"
            )
        data, offset, lines = data[answer.offset - offset :], answer.offset, answer.lines
        on_bytes(offset)
    if stream.problem is not None:
        report.problems.append(Problem(line=0, why=stream.problem))


def _send_chunk(
    client: Client, import_id: str, data: bytes, offset: int, first_line: int, *, final: bool
) -> ChunkAnswer:
    """Send one chunk, with retries while the daemon is busy: agents' requests go before imports."""
    for _ in range(BUSY_TRIES_MAX):
        try:
            return client.send_chunk(import_id, data, offset=offset, first_line=first_line, final=final)
        except Busy as busy:
            time.sleep(_retry_after_s(busy))
    return client.send_chunk(import_id, data, offset=offset, first_line=first_line, final=final)


def _retry_after_s(busy: Busy) -> float:
    """Return the daemon's retry delay in seconds, between 0.05 and 10; 1 if it gave none."""
    try:
        return min(max(float(busy.details.get("retryAfter", 1)), 0.05), 10.0)
    except (TypeError, ValueError):
        return 1.0
