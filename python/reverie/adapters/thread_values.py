"""JSON values in a thread: each is one message, which may have a readable form beside the value.

The value is a further field of the message's first block. Contexts leave such fields out, so a model that gets a
context of the thread sees the readable form alone; a value without one is in no context, and nothing is learnt from it.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from reverie import ids, wire
from reverie.client import calls
from reverie.errors import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from reverie.client.protocol import Call

__all__ = ["StoredValue", "ThreadValues", "thread_id", "value_message"]

T = TypeVar("T")
_MARGIN: Final = 8  # values read beyond those wanted, since some may be taken back
_FIELD: Final = "value"  # of the first block of a message


class StoredValue(NamedTuple):
    """A value, when it was stored, and the entry that it is; `rewound` ones were taken back."""

    seq: int
    at: str
    value: Any
    rewound: bool


def thread_id(framework: str, *names: str) -> str:
    """Return the id of the thread of a framework's session, store or user."""
    # With its length before each name: ("ab", "c") is not ("a", "bc").
    return ids.of_session("thr", framework, "".join(f"{len(name)}:{name}" for name in names))


def value_message(value: Any, *, role: str = "assistant", block: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a message with a value, and the block that is its readable form."""
    readable = {"type": "text", "text": ""} if block is None else block
    return {"role": role, "content": [{**readable, _FIELD: value}]}


class ThreadValues:
    """The values of one thread, which is created by the first append. `send` sends a call of the client."""

    def __init__(
        self, send: Callable[[Call[Any]], Awaitable[Any]], thread: str, *, agent: str, title: str, project: str | None
    ) -> None:
        self.thread = thread
        self._send = send
        self._create = {"id": thread, "agent": agent, "title": title, "project": project}

    async def append(self, messages: Sequence[dict[str, Any]]) -> None:
        """Append messages made by `value_message`, in order."""
        for start in range(0, len(messages), wire.MESSAGES_MAX):
            call = calls.append(self.thread, messages[start : start + wire.MESSAGES_MAX], key=uuid.uuid4().hex)
            try:
                await self._send(call)
            except NotFound:
                await self._make()
                await self._send(call)

    async def after(self, seq: int) -> list[StoredValue]:
        """Return the values behind entry `seq` (0: all), oldest first. Raises NotFound for a thread without any."""
        found: list[StoredValue] = []
        after = str(seq) if seq else None
        while True:
            page: wire.Page[wire.StoredMessage] = await self._send(
                calls.messages(self.thread, limit=wire.LIMIT_MAX, after=after)
            )
            found += _values(page.items)
            if page.next is None:
                return found
            after = page.next

    async def backwards(self, wanted: int) -> AsyncIterator[StoredValue]:
        """Yield the values, newest first, of which about `wanted` will be taken; a negative number for all."""
        size = wanted + _MARGIN if wanted >= 0 else wire.LIMIT_MAX + 1
        given = 0
        while True:
            found = _values(await self._last(size)) if size <= wire.LIMIT_MAX else await self._all()
            for stored in reversed(found[: len(found) - given]):
                yield stored
            if size > wire.LIMIT_MAX or len(found) < size:
                return
            size, given = size * 8, len(found)

    async def delete(self) -> None:
        """Delete the thread; one that is not there is not an error."""
        try:
            await self._send(calls.delete_thread(self.thread, confirm=self.thread))
        except NotFound:
            return

    async def _last(self, size: int) -> list[wire.StoredMessage]:
        try:
            page: wire.Page[wire.StoredMessage] = await self._send(calls.messages(self.thread, last=size))
        except NotFound:
            return []
        return page.items

    async def _all(self) -> list[StoredValue]:
        try:
            return await self.after(0)
        except NotFound:
            return []

    async def _make(self) -> None:
        try:
            await self._send(calls.create_thread(**self._create))  # type: ignore[arg-type]
        except Conflict:
            return  # another process has just created it


def _values(messages: Sequence[wire.StoredMessage]) -> list[StoredValue]:
    """Return the values of messages; a message from elsewhere has none, and counts as rewound."""
    found = []
    for message in messages:
        content = message.content
        block = content[0] if isinstance(content, list) and content else None
        value = block.get(_FIELD) if isinstance(block, dict) else None
        found.append(StoredValue(message.last_seq, message.at or "", value, message.rewound or value is None))
    return found
