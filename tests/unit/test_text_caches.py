"""Caches of what was made of texts have a number of bytes at most, whatever the texts, and are emptied together."""

from __future__ import annotations

import gc
import os
import tracemalloc
from collections.abc import Callable

import pytest

from reverie.text_caches import clear_text_caches, text_cache
from reverie.tokenizer import count
from reveried.linux import release_memory
from support.daemon import status_bytes

BYTES_MAX = 200_000


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


def test_the_core_gives_its_working_memory_back() -> None:
    """What the native core keeps of the words that it counted, two megabytes and more, goes with the caches."""
    text = " ".join(f"word{number}" for number in range(200_000))
    count(text)
    release_memory()
    counted = status_bytes(os.getpid(), "RssAnon")
    clear_text_caches()
    release_memory()
    assert counted - status_bytes(os.getpid(), "RssAnon") > 2_000_000
