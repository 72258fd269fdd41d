"""One way to answer a list: a page of a kind's records in the order of their keys, and the cursor to go on from."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from reveried.http.call import Reply

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store import Key, Kind, Reader
    from reveried.http.call import Call

__all__ = ["page"]


async def page(
    call: Call,
    kind: Kind,
    shown: Callable[[Reader, dict[str, Any]], Any],
    *,
    prefix: Key = (),
    numbered: bool = False,
    newest_first: bool = False,
    keep: Callable[[dict[str, Any]], bool] = lambda _: True,
) -> Reply:
    """`limit` records after `after` that `keep` lets pass; `numbered` kinds have a sequence as their cursor."""
    limit = call.limit()
    after = call.query.get("after")
    beyond: Key | None = None
    if after is not None:
        beyond = (*prefix, call.integer("after", 0) if numbered else after)

    def read() -> tuple[list[Any], str | None]:
        items: list[Any] = []
        last: Key = ()
        with call.services.store.reader(call.space) as reader:
            for key, record in reader.scan(kind, prefix, after=beyond, reverse=newest_first):
                if not keep(record):
                    continue
                if len(items) == limit:
                    return items, str(last[-1])
                items.append(shown(reader, record))
                last = key
        return items, None

    items, following = await asyncio.to_thread(read)
    return Reply({"items": items, "next": following})
