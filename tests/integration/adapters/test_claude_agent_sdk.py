"""Tests of the session store for the Claude Agent SDK: conformance, lasting storage, repetition, deletion."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from reverie.adapters import claude_agent_sdk
from reverie.adapters.claude_agent_sdk import SessionStore
from reverie.client import AsyncClient, Client
from reverie.errors import Conflict, DaemonNotRunning, Forbidden
from support.adapters import FreshSpaces, needs
from support.daemon import running_daemon
from support.model_server import ModelServer, answer
from support.soak import count

SDK = needs("claude_agent_sdk", "claude-agent-sdk")
KEY: Any = {"project_key": "-srv-harbour", "session_id": "5d1c"}


@pytest.fixture(scope="module")
def spaces() -> Iterator[FreshSpaces]:
    with running_daemon() as daemon:
        yield FreshSpaces(daemon)


def said(number: int, text: str, **fields: Any) -> Any:
    """Return a line of a transcript."""
    message = {"role": "user", "content": text}
    at = f"2026-11-02T10:{number // 60:02}:{number % 60:02}.000Z"
    return {"type": "user", "uuid": f"u{number}", "cwd": "/srv/harbour", "timestamp": at, "message": message, **fields}


@SDK
def test_conformance(spaces: FreshSpaces) -> None:
    """`run_session_store_conformance` of the SDK passes; each of its stores has a space of its own."""
    from claude_agent_sdk.testing import run_session_store_conformance

    async def run() -> None:
        async with AsyncExitStack() as clients:

            async def fresh() -> Any:
                return SessionStore(await clients.enter_async_context(spaces.client()))

            await run_session_store_conformance(fresh)

    asyncio.run(run())


@SDK
def test_random_steps_have_the_results_of_the_reference(spaces: FreshSpaces) -> None:
    """For random appends, loads, lists and deletions our store has the results of the SDK's store in memory."""
    from claude_agent_sdk import InMemorySessionStore

    chance = random.Random(15)
    steps = count(200, 10_000)
    numbers = iter(range(1_000_000))

    def key() -> Any:
        subpath = chance.choice((None, None, "subagents/agent-1", "subagents/x/agent-2"))
        chosen = {"project_key": chance.choice(("-srv-a", "-srv-b/c")), "session_id": chance.choice("pqr")}
        return chosen if subpath is None else {**chosen, "subpath": subpath}

    def entry() -> Any:
        line = said(next(numbers), chance.choice(("hello", "ünïcode", "- a list\n\n- of two")))
        opaque: Any = {
            "type": chance.choice(("x", "summary", "mode", "system")),
            "n": chance.choice((1, 2.5, None, [], {})),
        }
        return chance.choice((line, opaque))

    async def step(store: Any, reference: Any) -> None:
        where = key()
        match chance.choice(("append", "append", "append", "load", "list", "subkeys", "delete")):
            case "append":
                lines = [entry() for _ in range(chance.choice((0, 1, 1, 2, 5)))]
                await store.append(where, lines)
                if lines:  # the reference makes a session of no lines, which is not there for the SDK either
                    await reference.append(where, lines)
            case "load":
                assert await store.load(where) == await reference.load(where)
            case "list":
                ours, theirs = [await each.list_sessions(where["project_key"]) for each in (store, reference)]
                assert {one["session_id"] for one in ours} == {one["session_id"] for one in theirs}
                assert all(one["mtime"] > 1e12 for one in ours)
            case "subkeys":
                ours, theirs = [await each.list_subkeys(where) for each in (store, reference)]
                assert sorted(ours) == sorted(theirs)
            case _ if chance.random() < 0.3:
                await store.delete(where)
                await reference.delete(where)

    async def run() -> None:
        async with spaces.client() as client:
            store, reference = SessionStore(client), _WithSlashes(InMemorySessionStore())
            for _ in range(steps):
                await step(store, reference)

    asyncio.run(run())


class _WithSlashes:
    """The SDK's store with slashes in project keys replaced, since it takes a slash as the end of the key."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        async def method(key: Any, *rest: Any) -> Any:
            plain = (
                key.replace("/", "_")
                if isinstance(key, str)
                else {**key, "project_key": key["project_key"].replace("/", "_")}
            )
            return await getattr(self._inner, name)(plain, *rest)

        return method


@SDK
def test_a_real_session_is_resumed_from_the_store(spaces: FreshSpaces, tmp_path: Path) -> None:
    """Claude Code, started by the SDK, resumes a session whose transcript only the store has."""
    from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

    (tmp_path / "harbour").mkdir()

    async def ask(client: AsyncClient, config: str, prompt: str, **options: Any) -> Any:
        env = {
            "CLAUDE_CONFIG_DIR": str(tmp_path / config),
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "k",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }
        store = SessionStore(client)
        settings = ClaudeAgentOptions(cwd=str(tmp_path / "harbour"), env=env, session_store=store, **options)
        return [one async for one in query(prompt=prompt, options=settings) if isinstance(one, ResultMessage)][-1]

    async def run() -> None:
        async with spaces.client() as client:
            first = await ask(client, "one", "Where is the pilot boat?")
            models.requests.clear()
            second = await ask(client, "two", "And now?", resume=first.session_id)

            assert (first.result, second.session_id) == ("It is at pier 7.", first.session_id)
            asked = "".join(models.conversations())
            assert "Where is the pilot boat?" in asked
            assert "It is at pier 7." in asked
            (thread,) = (await client.threads()).items
            assert (thread.project, thread.message_count, thread.title) == ("harbour", 4, "Where is the pilot boat?")

    with ModelServer(answer("It is at pier 7.")) as models:
        asyncio.run(run())


def test_a_session_is_a_thread(spaces: FreshSpaces) -> None:
    """A session's messages are in a thread of its project, found by search, and loaded by another store object."""

    async def run() -> None:
        async with spaces.client() as client:
            lines: list[Any] = [said(1, "Where is the pilot boat?"), {"type": "custom-title", "customTitle": "boat"}]
            await SessionStore(client).append(KEY, lines)
            await SessionStore(client).append(KEY, [lines[0], said(2, "At the pier.")])

            assert await SessionStore(client).load(KEY) == [*lines, said(2, "At the pier.")]
            (thread,) = (await client.threads()).items
            assert (thread.agent, thread.project, thread.message_count) == ("claude-code", "harbour", 2)
            assert (await client.search("pilot boat")).hits[0].thread.id == thread.id  # type: ignore[union-attr]

    asyncio.run(run())


