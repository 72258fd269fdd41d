"""The memory service for Google's ADK beside its own in memory, and that two users never meet."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.adapters.adk import memory_service, thread_of
from support.adapters import FreshSpaces, needs
from support.daemon import running_daemon
from support.soak import count

pytestmark = [
    needs("google.adk.memory", "google-adk"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning"),  # of ADK when it is imported
]
WORDS = ("boat", "pier", "Boat", "tea", "私はPythonを使う", "Python", "ünï", "a", "7", "--", "crane_1")


@pytest.fixture(scope="module")
def spaces() -> Iterator[FreshSpaces]:
    with running_daemon() as daemon:
        yield FreshSpaces(daemon)


def event(number: int, *texts: str | None, author: str = "user") -> Any:
    """Return an event with a part for each text; None is a part without one."""
    from google.adk.events.event import Event
    from google.genai import types

    call = types.FunctionCall(name="find", args={"what": "boat"})
    parts = [types.Part(function_call=call) if text is None else types.Part(text=text) for text in texts]
    content = types.Content(role="user", parts=parts) if texts else None
    return Event(id=f"e{number}", author=author, timestamp=1_795_000_000.0 + number, content=content)


def session(app: str, user: str, name: str, events: list[Any]) -> Any:
    from google.adk.sessions.session import Session

    return Session(id=name, app_name=app, user_id=user, events=events)


class Steps:
    """Random steps of a few users, made of both services."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.events: dict[Any, list[Any]] = {}
        self.number = 0

    def event(self) -> Any:
        """Return a random event with a new number, or one time in ten with the number of an earlier event."""
        self.number += 1
        number = self.number if self.chance.random() < 0.9 else self.chance.randrange(self.number)
        texts = [" ".join(self.chance.choices(WORDS, k=3)) for _ in range(self.chance.choice((1, 1, 1, 2)))]
        return event(number, *self.chance.choice((texts, texts, texts, [*texts, None], [])))

    async def make(self, ours: Any, theirs: Any) -> None:
        """Make one random step on our memory service and on ADK's own; a search must find the same in the two."""
        chance = self.chance
        app, user = chance.choice(("harbour", "crane")), chance.choice(("ann", "bob", "ann/harbour"))
        name = chance.choice(("p", "q", "r"))
        match chance.choice(("session", "session", "events", "search", "search", "search", "delete")):
            case "session":
                events = self.events.setdefault((app, user, name), [])
                if chance.random() < 0.15:
                    events.clear()
                events += [self.event() for _ in range(chance.choice((0, 1, 2, 3)))]
                for each in (ours, theirs):
                    await each.add_session_to_memory(session(app, user, name, list(events)))
            case "events":
                events = [self.event() for _ in range(chance.choice((0, 1, 2)))]
                where = chance.choice((name, None))
                for each in (ours, theirs):
                    await each.add_events_to_memory(app_name=app, user_id=user, events=events, session_id=where)
            case "search":
                query = " ".join(chance.choices(WORDS, k=chance.choice((0, 1, 2, 4))))
                found = [await each.search_memory(app_name=app, user_id=user, query=query) for each in (ours, theirs)]
                assert found[0] == found[1]
            case _:
                wanted = chance.choice((None, f"e{chance.randrange(self.number + 1)}"))
                for each in (ours, theirs):
                    await each.delete_memory(app_name=app, user_id=user, memory_id=wanted)


def test_random_steps_have_the_results_of_the_reference(spaces: FreshSpaces) -> None:
    """Sessions, events, searches and deletions of six users, by two services: as `InMemoryMemoryService` does."""
    from google.adk.memory.in_memory_memory_service import InMemoryMemoryService

    async def run() -> None:
        steps, reference = Steps(random.Random(15)), InMemoryMemoryService()
        async with spaces.client() as client:
            services = [memory_service(client), memory_service(client)]
            for _ in range(count(150, 10_000)):
                await steps.make(steps.chance.choice(services), reference)

    asyncio.run(run())


def test_two_users_never_meet(spaces: FreshSpaces) -> None:
    """Words of one user are found by that user of that app alone, and by nothing else in the space."""

    async def run() -> None:
        async with spaces.client() as client:
            service: Any = memory_service(client)
            words = "I always prefer the zanzibar pier for my boat."
            await service.add_session_to_memory(session("harbour", "ann", "s", [event(1, words)]))
            others = [("harbour", "bob"), ("crane", "ann"), ("harbour", "ann "), ("harboura", "nn"), ("harbour", "Ann")]
            for app, user in others:
                await service.add_session_to_memory(session(app, user, "s", [event(1, "hello")]))
                found = await service.search_memory(app_name=app, user_id=user, query="zanzibar pier hello")
                assert [memory.content.parts[0].text for memory in found.memories] == ["hello"]
                await service.delete_memory(app_name=app, user_id=user, memory_id="e1")
            mine = await service.search_memory(app_name="harbour", user_id="ann", query="zanzibar")
            assert [memory.content.parts[0].text for memory in mine.memories] == [words]

            thread = thread_of("harbour", "ann")
            await client.learn(thread)
            assert (await client.memories()).items == []
            assert (await client.search("zanzibar pier", where="all")).hits == []
            assert "zanzibar" not in str((await client.context(thread)).request)
            assert len({thread_of(*names) for names in others}) == len(others)

    asyncio.run(run())


def test_another_process_finds_what_was_added(spaces: FreshSpaces) -> None:
    """A new service finds earlier events; a session that grew adds only what is new; a deleted thread is empty."""

    async def run() -> None:
        async with spaces.client() as client:
            events = [event(1, "the boat is at the pier"), event(2, "so it is", author="pilot")]
            await memory_service(client).add_session_to_memory(session("harbour", "ann", "s", events[:1]))
            await memory_service(client).add_session_to_memory(session("harbour", "ann", "s", events))
            service, thread = memory_service(client), thread_of("harbour", "ann")
            found = await service.search_memory(app_name="harbour", user_id="ann", query="boat is")
            assert [(memory.id, memory.author) for memory in found.memories] == [("e1", "user"), ("e2", "pilot")]
            assert (await client.thread(thread)).message_count == 3  # the session, and each event once

            await client.delete_thread(thread, confirm=thread)
            gone = await service.search_memory(app_name="harbour", user_id="ann", query="boat is")
            assert gone.memories == []

    asyncio.run(run())
