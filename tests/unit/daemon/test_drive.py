"""The driver of writes: a save is read, the write committed, its files written; what follows a commit is no error."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie import wire
from reverie.errors import Busy, NotFound
from reverie.models import Candidate, MemoryType
from reverie.redact import Allow, Redactor, logged
from reverie.store import Kind, RedactionRecord, Sealed, Store, ThreadRecord, seal
from reverie.usecases import documents, memories, threads
from reverie.usecases.by import By
from reveried.actions import threads as append_messages
from reveried.config import Context
from reveried.drive import write
from reveried.worker import Worker

AT = "2026-11-21T09:30:00.000Z"
OLD, NEW = "facts/user.md", "facts/crew.md"
KEY = ("key", "request")
SECRET = "ghp_" + "0aB1" * 9


@dataclass
class Folder:
    """A folder that notes each call with the number of the store's last operation."""

    store: Store
    calls: list[tuple[str, set[str], int]] = field(default_factory=list)
    error: BaseException | None = None

    async def read_saves(self, space: str, paths: Iterable[str]) -> None:
        """Note the paths whose saves are committed."""
        self._note(space, "read", paths)

    async def write_documents(self, space: str, paths: Iterable[str]) -> None:
        """Note the paths whose files are written, or fail."""
        self._note(space, "written", paths)
        if self.error is not None:
            raise self.error

    def _note(self, space: str, what: str, paths: Iterable[str]) -> None:
        with self.store.reader(space) as reader:
            self.calls.append((what, set(paths), reader.operation()))

    async def documents(self, _: str) -> list[Any]:
        """Return no documents, so that no other spelling is there."""
        return []

    async def secret_markers(self, *_: str) -> frozenset[str]:
        """Return no markers."""
        return frozenset()

    def folder(self, _: str) -> Folder:
        """Return this folder as that of the space."""
        return self

    def refusal(self, _: str) -> None:
        """Refuse no path."""


@asynccontextmanager
async def driven(tmp_path: Path) -> AsyncIterator[tuple[Any, Folder, By]]:
    """Yield services with a store, its writer and a folder that is only noted; and who writes."""
    store = Store.open(tmp_path / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    folder, ids = Folder(store), count()
    services = SimpleNamespace(store=store, submit=worker.submit, redactor=Redactor(), sync_service=folder)
    try:
        yield services, folder, By("default", "agent", new_id=lambda kind: f"{kind}_{next(ids)}")
    finally:
        worker.stop()
        store.close()


def test_a_save_is_read_before_the_commit_and_the_file_written_before_the_answer(tmp_path: Path) -> None:
    """The order by which no word of a person is overwritten, and no agent reads a file older than its own write."""

    async def run() -> None:
        async with driven(tmp_path) as (services, folder, by):
            await write(services, documents.put, by, OLD, "- Name: Ada\n")
            assert folder.calls == [("read", {OLD}, 0), ("written", {OLD}, 1)]

    asyncio.run(run())


@pytest.mark.parametrize("error", [Busy("the queue is full"), KeyError("a defect")])
def test_what_follows_a_commit_is_no_error_of_the_write(tmp_path: Path, error: Exception) -> None:
    """A caller who gets an error repeats the write, which is committed already."""

    async def run() -> None:
        async with driven(tmp_path) as (services, folder, by):
            folder.error = error
            stored = await write(services, documents.append, by, OLD, "- Name: Ada")
            assert "Ada" in stored.content

    asyncio.run(run())


def test_a_repeated_request_is_answered_though_its_document_is_elsewhere_now(tmp_path: Path) -> None:
    """The stored answer comes before the error of the files that the first request has moved; a new one gets that."""

    async def run() -> None:
        async with driven(tmp_path) as (services, _, by):
            await write(services, documents.put, by, OLD, "- Name: Ada\n")
            keyed = By("default", "agent", new_id=by.new_id, key=KEY)
            first = await write(services, documents.move, keyed, OLD, NEW)
            assert await write(services, documents.move, keyed, OLD, NEW) == first
            with pytest.raises(NotFound):
                await write(services, documents.move, by, OLD, NEW)

    asyncio.run(run())


def test_messages_from_before_a_change_of_what_is_allowed_are_redacted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that was allowed when they were sealed, and no longer when they are committed."""
    thread = ThreadRecord(id="t", created_at=AT, updated_at=AT)

    async def run() -> None:
        async with driven(tmp_path) as (services, _, by):
            await write(services, threads.create, by, thread)
            services.clock, services.config = lambda: AT, SimpleNamespace(context=Context())
            services.redactor.allow(Allow(values=[SECRET]))

            def sealed(value: Any, redactor: Redactor) -> Sealed:
                made = seal(value, redactor)
                if not made.taken:
                    redactor.allow(Allow())
                return made

            monkeypatch.setattr(append_messages, "seal", sealed)
            request = wire.AppendMessages([wire.MessageIn("user", f"The key is {SECRET}")])
            answer = await append_messages.append(services, by, "t", request, size=100)
            assert (answer.first_seq, answer.last_seq) == (1, 1)
            with services.store.reader("default") as reader:
                assert SECRET not in str(reader.get(Kind.ENTRY, ("t", 1)))

    asyncio.run(run())


def test_what_was_redacted_is_recorded_where_it_was_found(tmp_path: Path) -> None:
    """A secret in the words of a caller is listed with the document, memory or thread that has its marker."""
    candidate = Candidate(type=MemoryType.FACT, content=f"The key is {SECRET}")
    thread = ThreadRecord(id="t", title=SECRET, created_at=AT, updated_at=AT)

    async def run() -> None:
        async with driven(tmp_path) as (services, _, by):
            with logged():
                await write(services, documents.put, by, OLD, f"- Key: {SECRET}\n")
                services.redactor.text(SECRET)
                memory = await write(services, memories.remember, by, candidate)
                services.redactor.text(SECRET)
                await write(services, threads.create, by, thread)
            with services.store.reader("default") as reader:
                [record] = [record for _, record in reader.records(RedactionRecord)]
            places = {(place.kind, place.key) for place in record.places}
            assert places == {("document", OLD), ("memory", memory.id), ("thread", "t")}

    asyncio.run(run())
