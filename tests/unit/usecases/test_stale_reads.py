"""Tests that a caller cannot replace words that a person saved after the caller read them: it gets a Conflict."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Literal

import pytest

from reverie.errors import Conflict
from reverie.store import DocumentRecord, MemoryRecord, Store, Writer
from reverie.sync.plan import ConflictCopy, ConflictRegion
from reverie.usecases import conflicts, memories
from reverie.usecases.by import By
from reverie.usecases.put import NewText, blocks_of, put_texts
from support.stores import AT, opened, write

PATH, BESIDE = "facts/user.md", "facts/user.sync-conflict-20261121-093000-abc123.md"
MINE, OTHER = "- Role: pilot\n- Name: Ada\n", "- Role: cook\n- Name: Ada\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield a store with one document in conflict, and its conflict copy."""
    with opened(tmp_path / "store") as made:
        saves(made, {PATH: MINE, BESIDE: OTHER})
        region = ConflictRegion("- Role: pilot\n", "- Role: cook\n", 0)
        write(
            made,
            lambda writer: conflicts.open_(writer, ConflictCopy(PATH, BESIDE, OTHER, (region,)), "cnf_1", AT),
        )
        yield made


def saves(store: Store, texts: dict[str, str]) -> None:
    """Write texts as a person."""
    ids = count(1)

    def body(writer: Writer) -> list[str]:
        given = {path: NewText(text) for path, text in texts.items()}
        return put_texts(writer, given, By("", "", "person", lambda kind: f"{kind}_{writer.number}_{next(ids)}"))

    write(store, body)


def text(store: Store, path: str = PATH) -> str | None:
    with store.reader("default") as reader:
        document = reader.load(DocumentRecord, (path,))
    return "" if document is None else document.content


def test_a_memory_that_says_something_else_by_now_is_left_alone(store: Store) -> None:
    """Changing or deleting a memory is refused if its words changed since they were read; read again, it is changed."""
    with store.reader("default") as reader:
        [memory_id] = [held for held, _ in _blocks(store) if "pilot" in memories.get(reader, held).content]
        seen = memories.get(reader, memory_id)
    saves(store, {PATH: MINE.replace("pilot", "pilot and baker")})

    def change(seen: MemoryRecord) -> None:
        by = By("default", "x", seen=seen)
        write(store, lambda writer: memories.change(writer, by, memory_id, content="Role: none"))

    with pytest.raises(Conflict, match="changed just now"):
        change(seen)
    with pytest.raises(Conflict, match="changed just now"):
        write(store, memories.forget, By("default", "x", seen=seen), memory_id)
    assert "pilot and baker" in str(text(store))

    with store.reader("default") as reader:
        seen = memories.get(reader, memory_id)
    saves(store, {PATH: MINE.replace("pilot", "pilot and baker").replace("Ada", "Eve")})
    change(seen)
    assert "Role: none" in str(text(store))
    assert "Eve" in str(text(store))


def _blocks(store: Store) -> list[tuple[str, str]]:
    with store.reader("default") as reader:
        held = reader.load(DocumentRecord, (PATH,))
    assert held is not None
    return blocks_of(held)


@pytest.mark.parametrize("keep", ["file", "store", "both"])
def test_what_a_person_wrote_into_a_conflict_copy_counts(store: Store, keep: Literal["file", "store", "both"]) -> None:
    """An edited conflict copy is part of the store's side, and must have been read to resolve the conflict."""
    ids = count(1)

    def resolve(seen: tuple[str, str]) -> None:
        by = By("default", "x", "person", lambda kind: f"{kind}_new_{next(ids)}", seen=seen)
        write(store, lambda writer: conflicts.resolve(writer, by, "cnf_1", keep=keep))

    saves(store, {BESIDE: OTHER + "- Motto: never give in\n"})
    with pytest.raises(Conflict, match="changed just now"):
        resolve((MINE, OTHER))
    assert "never give in" in str(text(store, BESIDE))

    resolve((MINE, OTHER + "- Motto: never give in\n"))
    found = str(text(store))
    assert ("never give in" in found) == (keep != "file")
    assert ("Role: pilot" in found) == (keep != "store")
    assert ("Role: cook" in found) == (keep != "file")
    assert text(store, BESIDE) == ""
