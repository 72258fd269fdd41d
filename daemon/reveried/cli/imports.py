"""`reverie import`: send session files to the daemon, from the end of the last import on; with --follow, as they grow.

The protocol is that of `reverie.wire.imports`: the daemon answers how many bytes of a session it has, and the SHA-256
of the last chunk. If the file still has those bytes there, only the rest is sent, else all of it: the daemon adds only
what is new.
"""

import hashlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from reverie.errors import Busy, DaemonNotRunning, NotFound, ReverieError, TooLarge
from reverie.importers import files
from reverie.wire import CHUNK_MAX_BYTES, Problem
from reveried.cli import daemon_handle
from reveried.cli.options import Interval, Json, Paths
from reveried.cli.output import counted, import_progress, print_json, print_table, say, size, step_progress

if TYPE_CHECKING:
    from reverie.client import Client
    from reverie.importers.files import TranscriptStream
    from reverie.wire import ChunkAnswer, ImportPlace

__all__ = ["FileReport", "import_claude_code", "import_file", "import_files", "print_reports"]

PROBLEMS_SHOWN = 20  # unreadable lines that are listed; --json lists all
BUSY_TRIES_MAX = 60  # of one chunk, 1 s apart unless the daemon says otherwise: about a minute of full queues
_PIECE_BYTES = files.CHUNK_BYTES


class FileReport(msgspec.Struct, rename="camel"):
    """Result of importing one file. `error` says why it stopped early, if it did; what was added before stays."""

    path: str
    thread: str | None = None
    bytes: int = 0
    lines: int = 0
    added: int = 0
    duplicates: int = 0
    redacted: int = 0
    counts: dict[str, int] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)
    error: str | None = None

    def add(self, answer: "ChunkAnswer") -> None:
        """Add the result of one chunk."""
        self.bytes, self.lines = answer.offset, answer.lines
        self.added += answer.added
        self.duplicates += answer.duplicates
        self.redacted += answer.redacted
        for kind, number in answer.counts.items():
            self.counts[kind] = self.counts.get(kind, 0) + number
        self.problems.extend(answer.problems)


class ImportReport(msgspec.Struct, rename="camel"):
    """Results of one import run, as --json prints them; `learnt` counts consolidation decisions by action."""

    files: list[FileReport]
    added: int
    redacted: int
    failed: int
    learnt: dict[str, int] | msgspec.UnsetType = msgspec.UNSET


def import_claude_code(
    paths: Paths,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Continue while the files grow, until Ctrl-C.")
    ] = False,
    every: Interval = 1.0,
    json: Json = False,
) -> None:
    """Import Claude Code sessions; a repeated import adds only what is new.

    Example: reverie import claude-code ~/.claude/projects
    """
    with daemon_handle.client() as client:
        client.health()  # fails at once if no daemon runs, before any file is read
        found = files.find_transcripts(paths)
        if not found:
            raise NotFound("no session files there", hint="give *.jsonl or *.jsonl.gz files, or a folder of them")
        reports: list[FileReport] = []
        try:
            reports = import_files(client, found, quiet=json, reports=reports)
            decisions = learn_from(client, reports, quiet=json)
        except KeyboardInterrupt:
            _print_interrupted(reports, len(found), json=json)
            raise
        if json:
            print_json(msgspec.structs.replace(_import_report(reports), learnt=dict(decisions)))
        else:
            print_reports(reports)
            _print_decisions(decisions)
        if follow:
            _follow(client, paths, every, json=json)
    if any(report.error for report in reports):
        raise typer.Exit(1)


def import_files(
    client: "Client", paths: list[Path], *, quiet: bool = False, reports: list[FileReport] | None = None
) -> list[FileReport]:
    """Import each file; one that fails is reported and does not stop the rest. Reports are appended to `reports`.

    Raises:
        DaemonNotRunning: the daemon stopped; what it added before is stored.
    """
    reports = [] if reports is None else reports
    with import_progress(paths, quiet=quiet) as begin:
        for path in paths:
            on_bytes = begin(path)
            try:
                reports.append(import_file(client, path, on_bytes=on_bytes))
            except DaemonNotRunning:
                raise
            except ReverieError as error:
                hint = f" ({error.hint})" if error.hint else ""
                reports.append(FileReport(str(path), error=error.message + hint))
    return reports


def learn_from(client: "Client", reports: list[FileReport], *, quiet: bool = False) -> Counter[str]:
    """Extract memories from every thread; return the consolidation decisions, counted by action.

    Also from those that did not grow: an import that was stopped before it got there left them. Where nothing is new, a
    call takes about a millisecond.
    """
    threads = list(dict.fromkeys(report.thread for report in reports if report.thread is not None))
    decisions: Counter[str] = Counter()
    with step_progress("Extracting memories", len(threads), quiet=quiet) as step:
        for thread in threads:
            decisions.update(client.learn(thread).counts)
            step()
    return decisions


def print_reports(reports: list[FileReport]) -> None:
    """Print a row per file, the kinds of the new lines, and the lines that could not be read."""
    print_table(
        ["File", "Thread", "Size", "Lines", "New", "Known", "Redacted", "Bad"],
        [_row(report) for report in reports],
        right=(2, 3, 4, 5, 6, 7),
        wraps=(0,),
        drop=(2, 5, 3),
    )
    kinds: Counter[str] = sum((Counter(report.counts) for report in reports), Counter())
    say()
    added, redacted = sum(report.added for report in reports), sum(report.redacted for report in reports)
    say(f"{counted(added, 'new line')} from {counted(len(reports), 'file')}.")
    if kinds:
        say("New: " + ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()) + ".")
    if redacted:
        say(f"{counted(redacted, 'secret')} replaced by [REDACTED:...] before anything was written.")
    _print_problems(reports)