def test_what_is_appended_again_is_there_once(spaces: FreshSpaces) -> None:
    """Appending the same batch twice adds lines with an id once, and lines without an id each time."""

    async def run() -> None:
        async with spaces.client() as client:
            store = SessionStore(client)
            mode: Any = {"type": "mode", "mode": "plan"}
            for _ in range(2):
                await store.append(KEY, [said(1, "once"), mode])
            assert await store.load(KEY) == [said(1, "once"), mode, mode]

    asyncio.run(run())


def test_an_append_that_failed_is_repeated(spaces: FreshSpaces) -> None:
    """A batch whose chunk was lost is appended by the next try."""

    async def run() -> None:
        async with spaces.client() as client:
            store = SessionStore(client)
            await store.append(KEY, [said(1, "x")])
            socket = client.socket_path.with_name("away")
            await client.close()
            client.socket_path.rename(socket)
            with pytest.raises(DaemonNotRunning):
                await store.append(KEY, [said(2, "y")])
            socket.rename(client.socket_path)
            await store.append(KEY, [said(2, "y")])
            assert await store.load(KEY) == [said(1, "x"), said(2, "y")]

    asyncio.run(run())


def test_appends_at_the_same_time_are_all_there(spaces: FreshSpaces) -> None:
    """Appends that run at the same time in one process are all stored, in the order in which they were called."""

    async def run() -> None:
        async with spaces.client() as client:
            store = SessionStore(client)
            await asyncio.gather(*(store.append(KEY, [said(number, "x")]) for number in range(20)))
            lines: Any = await store.load(KEY)
            assert [line["uuid"] for line in lines] == [f"u{number}" for number in range(20)]

    asyncio.run(run())


def test_secrets_are_never_stored(spaces: FreshSpaces) -> None:
    """A secret in a transcript line is loaded as its marker, with the rest of the line unchanged."""
    secret = "ghp_" + "a1B2c3D4e5" * 4

    async def run() -> None:
        async with spaces.client() as client:
            store = SessionStore(client)
            await store.append(KEY, [said(1, f"use {secret} here")])
            text = json.dumps(await store.load(KEY))
            assert secret not in text
            assert "use [" in text

    asyncio.run(run())


def test_deleted_sessions_are_remembered_up_to_a_number(spaces: FreshSpaces, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond DELETED_MAX the oldest sessions deleted by the store are forgotten; appending to them is a Conflict."""
    monkeypatch.setattr(claude_agent_sdk, "DELETED_MAX", 2)
    keys: list[Any] = [{**KEY, "session_id": f"5d1c-{number}"} for number in range(3)]

    async def run() -> None:
        async with spaces.client() as client:
            store = SessionStore(client)
            for key in keys:
                await store.append(key, [said(1, "x")])
                await store.delete(key)
            for key in keys[1:]:
                await store.append(key, [said(1, "x")])
            with pytest.raises(Conflict):
                await store.append(keys[0], [said(1, "x")])

    asyncio.run(run())


def test_a_deleted_session_stays_deleted(spaces: FreshSpaces) -> None:
    """A session deleted by the store can be appended to again; one whose thread a person deleted is a Conflict."""

    async def run() -> None:
        async with spaces.client() as client:
            store = SessionStore(client)
            await store.append(KEY, [said(1, "x")])
            await store.delete(KEY)
            assert await store.load(KEY) is None
            await store.append(KEY, [said(1, "x")])
            (thread,) = (await client.threads()).items

            await client.delete_thread(thread.id, confirm=thread.id)
            with pytest.raises(Conflict) as caught:
                await store.append(KEY, [said(2, "y")])
            assert caught.value.details["forgotten"]
            assert await store.load(KEY) is None

    asyncio.run(run())


def test_an_agents_token_deletes_the_session_that_it_appended() -> None:
    """Its thread is of the program, and belongs to the token's agent all the same; another's may not delete it."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as person:
            own, other = (str(person.create_token("default", agent=name).token) for name in ("mole", "vole"))

        async def run() -> None:
            async with AsyncClient(daemon.socket, token=own) as client:
                store = SessionStore(client)
                await store.append(KEY, [said(1, "x")])
                async with AsyncClient(daemon.socket, token=other) as another:
                    with pytest.raises(Forbidden):
                        await SessionStore(another).delete(KEY)
                await store.delete(KEY)
                assert await store.load(KEY) is None

        asyncio.run(run())
