"""Tests of consolidation over a store: only the blocks it changes are edited, and later changes make a plan stale."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.errors import Conflict
from reverie.models import Candidate, Delete, MemoryType
from reverie.redact import Redactor
from reverie.store import ForgottenRecord, Kind, Store, Writer
from reverie.usecases import consolidation
from reverie.usecases.by import By
from reverie.usecases.consolidation import MemoryPlan
from reverie.usecases.put import NewText, put_texts
from reverie.usecases.screening import decide, plan_changes
from support.stores import AT, after, opened, put, write

PREFERENCES = "facts/preferences.md"
EPISODES = "episodes/2026-11.md"
MINE = (
    "\ufeff---\nmine: 1\n---\n#  How  I like it\n\n> Summary: old\n\n<!-- keep -->\n"
    "*  Editor: vim\n*  Tabs over spaces\n\n## Later\n\n- Updated: 2020-01-01\n\nThe end"
).replace("\n", "\r\n")


def prefers(content: str) -> Candidate:
    return Candidate(MemoryType.PREFERENCE, content, at=AT)


class ConsolidationStore:
    """A store with documents, and helpers to plan and commit consolidations over it."""

    def __init__(self, base: Store) -> None:
        self.base = base
        self._ids = count(1)

    def save(self, path: str, text: str, author: Any = "person") -> None:
        """Write a document as a person, or as another author."""

        def body(writer: Writer) -> None:
            put_texts(writer, {path: NewText(text)}, By("", "", author, lambda kind: f"{kind}_{next(self._ids):03}"))

        write(self.base, body)

    def plan(self, candidates: Sequence[Candidate], day: float = 1) -> MemoryPlan:
        """Return the plan that candidates lead to, from the current store."""
        with self.base.reader("default") as reader:
            snapshot = consolidation.snapshot(reader, window=200_000)
        return decide(snapshot, candidates, redactor=Redactor([]), at=after(day), random=b"r")

    def apply(self, plan: MemoryPlan) -> Any:
        """Commit a plan and return its answer."""
        return write(self.base, lambda writer: consolidation.commit(writer, plan), at=after(1)).value

    def text(self, path: str) -> str | None:
        """Return the text of a document, or None."""
        with self.base.reader("default") as reader:
            record = reader.get(Kind.DOCUMENT, (path,))
        return None if record is None else str(record["content"])

    def memories(self) -> dict[str, dict[str, Any]]:
        """Return every memory by its content."""
        with self.base.reader("default") as reader:
            return {record["content"]: record for _, record in reader.scan(Kind.MEMORY)}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ConsolidationStore]:
    """Yield an empty store."""
    with opened(tmp_path / "store") as base:
        yield ConsolidationStore(base)


def updates_of(proposals: list[wire.Proposal]) -> list[wire.UpdateChange]:
    """Return the updates among proposed changes."""
    return [proposal.change for proposal in proposals if isinstance(proposal.change, wire.UpdateChange)]


def test_a_persons_block_is_never_changed_only_proposed(store: ConsolidationStore) -> None:
    """An update of a block that a person wrote is only proposed, and the file stays byte for byte."""
    store.save(PREFERENCES, MINE)
    plan = store.plan([prefers("Editor: emacs")])
    assert [change.content for change in updates_of(plan.proposals)] == ["Editor: emacs"]
    assert plan.documents == {}
    assert store.apply(plan).proposals == plan.proposals
    assert store.text(PREFERENCES) == MINE


def test_an_engines_block_in_a_persons_file_is_updated_in_place(store: ConsolidationStore) -> None:
    """An engine's block is updated where it is, even if a person moved it between their own blocks."""
    store.save(PREFERENCES, MINE)
    store.apply(store.plan([prefers("Language: English")]))
    moved = (store.text(PREFERENCES) or "").replace("* Language: English\r\n", "")
    moved = moved.replace("*  Editor", "+   Language: English\r\n*  Editor")
    store.save(PREFERENCES, moved)
    assert store.memories()["Language: English"]["trust"] == "engine"
    later = Candidate(MemoryType.PREFERENCE, "Language: German", at=after(2))
    store.apply(store.plan([later], day=2))
    text = store.text(PREFERENCES) or ""
    assert "<!-- keep -->\r\n+ Language: German\r\n*  Editor: vim\r\n" in text
    assert store.memories()["Language: German"]["trust"] == "engine"


