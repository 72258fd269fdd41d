"""The session for the OpenAI Agents SDK beside its own in SQLite, and in a run of an agent."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.adapters.openai_agents import Session
from reverie.errors import ValidationError
from support.adapters import FreshSpaces, needs
from support.daemon import running_daemon
from support.soak import count

SDK = needs("agents", "openai-agents")


@pytest.fixture(scope="module")
def spaces() -> Iterator[FreshSpaces]:
    with running_daemon() as daemon:
        yield FreshSpaces(daemon)


def items(chance: random.Random) -> list[Any]:
    """Return random items of every form, some of which no message has."""
    number = chance.randrange(1000)
    text = chance.choice(("hello", "", "ünïcode\n\n- a list", "x" * 3000, "  "))
    made: list[Any] = [
        {"role": "user", "content": text},
        {"role": "user", "content": [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": "x"}]},
        {"role": "system", "content": text},
        {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        },
        {"type": "function_call", "call_id": f"call_{number}", "name": "f", "arguments": '{"a": [1, 2.5, null]}'},
        {"type": "function_call", "call_id": "a b", "name": "f g", "arguments": "{not json"},
        {"type": "function_call_output", "call_id": f"call_{number}", "output": text},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": None},
        {"type": "x", "value": {"value": [True, {}, []]}, "n": number},
    ]
    return chance.choices(made, k=chance.choice((0, 1, 1, 2, 4)))


@SDK
def test_random_steps_have_the_results_of_the_reference(spaces: FreshSpaces) -> None:
    """Random adds, reads, pops and clears of three sessions, by two objects each, do as those of `SQLiteSession`."""
    from agents import SQLiteSession

    chance = random.Random(15)

    async def run() -> None:
        async with spaces.client() as client:
            names = ("harbour", "pier 7/ü", "p" * 300)
            ours = {name: [Session(name, client), Session(name, client)] for name in names}
            theirs = {name: SQLiteSession(name) for name in names}
            for _ in range(count(150, 10_000)):
                name = chance.choice(names)
                session, reference = chance.choice(ours[name]), theirs[name]
                match chance.choice(("add", "add", "get", "get", "pop", "clear")):
                    case "add":
                        added = items(chance)
                        await session.add_items(added)
                        await reference.add_items(added)
                    case "get":
                        limit = chance.choice((None, None, -1, 0, 1, 2, 5, 20, 200))
                        assert await session.get_items(limit) == await reference.get_items(limit)
                    case "pop":
                        assert await session.pop_item() == await reference.pop_item()
                    case _ if chance.random() < 0.1:
                        await session.clear_session()
                        await reference.clear_session()
            for sqlite in theirs.values():
                sqlite.close()

    asyncio.run(run())


@SDK
def test_it_is_a_session_of_the_sdk(spaces: FreshSpaces) -> None:
    """Our session fulfils the SDK's protocol, obeys its limit of items read, and works in a run of an agent."""
    from agents import Agent, ModelResponse, Runner, SessionSettings, Usage
    from agents import Session as Protocol
    from agents.models.interface import Model
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    class Echo(Model):  # type: ignore[misc, unused-ignore]
        """A model that says what it was asked last, and how much it was given."""

        async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
            given = kwargs.get("input", args[1] if len(args) > 1 else [])
            text = f"{len(given)} items, last {given[-1]['content']}"
            part = ResponseOutputText(type="output_text", text=text, annotations=[])
            said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[part])
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise AssertionError(f"nothing is streamed here: {args}, {kwargs}")

    async def run() -> None:
        async with spaces.client() as client:
            session = Session("harbour", client)
            assert isinstance(session, Protocol)
            agent = Agent(name="pilot", model=Echo())
            first = await Runner.run(agent, "Where is the boat?", session=session)
            second = await Runner.run(agent, "And now?", session=Session("harbour", client))
            assert first.final_output == "1 items, last Where is the boat?"
            assert second.final_output == "3 items, last And now?"
            limited = Session("harbour", client, session_settings=SessionSettings(limit=1))
            assert len(await limited.get_items()) == 1

    asyncio.run(run())


