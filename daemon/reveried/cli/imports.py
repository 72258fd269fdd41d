"""`reverie import`: sessions of agents, also as they grow; exports of ChatGPT; the auto memory of Claude Code."""

from __future__ import annotations

import json as jsonlib
import os
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from reverie.client import Client
from reverie.errors import Conflict, DaemonNotRunning, NotFound, ReverieError
from reverie.git import below, posix_folder, real_folder
from reverie.importers import find
from reverie.lazy_regex import lazy_regex
from reverie.wire import ImportClient
from reveried.cli.command import Answer, Argument, Ended, Interval, Option, Paths
from reveried.cli.output import AS_JSON, counted, print_json, print_table, say, size, spinner, step_progress
from reveried.cli.send_sessions import FileReport, import_files

_READ_AGAIN = "the next run reads it again"  # of an answer without extracted memories, as the daemon says it

Follow = Annotated[bool, Option("--follow", "-f", help="Continue while the files grow, until Ctrl-C.")]
Again = Annotated[bool, Option("--again", help="Bring back sessions whose threads were forgotten.")]
PROBLEMS_SHOWN = 20  # unreadable lines that are listed; --json lists all


class ImportReport(msgspec.Struct, rename="camel"):
    """JSON of one import run: its files and totals; `learnt` counts consolidation decisions by action.

    FORGOTTEN in it is the number of statements that were left out, as a person forgot or purged them.

    `forgotten` is the number of files that were left out, as a person deleted the threads of their sessions;
    `unlearnt` is that of the threads from which no memories could be extracted.
    """

    files: list[FileReport]
    added: int
    redacted: int
    failed: int
    forgotten: int = 0
    learnt: dict[str, int] | msgspec.UnsetType = msgspec.UNSET
    unlearnt: int = 0


class Learnt(NamedTuple):
    """Results of learning from threads: decisions by action, what a model was asked for in vain, and what failed."""

    decisions: Counter[str]
    fallbacks: list[str]
    failures: list[str]


def _command(program: ImportClient, what: str, example: str) -> Callable[..., Answer]:
    """Return the command that imports the session files of one program."""

    def command(
        client: Client, paths: Paths, follow: Follow = False, every: Interval = 1.0, again: Again = False
    ) -> Answer:
        return _import_sessions(client, program, paths, every if follow else None, again=again)

    command.__doc__ = f"Import {what}; a repeated import adds only what is new.\n\nExample: reverie import {example}"
    return command


import_claude_code = _command("claude-code", "Claude Code sessions", "claude-code ~/.claude/projects")
import_codex = _command("codex", "the sessions of Codex", "codex ~/.codex/sessions")
import_pi = _command("pi", "the sessions of the coding agent pi", "pi ~/.pi/agent/sessions")


def import_chatgpt(
    client: Client,
    export: Annotated[Path, Argument("EXPORT", "The export: the zip file, its folder, or a file of it.")],
    again: Again = False,
) -> Answer:
    """Import the conversations of an export of ChatGPT; of a newer export only what is new is added.

    Example: reverie import chatgpt ~/Downloads/chatgpt-export.zip
    """
    from reverie.importers import chatgpt

    with tempfile.TemporaryDirectory(prefix="reverie-import-") as scratch:
        client.health()
        sources: dict[Path, str] = {}
        skipped: list[FileReport] = []

        def skip(name: str, why: str) -> None:
            skipped.append(FileReport(f"{export} ({name})", error=f"skipped: {why}"))

        with spinner("Reading the export"):
            for conversation, lines in chatgpt.conversations(export, on_skipped=skip):
                path = Path(scratch) / f"{conversation}.jsonl"
                path.write_bytes(lines)
                sources[path] = f"{export} ({conversation})"
        if not sources and not skipped:
            raise NotFound(f"{export} has no conversations", hint="give conversations.json of the export")
        yield from _import_found(client, "chatgpt", list(sources), sources=sources, skipped=skipped, again=again)


