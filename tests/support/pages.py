"""Lists that come in pages: what a daemon answers, and all of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["page", "turned"]

T_co = TypeVar("T_co", covariant=True)

PAGES_MAX = 10_000
"""More pages than any test has: a list that goes on is one that never ends."""


class Page(Protocol[T_co]):
    """A part of a list, and where the next one begins."""

    @property
    def items(self) -> Sequence[T_co]: ...

    @property
    def next(self) -> str | None: ...


def page(*items: Any, next_: str | None = None) -> dict[str, Any]:
    """A page as the daemon answers it."""
    return {"items": list(items), "next": next_}


def turned(listed: Callable[..., Page[T_co]], limit: int, **asked: Any) -> list[T_co]:
    """All that `listed` gives, page after page, none of them longer than `limit`."""
    found: list[T_co] = []
    after: str | None = None
    for _ in range(PAGES_MAX):
        part = listed(limit=limit, after=after, **asked)
        assert len(part.items) <= limit
        found += part.items
        after = part.next
        if after is None:
            return found
    raise AssertionError("the list does not end")
