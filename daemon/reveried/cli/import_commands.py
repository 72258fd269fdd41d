"""`reverie import`: session files of other programs become threads; with --follow, as they grow."""

import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from reverie.errors import DaemonNotRunning, NotFound, ReverieError
from reverie.importers import files
from reveried.cli import daemon_handle
from reveried.cli.import_file import FileReport, import_file
from reveried.cli.options import Interval, Json, Paths
from reveried.cli.output import as_json, counted, say, size, table
from reveried.cli.progress import import_progress, steps

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.client import Client

__all__ = ["import_claude_code", "import_paths", "print_reports"]

PROBLEMS_SHOWN = 20


def import_claude_code(
    paths: Paths,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as the files grow, until Ctrl-C.")] = False,
    every: Interval = 1.0,
    json: Json = False,
) -> None:
    """Import Claude Code sessions; again adds only what is new.

    Example: reverie import claude-code ~/.claude/projects
    """
    with daemon_handle.client() as client:
        client.health()
        found = files.find_transcripts(paths)
        if not found:
            raise NotFound("no session files there", hint="give *.jsonl or *.jsonl.gz files, or a folder of them")
        reports = import_paths(client, found, quiet=json)
        learnt = learn_from(client, reports, quiet=json)
        if json:
            as_json({**_as_json(reports), "learnt": learnt})
        else:
            print_reports(reports)
            print_learnt(learnt)
        if follow:
            _follow(client, paths, every, json=json)
    if any(report.error for report in reports):
        raise typer.Exit(1)


def import_paths(client: "Client", paths: "list[Path]", *, quiet: bool = False) -> list[FileReport]:
    """Import each file; one that fails is reported and does not stop the rest.

    Raises:
        DaemonNotRunning: the daemon went away; what it took in before is kept.
    """
    reports = []
    with import_progress(paths, quiet=quiet) as begin:
        for path in paths:
            moved = begin(path)
            try:
                reports.append(import_file(client, path, moved=moved))
            except DaemonNotRunning:
                raise
            except ReverieError as error:
                hint = f" ({error.hint})" if error.hint else ""
                reports.append(FileReport(str(path), error=error.message + hint))
    return reports


def learn_from(client: "Client", reports: list[FileReport], *, quiet: bool = False) -> Counter[str]:
    """Draws memories from every thread that something was added to; the decisions made, counted by action."""
    fresh = list(dict.fromkeys(report.thread for report in reports if report.added and report.thread is not None))
    learnt: Counter[str] = Counter()
    with steps("Learning", len(fresh), quiet=quiet) as step:
        for thread in fresh:
            learnt.update(client.learn(thread).counts)
            step()
    return learnt


def print_learnt(learnt: Counter[str]) -> None:
    """What the import taught, and how to look at it."""
    added, changed = learnt["ADD"], learnt["UPDATE"] + learnt["DELETE"]
    if added or changed:
        say(f"Learnt: {counted(added, 'new memory', 'new memories')}, {changed:,} changed. Next: reverie memories")


def print_reports(reports: list[FileReport]) -> None:
    """A line per file, what the lines were, and what could not be read."""
    table(
        ["File", "Thread", "Size", "Lines", "New", "Known", "Redacted", "Bad"],
        [_row(report) for report in reports],
        right=(2, 3, 4, 5, 6, 7),
        wraps=(0,),
        drop=(2, 5, 3),
    )
    kinds: Counter[str] = sum((report.counts for report in reports), Counter())
    say()
    added, redacted = sum(report.added for report in reports), sum(report.redacted for report in reports)
    say(f"{counted(added, 'new line')} from {counted(len(reports), 'file')}.")
    if kinds:
        say("New: " + ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common()) + ".")
    if redacted:
        say(f"{counted(redacted, 'secret')} replaced by [REDACTED:...] before anything was written.")
    _print_problems(reports)


def _row(report: FileReport) -> tuple[object, ...]:
    name = report.path.rsplit("/", 1)[-1]
    if report.error is not None:
        return (name, "failed", "", "", "", "", "", "")
    counts = (report.lines, report.added, report.duplicates, report.redacted, len(report.problems))
    return (name, report.thread, size(report.bytes), *(f"{number:,}" if number else "-" for number in counts))


def _print_problems(reports: list[FileReport]) -> None:
    problems = [(report.path, problem) for report in reports for problem in report.problems]
    if problems:
        say("Kept as they stand, since they could not be read:")
    for path, problem in problems[:PROBLEMS_SHOWN]:
        say(f"  {path}:{problem.line}: {problem.why}" if problem.line else f"  {path}: {problem.why}")
    if len(problems) > PROBLEMS_SHOWN:
        say(f"  and {counted(len(problems) - PROBLEMS_SHOWN, 'more line')}; --json names them all.")
    for report in reports:
        if report.error is not None:
            sys.stderr.write(f"{report.path}: {report.error}\n")


def _as_json(reports: list[FileReport]) -> dict[str, object]:
    return {
        "files": [
            {
                "path": report.path,
                "thread": report.thread,
                "bytes": report.bytes,
                "lines": report.lines,
                "added": report.added,
                "duplicates": report.duplicates,
                "redacted": report.redacted,
                "counts": dict(report.counts),
                "problems": report.problems,
                "error": report.error,
            }
            for report in reports
        ],
        "added": sum(report.added for report in reports),
        "redacted": sum(report.redacted for report in reports),
        "failed": sum(report.error is not None for report in reports),
    }


def _follow(client: "Client", paths: "list[Path]", every_s: float, *, json: bool) -> None:
    """Look again and again; a file that grew, or came, is brought up to date."""
    seen = {path: _stamp(path) for path in files.find_transcripts(paths)}
    if not json:
        say("Following; Ctrl-C ends it.")
    while True:
        sys.stdout.flush()
        time.sleep(every_s)
        for path in files.find_transcripts(paths):
            stamp = _stamp(path)
            if seen.get(path) == stamp:
                continue
            seen[path] = stamp
            for report in import_paths(client, [path], quiet=True):
                learn_from(client, [report], quiet=True)
                if json:
                    as_json(_as_json([report]))
                elif report.error is not None:
                    sys.stderr.write(f"{report.path}: {report.error}\n")
                elif report.added:
                    say(f"{path.name}: {counted(report.added, 'new line')}")


def _stamp(path: "Path") -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (found.st_size, found.st_mtime_ns)
