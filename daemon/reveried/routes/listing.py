"""Answer a list call: a page of a kind's records in the order of their keys, and the cursor of the next page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from reverie import wire
from reveried.execution import read
from reveried.http.call import Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store import Key, Kind, Reader, StoredRecord
    from reveried.http.call import Call

__all__ = ["page", "record_page"]

T = TypeVar("T")
R = TypeVar("R", bound="StoredRecord")


async def record_page(
    call: Call,
    record_type: type[R],
    view: Callable[[Reader, R], Any],
    *,
    prefix: Key = (),
    numbered: bool = False,
    newest_first: bool = False,
    keep: Callable[[R], bool] = lambda _: True,
) -> Reply:
    """Reply with up to `limit` records behind the cursor `after` for which `keep` is true, each through `view`.

    The cursor is the last part of the last record's key; `numbered` kinds have a sequence number there.
    """

    def scan(reader: Reader, after: Key | None) -> Iterator[tuple[Key, R]]:
        return reader.records(record_type, prefix, after=after, reverse=newest_first)

    return await _reply(call, scan, view, keep, prefix=prefix, numbered=numbered)


async def page(
    call: Call,
    kind: Kind,
    view: Callable[[Reader, dict[str, Any]], Any],
    *,
    prefix: Key = (),
    numbered: bool = False,
    newest_first: bool = False,
    keep: Callable[[dict[str, Any]], bool] = lambda _: True,
) -> Reply:
    """Reply as `record_page` does, with the records of a kind as dicts."""

    def scan(reader: Reader, after: Key | None) -> Iterator[tuple[Key, dict[str, Any]]]:
        return reader.scan(kind, prefix, after=after, reverse=newest_first)

    return await _reply(call, scan, view, keep, prefix=prefix, numbered=numbered)


async def _reply(
    call: Call,
    scan: Callable[[Reader, Key | None], Iterator[tuple[Key, T]]],
    view: Callable[[Reader, T], Any],
    keep: Callable[[T], bool],
    *,
    prefix: Key,
    numbered: bool,
) -> Reply:
    limit = call.limit()
    cursor = call.query.get("after")
    after = None if cursor is None else (*prefix, call.integer("after", 0) if numbered else cursor)

    def collect(reader: Reader) -> wire.Page[Any]:
        items: list[Any] = []
        last: Key = ()
        for key, record in scan(reader, after):
            if not keep(record):
                continue
            # One more record was found than the page holds, so there is a next page.
            if len(items) == limit:
                return wire.Page(items=items, next=str(last[-1]))
            items.append(view(reader, record))
            last = key
        return wire.Page(items=items)

    return Reply(await read(call.services, call.space, collect))
