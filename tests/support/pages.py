"""Paginated lists, messages among them, the newest operation, and calls of tools, as clients get them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from reverie import wire
from reverie.client import Client

T_co = TypeVar("T_co", covariant=True)

PAGES_MAX = 10_000
"""More pages than any test has: a list that goes on is one that never ends."""


class Page(Protocol[T_co]):
    """A page of a list, with the cursor of the next one."""

    @property
    def items(self) -> Sequence[T_co]: ...

    @property
    def next(self) -> str | None: ...


def page(*items: Any, next_: str | None = None) -> dict[str, Any]:
    """Return a page as the daemon answers it."""
    return {"items": list(items), "next": next_}


def all_items(list_page: Callable[..., Page[T_co]], limit: int, **query: Any) -> list[T_co]:
    """Return all items of a list, read in pages of at most `limit`."""
    items: list[T_co] = []
    after: str | None = None
    for _ in range(PAGES_MAX):
        part = list_page(limit=limit, after=after, **query)
        assert len(part.items) <= limit
        items += part.items
        after = part.next
        if after is None:
            return items
    raise AssertionError("the list does not end")


def stored_messages(client: Client, thread: str, *, limit: int = 1000) -> list[tuple[str, Any]]:
    """Return role and content of every stored message of a thread."""
    return [(message.role, message.content) for message in all_items(partial(client.messages, thread), limit)]


def result_of(client: Client, name: str, thread: str | None = None, **fields: Any) -> Any:
    """Return the result of a tool call that succeeds; its JSON decoded, where it is not the text of a file."""
    answer = client.call_tool(name, fields, thread=thread)
    assert not answer.is_error, answer.content
    assert answer.content.strip()
    return answer.content if name == "memory_read" else json.loads(answer.content)


def refused(client: Client, name: str, thread: str | None = None, **fields: Any) -> str:
    """Return the error text of a tool: short, and without HTTP terms."""
    answer = client.call_tool(name, fields, thread=thread)
    assert answer.is_error, answer.content
    assert 0 < len(answer.content) < 600
    assert not any(word in answer.content for word in ("GET ", "POST ", "ETag", "/v1/", "Content-Type"))
    return answer.content


LIST = "memory.list"  # MEMORY.md follows every change of the documents, once all has been quiet for a second


def newest_operation(client: Client) -> wire.Operation:
    """Return the newest operation that a caller made."""
    return next(operation for operation in client.operations(limit=10).items if operation.why != LIST)
