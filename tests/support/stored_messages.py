"""Threads of messages written straight into a store, and their deletion."""

from __future__ import annotations

from reverie.models import Entry, EntryKind
from reverie.store import Kind, Store, ThreadRecord, Writer, seal
from reverie.usecases import threads
from reverie.usecases.by import By
from reverie.usecases.entries import entry_record
from support.stores import AT, MASKING, SPACE, write


def append(store: Store, thread: str, *texts: str, agent: str | None = None) -> None:
    """Append messages to a thread, which is created if it is not there."""

    def body(writer: Writer) -> None:
        record = writer.load(ThreadRecord, (thread,)) or ThreadRecord(
            id=thread, agent=agent, created_at=AT, updated_at=AT
        )
        entries = [Entry(EntryKind.SPEECH, role="user", content=text, at=AT) for text in texts]
        _, last = writer.append_many(Kind.ENTRY, (thread,), [seal(entry_record(each), MASKING) for each in entries])
        writer.save(threads.after_append(record, entries, last, AT), (thread,))

    write(store, body)


def delete(store: Store, thread: str) -> None:
    """Delete a thread with its messages."""
    while not store.commit([threads.delete_step.write(By(SPACE, "agent"), thread)], at=AT)[0].value.done:  # type: ignore[union-attr]
        pass
