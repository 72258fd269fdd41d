"""The deletion of a thread in several writes: after the first one no reader has the thread."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie.errors import Conflict, NotFound
from reverie.store import Kind, ThreadRecord
from reverie.usecases import imports, message_pages, threads
from reverie.usecases.by import By
from reverie.usecases.imported import thread_id
from support.stores import AT, SPACE, append, delete, opened, write

BY = By(SPACE, "agent")
TEXTS = ["a walrus"] * (threads.PURGE_BATCH + 100)


def test_a_thread_is_gone_after_the_first_write(tmp_path: Path) -> None:
    """It is neither read, appended to nor made again while records of it are left; a repeated deletion ends that."""
    with opened(tmp_path / "store") as store:
        append(store, "long", *TEXTS)
        append(store, "other", "stay")
        first = write(store, threads.delete, BY, "long").value
        assert (first.messages, first.done) == (len(TEXTS), False)
        again = ThreadRecord(id="long", created_at=AT, updated_at=AT)
        with store.reader(SPACE) as reader:
            assert threads.deleting(reader) == ["long"]
            assert [item.id for item in threads.page(reader, window=1, limit=9, after=None).items] == ["other"]
            with pytest.raises(NotFound):
                message_pages.entries(reader, "long", after=0, limit=9)
        with pytest.raises(Conflict, match="is being deleted"):
            write(store, threads.create, BY, again)

        repeated = write(store, threads.delete, BY, "long").value
        assert (repeated.messages, repeated.done) == (len(TEXTS), True)
        with store.reader(SPACE) as reader:
            assert threads.deleting(reader) == []
            assert [key[0] for key in reader.keys(Kind.ENTRY)] == ["other"]
        write(store, threads.create, BY, again)
        assert write(store, threads.delete_rest, BY, "long").value.done
        with store.reader(SPACE) as reader:
            assert threads.get(reader, "long").created_at == AT
        delete(store, "long")
        with pytest.raises(NotFound):
            write(store, threads.delete, BY, "long")


def test_an_import_waits_for_the_end_of_the_deletion(tmp_path: Path) -> None:
    """A deleted session that is wanted again is not imported beside the records that are left of it."""
    with opened(tmp_path / "store") as store:
        write(store, imports.begin, BY, "codex", "one", "one.jsonl")
        thread = thread_id("codex", "one")
        append(store, thread, *TEXTS)
        write(store, threads.delete, BY, thread)
        for again, message in ((False, "was deleted"), (True, "is being deleted")):
            with pytest.raises(Conflict, match=message):
                write(store, lambda to, again=again: imports.begin(to, BY, "codex", "one", "one.jsonl", again=again))
        write(store, threads.delete_rest, BY, thread)
        write(store, lambda to: imports.begin(to, BY, "codex", "one", "one.jsonl", again=True))
        with store.reader(SPACE) as reader:
            assert threads.get(reader, thread).message_count == 0