def _import_sessions(
    client: Client, program: ImportClient, paths: list[Path], every_s: float | None, *, again: bool
) -> Answer:
    """Import session files, learn from them and print a report; then follow them, where an interval is given."""
    client.health()  # fails at once if no daemon runs, before any file is read
    files = find.find_transcripts(paths)
    if not files:
        raise NotFound("no session files there", hint="give *.jsonl files, plain, .gz or .zst, or a folder of them")
    if every_s is None:
        yield from _import_found(client, program, files, again=again)
        return
    stamps = {path: _stamp(path) for path in files}
    for answer in _import_found(client, program, files, again=again):
        for report in answer.answer.files:
            if report.retry:
                del stamps[Path(report.path)]
        if AS_JSON.get():
            print_json(answer.answer)
            break
    _follow(client, program, paths, every_s, stamps)


def _import_found(
    client: Client,
    program: ImportClient,
    found: list[Path],
    *,
    again: bool,
    sources: dict[Path, str] | None = None,
    skipped: Sequence[FileReport] = (),
) -> Iterator[Ended]:
    """Import files, learn from them and print a report; a file that failed ends the command with 1.

    The oldest session comes first: what a later one says of the same supersedes it. `skipped` are reports of what was
    left out before.
    """
    reports: list[FileReport] = [*skipped]
    with spinner("Looking at the sessions"):
        found = find.oldest_first(found)
    try:
        import_files(client, found, program=program, reports=reports, sources=sources, again=again)
        learnt = learn_from(client, reports)
    except (KeyboardInterrupt, DaemonNotRunning):
        _print_interrupted(reports, len(found))
        raise
    report = _import_report(reports)
    _print_failures(learnt.failures)
    yield Ended(
        msgspec.structs.replace(report, learnt=dict(learnt.decisions), unlearnt=len(learnt.failures)),
        1 if learnt.failures or report.failed else 0,
    )
    print_reports(reports)
    _print_decisions(learnt.decisions, learnt.fallbacks)
    if not (learnt.failures or learnt.fallbacks):
        print_why_none(reports, learnt.decisions)


def learn_from(client: Client, reports: list[FileReport], *, quiet: bool = False) -> Learnt:
    """Extract memories from every thread; one that fails does not keep the others.

    Also from those that did not grow: an import that was stopped before it got there left them. Where nothing is new, a
    call takes about a millisecond.

    Raises:
        DaemonNotRunning: the daemon has ended.
    """
    threads = list(dict.fromkeys(report.thread for report in reports if report.thread is not None))
    learnt = Learnt(Counter(), [], [])
    with step_progress("Extracting memories", len(threads), quiet=quiet) as step:
        for thread in threads:
            try:
                changes = client.learn(thread)
            except (DaemonNotRunning, NotFound) as error:
                if isinstance(error, DaemonNotRunning):
                    raise
                continue  # the thread was deleted meanwhile
            except ReverieError as error:
                learnt.failures.append(error.message)
                continue
            learnt.decisions.update(changes.counts)
            learnt.decisions.update({"FORGOTTEN": changes.forgotten} if changes.forgotten else {})
            learnt.fallbacks.extend([changes.fallback] if changes.fallback else [])
            step()
    return learnt


