"""Steps of the demo: select a session, start a temporary daemon, import, distill, and read its context."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.client import Client
from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.evals.continuity import continuity
from reverie.importers import find
from reverie.places import Layout
from reveried.cli.daemon import Started, start_daemon, stop_daemon
from reveried.cli.daemon_client import LOG_NAME
from reveried.cli.ids import all_items
from reveried.cli.output import spinner
from reveried.cli.send_sessions import import_files
from reveried.demo.session import SESSION, sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie import wire
    from reverie.evals.continuity import Report
    from reveried.cli.send_sessions import FileReport

BUDGET_MIN, BUDGET_MAX = 4_000, 16_000  # tokens of the new context
SESSION_BYTES_MIN = 20 * 1024  # a shorter one has just begun or was abandoned: there is nothing to distill in it
_SUBAGENT_PREFIX = "agent-"
_SAMPLE_QUESTION = "How do we run the tests?"
_QUESTION_TYPES = ("mistake", "preference", "procedure", "fact", "observation", "skill")  # most instructive first
_QUESTION_WORDS = 8  # of a memory that go into a question


@dataclass(frozen=True, slots=True)
class Selection:
    """The session files of a demo, and a description of them for its introduction."""

    files: list[Path]
    description: str
    is_sample: bool = False


@dataclass(frozen=True, slots=True)
class TemporaryDaemon:
    """The demo's folder (a REVERIE_HOME), the client of its daemon, and the daemon's process id."""

    home: Path
    client: Client
    pid: int


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Answers of the daemon that the demo shows: the thread before, its context after, and the learnt memories.

    `measured` is the share of the needed names that contexts of that size have, at the session's compactions or at its
    middle; None for a session that is too short to be measured.
    """

    before: wire.Thread
    distilled: wire.DistillAnswer
    context: wire.ContextAnswer
    state: wire.WorkingState
    memories: list[wire.Memory]
    question: str
    recalled: wire.RecallAnswer
    root: str
    measured: Report | None


def select_sessions(paths: Sequence[Path], home: Path, folder: Path) -> Selection:
    """Return the sessions at `paths`; else the user's newest under `home`; else the sample, written into `folder`.

    Raises:
        NotFound: nothing is at a given path.
    """
    if paths:
        files = find.find_transcripts(paths)
        if not files:
            raise NotFound("no session files there", hint="give *.jsonl files, plain, .gz or .zst, or a folder of them")
        return Selection(files, "the session that you gave" if len(files) == 1 else f"the {len(files)} sessions given")
    if newest := _newest_session(home / ".claude" / "projects"):
        return Selection([newest], "your newest session")
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(sample())
    return Selection([path], "a sample session, in which an agent fixes a small bug", is_sample=True)


def _newest_session(projects: Path) -> Path | None:
    """Return the user's newest session of SESSION_BYTES_MIN, else the newest; subagents' transcripts are skipped."""
    if not projects.is_dir():
        return None
    sessions = [path for path in find.find_transcripts([projects]) if not path.name.startswith(_SUBAGENT_PREFIX)]
    newest_first = sorted(sessions, key=lambda path: path.stat().st_mtime, reverse=True)
    long = (path for path in newest_first if path.stat().st_size >= SESSION_BYTES_MIN)
    return next(long, newest_first[0] if newest_first else None)


@contextmanager
def temporary_daemon(*, keep: bool, quiet: bool = False) -> Iterator[TemporaryDaemon]:
    """Start a daemon under a new REVERIE_HOME; stop it and remove the folder at the end unless `keep`.

    After an error both are removed in any case. REVERIE_* variables of the user are not passed on: they may name
    the user's own folders.
    """
    home = Path(tempfile.mkdtemp(prefix="reverie-demo-"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    environment["REVERIE_HOME"] = str(home)
    layout = Layout.from_env(environment, Path.home(), os.getuid())
    kept = False
    started: Started | None = None
    try:
        with Client(layout.socket) as client:
            try:
                with spinner("Starting a daemon for the demo", quiet=quiet):
                    started = start_daemon(client, layout.state_dir / LOG_NAME, environment)
                yield TemporaryDaemon(home, client, started.health.pid)
                kept = keep
            finally:
                if started is not None and not kept:
                    stop_daemon(started.health.pid)
    finally:
        if not kept:
            shutil.rmtree(home, ignore_errors=True)


def import_sessions(client: Client, files: list[Path], *, quiet: bool = False) -> tuple[list[FileReport], wire.Thread]:
    """Import the files; return their reports and the longest thread, which is the one that is shown.

    Raises:
        ValidationError: none of them is a session; the message says why the first is not.
        NotFound: the sessions have no messages.
    """
    reports = import_files(client, files, program="claude-code", quiet=quiet)
    longest = max(all_items(client.threads), key=lambda thread: thread.tokens, default=None)
    if longest is None and (failed := [report for report in reports if report.error is not None]):
        raise ValidationError(failed[0].error or "", hint=failed[0].hint)
    if longest is None or longest.message_count == 0:
        raise NotFound("the session has no messages", hint="give a session with messages, or none for the sample")
    return reports, longest


def distill_threads(client: Client, reports: list[FileReport], thread: wire.Thread, selection: Selection) -> DemoResult:
    """Distill each imported thread, `thread` last; return its context and the memories learnt from all."""
    others = {report.thread for report in reports if report.thread is not None} - {thread.id}
    for other in sorted(others):
        if client.thread(other).message_count:
            client.distill(other)
    distilled = client.distill(thread.id)
    memories = list(all_items(client.memories))
    state = client.working_state(thread.id)
    question = _SAMPLE_QUESTION if selection.is_sample else question_about(memories, state)
    budget = context_budget(thread.tokens)
    return DemoResult(
        before=thread,
        distilled=distilled,
        context=client.context(thread.id, max_tokens=budget),
        state=state,
        memories=memories,
        question=question,
        recalled=client.recall(question, limit=3),
        root=client.status().root,
        measured=_measure([Path(report.path) for report in reports if report.thread == thread.id], budget),
    )


def _measure(files: list[Path], budget: int) -> Report | None:
    """Return the continuity of a session at one budget in tokens, or None where it is too short to be measured."""
    try:
        return continuity(files, budgets=[budget], points=1)
    except ReverieError:
        return None


def context_budget(tokens: int) -> int:
    """Return the token budget of the new context: a fifth of the thread, in whole thousands, within the bounds."""
    return max(BUDGET_MIN, min(BUDGET_MAX, tokens // 5 // 1000 * 1000))


def question_about(memories: list[wire.Memory], state: wire.WorkingState) -> str:
    """Return a question that an unknown session can answer: about its most instructive memory, else about its task."""
    for kind in _QUESTION_TYPES:
        for memory in memories:
            if memory.type == kind:
                return f"What do we know about “{_first_words(memory.content)}”?"
    return f"What about “{_first_words(state.current_task)}”?" if state.current_task else "What was the last task?"


def _first_words(text: str) -> str:
    """Return the first words of a text without punctuation at their end."""
    return " ".join(text.split()[:_QUESTION_WORDS]).rstrip(".,;:")
