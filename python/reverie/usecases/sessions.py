"""Sessions of agents' clients: which process works in which thread, what a new one is told, what is not recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from reverie import git, tokenizer
from reverie.context.text import neutralize_markup
from reverie.distill import cues
from reverie.distill.sentences import clip
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.importers.detect import folder_of
from reverie.lazy_regex import lazy_regex
from reverie.models import Entry, WorkingState
from reverie.store import NoteRecord, PrivacyCursor, Reader, SessionRecord, SessionsCursor, ThreadRecord, Writer
from reverie.usecases import inherited_notes, projects
from reverie.usecases.by import By, writes

SESSIONS_MAX: Final = 200  # of a space; those that were heard of last


def known(reader: Reader) -> list[SessionRecord]:
    """Return the sessions of a space, the one that was reported last at the end."""
    return (reader.load(SessionsCursor, SessionsCursor.KEY) or SessionsCursor()).sessions


def find(sessions: Sequence[SessionRecord], client: str, session: str) -> SessionRecord | None:
    """Return the session of a client with this id, or None."""
    return next((record for record in sessions if (record.client, record.session) == (client, session)), None)


@writes("session.begin")
def begin(to: Writer, _: By, session: SessionRecord, *, cleared: bool = False) -> SessionRecord:
    """Record a session which begins or continues, and return it as stored.

    Another open session of the same process has ended: its client began this one in its place. Where the conversation
    was `cleared`, the client has ended that one already; else an ended one is of a process whose id was used again.
    """
    sessions, at = known(to), session.updated_at
    stored = find(sessions, session.client, session.session)
    others = [other for other in sessions if other is not stored]
    replaced = next(
        (
            other
            for other in reversed(others)
            if session.pid is not None and (other.client, other.pid) == (session.client, session.pid)
            if other.ended_at is None or (cleared and stored is None)
        ),
        None,
    )
    after = session
    if stored is not None:
        after = replace(
            session,
            started_at=stored.started_at,
            before=stored.before,
            project=session.project or stored.project,
            transcript=session.transcript or stored.transcript,
            pid=stored.pid if session.pid is None else session.pid,
        )
    if replaced is not None:
        after = replace(after, before=replaced.session)
        others = [replace(other, ended_at=other.ended_at or at) if other is replaced else other for other in others]
    to.save(SessionsCursor(sessions=[*others, after][-SESSIONS_MAX:]), SessionsCursor.KEY)
    return after


@writes("session.end")
def end(to: Writer, _: By, client: str, session: str) -> SessionRecord | None:
    """Record the end of a session, and return it, None for an unknown one."""
    sessions = known(to)
    stored = find(sessions, client, session)
    if stored is None or stored.ended_at is not None:
        return stored
    ended = replace(stored, ended_at=to.at, updated_at=to.at)
    changed = [ended if other is stored else other for other in sessions]
    to.save(SessionsCursor(sessions=changed), SessionsCursor.KEY)
    return ended


# What a new session is told beside its project's brief: the last session, open notes, and whether a prompt goes on


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
    """Return the threads of a project without those of subagents, the one that was appended to last first."""
    threads = (thread for _, thread in reader.records(ThreadRecord))
    found = [thread for thread in threads if not thread.subagent and projects.of_thread(thread) == project]
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
    for note, agent in notes:
        line = f"- {note.at[:10]}, {agent}, {note.category}: {neutralize_markup(clip(note.content, NOTE_CHARS))}"
        if tokenizer.count("\n".join([head, *lines, line])) > room:
            break
        lines.append(line)
    return "\n".join([head, *lines]) if lines else ""


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


# Folders that are ignored, and times in which no session is recorded. Both apply to the lines of transcripts, wherever
# they come from: so what was said during a pause is not stored by an import of the whole file either.


IGNORED_MAX: Final = 1_000  # folders
PAUSES_MAX: Final = 1_000  # the oldest are forgotten: lines of that time are in the store, or their files are gone


def privacy_of(reader: Reader) -> PrivacyCursor:
    """Return the folders that are ignored and the pauses of a space."""
    return reader.load(PrivacyCursor, PrivacyCursor.KEY) or PrivacyCursor()


def is_paused(pauses: Sequence[tuple[str, str | None]]) -> bool:
    """Return True while recording is paused."""
    return bool(pauses) and pauses[-1][1] is None


def is_ignored(folder: str | None, ignored: Iterable[str]) -> bool:
    """Return True for an ignored folder and every one below it, however the path is written."""
    return folder is not None and git.below(folder, ignored) is not None


def recordable(
    entries: Sequence[Entry],
    ignored: Sequence[str],
    pauses: Sequence[tuple[str, str | None]],
    *,
    at: str,
    folder: str | None = None,
    real_folders: Mapping[str, str] | None = None,
) -> Iterator[Entry]:
    """Yield the entries that may be stored: of no ignored folder, and of no time in which recording was paused.

    An entry without a time is of the time of the one before it, and the first ones are of `at`, the time of the import:
    a followed line is read when it is written. An entry without a folder is of the folder of the one before it;
    `folder` is that of the first ones. `real_folders` has the paths without links of the folders that entries name.
    """
    if not ignored and not pauses:
        yield from entries
        return
    real = real_folders or {}
    left_out: dict[str | None, bool] = {None: False}
    for entry in entries:
        at, folder = entry.at or at, folder_of(entry.extra) or folder
        if folder not in left_out:
            left_out[folder] = is_ignored(folder, ignored) or is_ignored(real.get(folder or ""), ignored)
        if not left_out[folder] and not in_pause(at, pauses):
            yield entry


def in_pause(at: str, pauses: Sequence[tuple[str, str | None]]) -> bool:
    """Return True for a time (RFC 3339 UTC) in which nothing of a session is recorded."""
    return any(begin <= at and (end is None or at < end) for begin, end in pauses)


@writes("privacy.pause")
def pause(to: Writer, _: By) -> PrivacyCursor:
    """Pause the recording of sessions. Raises Conflict where it is paused already."""
    here = privacy_of(to)
    if is_paused(here.pauses):
        raise Conflict("recording is paused already", hint="reverie resume goes on")
    return _saved(to, replace(here, pauses=[*here.pauses, (to.at, None)][-PAUSES_MAX:]))


@writes("privacy.resume")
def resume(to: Writer, _: By) -> PrivacyCursor:
    """End a pause. Raises Conflict where recording is not paused."""
    here = privacy_of(to)
    if not is_paused(here.pauses):
        raise Conflict("recording is not paused", hint="reverie pause stops it")
    return _saved(to, replace(here, pauses=[*here.pauses[:-1], (here.pauses[-1][0], to.at)]))


@writes("privacy.ignore")
def change_ignored(to: Writer, _: By, path: str, *, remove: bool) -> PrivacyCursor:
    """Ignore the folder at an absolute path, or no longer.

    Raises NotFound for the removal of a folder that is not ignored, ValidationError for one too many.
    """
    here = privacy_of(to)
    if remove and path not in here.ignored:
        raise NotFound(f"{path} is not ignored", hint="reverie ignore lists the folders that are")
    if len(here.ignored) >= IGNORED_MAX and not remove:
        raise ValidationError(f"{IGNORED_MAX} folders are ignored already", hint="ignore a folder above them")
    ignored = [folder for folder in here.ignored if folder != path] + ([] if remove else [path])
    return _saved(to, replace(here, ignored=ignored))


def _saved(writer: Writer, settings: PrivacyCursor) -> PrivacyCursor:
    writer.save(settings, PrivacyCursor.KEY)
    return settings
