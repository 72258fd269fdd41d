"""A filtered search equals the filtered result of a search; an index built at once equals one built step by step."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.models import Memory, MemoryType
from support.corpus import Corpus, build_index
from support.soak import count

AT = "2026-01-01T00:00:00.000Z"
WORDS = ("parser", "lexer", "tests", "retry", "src/parse.py")
TAGS = ("parser", "type", "fact", "a:b", "tag:parser", "")
EVERYTHING = 1_000_000
"""More than any limit and budget of a test needs."""


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    """Return a strategy for memories of a few words, under one of nine ids."""
    tags = draw(st.lists(st.sampled_from(TAGS), max_size=3))
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
    kind = draw(st.sampled_from(MemoryType))
    return Memory(f"m{draw(st.integers(0, 8))}", kind, " ".join(words), tuple(tags), "facts/user.md", AT, AT)


def passes(memory: Memory, types: Collection[MemoryType] | None, tags: Collection[str] | None) -> bool:
    """Return True if a memory passes the filters, written out plainly."""
    return (types is None or memory.type in types) and (tags is None or set(tags) <= set(memory.tags))


@settings(max_examples=count(120, 20_000), deadline=None)
@given(
    stored=st.lists(memories(), max_size=14),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    types=st.none() | st.lists(st.sampled_from(MemoryType), max_size=4),
    tags=st.none() | st.lists(st.sampled_from(TAGS), max_size=3),
    limit=st.integers(1, 5),
)
def test_a_filtered_search_is_the_filtered_result(
    stored: list[Memory],
    query: str,
    types: list[MemoryType] | None,
    tags: list[str] | None,
    limit: int,
) -> None:
    """A filtered search returns the first `limit` hits of the unfiltered one that pass the filter."""
    corpus = build_index(stored)
    every = corpus.search(query, EVERYTHING, EVERYTHING)

    hits = corpus.search(query, limit, EVERYTHING, types=types, tags=tags)

    assert hits == [hit for hit in every if passes(hit.memory, types, tags)][:limit]


@settings(max_examples=count(60, 10_000), deadline=None)
@given(stored=st.lists(memories(), max_size=14), removed=st.sets(st.integers(0, 8)))
def test_add_many_equals_adding_one_by_one(stored: list[Memory], removed: set[int]) -> None:
    """An index built at once finds the same memories as one built one by one, also after removals."""
    at_once, one_by_one = build_index(stored), Corpus()
    for memory in stored:
        one_by_one.add(memory)
    for number in removed:
        at_once.remove(f"m{number}")
        one_by_one.remove(f"m{number}")

    assert len(at_once) == len(one_by_one)
    for word in WORDS:
        assert at_once.search(word, tags=["parser"]) == one_by_one.search(word, tags=["parser"])
        assert at_once.search(word, EVERYTHING) == one_by_one.search(word, EVERYTHING)
