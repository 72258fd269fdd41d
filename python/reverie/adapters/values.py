"""JSON values in a thread, each a message with a readable form beside it, and a bounded map of values by key.

The value is a further field of the message's first block. Contexts leave such fields out, so a model that gets a
context of the thread sees the readable form alone; a value without one is in no context, and nothing is learnt from it.
"""

from __future__ import annotations

import math
import uuid
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from reverie import ids, wire
from reverie.api.threads import Threads
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.importers.rewinds import is_mark, marked_ranges
from reverie.models import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence

    from reverie.api.endpoint import Call

_FIELD: Final = "value"  # of the first block of a message

V = TypeVar("V")


class StoredValue(NamedTuple):
    """A value, when it was stored, and the number of its entry."""

    seq: int
    at: str
    value: Any


def thread_id(framework: str, *names: str) -> str:
    """Return the id of the thread of a framework's session, store or user."""
    # With its length before each name: ("ab", "c") is not ("a", "bc").
    return ids.of_session("thr", framework, "".join(f"{len(name)}:{name}" for name in names))


async def all_items(fetch_page: Callable[[str | None], Awaitable[wire.Page[V]]]) -> AsyncIterator[V]:
    """Yield every item of a paginated list; `fetch_page` gets the cursor of the page before, None for the first."""
    after: str | None = None
    while True:
        page = await fetch_page(after)
        for item in page.items:
            yield item
        if page.next is None:
            return
        after = page.next


def value_message(value: Any, *, role: str = "assistant", block: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a message that holds a JSON value inside a text block, which shows the value readably.

    Raises:
        ValidationError: a number in the value is NaN or infinite.
    """
    require_finite(value)
    readable = {"type": "text", "text": ""} if block is None else block
    return {"role": role, "content": [{**readable, _FIELD: value}]}


def require_finite(value: Any) -> None:
    """Require that every number of a value can be written as JSON: NaN would come back as null.

    Raises:
        ValidationError: one is NaN or infinite, or the value is nested too deeply, as one that holds itself.
    """
    try:
        _require_finite(value)
    except RecursionError:
        raise ValidationError("the value is nested too deeply", hint="put less deep lists and dicts") from None


def _require_finite(value: Any) -> None:
    """Raise ValidationError for NaN or infinity at any depth; RecursionError if nested too deeply."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValidationError(f"JSON has no number {value}", hint="put None or a text in its place")
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return
    for part in value:
        _require_finite(part)


class ThreadValues:
    """The values of one thread, which is created by the first append. `send` sends a call of the client.

    `last_seq` is the last entry that was read. Entries are read and not messages: those are in the order of the
    conversation, in which a result is behind its call, and two results of a call are one message.
    """

    def __init__(
        self, send: Callable[[Call[Any]], Awaitable[Any]], thread: str, *, agent: str, title: str, project: str | None
    ) -> None:
        self.thread = thread
        self.last_seq = 0
        self._send = send
        self._create: dict[str, Any] = {"id": thread, "agent": agent, "title": title[:200], "project": project}
        self._entries: list[Entry] = []

    async def append(self, messages: Sequence[dict[str, Any]]) -> None:
        """Append messages made by `value_message`, in order."""
        for start in range(0, len(messages), wire.MESSAGES_MAX):
            call = Threads.append.call(self.thread, messages[start : start + wire.MESSAGES_MAX], key=uuid.uuid4().hex)
            try:
                await self._send(call)
            except NotFound:
                await self._make()
                await self._send(call)

    async def read(self) -> tuple[bool, list[StoredValue]]:
        """Return False and the values since the last read; or True and all values, if those read before are void.

        They are after a rewind, its undo, and where the thread was deleted, and perhaps made again.
        """
        entries = self._entries
        # The last known message is read again: if it is another one now, the thread is another one. A mark has no time.
        anchor = next((index for index in reversed(range(len(entries))) if not is_mark(entries[index])), len(entries))
        page = await self._after(entries[anchor].seq - 1 if entries else 0)
        new = page[len(entries) - anchor :]
        anew = page[: len(entries) - anchor] != entries[anchor:]
        if anew:
            entries.clear()
            new = await self._after(0)
        entries += new
        self.last_seq = entries[-1].seq if entries else 0
        if anew or any(map(is_mark, new)):
            return True, _values(entries)
        return False, _values(new)

    async def delete(self) -> None:
        """Delete the thread; one that is not there is not an error."""
        try:
            await self._send(Threads.delete_thread.call(self.thread, confirm=self.thread))
        except NotFound:
            return

    async def _after(self, seq: int) -> list[Entry]:
        """Return the entries after entry `seq`, oldest first; none where there is no thread."""

        def page(after: str | None) -> Awaitable[wire.Page[wire.StoredEntry]]:
            return self._send(Threads.entries.call(self.thread, limit=wire.LIMIT_MAX, after=after or str(seq)))

        try:
            stored = [one async for one in all_items(page)]
        except NotFound:
            return []
        return [Entry(kind=EntryKind(one.kind), seq=one.seq, extra=one.value or {}) for one in stored]

    async def _make(self) -> None:
        try:
            await self._send(Threads.create_thread.call(**self._create))
        except Conflict:
            return  # another process has just created it


def _values(entries: Sequence[Entry]) -> list[StoredValue]:
    """Return the values of entries that no rewind took back; a message from elsewhere has none."""
    ranges = marked_ranges(entries)
    values = []
    for entry in entries:
        content = entry.extra.get("content")
        block = content[0] if isinstance(content, list) and content else None
        if isinstance(block, dict) and _FIELD in block and not any(one <= entry.seq <= last for one, last in ranges):
            values.append(StoredValue(entry.seq, entry.extra.get("timestamp", ""), block[_FIELD]))
    return values


class RecentlyUsed(Generic[V]):
    """A map that keeps the `count` values used last, and any other value as long as something refers to it."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._recent: OrderedDict[Hashable, V] = OrderedDict()
        self._alive: WeakValueDictionary[Hashable, V] = WeakValueDictionary()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """Return the value of a key, made by `make` where there is none."""
        value = self._alive.get(key)
        if value is None:
            value = self._alive[key] = make()
        self._recent[key] = value
        self._recent.move_to_end(key)
        if len(self._recent) > self._count:
            self._recent.popitem(last=False)
        return value

    def remove(self, key: Hashable) -> None:
        """Remove the value of a key, if there is one."""
        self._recent.pop(key, None)
        self._alive.pop(key, None)