def print_reports(reports: list[FileReport]) -> None:
    """Print a row per file with anything new, the kinds of the new lines, problems, and what was left out."""
    forgotten = sum(report.forgotten for report in reports)
    ignored = Counter(report.ignored for report in reports if report.ignored is not None)
    reports = [report for report in reports if not report.forgotten and report.ignored is None]
    shown = [report for report in reports if report.added or report.problems or report.error is not None]
    if any(report.error is None for report in shown):
        print_table(
            "File*, Thread, Size>, Lines>, New>, Known>, Redacted>, Bad>",
            [_row(report) for report in shown],
            drop=(2, 5, 3),
        )
    kinds: Counter[str] = sum((Counter(report.counts) for report in reports), Counter())
    if len(shown) < len(reports):
        say(f"{counted(len(reports) - len(shown), 'file')} without anything new; --json lists all.")
    say()
    added = sum(report.added for report in reports)
    say(f"{counted(added, 'new line')} from {counted(len(reports), 'file')}.")
    if kinds:
        say("New: " + ", ".join(_counted_kind(kind, number) for kind, number in kinds.most_common()) + ".")
    if line := replaced(reports):
        say(line)
    _print_problems(reports)
    if forgotten:
        was = "was" if forgotten == 1 else "were"
        them = "it" if forgotten == 1 else "them"
        say(f"{counted(forgotten, 'session')} that you forgot {was} left out; --again brings {them} back.")
    for folder, number in ignored.items():
        say(f"Left out: {counted(number, 'session')} of {folder}, which is ignored.")
        say(f"To import what is there: reverie ignore {shlex.quote(folder)} --remove, then the same import again.")


def replaced(reports: Sequence[FileReport]) -> str:
    """Return in one line how many values of each kind were replaced; empty for none."""
    kinds: Counter[str] = sum((Counter(report.kinds) for report in reports), Counter())
    if not kinds:
        return ""
    parts = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    return f"Replaced {counted(kinds.total(), 'value')}: {parts}; see reverie redactions."


def _counted_kind(kind: str, number: int) -> str:
    """Return how many lines of a kind are new in words: `51 messages`, `2 other lines`."""
    match kind:
        case "speech":
            return counted(number, "message")
        case "other":
            return counted(number, "other line")
        case _:
            return f"{number:,} {kind}"


def _print_interrupted(reports: list[FileReport], files: int) -> None:
    """Print to standard error how many files and lines are stored at Ctrl-C or the daemon's end, and how to go on."""
    added = sum(report.added for report in reports)
    if AS_JSON.get():
        print_json(_import_report(reports))
    sys.stderr.write(
        f"\nStopped. {len(reports):,} of {counted(files, 'file')} are in, with {counted(added, 'new line')}; "
        "of the next one what was sent.\n"
        "To go on, and to extract memories: the same command again; it adds only what is new.\n"
    )


def _print_decisions(decisions: Counter[str], fallbacks: Sequence[str]) -> None:
    """Print how many memories the import added and changed, and in how many threads the model could not be used."""
    if fallbacks:
        say(f"Without the model, in {counted(len(fallbacks), 'thread')}: {fallbacks[0].rstrip('.')}.")
        if any(_READ_AGAIN in fallback for fallback in fallbacks):
            say("To read it again: the same import again, or reverie distill THREAD.")
    added, changed = decisions["ADD"], decisions["UPDATE"] + decisions["DELETE"]
    if added or changed:
        say(f"Memories: {added:,} new, {changed:,} changed. Next: reverie memories")
    if forgotten := decisions["FORGOTTEN"]:
        say(f"Left out: {counted(forgotten, 'statement')} that you forgot or purged; reverie remember brings one back.")


def print_why_none(reports: Sequence[FileReport], decisions: Counter[str]) -> None:
    """Print why new lines made no memory; nothing where they made or changed one."""
    if decisions["ADD"] or decisions["UPDATE"] or decisions["DELETE"] or not any(report.added for report in reports):
        return
    if count := decisions["SKIP"]:
        say(f"Memories: none new; {counted(count, 'statement')} of these sessions changed nothing that is known.")
    elif not decisions["FORGOTTEN"]:
        say("Memories: none; no wish, rule, decision or habit was recognised in these sessions.")
        say('To add one yourself: reverie remember "…"')


