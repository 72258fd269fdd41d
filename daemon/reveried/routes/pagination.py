"""Answer a list call: a page of records in the order of their keys, and the cursor of the next page."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from reverie import wire

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store import Key, Reader, StoredRecord
    from reveried.http.types import Call

A = TypeVar("A")
R = TypeVar("R", bound="StoredRecord")


def record_page(
    reader: Reader,
    call: Call,
    record_type: type[R],
    answer: Callable[[Reader, R], A],
    *,
    prefix: Key = (),
    numbered: bool = False,
    newest_first: bool = False,
) -> wire.Page[A]:
    """Return up to `limit` records after the cursor `after`, each through `answer`.

    The cursor is the last part of the last record's key; `numbered` kinds have a sequence number there.
    """
    query = call.query_as(wire.SequenceQuery) if numbered else call.query_as(wire.ListQuery)
    limit = query.limit
    after = None if query.after is None else (*prefix, query.after)

    items: list[A] = []
    last: Key = ()
    for key, record in reader.records(record_type, prefix, after=after, reverse=newest_first):
        # The page is full, and this record is one more: there is a next page.
        if len(items) == limit:
            return wire.Page(items=items, next=str(last[-1]))
        items.append(answer(reader, record))
        last = key
    return wire.Page(items=items)
