"""Tests of projections: the exact text of the index, its limits, and both JSON files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from reverie import tokenizer
from reverie.documents.index import (
    ArchiveEntry,
    DocumentEntry,
    index_text,
    long_term_memory,
    long_term_memory_bytes_max,
    memory_index,
    size_text,
)
from reverie.models import Memory, MemoryType

ENTRIES = [
    DocumentEntry("episodes/2026-01.md", 900, "queue age fix"),
    DocumentEntry("facts/project.md", 210, "broker, release"),
    DocumentEntry("notes/a (b).md", 5, ""),
    DocumentEntry("episodes/2026-02.md", 1229, "settings file"),
    DocumentEntry("facts/zebras.md", 5 * 1024 * 1024, "stripes"),
    DocumentEntry("facts/user.md", 320, "name,\nrole"),
]
MANY = [DocumentEntry(f"facts/topic-{n:03}.md", n, "word " * 30) for n in range(400)]


def test_the_index_text() -> None:
    """The index text lists facts in document order, then episodes newest first, a line each with its size."""
    assert index_text(ENTRIES) == (
        "Available memory:\n"
        "- facts/user.md (320B): name, role\n"
        "- facts/project.md (210B): broker, release\n"
        "- facts/zebras.md (5.0MB): stripes\n"
        "- episodes/2026-02.md (1.2KB): settings file\n"
        "- episodes/2026-01.md (900B): queue age fix\n"
        "- notes/a (b).md (5B)\n"
        "\n"
        "Use memory_read to load relevant files before responding."
    )


def test_the_index_text_fits_a_budget() -> None:
    """The last documents are left out first; header and footer stay even when no document fits."""
    text = index_text(MANY, lambda candidate: tokenizer.fits(candidate, 1000))
    assert tokenizer.count(text) <= 1000
    assert text.startswith("Available memory:\n- facts/topic-000.md")
    least = index_text(ENTRIES, lambda _: False)
    assert least.splitlines()[1] == "- … and 6 more: memory_list names them all"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0B"), (1023, "1023B"), (1024, "1.0KB"), (1229, "1.2KB"), (1_500_000, "1.4MB")]
)
def test_size_format(size: int, text: str) -> None:
    """Sizes below a kilobyte in bytes, larger ones with one decimal."""
    assert size_text(size) == text


def test_the_machine_index() -> None:
    """The JSON index has the specified fields, is deterministic, and lists archives oldest first."""
    archives = [
        ArchiveEntry("a" * 64, "2026-02-01T23:00:00.000Z", 7),
        ArchiveEntry("b" * 64, "2026-02-02T23:00:00.000Z", 3),
    ]
    data = memory_index(ENTRIES[1:2], archives, updated_at="2026-02-02T23:00:00.000Z")
    assert json.loads(data) == {
        "version": 1,
        "archiveChecksum": "b" * 64,
        "entryCount": 3,
        "updatedAt": "2026-02-02T23:00:00.000Z",
        "archives": [
            {"sha256": "a" * 64, "at": "2026-02-01T23:00:00.000Z", "entries": 7},
            {"sha256": "b" * 64, "at": "2026-02-02T23:00:00.000Z", "entries": 3},
        ],
        "documents": [{"path": "facts/project.md", "size": 210, "summary": "broker, release"}],
    }
    assert memory_index(ENTRIES[::-1], archives, updated_at=None) == memory_index(ENTRIES, archives, updated_at=None)
    assert json.loads(memory_index([], [], updated_at=None))["archiveChecksum"] is None


GOLDEN = Path(__file__).parent / "golden"
DAY = "2026-02-20T08:00:00.000Z"
MEMORIES = [
    Memory("mem_0", MemoryType.FACT, "Name: Ada Moreau", (), "facts/user.md", DAY, DAY),
    Memory("mem_1", MemoryType.FACT, "Role: maintains the ingest service", ("work",), "facts/user.md", DAY, DAY),
]


def test_long_term_memory_equals_the_golden_file() -> None:
    """`long_term_memory` equals the golden file, whatever the order and the access counts of the memories."""
    expected = (GOLDEN / "long-term-memory.json").read_bytes()
    assert long_term_memory(MEMORIES) == expected
    read_often = [replace(item, access_count=9, last_accessed_at=DAY) for item in MEMORIES[::-1]]
    assert long_term_memory(read_often) == expected


@pytest.mark.parametrize(
    "content", ["", "short", "\x00\x01\x1f" * 400, '\\"' * 400, "港口" * 400, "🛳" * 400, "\u2028\x7f" * 400]
)
def test_the_size_of_the_memories_has_a_bound(content: str) -> None:
    """The projection of the memories is never longer than `long_term_memory_bytes_max` computes."""
    long = replace(MEMORIES[1], content=content, tags=(content[:9], "a", "b"), id="mem_" + "x" * 26)
    for memories in ([], [long], [long] * 30, MEMORIES):
        assert len(long_term_memory(memories)) <= long_term_memory_bytes_max(memories)