def _print_failures(failures: Sequence[str]) -> None:
    """Print to standard error from how many threads no memories were extracted, why, and how to go on."""
    if failures:
        sys.stderr.write(
            f"From {counted(len(failures), 'thread')} no memories were extracted: {failures[0]}.\n"
            "To extract them: the same command again; it adds only what is new.\n"
        )


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
    # The files that failed for each reason, which a full disk is for all of them; in the hints \0 is a file's path.
    failed: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        if report.error is not None:
            begins = report.error.startswith(report.path)
            why = report.error.removeprefix(report.path) if begins else f": {report.error}"
            hint = (report.hint or "").replace(shlex.quote(report.path), "\0")
            failed.setdefault((why, hint), []).append(report.path)
    for (why, hint), paths in islice(failed.items(), PROBLEMS_SHOWN):
        alike = f" and {counted(len(paths) - 1, 'more file')}" if paths[1:] else ""
        sys.stderr.write(f"{paths[0]}{alike}{why}\n")
        if hint:
            path = os.path.commonpath(map(os.path.abspath, paths)) if paths[1:] else paths[0]
            sys.stderr.write("next: " + hint.replace("\0", shlex.quote(path)) + "\n")
    left = sum(map(len, list(failed.values())[PROBLEMS_SHOWN:]))
    if left:
        sys.stderr.write(f"and {counted(left, 'more file')}; --json lists all of them.\n")


def _import_report(reports: list[FileReport]) -> ImportReport:
    return ImportReport(
        files=reports,
        added=sum(report.added for report in reports),
        redacted=sum(report.redacted for report in reports),
        failed=sum(report.error is not None for report in reports),
        forgotten=sum(report.forgotten for report in reports),
    )


def _follow(
    client: Client, program: ImportClient, paths: list[Path], interval_s: float, stamps: dict[Path, tuple[int, int]]
) -> None:
    """Poll the files and import those whose stamp is not this one, until interrupted; an error is printed once."""
    errors: dict[Path, str | None] = {}
    if not AS_JSON.get():
        say("Following; Ctrl-C stops.")
    while True:
        sys.stdout.flush()
        time.sleep(interval_s)
        for path in find.find_transcripts(paths):
            stamp = _stamp(path)
            if stamps.get(path) == stamp:
                continue
            [report] = import_files(client, [path], program=program, quiet=True)
            if not report.retry:
                stamps[path] = stamp
            _print_failures(learn_from(client, [report], quiet=True).failures)
            before, errors[path] = errors.get(path), report.error
            if report.error is not None and report.error == before:
                continue
            if AS_JSON.get():
                print_json(_import_report([report]))
            elif report.error is not None:
                _print_problems([report])
            elif report.added:
                say(f"{path.name}: {counted(report.added, 'new line')}")


def _stamp(path: Path) -> tuple[int, int]:
    """Return a file's size and the time of its last change, of its permissions too (ns); zeros if it is gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return (status.st_size, status.st_ctime_ns)


TEXT_BYTES_MAX = 1024 * 1024  # of one file; the daemon takes no larger document
LINES_MAX = 200  # of a transcript that are read for the folder of its project
_AGENT = "claude-code"  # whose files these are
_INDEX = "MEMORY.md"  # Claude Code's own list of the files; Reverie has one too
_UNSAFE = lazy_regex(r"[^A-Za-z0-9_-]+")

Outcome = Literal["added", "known", "kept", "waiting", "ignored", "failed"]


class FileOutcome(msgspec.Struct, rename="camel"):
    """Outcome of one file, as JSON: `known` if its document had the same text, `kept` if another, left unchanged.

    A file is `waiting` in review if it says what the person forgot.
    """

    file: str
    document: str
    outcome: Outcome
    project: str | None = None
    error: str | None = None


class MemoryReport(msgspec.Struct, rename="camel"):
    """JSON of one import: the outcome of each file, and the number of documents added."""

    files: list[FileOutcome]
    added: int


def import_claude_memory(
    client: Client,
    paths: Annotated[
        list[Path] | None, Argument("[PATH...]", "Folders of auto memory, or of projects; Claude Code's if left out.")
    ] = None,
) -> Answer:
    """Import the auto memory of Claude Code: a document for each file, trusted as an agent; nothing is overwritten.

    Example: reverie import claude-memory
    """
    folders = sorted({folder for path in paths or [_default_folder()] for folder in _memory_folders(path.expanduser())})
    if not folders:
        raise NotFound("no auto memory there", hint="give a folder such as ~/.claude/projects/NAME/memory")
    ignored = client.privacy().ignored
    outcomes = [outcome for folder in folders for outcome in _imported(client, folder, ignored)]
    report = MemoryReport(outcomes, sum(outcome.outcome == "added" for outcome in outcomes))
    yield Ended(report, 1 if any(outcome.outcome == "failed" for outcome in outcomes) else 0)
    _print(report)


def _default_folder() -> Path:
    """Return Claude Code's `projects` folder, which has a folder for each project."""
    config = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(config) if config else Path.home() / ".claude") / "projects"


