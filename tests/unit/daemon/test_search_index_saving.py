"""Tests of saving the message index behind the requests of a daemon."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from reverie.models import Entry, EntryKind
from reverie.store import Kind, ThreadRecord, seal
from reverie.usecases import message_index, threads
from reverie.usecases.entries import entry_record
from reverie.usecases.message_search import MessageSearch, within
from reverie.usecases.recall import Recall
from reveried.actions.indexing import keep_messages
from support.stores import AT, MASKING, SPACE, opened, write

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store import Writer

THREAD = "thr_a"
MESSAGES = 9


def append_messages(writer: Writer) -> None:
    """Write a thread with messages."""
    entries = [Entry(EntryKind.SPEECH, role="user", content=f"parser {number}", at=AT) for number in range(MESSAGES)]
    _, last = writer.append_many(Kind.ENTRY, (THREAD,), [seal(entry_record(each), MASKING) for each in entries])
    record = ThreadRecord(id=THREAD, created_at=AT, updated_at=AT)
    writer.save(threads.after_append(record, entries, last, AT), (THREAD,))


def test_the_message_index_is_saved_and_merged_behind_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message index is merged to one segment and saved in the background, and is loaded after a restart."""
    monkeypatch.setattr(message_index, "STEP_ENTRIES", 2)
    monkeypatch.setattr(message_index, "BUFFER_MAX", 2)
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        write(store, append_messages)
        recall = Recall(store, folder)
        services: Any = SimpleNamespace(store=store, messages=MessageSearch(store, folder), recall=recall)

        def is_saved() -> bool:
            return len(list(folder.rglob("manifest.json"))) == len(list(folder.rglob("*.segment"))) == 1

        async def until_saved() -> None:
            task = asyncio.create_task(keep_messages(services, first_after_s=0, every_s=0.01, save_after_s=0))
            while not await asyncio.to_thread(is_saved):  # noqa: ASYNC110 - a folder has no event to wait for
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(asyncio.wait_for(until_saved(), 120))
        assert not recall.opened()
        monkeypatch.setattr(message_index.MessageIndex, "_begin", None)
        again = MessageSearch(store, folder)
        assert again.catch_up(SPACE, 60)
        assert len(again.messages(SPACE, "parser", 20, within(kind="message"))) == MESSAGES
