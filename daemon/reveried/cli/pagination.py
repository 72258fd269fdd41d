"""Walks a list to its end, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie import wire

__all__ = ["every"]

T = TypeVar("T")


def every(page: Callable[[str | None], wire.Page[T]]) -> Iterator[T]:
    """Each item of a list whose pages `page` fetches, given the cursor of the one before."""
    after: str | None = None
    while True:
        found = page(after)
        yield from found.items
        if found.next is None:
            return
        after = found.next
