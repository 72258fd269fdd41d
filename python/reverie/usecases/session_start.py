"""What a new session is told beside its project's brief: the last session, open notes, and whether a prompt goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import tokenizer
from reverie.context.text import neutralize_markup
from reverie.distill import cues
from reverie.distill.sentences import clip
from reverie.lazy_regex import lazy_regex
from reverie.store import ThreadRecord
from reverie.usecases import inherited_notes, projects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.models import WorkingState
    from reverie.store import NoteRecord, Reader

THREADS_MAX: Final = 30  # of a project, the newest, whose notes are read
LAST_MAX: Final = 3  # threads that are looked at for one with a task
TASK_CHARS: Final = 240
OPEN_CHARS: Final = 160  # of one open step
OPEN_MAX: Final = 3
NOTE_CHARS: Final = 240

SHARED_WORDS: Final = 2  # with what was left open
SHARED_PART: Final = 0.5  # of a prompt's words

# Words of four letters and more; where a letter is a syllable or a word, of two.
_WORD: Final = lazy_regex(r"[^\W_][\w.'-]{2,}[^\W_]|[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")


@dataclass(frozen=True, slots=True)
class LastSession:
    """The last session of a project: its task in the person's words, and the steps that are open."""

    thread: str
    agent: str
    at: str
    task: str
    steps: tuple[str, ...] = ()


def last_threads(reader: Reader, project: str) -> list[ThreadRecord]:
    """Return the threads of a project, the one that was appended to last first."""
    threads = (thread for _, thread in reader.records(ThreadRecord))
    found = [thread for thread in threads if projects.of_thread(thread) == project]
    return sorted(found, key=lambda thread: (thread.updated_at, thread.id), reverse=True)


def last_session(thread: ThreadRecord, state: WorkingState) -> LastSession:
    """Return a thread and its state as the last session of its project."""
    steps = (*state.next_steps[:OPEN_MAX], *state.blockers[:1])
    return LastSession(thread.id, thread.agent or "an agent", thread.updated_at, state.current_task or "", steps)


def last_lines(last: LastSession) -> str:
    """Return at most three lines: when, the task, what is open."""
    lines = [f"## The last session ({last.agent}, {last.at[:16]}Z, thread {last.thread})"]
    if last.task:
        lines.append(f"- asked: {neutralize_markup(clip(last.task, TASK_CHARS))}")
    if steps := " · ".join(clip(step, OPEN_CHARS) for step in last.steps):
        lines.append(f"- open: {neutralize_markup(steps)}")
    return "\n".join(lines)


def open_notes(reader: Reader, project: str) -> list[tuple[NoteRecord, str]]:
    """Return the notes of all agents in a project's newest threads, newest first, each with its agent.

    A note that its agent deleted, in its thread or in a later one that inherited it, is none of them.
    """
    threads = last_threads(reader, project)[:THREADS_MAX]
    agents = {thread.id: thread.agent or "an agent" for thread in threads}
    notes = inherited_notes.notes_of(reader, threads)
    return [(note, agents.get(note.thread or "", "an agent")) for note in notes]


def note_lines(notes: list[tuple[NoteRecord, str]], room: int) -> str:
    """Return notes as lines below a heading in at most `room` tokens, the newest first; empty where none fits."""
    lines: list[str] = []
    head = "## Notes that agents left"
    for line in _note_lines(notes):
        if tokenizer.count("\n".join([head, *lines, line])) > room:
            break
        lines.append(line)
    return "\n".join([head, *lines]) if lines else ""


def _note_lines(notes: list[tuple[NoteRecord, str]]) -> Iterator[str]:
    for note, agent in notes:
        yield f"- {note.at[:10]}, {agent}, {note.category}: {neutralize_markup(clip(note.content, NOTE_CHARS))}"


def goes_on(prompt: str, last: LastSession, told: str) -> bool:
    """Return True where the first prompt of a new session goes on with the last one.

    Either it only says so ("go on"), or half of its words and two at least are those of the task or an open
    step, one of them in nothing else that is `told` at the start: "fix the flaky upload test of ENT-221" goes on with
    "open: upload test of ENT-221", not with "open: commit the fix" of a project whose every session commits a fix.
    """
    if not (last.task or last.steps) or prompt.startswith("/"):
        return False
    words = _words(prompt)
    if cues.goes_on(prompt):
        return True
    shared = words & _words("\n".join((last.task, *last.steps)))
    return len(shared) >= max(SHARED_WORDS, SHARED_PART * len(words)) and not shared <= _words(told)


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
