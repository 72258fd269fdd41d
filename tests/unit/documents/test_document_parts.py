"""Tests of the numbered parts of long documents: their names, and which part takes new memories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.documents.layout import type_by_name
from reverie.documents.parts import PART_BYTES_MAX, PART_ITEMS_MAX, is_full, next_part, numbered, open_part, room
from reverie.models import MemoryType


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("facts/project.md", ("facts/project.md", 1)),
        ("facts/project-2.md", ("facts/project.md", 2)),
        ("facts/project-31.md", ("facts/project.md", 31)),
        ("facts/project-1.md", ("facts/project-1.md", 1)),
        ("facts/project-02.md", ("facts/project-02.md", 1)),
        ("episodes/2026-11.md", ("episodes/2026-11.md", 1)),
        ("episodes/2026-11-2.md", ("episodes/2026-11.md", 2)),
        ("episodes/harbour-2026-11.md", ("episodes/harbour-2026-11.md", 1)),
        ("episodes/harbour-2026-11-2.md", ("episodes/harbour-2026-11.md", 2)),
        ("episodes/harbour-2-2026-11.md", ("episodes/harbour-2-2026-11.md", 1)),
    ],
)
def test_the_number_of_a_part_is_in_its_name(path: str, expected: tuple[str, int]) -> None:
    assert numbered(path) == expected


def _open(path: str, there: dict[str, bool]) -> str:
    """Return the document that takes new memories in place of `path`; `there` says of each document if it is full."""
    return open_part(path, there.__contains__, there.__getitem__)


def test_a_number_of_another_meaning_is_no_part() -> None:
    assert _open("facts/iso-9001.md", {"facts/iso-9001.md": True}) == "facts/iso-9001-2.md"
    assert _open("episodes/2026-11.md", {"episodes/2026-10.md": True, "episodes/2026-11.md": True}) == (
        "episodes/2026-11-2.md"
    )
    assert next_part("facts/project-2.md", {"facts/project.md"}.__contains__) == "facts/project-3.md"


def test_a_document_with_room_is_its_own_part() -> None:
    assert _open("facts/project.md", {}) == "facts/project.md"
    assert _open("facts/project.md", {"facts/project.md": False, "facts/project-2.md": False}) == "facts/project.md"


@given(parts=st.integers(1, 70), last_full=st.booleans(), asked=st.integers(1, 70))
def test_the_newest_part_is_found(parts: int, *, last_full: bool, asked: int) -> None:
    """New memories go into the last part of a document, or into a new part if that is full."""
    names = ["facts/project.md", *(f"facts/project-{number}.md" for number in range(2, 80))]
    there = dict.fromkeys(names[:parts], True)
    there[names[parts - 1]] = last_full
    assert _open(names[min(asked, parts) - 1], there) == names[parts if last_full else parts - 1]


def test_a_document_is_full_by_its_bytes_or_memories() -> None:
    assert is_full(PART_BYTES_MAX, 3)
    assert is_full(500, PART_ITEMS_MAX)
    assert not is_full(PART_BYTES_MAX - 1, PART_ITEMS_MAX - 1)
    assert room(PART_BYTES_MAX - 100, 3, [60, 60, 60]) == 2
    assert room(0, PART_ITEMS_MAX - 2, [60, 60, 60]) == 2
    assert room(PART_BYTES_MAX, 3, [60]) == 1


def test_a_later_part_has_the_type_of_the_first() -> None:
    assert type_by_name("facts/preferences-2.md") is MemoryType.PREFERENCE
    assert type_by_name("facts/preferences-b.md") is MemoryType.FACT
