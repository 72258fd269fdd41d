"""Caches of what functions make of texts, bounded by their bytes, and emptied by a process that has been busy.

An `lru_cache` is bounded by the number of its entries alone: filled with long texts it takes any number of megabytes,
and a process that lives for months fills all of its caches with what was looked at once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_clears: list[Callable[[], None]] = []


def text_cache(
    *, bytes_max: int, entry_bytes: int, char_bytes: int
) -> Callable[[Callable[Concatenate[str, P], R]], Callable[Concatenate[str, P], R]]:
    """Return a decorator that keeps the results of a function by its arguments, the first of which is a text.

    An entry is taken to have `entry_bytes`, and `char_bytes` for each character of its text. Where a new one would
    exceed `bytes_max`, all before it are dropped, so there are never more, but for one text that alone has more. The
    arguments must be hashable; threads may call the function at the same time.
    """

    def decorate(make: Callable[Concatenate[str, P], R]) -> Callable[Concatenate[str, P], R]:
        used = 0

        def made(text: str, *args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal used
            size = entry_bytes + char_bytes * len(text)
            if used + size > bytes_max:
                clear()
            used += size
            return make(text, *args, **kwargs)

        kept = lru_cache(maxsize=None)(made)  # a hit costs no more than a look-up: bytes are counted where one is made

        def clear() -> None:
            nonlocal used
            kept.cache_clear()
            used = 0

        _clears.append(clear)
        return cast("Callable[Concatenate[str, P], R]", kept)

    return decorate


def clear_text_caches() -> None:
    """Drop every entry of every cache, those of the native core too: they are made again where they are needed."""
    for clear in _clears:
        clear()
    _native.clear_pools()
