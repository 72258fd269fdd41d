"""Caches of what was made of texts have a number of bytes at most, whatever the texts, and are emptied together."""

from __future__ import annotations

import gc
import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from reverie import words as reverie_words
from reverie.consolidate import statements as statement_comparison_and_merging
from reverie.context import tokens
from reverie.documents import parse
from reverie.sync import unseen_lines
from reverie.text_caches import clear_text_caches, text_cache
from reverie.usecases import parts

if TYPE_CHECKING:
    from collections.abc import Callable

BYTES_MAX = 200_000


def text_of(pick: random.Random, words: int) -> str:
    """Return a text of made-up words."""
    return " ".join("".join(pick.choices("etaoinshrdlu", k=pick.randint(3, 9))) for _ in range(words))


def traced(work: Callable[[], object]) -> tuple[int, int]:
    """Return the bytes that Python has allocated during a call and not freed, and the most that it had at a time."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()


def test_a_text_is_made_once_until_the_caches_are_cleared() -> None:
    """A text cache computes each text once for the same arguments, until the caches are cleared."""
    calls = []

    @text_cache(bytes_max=BYTES_MAX, entry_bytes=100, char_bytes=1)
    def doubled(text: str, times: int) -> str:
        calls.append(text)
        return text * times

    assert [doubled("a", 2), doubled("a", 2), doubled("b", 2), doubled("a", 3)] == ["aa", "aa", "bb", "aaa"]
    assert calls == ["a", "b", "a"]
    clear_text_caches()
    assert doubled("a", 2) == "aa"
    assert calls == ["a", "b", "a", "a"]


@pytest.mark.parametrize("length", [1, 100, 5_000])
def test_a_cache_never_has_more_than_its_bytes(length: int) -> None:
    """A text cache stays within its bytes, for short texts and for long ones."""

    @text_cache(bytes_max=BYTES_MAX, entry_bytes=250, char_bytes=3)
    def doubled(text: str) -> str:
        return text + text[:-1]

    def fill() -> None:
        for number in range(4 * BYTES_MAX // (250 + length)):
            doubled(f"{number:0{length}}")

    assert BYTES_MAX / 2 < traced(fill)[1] < 1.3 * BYTES_MAX


def test_one_text_beyond_the_bound_is_the_only_one() -> None:
    """A text larger than the whole cache is kept alone, and is dropped by the next one."""
    doubled = text_cache(bytes_max=BYTES_MAX, entry_bytes=100, char_bytes=1)(lambda text: text + text[:-1])

    def fill() -> None:
        doubled("x" * 10 * BYTES_MAX)
        doubled("y")

    assert traced(fill)[0] < BYTES_MAX


CACHES: dict[str, tuple[Callable[[str], object], int, int]] = {
    "statements": (statement_comparison_and_merging.parse_statement, 1_300, 12),
    "words": (lambda text: reverie_words._classify(text.replace(" ", "")), 200, 4),
    "pairs of words": (unseen_lines._pairs_of, 200, 18),
    "lines": (unseen_lines._has_word, 150, 2),
    "contents": (parse._content, 150, 2),
    "lines of parts": (parts._hash, 150, 2),
    "token counts": (tokens._counted, 150, 2),
}


@pytest.mark.parametrize("name", CACHES)
@pytest.mark.parametrize("words", [5, 15])
def test_an_entry_is_as_large_as_it_is_said_to_be(name: str, words: int) -> None:
    """The bytes that a cache counts for its entries are about those that they take."""
    make, entry_bytes, char_bytes = CACHES[name]
    pick = random.Random(words)
    texts = [text_of(pick, words) for _ in range(60)]
    for text in texts:  # of the words, which have a cache of their own
        reverie_words.analyze(text)
    make(text_of(pick, words))
    counted = sum(entry_bytes + char_bytes * len(text) for text in texts)

    def fill() -> None:
        for text in texts:
            make(f"{text} ".strip())

    kept, _ = traced(fill)
    assert counted / 4 < kept < 1.5 * counted, (kept / 60, counted / 60)