def test_a_session_is_a_thread(spaces: FreshSpaces) -> None:
    """Items added to a session are messages of a thread, shown in its context as text, and found by search."""

    async def run() -> None:
        async with spaces.client() as client:
            session = Session("harbour", client, project="harbour")
            await session.add_items([{"role": "user", "content": "Where is the pilot boat?"}])
            await session.add_items(
                [
                    {"type": "reasoning", "id": "rs_1", "summary": []},
                    {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"what": "boat"}'},
                    {"type": "function_call_output", "call_id": "c1", "output": "pier 7"},
                ]
            )
            thread = await client.thread(session.thread)
            assert (thread.agent, thread.project, thread.message_count) == ("openai-agents", "harbour", 4)
            request = (await client.context(session.thread)).request
            assert request.messages[0]["content"] == [{"type": "text", "text": "Where is the pilot boat?"}]
            assert [block["type"] for message in request.messages[1:3] for block in message["content"]] == [
                "tool_use",
                "tool_result",
            ]
            assert "rs_1" not in str(request.messages)
            assert (await client.search("pilot boat")).hits

    asyncio.run(run())


def test_items_before_a_distillation_can_be_popped(spaces: FreshSpaces) -> None:
    """Items that a distillation has summarised can still be read and popped one by one, and others be added."""

    async def run() -> None:
        async with spaces.client() as client:
            session = Session("long", client)
            added: list[Any] = []
            for number in range(24):
                added.append({"role": "user", "content": f"look at pump {number}: " + "all is well " * 250})
                added.append({"role": "assistant", "content": f"pump {number} is fine"})
            await session.add_items(added)
            await client.distill(session.thread)
            more: Any = {"role": "user", "content": "one more"}
            for left in range(len(added), 30, -1):
                assert await session.pop_item() == added[left - 1]
                if left % 7 == 0:
                    await session.add_items([more])
                    assert await session.pop_item() == more
            assert await session.get_items() == added[:30]
            assert await session.get_items(3) == added[27:30]

    asyncio.run(run())


def test_a_session_that_was_cleared_elsewhere_begins_anew(spaces: FreshSpaces) -> None:
    """A session object sees the new items after another object has cleared and refilled the same session."""

    async def run() -> None:
        async with spaces.client() as client:
            one, other = Session("anew", client), Session("anew", client)
            for name in ("old", "new"):
                await other.add_items([{"role": "user", "content": f"{name} {number}"} for number in range(3)])
                await other.pop_item()
                expected: Any = [{"role": "user", "content": f"{name} {number}"} for number in range(2)]
                assert await one.get_items() == expected
                await (other.clear_session() if name == "old" else asyncio.sleep(0))

    asyncio.run(run())


def test_pops_at_the_same_time_remove_an_item_each(spaces: FreshSpaces) -> None:
    """Two pops of one session never remove the same item."""

    async def run() -> None:
        async with spaces.client() as client:
            session = Session("both", client)
            await session.add_items([{"role": "user", "content": str(number)} for number in range(10)])
            popped: Any = await asyncio.gather(*(session.pop_item() for _ in range(11)))
            assert [item and item["content"] for item in popped] == [*"9876543210", None]

    asyncio.run(run())


@pytest.mark.parametrize("number", [float("nan"), float("-inf")])
def test_a_number_that_json_does_not_have_is_refused(spaces: FreshSpaces, number: float) -> None:
    """Items with NaN or infinity are refused with ValidationError, and none of them is added."""

    async def run() -> None:
        async with spaces.client() as client:
            session = Session("numbers", client)
            output: Any = {"type": "x", "output": [{"score": number}]}
            with pytest.raises(ValidationError, match="JSON has no number"):
                await session.add_items([{"role": "user", "content": "How far?"}, output])
            assert await session.get_items() == []

    asyncio.run(run())
