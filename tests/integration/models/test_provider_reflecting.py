"""A reflection over the Messages API: the real client, a local server, tools as the API has them, and its faults."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from support import model_server as faults
from support.daemon import Daemon, running_daemon
from support.fake_model import call, thread_of
from support.model_server import ModelServer, answer, status, tool_turns
from support.provider import SAID, TALK, nothing_leaked, settings, spent, state, warm_up

FACT = "The mailer retries three times because the relay drops the first connection."
ADD = call("memory_append", path="facts/project.md", entry=f"- {FACT}", quotes=[SAID])
LOOK = call("memory_read", path="facts/project.md")


@pytest.fixture(scope="module")
def daemon(server: ModelServer) -> Iterator[Daemon]:
    """A daemon that asks this provider, with one memory."""
    with running_daemon(None, **settings(server)) as running:
        with Client(running.socket) as client:
            warm_up(client, server)
            client.remember(wire.CreateMemory(content="The mailer of relay 1 listens on port 2501.", type="fact"))
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of the daemon that the fixture `daemon` runs."""
    with Client(daemon.socket) as opened:
        yield opened


def test_tools_as_the_api_has_them(client: Client, server: ModelServer, daemon: Daemon) -> None:
    """Tools, calls and results are sent as the API defines them, with a cacheable prefix; tokens are counted."""
    used = spent(client)
    server.script(tool_turns([LOOK], [ADD]))

    learnt = client.reflect(thread_of(client, TALK))

    assert (learnt.fallback, learnt.counts["ADD"]) == (None, 1)
    first, second, third = (seen.body for seen in server.requests)
    assert [tool["name"] for tool in first["tools"]][:2] == ["memory_list", "memory_read"]
    assert first["tools"][3]["input_schema"]["required"] == ["path", "patches"]
    assert "output_config" not in first
    assert second["messages"][1]["content"] == [
        {"type": "tool_use", "id": "call-1", "name": "memory_read", "input": LOOK["input"]}
    ]
    result = second["messages"][2]["content"][0]
    assert (result["type"], result["tool_use_id"], result["is_error"]) == ("tool_result", "call-1", False)
    assert "port 2501" in result["content"]
    assert third["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert third["system"] == first["system"]
    now = spent(client)
    assert now[0] - used[0] == 3
    assert (now[1] - used[1], now[2] - used[2]) == server.tokens
    assert now[3] == used[3]
    nothing_leaked(server, daemon)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (status(401, kind="authentication_error"), "rejected"),
        (status(429, error_code="contract_spend_limit_reached"), "over_ceiling"),
        (faults.hang, "timeout"),
        (faults.hang_in_body, "timeout"),
        (faults.gzip_bomb, "unparseable"),
        (answer("I cannot.", stop_reason="refusal"), "refused"),
        (
            answer("", content=[{"type": "tool_use", "id": "x", "name": "memory_list"}], stop_reason="max_tokens"),
            "truncated",
        ),
        (answer("", content=[], stop_reason="tool_use"), "unparseable"),
        (answer("", content=[{"type": "tool_use", "id": "x", "name": "memory_list", "input": 5}]), "unparseable"),
        (answer("", content=[{"type": "tool_use", "id": "x", "name": "a", "input": {"n": 10**30}}]), "unparseable"),
    ],
)
def test_a_fault_after_calls_changes_nothing(
    client: Client, server: ModelServer, daemon: Daemon, step: Any, reason: str
) -> None:
    """If the second turn of a reflection fails, nothing is changed, and the requests sent are counted."""
    thread = thread_of(client, TALK)
    before, used = state(client, daemon), spent(client)
    server.script(tool_turns([ADD]), step)

    failed = client.reflect(thread)

    assert f"reflection failed ({reason})" in (failed.fallback or ""), failed.fallback
    assert state(client, daemon) == before
    assert spent(client)[0] - used[0] == len(server.requests)
    nothing_leaked(server, daemon)
    warm_up(client, server)


def test_a_broken_connection_is_tried_again(client: Client, server: ModelServer) -> None:
    """After a broken connection or an overload (529) a turn is sent again, and the reflection continues."""
    server.script(tool_turns([ADD]), faults.reset_in_body, status(529, {"retry-after": "0"}), tool_turns([ADD]))

    learnt = client.reflect(thread_of(client, TALK))

    assert learnt.fallback is None
    assert len(server.requests) == 4
