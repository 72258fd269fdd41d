"""`reverie import claude-memory`: the files of Claude Code's own auto memory become documents, each of its project."""

import json as jsonlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from reverie.client import Client
from reverie.errors import Conflict, NotFound, ReverieError
from reverie.git import posix_folder
from reverie.lazy_regex import lazy_regex
from reveried.cli.command import Answer, Argument, Ended
from reveried.cli.output import counted, print_table, say

if TYPE_CHECKING:
    from collections.abc import Iterator


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


def _imported(client: Client, folder: Path, ignored: list[str]) -> "Iterator[FileOutcome]":
    """Import the markdown files of one folder, and yield the outcome of each."""
    project = _project_folder(folder.parent)
    name = _UNSAFE.sub("-", Path(project).name if project else folder.parent.name).strip("-") or "project"
    is_ignored = project is not None and any(Path(project).is_relative_to(path) for path in ignored)
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
