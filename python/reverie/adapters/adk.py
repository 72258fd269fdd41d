"""A `BaseMemoryService` of Google's ADK: the events of sessions, found again by their words.

    from reverie.adapters.adk import memory_service
    from reverie.client import AsyncClient

    runner = Runner(…, memory_service=memory_service(AsyncClient()))

It equals `InMemoryMemoryService` and lasts; secrets are stored as markers. Each user of an app has a thread, named by
both, and a search reads that one thread: two users never meet. Nothing is learnt from the events, and they are in no
context and in no result of `reverie search`, since the users of an app are not the person whose space it is.

`delete_memory` leaves an event out from then on; its words are removed with all of the user's, by
`reverie forget THREAD --purge` (`thread_of` returns the id).
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from reverie.adapters.values import RecentlyUsed, ThreadValues, thread_id, value_message
from reverie.client.optional import load

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.sessions.session import Session

    from reverie.client import AsyncClient

USERS_MAX: Final = 256  # whose memory is kept; that of others is read again
_AGENT: Final = "google-adk"
_NO_SESSION: Final = "__unknown_session_id__"  # of events that are added without a session, as in ADK's own service
_RESULTS_MAX: Final = 10


def memory_service(client: AsyncClient, *, project: str | None = None) -> BaseMemoryService:
    """Return the memory service in the client's space; with a `project` the users' threads belong to that.

    Raises:
        ModuleNotFoundError: ADK is not installed.
    """
    made: BaseMemoryService = _service_class()(client, project)
    return made


def thread_of(app_name: str, user_id: str) -> str:
    """Return the id of the thread that has a user's events."""
    return thread_id(_AGENT, app_name, user_id)


@functools.cache
def _service_class() -> Any:
    """Return the class of the memory services, made at its first use because it derives from a class of ADK."""
    base = load("google.adk.memory.base_memory_service", "adk").BaseMemoryService
    return type("ReverieMemoryService", (_Service, base), {"__doc__": memory_service.__doc__})


@dataclass(slots=True)
class _Remembered:
    """An event as it is stored, with the words that it is found by, and its text in lower case."""

    event: dict[str, Any]
    words: frozenset[str]
    text: str

    @property
    def id(self) -> str:
        event_id: str = self.event["id"]
        return event_id


@dataclass(slots=True, weakref_slot=True)
class _User:
    """The memory of one user of an app: events by session, in the order in which the sessions came."""

    values: ThreadValues
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    sessions: dict[str, list[_Remembered]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)

    async def catch_up(self) -> None:
        """Read the events that were stored since the last call, by this process or another."""
        anew, stored_values = await self.values.read()
        if anew:
            self.sessions.clear()
            self.deleted.clear()
        for stored in stored_values:
            self._apply(stored.value)

    def _apply(self, change: dict[str, Any]) -> None:
        if "deleted" in change:
            self.deleted.add(change["deleted"])
            for events in self.sessions.values():
                events[:] = [kept for kept in events if kept.id != change["deleted"]]
            return
        events = self.sessions.setdefault(change["session"], [])
        if "event" in change:
            events.append(_remembered(change["event"]))
        else:
            events.clear()