def test_a_document_is_deleted_with_its_last_block(store: ConsolidationStore) -> None:
    """A document is created with its first memory and deleted with its last one."""
    store.apply(store.plan([prefers("Language: English")]))
    assert store.text(PREFERENCES) == (
        "# Preferences\n\n> Summary: Language: English\n\n- Language: English\n- Updated: 2026-11-22\n"
    )
    (memory,) = store.memories().values()
    with store.base.reader("default") as reader:
        snapshot = consolidation.snapshot(reader, window=200_000)
    store.apply(plan_changes(snapshot, [Delete(memory["id"])], at=after(1)))
    assert store.text(PREFERENCES) is None
    assert store.memories() == {}


def test_a_plan_is_stale_once_any_byte_of_its_document_changed(store: ConsolidationStore) -> None:
    """A plan is stale after any change of its document, even of a comment, but not of other documents."""
    store.save(PREFERENCES, MINE)
    plan = store.plan([prefers("Language: English")])
    commented = MINE.replace("keep", "keep all of this")
    store.save(PREFERENCES, commented)
    with pytest.raises(Conflict) as refused:
        store.apply(plan)
    assert refused.value.details["stale"] is True
    assert store.text(PREFERENCES) == commented
    fresh = store.plan([prefers("Prefers dark themes")])
    store.save("facts/mistakes.md", "no memory yet\n")
    store.apply(fresh)
    assert "- " not in (store.text("facts/mistakes.md") or "")
    assert "dark themes" in (store.text(PREFERENCES) or "")


def test_a_document_created_meanwhile_is_not_overwritten(store: ConsolidationStore) -> None:
    """A plan that creates a document is stale if the document exists by now, even without memories."""
    plan = store.plan([prefers("Language: English")])
    store.save(PREFERENCES, "# Mine\n")
    with pytest.raises(Conflict):
        store.apply(plan)
    assert store.text(PREFERENCES) == "# Mine\n"


def test_an_episode_goes_beside_an_open_fence(store: ConsolidationStore) -> None:
    """An episode goes into a numbered document if the file ends within an open code fence or HTML block."""
    store.save(EPISODES, "```\ncode\n")
    store.save("episodes/2026-11-2.md", "<pre>\n")
    tale = Candidate(MemoryType.EPISODE, "Walked </pre> far", title="A walk", at=AT)
    store.apply(store.plan([tale, prefers("Language: English")]))
    assert store.text(EPISODES) == "```\ncode\n"
    assert store.text("episodes/2026-11-2.md") == "<pre>\n"
    found = store.memories()
    assert {memory["document"] for memory in found.values()} == {"episodes/2026-11-3.md", PREFERENCES}
    assert "## A walk\n" in (store.text("episodes/2026-11-3.md") or "")


def test_a_memory_missing_in_its_document_is_added_to_it(store: ConsolidationStore) -> None:
    """A memory without a block in its document is added to it when it changes, and deleted without an edit."""
    store.save(PREFERENCES, "- Language: English\n", author="engine")
    (memory,) = store.memories().values()
    for name, content in (("mem_lost", "Editor: vim"), ("mem_gone", "Shell: fish")):
        put(store.base, Kind.MEMORY, (name,), {**memory, "id": name, "content": content})
    later = Candidate(MemoryType.PREFERENCE, "Editor: emacs", at=after(2))
    plan = store.plan([later], day=2)
    store.apply(plan)
    assert store.text(PREFERENCES) == "- Language: English\n- Editor: emacs\n"
    with store.base.reader("default") as reader:
        snapshot = consolidation.snapshot(reader, window=200_000)
    gone = plan_changes(snapshot, [Delete("mem_gone")], at=after(1))
    assert gone.documents == {}
    store.apply(gone)
    assert set(store.memories()) == {"Language: English", "Editor: emacs"}


def test_forgotten_statements_take_few_bytes(tmp_path: Path) -> None:
    """A snapshot of many forgotten statements has them compressed, and takes less memory than their records."""
    stored = [
        ForgottenRecord(
            sha256=f"{number:064}",
            memory=f"mem_{number}",
            content=f"Rule {number} of the harbour",
            type=MemoryType.FACT,
            by="me",
            at=AT,
        )
        for number in range(2_000)
    ]

    def body(writer: Writer) -> None:
        for record in stored:
            writer.save(record, (record.sha256,))

    with opened(tmp_path / "store") as store:
        write(store, body)
        with store.reader("default") as reader:
            consolidation.snapshot(reader, window=200_000)
            tracemalloc.start()
            try:
                snapshot = consolidation.snapshot(reader, window=200_000)
                kept, most = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()

    found = list(consolidation.forgotten_statements(snapshot))
    assert [(one.key, one.content, one.project) for one in found] == [
        (record.sha256, record.content, "") for record in stored
    ]
    assert kept < 60 * len(stored)
    assert most < 200 * len(stored)  # as records they took 600 bytes each
