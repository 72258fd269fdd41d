"""Notes of earlier threads: those that a new thread of an agent inherits with a digest (seed 001), and a project's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from reverie import tokenizer
from reverie.store import DigestRecord, Kind, NoteRecord, Reader, ThreadRecord, Writer
from reverie.usecases import projects

NOTES_TOKENS = 2_000  # the ceiling of the notes in a context
NOTES_MAX = 100
THREADS_MAX = 5  # of the agent, by the time of their last message


@dataclass(frozen=True, slots=True)
class Seed:
    """Stored notes, oldest first, each naming the thread it is from, and a stored digest or None.

    The notes keep their ids: a note that was deleted from a later thread is not inherited from an earlier one.
    """

    notes: tuple[NoteRecord, ...] = ()
    digest: DigestRecord | None = None


def snapshot(reader: Reader, agent: str | None, project: str | None = None) -> Seed:
    """Return the notes and digest that the next thread of `agent` in `project` inherits; empty without a name.

    Notes of the project's threads and of those without a project, and a digest of the project's; without a project of
    all threads.
    """
    if agent is None or reader.count(Kind.NOTE) + reader.count(Kind.DIGEST) == 0:
        return Seed()  # at once: thousands of imported sessions have neither
    of_agent = {thread.id: thread for _, thread in reader.records(ThreadRecord) if thread.agent == agent}
    threads = [
        thread for thread in of_agent.values() if project is None or projects.of_thread(thread) in {None, project}
    ]
    threads.sort(key=lambda thread: (thread.updated_at, thread.id), reverse=True)
    latest = threads[:THREADS_MAX]

    def is_visible(note: NoteRecord, thread: ThreadRecord) -> bool:
        # A thread without a project has inherited notes of all: each is of the project of the thread it was written in.
        origin = of_agent.get(note.thread or thread.id)
        own = project is None or projects.of_thread(thread) == project
        return own or (origin is not None and projects.of_thread(origin) in {None, project})

    notes = notes_of(reader, latest, is_visible)
    if project is not None:
        latest = [thread for thread in latest if projects.of_thread(thread) == project]
    digests = (reader.load(DigestRecord, (thread.id,)) for thread in latest)
    return Seed(
        notes=_within_budget(notes),
        digest=next((digest for digest in digests if digest is not None and digest.text), None),
    )


def put(writer: Writer, thread_id: str, seed: Seed) -> None:
    """Write a seed into a new thread, in the write that creates it."""
    for note in seed.notes:
        writer.save(note, (thread_id, note.id))
    if seed.digest is not None:
        writer.save(seed.digest, (thread_id,))


def notes_of(
    reader: Reader,
    threads: Iterable[ThreadRecord],
    is_visible: Callable[[NoteRecord, ThreadRecord], bool] = lambda *_: True,
) -> list[NoteRecord]:
    """Return the visible notes of `threads` (newest thread first), newest note first, each once with its thread.

    A note that a thread inherited and that is gone from it was deleted there. Example: thread A has note n, B inherited
    n from A and deleted it; the next thread gets no n, although A still has it.
    """
    notes: dict[str, NoteRecord] = {}
    deleted: set[str] = set()
    for thread in threads:
        own = {note.id: note for _, note in reader.records(NoteRecord, (thread.id,))}
        for note in (note for note in own.values() if is_visible(note, thread)):
            notes.setdefault(note.id, replace(note, thread=note.thread or thread.id))
        deleted |= set(thread.carried or ()) - own.keys()
    remaining = (note for note in notes.values() if note.id not in deleted)
    return sorted(remaining, key=lambda note: (note.at, note.id), reverse=True)


def _within_budget(notes: list[NoteRecord]) -> tuple[NoteRecord, ...]:
    """Return as many of the newest notes as a context has room for, oldest first; the newest one always."""
    chosen: list[NoteRecord] = []
    room = NOTES_TOKENS
    for note in notes[:NOTES_MAX]:
        room -= tokenizer.count(note.content)
        if room < 0 and chosen:
            break
        chosen.append(note)
    return tuple(reversed(chosen))
