"""The index of an earlier thread stays the same text for as long as it is true, and names nothing that is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.documents import DocumentEntry
from reverie.store import DocumentRecord, ThreadRecord
from reverie.usecases.opening_index import current_index
from reverie.usecases.projections import index_text
from reverie.usecases.put import sha256
from support.stores import AT, SPACE, opened, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reverie.store import Store, Writer

GATE, TIDE = "facts/gate.md", "facts/tide.md"
BEFORE = {
    GATE: ("Gate key: brass", "- Gate colour: green\n- Gate key: brass\n"),
    TIDE: ("Tide: high", "- Tide: high\n"),
}


def put(store: Store, documents: Mapping[str, tuple[str, str] | None]) -> None:
    """Store documents with these summaries and texts; None deletes one."""

    def body(writer: Writer) -> None:
        for path, given in documents.items():
            if given is None:
                writer.delete(DocumentRecord.KIND, (path,))
                continue
            summary, text = given
            record = DocumentRecord(
                path=path, content=text, sha256=sha256(text), size=len(text), version=1, summary=summary, updated_at=AT
            )
            writer.save(record, (path,))

    write(store, body)


def shown(store: Store) -> str:
    """Return the index of a thread that was opened with the first documents, as a context has it now."""
    entries = [DocumentEntry(path, len(text), summary) for path, (summary, text) in BEFORE.items()]
    thread = ThreadRecord(id="thread", index=index_text(entries), created_at=AT, updated_at=AT)
    with store.reader(SPACE) as reader:
        return current_index(reader, thread) or ""


@pytest.mark.parametrize(
    ("now", "says", "hides"),
    [
        ({}, ["B): Gate key: brass", "- facts/tide.md (13B): Tide: high"], []),
        ({TIDE: ("Moon: new", "- Tide: high\n- Moon: new\n")}, ["- facts/tide.md (13B): Tide: high\n"], ["Moon"]),
        (
            {GATE: ("Gate colour: green", "> Summary: Gate key: brass\n\n- Gate colour: green\n")},
            ["B): Gate colour: green\n", "Tide"],
            ["brass"],
        ),
        (
            {GATE: ("Who opens", "- Gate colour: brass\n- Gate key: green\n")},  # its words are there, and it is not
            ["Who opens"],
            ["brass"],
        ),
        ({TIDE: None}, ["Gate key", "Available memory:", "memory_read"], ["Tide"]),
    ],
)
def test_what_is_gone(
    now: dict[str, tuple[str, str] | None], says: list[str], hides: list[str], tmp_path: Path
) -> None:
    """A deleted document's line goes, a line whose sentence is gone is today's, and every other stays as it was."""
    with opened(tmp_path / "store") as store:
        put(store, BEFORE)
        before = shown(store)
        put(store, now)
        text = shown(store)
        assert [part for part in says if part not in text] == []
        assert [part for part in hides if part in text] == []
        assert now or text == before


def test_nothing_is_left(tmp_path: Path) -> None:
    """An index without documents is none."""
    with opened(tmp_path / "store") as store:
        put(store, BEFORE)
        put(store, dict.fromkeys(BEFORE))
        assert shown(store) == ""