class _Service:
    """The methods of Reverie's memory service for ADK, from which `_service_class` makes the class at its first use."""

    def __init__(self, client: AsyncClient, project: str | None) -> None:
        self._client = client
        self._project = project
        self._users = RecentlyUsed[_User](USERS_MAX)

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the events of a session, in place of what was remembered of the same session before."""
        user = self._user(session.app_name, session.user_id)
        async with user.lock:
            await user.catch_up()
            given = [event for event in _stored_events(session.events) if event["id"] not in user.deleted]
            remembered_events = [remembered.event for remembered in user.sessions.get(session.id, [])]
            grows = session.id in user.sessions and remembered_events == given[: len(remembered_events)]
            begin = [] if grows else [{"session": session.id}]  # forgets what was there
            new = given[len(remembered_events) :] if grows else given
            await user.values.append(_messages([*begin, *({"session": session.id, "event": event} for event in new)]))

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember further events of a session, each once; `custom_metadata` is not used."""
        del custom_metadata
        session = session_id or _NO_SESSION
        user = self._user(app_name, user_id)
        async with user.lock:
            await user.catch_up()
            changes: list[dict[str, Any]] = [] if session in user.sessions else [{"session": session}]
            event_ids = {remembered.id for remembered in user.sessions.get(session, [])} | user.deleted
            for event in _stored_events(events):
                if event["id"] not in event_ids:
                    changes.append({"session": session, "event": event})
                    event_ids.add(event["id"])
            await user.values.append(_messages(changes))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the ten events of this user that have the most words of a query, equal ones oldest first."""
        user = self._user(app_name, user_id)
        words = _words(query)
        async with user.lock:
            await user.catch_up()
            scored = [
                (matched, remembered)
                for remembered in itertools.chain.from_iterable(user.sessions.values())
                if (matched := _matched(remembered, words))
            ]
        scored.sort(key=lambda one: -one[0])
        memories = [_entry(remembered.event) for _, remembered in scored[:_RESULTS_MAX]]
        response: SearchMemoryResponse = load("google.adk.memory.base_memory_service", "adk").SearchMemoryResponse(
            memories=memories
        )
        return response

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Leave an event of this user out of every search, also where its session is added again."""
        user = self._user(app_name, user_id)
        async with user.lock:
            await user.catch_up()
            if any(one.id == memory_id for one in itertools.chain.from_iterable(user.sessions.values())):
                await user.values.append(_messages([{"deleted": memory_id}]))

    def _user(self, app_name: str, user_id: str) -> _User:
        def make() -> _User:
            values = ThreadValues(
                self._client.send,
                thread_of(app_name, user_id),
                agent=_AGENT,
                title=f"ADK memory of {user_id} in {app_name}",
                project=self._project,
            )
            return _User(values)

        return self._users.get((app_name, user_id), make)


def _messages(changes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [value_message(change) for change in changes]


def _stored_events(events: Iterable[Event]) -> list[dict[str, Any]]:
    """Return the stored form (id, author, time, content) of each event that has content."""
    return [
        {
            "id": event.id,
            "author": event.author,
            "timestamp": event.timestamp,
            "content": event.content.model_dump(mode="json", exclude_none=True),
        }
        for event in events
        if event.content and event.content.parts
    ]


def _remembered(event: dict[str, Any]) -> _Remembered:
    text = " ".join(part["text"] for part in event["content"]["parts"] if part.get("text"))
    return _Remembered(event, frozenset(_searchable_words(text)), unicodedata.normalize("NFC", text).lower())


def _entry(event: dict[str, Any]) -> Any:
    """Return an event as ADK's memory entry."""
    entry = load("google.adk.memory.memory_entry", "adk").MemoryEntry
    at = datetime.fromtimestamp(event["timestamp"]).isoformat()  # noqa: DTZ006 - as ADK's own services write it
    return entry(id=event["id"], content=event["content"], author=event["author"], timestamp=at)


def _matched(remembered: _Remembered, words: set[str]) -> int:
    """Return how many words of a query an event has; a word that is not ASCII may be part of a longer word."""
    if not remembered.words:
        return 0
    return sum(word in remembered.words or (not word.isascii() and word in remembered.text) for word in words)


def _words(text: str) -> set[str]:
    return {word.lower() for word in re.findall(r"\w+", unicodedata.normalize("NFC", text))}


def _searchable_words(text: str) -> set[str]:
    """Return the words of a text, and of a word in two scripts the part in each, as in `私はPythonを使う`."""
    words = _words(text)
    for word in [word for word in words if not word.isascii()]:
        words.update("".join(run) for _, run in itertools.groupby(word, _is_latin))
    return words


def _is_latin(char: str) -> bool:
    if char.isascii():
        return char.isalnum() or char == "_"
    return unicodedata.name(char, "").startswith("LATIN")