def _print_interrupted(reports: list[FileReport], files: int, *, json: bool) -> None:
    """Print to standard error what is stored after Ctrl-C, and how to go on."""
    added = sum(report.added for report in reports)
    if json:
        print_json(_import_report(reports))
    sys.stderr.write(
        f"\nStopped. {len(reports):,} of {counted(files, 'file')} are in, with {counted(added, 'new line')}; "
        "of the next one what was sent.\n"
        "To go on, and to extract memories: the same command again; it adds only what is new.\n"
    )


def _print_decisions(decisions: Counter[str]) -> None:
    """Print how many memories the import added and changed, and how to list them."""
    added, changed = decisions["ADD"], decisions["UPDATE"] + decisions["DELETE"]
    if added or changed:
        say(f"Memories: {added:,} new, {changed:,} changed. Next: reverie memories")


def _row(report: FileReport) -> tuple[object, ...]:
    """Return the table row of one file; zeros are dashes."""
    name = report.path.rsplit("/", 1)[-1]
    if report.error is not None:
        return (name, "failed", "", "", "", "", "", "")
    counts = (report.lines, report.added, report.duplicates, report.redacted, len(report.problems))
    return (name, report.thread, size(report.bytes), *(f"{number:,}" if number else "-" for number in counts))


def _print_problems(reports: list[FileReport]) -> None:
    """Print the lines that could not be read, and to standard error the files that failed."""
    problems = [(report.path, problem) for report in reports for problem in report.problems]
    if problems:
        say("Lines and files that could not be read (such lines are stored as raw text):")
    for path, problem in problems[:PROBLEMS_SHOWN]:
        say(f"  {path}:{problem.line}: {problem.why}" if problem.line else f"  {path}: {problem.why}")
    if len(problems) > PROBLEMS_SHOWN:
        say(f"  and {counted(len(problems) - PROBLEMS_SHOWN, 'more line')}; --json lists all of them.")
    for report in reports:
        if report.error is not None:
            sys.stderr.write(f"{report.path}: {report.error}\n")


def _import_report(reports: list[FileReport]) -> ImportReport:
    """Return the report of one run: the files and their totals."""
    return ImportReport(
        files=reports,
        added=sum(report.added for report in reports),
        redacted=sum(report.redacted for report in reports),
        failed=sum(report.error is not None for report in reports),
    )


def _follow(client: "Client", paths: list[Path], interval_s: float, *, json: bool) -> None:
    """Poll the files and import those that are new or have changed, until interrupted."""
    stamps = {path: _stamp(path) for path in files.find_transcripts(paths)}
    if not json:
        say("Following; Ctrl-C stops.")
    while True:
        sys.stdout.flush()
        time.sleep(interval_s)
        for path in files.find_transcripts(paths):
            stamp = _stamp(path)
            if stamps.get(path) == stamp:
                continue
            stamps[path] = stamp
            for report in import_files(client, [path], quiet=True):
                learn_from(client, [report], quiet=True)
                if json:
                    print_json(_import_report([report]))
                elif report.error is not None:
                    sys.stderr.write(f"{report.path}: {report.error}\n")
                elif report.added:
                    say(f"{path.name}: {counted(report.added, 'new line')}")


def _stamp(path: Path) -> tuple[int, int]:
    """Return size and mtime (ns) of a file; zeros if it is gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)


def import_file(client: "Client", path: Path, *, on_bytes: Callable[[int], None] = lambda _: None) -> FileReport:
    """Send what is new in one session file to its thread; `on_bytes` is called with the unpacked bytes done so far.

    Raises what `reverie.importers.files.open_transcript` raises for an unreadable file, TooLarge for a line longer than
    a chunk that the daemon does not skip, and the errors of the client.
    """
    if path.stat().st_size == 0:
        return FileReport(str(path))
    identity = files.read_identity(path)
    session = identity.session if identity.agent is None else f"{identity.session}/{identity.agent}"
    source = os.fsencode(path).decode("utf-8", "replace")
    place = client.start_import("claude-code", session, source=source)
    report = FileReport(source, thread=place.thread)
    with files.open_transcript(path) as stream:
        unchanged = _skip_imported(stream, place)
        if unchanged:
            report.bytes, report.lines = place.offset, place.lines
            on_bytes(place.offset)
            _send(client, stream, place, report, on_bytes)
    if not unchanged:
        # The file was rewritten: send all of it again, the daemon adds only the lines that it does not have.
        from_start = type(place)(id=place.id, thread=place.thread, offset=0, lines=0)
        with files.open_transcript(path) as stream:
            _send(client, stream, from_start, report, on_bytes)
    return report


def _skip_imported(stream: "TranscriptStream", place: "ImportPlace") -> bool:
    """Read up to `place.offset`; return True if the bytes from `place.check_from` on have the checksum of the chunk.

    Only the last chunk is compared: transcripts are append-only, and a rewritten one differs at its end too.
    """
    digest, at = hashlib.sha256(), 0
    while at < place.offset:
        end = place.check_from if at < place.check_from else place.offset
        data = stream.read(min(_PIECE_BYTES, end - at))
        if not data:
            return False
        if at >= place.check_from:
            digest.update(data)
        at += len(data)
    return place.offset == 0 or digest.hexdigest() == place.sha256


def _send(
    client: "Client",
    stream: "TranscriptStream",
    place: "ImportPlace",
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
    client: "Client", import_id: str, data: bytes, offset: int, first_line: int, *, final: bool
) -> "ChunkAnswer":
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