def _memory_folders(path: Path) -> list[Path]:
    """Return the folders of auto memory at a path: itself, that of one project, or those of all."""
    candidates = [path, path / "memory", *path.glob("*/memory")]
    return [folder for folder in candidates if folder.name == "memory" and folder.is_dir()]


def _imported(client: Client, folder: Path, ignored: list[str]) -> Iterator[FileOutcome]:
    """Import the markdown files of one folder, and yield the outcome of each."""
    project = _project_folder(folder.parent)
    name = _UNSAFE.sub("-", Path(project).name if project else folder.parent.name).strip("-") or "project"
    names = () if project is None else (project, real_folder(project))
    is_ignored = any(below(one, ignored) is not None for one in names)
    for file in sorted(folder.glob("*.md")):
        if file.name == _INDEX:
            continue
        outcome = FileOutcome(str(file), f"claude/{name}/{file.name}", "ignored", project)
        if not is_ignored:
            try:
                outcome.outcome = _put(client, file, outcome.document, project)
            except (ReverieError, OSError, UnicodeDecodeError) as error:
                outcome.outcome, outcome.error = "failed", str(error)
        yield outcome


def _put(client: Client, file: Path, document: str, project: str | None) -> Outcome:
    """Write one file as a document, unless there is one already. Raises ReverieError, OSError, UnicodeDecodeError."""
    if file.stat().st_size > TEXT_BYTES_MAX:
        raise OSError(f"{file} is larger than {TEXT_BYTES_MAX:,} bytes")
    text = file.read_bytes().decode()
    try:
        return "known" if client.document(document).content == text else "kept"
    except NotFound:
        pass
    try:
        client.put_document(document, text, project=project, agent=_AGENT)
    except Conflict as conflict:
        if not conflict.details.get("forgotten"):
            raise
        return "waiting"
    return "added"


def _project_folder(folder: Path) -> str | None:
    """Return the folder that a project's sessions are in, as their transcripts say; None where none does.

    The name of Claude Code's own folder does not say it: `-srv-a-b` is `/srv/a/b` or `/srv/a-b`.
    """
    for transcript in sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True):
        with transcript.open("rb") as lines:
            for _, line in zip(range(LINES_MAX), lines, strict=False):
                try:
                    value = jsonlib.loads(line)
                except ValueError:
                    continue
                cwd = value.get("cwd") if isinstance(value, dict) else None
                if isinstance(cwd, str) and (here := posix_folder(cwd)) is not None:
                    return here
    return None


def _print(report: MemoryReport) -> None:
    rows = [(outcome.document, outcome.outcome, outcome.error or "") for outcome in report.files]
    print_table("document, outcome, ", rows)
    counts = Counter(outcome.outcome for outcome in report.files)
    parts = [f"{counted(report.added, 'file')} added"]
    parts += [f"{counts['known']} known"] if counts["known"] else []
    parts += [f"{counts['kept']} with another text here, which was kept"] if counts["kept"] else []
    parts += [f"{counts['waiting']} with what you forgot, which waits in reverie review"] if counts["waiting"] else []
    parts += [f"{counts['ignored']} of ignored folders"] if counts["ignored"] else []
    say(", ".join(parts) + ".")
    if report.added:
        say("To see what is remembered: reverie memories --all-projects")
