"""Hits of several lists as one: the best of each first, and nothing said twice."""

from __future__ import annotations

from reverie import wire
from reverie.usecases.search import joined


def hit(kind: str, document: str | None = None, passage: str = "") -> wire.SearchHit:
    """Return a hit of this kind."""
    return wire.SearchHit(kind=kind, passage=passage, score=1.0, why="", document=document)  # type: ignore[arg-type]


def test_a_section_is_left_out_beside_its_memory() -> None:
    """Sections of a document with a memory among the hits are left out, and so are those of MEMORY.md."""
    memories = [hit("memory", "facts/user.md")]
    sections = [hit("document", path) for path in ("MEMORY.md", "facts/user.md", "guides/animals.md")]
    messages = [hit("message", passage="moo"), hit("message", passage="baa")]
    kept = joined([messages, memories, sections], 9)
    assert [(each.kind, each.document or each.passage) for each in kept] == [
        ("message", "moo"),
        ("memory", "facts/user.md"),
        ("message", "baa"),
        ("document", "guides/animals.md"),
    ]


def test_without_a_memory_every_section_stays() -> None:
    """Without memories among the hits all sections stay, those of MEMORY.md too; a single list is only cut."""
    sections = [hit("document", "MEMORY.md"), hit("document", "a.md")]
    assert joined([[], sections], 9) == sections
    assert joined([sections], 1) == sections[:1]
