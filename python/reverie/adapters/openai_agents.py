"""A `Session` of the OpenAI Agents SDK: its items are the messages of a thread.

    from reverie.adapters.openai_agents import Session
    from reverie.client import AsyncClient

    async with AsyncClient() as client:
        await Runner.run(agent, "Hello", session=Session("harbour", client))

Items come back deep-equal and in order, but for secrets, which are never stored. What people and the agent say, calls
of functions and their results can be read as messages too: with `reverie thread`, in a context, by `reverie search`.
What people say is learnt from as the words of the person whose space it is: give each of several people a space.

The SDK needs no base class, and this module does not import it.
"""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any, Final

import orjson

from reverie.adapters.values import ThreadValues, thread_id, value_message
from reverie.errors import Conflict
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from agents import SessionSettings, TResponseInputItem

    from reverie.adapters.values import StoredValue
    from reverie.client import AsyncClient

_AGENT: Final = "openai-agents"
_ID: Final = lazy_regex(r"[a-zA-Z0-9_-]+")
_NAME: Final = lazy_regex(r"[a-zA-Z0-9_-]{1,128}")
_POPPED: Final = {"popped": 1}  # the value of a message that says that the item before it is gone


class Session:
    """The items of one session in the client's space: `thread` is the id of its thread, which the first item creates.

    With a `project` (a name, or the absolute path of a folder) the thread belongs to that. `session_settings.limit` is
    the number of items that `get_items` returns where it is not told.
    """

    def __init__(
        self,
        session_id: str,
        client: AsyncClient,
        *,
        project: str | None = None,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client
        self._lock = asyncio.Lock()
        self._items: list[StoredValue] = []
        title = f"OpenAI Agents session {session_id}"
        self.thread = thread_id(_AGENT, session_id)
        self._values = ThreadValues(client.send, self.thread, agent=_AGENT, title=title, project=project)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last `limit` items, oldest first; all where it is None or negative."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        async with self._lock:
            items = [copy.deepcopy(stored.value["item"]) for stored in await self._read()]
        return items if limit is None or limit < 0 else items[max(0, len(items) - limit) :]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items to the session's thread."""
        async with self._lock:
            await self._values.append([_message(item) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the last item, or None; in the thread it is rewound, and `reverie undo` brings it back."""
        async with self._lock:
            while items := await self._read():
                if await self._remove(items[-1].seq):
                    item: TResponseInputItem = items[-1].value["item"]
                    return item
        return None

    async def clear_session(self) -> None:
        """Delete the session's thread with all its items."""
        async with self._lock:
            await self._values.delete()

    async def _read(self) -> list[StoredValue]:
        """Return all items, after reading the entries that the thread has got since the last call."""
        anew, stored_values = await self._values.read()
        if anew:
            self._items.clear()
        for stored in stored_values:
            if "item" in stored.value:
                self._items.append(stored)
            elif self._items:
                self._items.pop()
        return self._items

    async def _remove(self, seq: int) -> bool:
        """Remove the last item, entry `seq`: the thread goes back to the entry before it.

        Where a distillation covers it already, a message says that it is gone. Return False where something was
        appended meanwhile, so that another item is the last.
        """
        try:
            await self._client.rewind(self.thread, seq - 1, expected_seq=self._values.last_seq)
        except Conflict as conflict:
            if "throughSeq" not in conflict.details:
                return False
            await self._values.append([value_message(_POPPED)])
        return True


def _message(item: Any) -> dict[str, Any]:
    """Return an item as a message: its role, its readable form, and the item itself."""
    value = {"item": item}
    match item:
        case {"role": "user", "content": content}:
            return value_message(value, role="user", block=_text(content))
        case {"role": "assistant", "content": content}:
            return value_message(value, block=_text(content))
        case {"type": "function_call", "call_id": str(call), "name": str(name), "arguments": arguments}:
            return value_message(value, block=_tool_use(call, name, arguments))
        case {"type": "function_call_output", "call_id": str(call), "output": output} if _ID.fullmatch(call):
            result = {"type": "tool_result", "tool_use_id": call, "content": _text(output)["text"]}
            return value_message(value, role="user", block=result)
        case _:
            return value_message(value)


def _text(content: Any) -> dict[str, Any]:
    """Return an item's text as one block, without its images and other parts."""
    if isinstance(content, str):
        return {"type": "text", "text": content}
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return {"type": "text", "text": "\n".join(texts)}


def _tool_use(call: str, name: str, arguments: Any) -> dict[str, Any] | None:
    """Return a call as a `tool_use` block, or None if its id, name or arguments are not valid in the Messages API."""
    try:
        given = orjson.loads(arguments) if isinstance(arguments, str) else arguments
    except orjson.JSONDecodeError:
        return None
    if not isinstance(given, dict) or not _ID.fullmatch(call) or not _NAME.fullmatch(name):
        return None
    return {"type": "tool_use", "id": call, "name": name, "input": given}
