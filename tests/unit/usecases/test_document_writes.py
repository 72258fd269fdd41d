"""Tests of writing documents and the memories of their blocks: ids, authors, events and blocks that come back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie.models import MemoryType
from reverie.store import Kind, MemoryRecord, Store, Writer
from reverie.usecases.by import ENGINE, By
from reverie.usecases.put import NewText, put_texts
from support.stores import AT, after, opened, write

PATH = "facts/user.md"
ONE = "# User Facts\n\n- Name: Ada #who\n- Role: engineer\n- Updated: 2026-11-20\n"


class Notes:
    """A store, and helpers to write documents and read memories."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._ids = count(1)

    def put(self, texts: Mapping[str, str | None], author: Any = "person", at: str = AT, **more: Any) -> list[str]:
        """Write texts, and return the paths that changed."""

        def body(writer: Writer) -> list[str]:
            given = {path: None if text is None else NewText(text) for path, text in texts.items()}
            return put_texts(writer, given, By("", "", author, lambda kind: f"{kind}_{next(self._ids)}"), **more)

        return list(write(self.store, body, at=at).value)

    def memories(self) -> dict[str, dict[str, Any]]:
        """Return every memory by its content."""
        with self.store.reader("default") as reader:
            return {held["content"]: held for _, held in reader.scan(Kind.MEMORY)}

    def document(self, path: str = PATH) -> dict[str, Any] | None:
        """Return the record of a document, or None."""
        with self.store.reader("default") as reader:
            return reader.get(Kind.DOCUMENT, (path,))


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    """Yield a store with one document."""
    with opened(tmp_path / "store") as store:
        made = Notes(store)
        made.put({PATH: ONE})
        yield made


def test_what_is_the_same_is_not_written(notes: Notes) -> None:
    """Writing an equal text makes no operation and no event."""
    with notes.store.reader("default") as reader:
        before = reader.operation(), reader.last_seq(Kind.EVENT)
    assert notes.put({PATH: ONE}) == []
    with notes.store.reader("default") as reader:
        assert (reader.operation(), reader.last_seq(Kind.EVENT)) == before


def test_a_block_that_comes_back_is_the_one_that_went(notes: Notes) -> None:
    """A block that comes back within thirty days gets its old id, author and creation time, later a new id."""
    before = notes.memories()["Role: engineer"]
    without = ONE.replace("- Role: engineer\n", "")
    notes.put({PATH: without}, author="agent", at=after(1))
    assert "Role: engineer" not in notes.memories()
    notes.put({PATH: ONE}, author="agent", at=after(20))
    assert notes.memories()["Role: engineer"] == before

    notes.put({PATH: without}, at=after(21))
    notes.put({PATH: ONE}, at=after(60))
    assert notes.memories()["Role: engineer"]["id"] != before["id"]


def test_a_block_moves_between_documents_with_its_history(notes: Notes) -> None:
    """A block moved in one write keeps its id and author, also if the whole document is renamed."""
    before = notes.memories()
    notes.put({PATH: ONE.replace("- Role: engineer\n", ""), "facts/work.md": "- Role: engineer\n"}, author="agent")
    moved = notes.memories()["Role: engineer"]
    assert (moved["id"], moved["document"], moved["trust"]) == (
        before["Role: engineer"]["id"],
        "facts/work.md",
        "person",
    )

    notes.put({"facts/work.md": None, "facts/job.md": "- Role: engineer\n"})
    assert notes.memories()["Role: engineer"]["id"] == moved["id"]
    assert notes.document("facts/work.md") is None


def test_ids_and_records_that_the_caller_made_are_taken(notes: Notes) -> None:
    """Ids and records that the caller passes are stored with their provenance."""
    record = MemoryRecord(
        id="mem_mine",
        type=MemoryType.FACT,
        content="",
        tags=(),
        document="",
        created_at=AT,
        updated_at=AT,
        provenance={"thread": "thr_1"},
    )

    def body(writer: Writer) -> None:
        put_texts(
            writer,
            {"facts/skills.md": NewText("- Can dive\n", ["mem_mine"])},
            ENGINE,
            records={"mem_mine": record},
        )

    write(notes.store, body)
    dive = notes.memories()["Can dive"]
    assert (dive["id"], dive["type"], dive["trust"]) == ("mem_mine", "skill", "engine")
    assert dive["provenance"] == {"thread": "thr_1"}


def test_each_block_is_a_memory(notes: Notes) -> None:
    """Each block becomes a memory with type, tags, document and author; the day line becomes none."""
    found = notes.memories()

    assert set(found) == {"Name: Ada", "Role: engineer"}
    ada = found["Name: Ada"]
    assert (ada["type"], ada["tags"], ada["document"], ada["trust"]) == ("fact", ["who"], PATH, "person")
    record = notes.document()
    assert record is not None
    assert record["ids"] == [held["id"] for held in found.values()]
    assert (record["version"], record["size"], record["updatedAt"]) == (1, len(ONE), AT)


def test_an_edit_changes_its_memory_and_no_other(notes: Notes) -> None:
    """An edited block gets a new author; the record of the block beside it is not written."""
    before = notes.memories()
    notes.put({PATH: ONE.replace("engineer", "engineer and pilot")}, author="agent", at=after(1))
    now = notes.memories()

    assert now["Name: Ada"] == before["Name: Ada"]
    pilot = now["Role: engineer and pilot"]
    assert pilot["id"] == before["Role: engineer"]["id"]
    assert (pilot["trust"], pilot["updated_at"], pilot["created_at"]) == ("agent", after(1), AT)


def test_a_document_goes_with_its_memories(notes: Notes) -> None:
    """Deleting a document deletes its memories; the history has the deletion, and an event the next version."""
    names = [held["id"] for held in notes.memories().values()]
    assert notes.put({PATH: None}) == [PATH]
    assert notes.memories() == {}
    with notes.store.reader("default") as reader:
        assert [version.value is None for version in reader.history(Kind.MEMORY, (names[0],))] == [False, True]
        events = [event["data"] for _, event in reader.scan(Kind.EVENT) if event["type"] == "workspace.updated"]
    assert [event["version"] for event in events] == [1, 2]
    assert notes.put({PATH: None}) == []
