"""A proxy answers a client's request for a summary by the daemon; every other request goes to the provider."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from reverie import wire
from reverie.client import Client
from reveried.proxy.server import ProxyServer
from support.daemon import Daemon, running_daemon
from support.model_server import ModelServer, Request, body_of, raw, read_message
from support.pages import stored_messages
from support.story import LiveSession
from support.upstream import WAIT_S, connected, ok, proxied
from support.waiting import wait_until

ASKED = (
    "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\nYour task is to create a detailed summary of the "
    "conversation so far, in <analysis> and <summary>.\n\nAdditional Instructions:\nkeep the gate\n\n"
    "REMINDER: text only."
)
SAID: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Please paint the north gate green."}]},
    {"role": "assistant", "content": [{"type": "text", "text": "It is green. Next: paint the south gate."}]},
]


def asked_to(instructions: str = ASKED, said: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    """Return the body of a request for a summary."""
    messages = [*(SAID if said is None else said), {"role": "user", "content": instructions}]
    return {"model": "claude-opus-5-5", "max_tokens": 9, "messages": messages, **fields}


def summary_of(text: str) -> str:
    """Return what the client reads out of an answer."""
    assert text.startswith("<summary>")
    return text.partition("<summary>")[2].partition("</summary>")[0]


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon for all tests of this module."""
    with running_daemon() as running:
        yield running


def test_a_summary_without_the_provider(daemon: Daemon) -> None:
    """A request for a summary is answered without the provider, whole or streamed, at a cost of no tokens."""
    with (
        ModelServer() as models,
        proxied(models.url, daemon=daemon.socket) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        whole = client.messages.create(**asked_to())
        with client.messages.stream(**asked_to()) as stream:
            streamed = stream.get_final_message()
        assert models.requests == []
    for message in (whole, streamed):
        assert (message.model, message.stop_reason) == ("claude-opus-5-5", "end_turn")
        assert message.usage.input_tokens + message.usage.output_tokens == 0
        (block,) = message.content
        assert isinstance(block, anthropic.types.TextBlock)
        text = summary_of(block.text)
        assert "Next: paint the south gate" in text
        assert "## Working State" in text
        assert text.rstrip().endswith("keep the gate")


@pytest.mark.parametrize(
    ("body", "has_daemon"),
    [
        (asked_to("Your task is to create a detailed summary of the conversation so far, in <summary>."), True),
        (asked_to(ASKED.replace("so far", "of yesterday")), True),
        ({**asked_to(), "messages": [*SAID, {"role": "user", "content": f"What does this mean?\n{ASKED}"}]}, True),
        ({**asked_to(), "messages": [*asked_to()["messages"], {"role": "assistant", "content": "<summary>"}]}, True),
        ({**asked_to(), "messages": 7}, True),
        ({"messages": []}, True),
        (asked_to(), False),
    ],
)
def test_what_is_not_answered_goes_to_the_provider(daemon: Daemon, body: dict[str, Any], *, has_daemon: bool) -> None:
    """A request that only resembles one for a summary, and any one without a daemon, is passed on byte for byte."""
    data = json.dumps(body, indent=3).encode()
    options: dict[str, Any] = {"daemon": daemon.socket, "max_tokens": 50_000} if has_daemon else {}
    with ModelServer(raw(ok(b"{}"))) as models, proxied(models.url, **options) as server, connected(server) as send:
        assert read_message(send("POST", "/v1/messages", data)) == ok(b"{}")
        assert [body_of(request.raw) for request in models.requests] == [data]


def test_a_daemon_that_is_killed_before_its_answer() -> None:
    """If the daemon is killed, a request for a summary goes to the provider unchanged."""
    data = json.dumps(asked_to()).encode()
    with (
        running_daemon() as own,
        ModelServer(raw(ok(b"{}"))) as models,
        proxied(models.url, daemon=own.socket) as server,
        connected(server) as send,
    ):
        assert b"<summary>" in body_of(read_message(send("POST", "/v1/messages", data)) or b"")
        own.kill()
        assert read_message(send("POST", "/v1/messages", data)) == ok(b"{}")
        assert [body_of(request.raw) for request in models.requests] == [data]


def test_a_provider_that_leaves_while_a_request_is_looked_at(tmp_path: Path) -> None:
    """If the provider closes its idle connection while the daemon is asked, the request is sent over a new one."""
    close = threading.Event()

    def answer(request: Request) -> None:
        request.send(ok(b"{}"))
        if request.method == "GET":
            assert close.wait(WAIT_S)
            request.socket.close()

    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(tmp_path / "daemon"))
        daemon.listen()
        with (
            ModelServer(answer) as models,
            proxied(models.url, daemon=tmp_path / "daemon") as server,
            connected(server) as send,
        ):
            assert read_message(send("GET", "/v1/models")) == ok(b"{}")
            peer = send("POST", "/v1/messages", json.dumps(asked_to()).encode())
            asked, _ = daemon.accept()
            close.set()
            wait_until(lambda: all(one._provider is None for one in list(server.opened)), "the end of the connection")
            daemon.close()
            asked.close()
            assert read_message(peer) == ok(b"{}")
            assert models.connections == 2


def test_a_conversation_stays_cut_when_the_daemon_is_gone() -> None:
    """With the daemon killed, a capped conversation keeps the cut made before, and new messages follow it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please paint every gate."}]
    with (
        running_daemon() as own,
        ModelServer() as models,
        proxied(models.url, daemon=own.socket, max_tokens=12_000) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        for number in range(3):
            messages += [
                {"role": "assistant", "content": f"Gate {number}:"},
                {"role": "user", "content": "green " * 7_000},
            ]
            if number == 2:
                own.kill()
            if number:
                client.messages.create(model="m", max_tokens=7, messages=messages)  # type: ignore[arg-type]
        first, second = (request.body["messages"] for request in models.requests)
    assert len(first) < 5
    assert second == [*first, *messages[5:]]


def test_a_large_request_makes_the_daemon_ready_for_a_compaction() -> None:
    """A large request makes the daemon start its compute process; every request still goes to the provider."""
    large = json.dumps({"model": "m", "messages": [{"role": "user", "content": "green " * 50_000}]}).encode()

    def processes(client: Client) -> bool:
        return "\nreverie_compute_processes 1\n" in client.metrics()

    with (
        running_daemon() as own,
        Client(own.socket) as client,
        ModelServer(raw(ok(b"{}"))) as models,
        proxied(models.url, daemon=own.socket) as server,
        proxied(models.url) as alone,
        connected(server) as send,
        connected(alone) as send_alone,
    ):
        assert read_message(send("POST", "/v1/messages", b'{"model":"m","messages":[]}')) == ok(b"{}")
        assert not processes(client)
        assert read_message(send("POST", "/v1/messages", large)) == ok(b"{}")
        assert read_message(send_alone("POST", "/v1/messages", large)) == ok(b"{}")
        wait_until(lambda: processes(client), "the compute process")
        assert [body_of(request.raw) for request in models.requests[1:]] == [large, large]


def compacted(server: ProxyServer, body: dict[str, Any], *headers: str) -> tuple[bytes, str]:
    """Return the head and the text of the answer to a request for a summary."""
    with connected(server) as send:
        answer = read_message(send("POST", "/v1/messages", json.dumps(body).encode(), *headers))
    assert answer is not None
    return answer.partition(b"\r\n\r\n")[0], json.loads(body_of(answer))["content"][0]["text"]


def test_a_session_that_is_recorded_is_compacted_from_its_thread(daemon: Daemon, tmp_path: Path) -> None:
    """The summary has the thread's notes; those of a subagent and of an unknown conversation come from the request."""
    project = tmp_path / "harbour"
    project.mkdir()
    session = LiveSession(tmp_path, project, 1)
    thread = session.start(daemon)["thread"]
    session.say("Please paint the north gate green.", "It is green. Next: paint the south gate.")
    named = f"X-Claude-Code-Session-Id: {session.id}"
    with Client(daemon.socket) as client, ModelServer() as models, proxied(models.url, daemon=daemon.socket) as server:
        wait_until(lambda: len(stored_messages(client, thread)) == 2, "the messages")
        client.add_note(thread, "the south gate stays red", "correction")
        head, text = compacted(server, asked_to(), named)
        assert b"Reverie-Compaction: thread" in head
        assert "the south gate stays red" in summary_of(text)
        head, text = compacted(server, asked_to(), named, "x-claude-code-agent-id: a1")
        assert b"Reverie-Compaction: messages" in head
        assert "stays red" not in text
        other = [*SAID[:1], {"role": "assistant", "content": "Something that the thread does not have."}]
        head, _ = compacted(server, asked_to(said=other), named)
        assert b"Reverie-Compaction: messages" in head
        assert models.requests == []
        assert len(stored_messages(client, thread)) == 2


def test_an_earlier_summary_is_carried_on(daemon: Daemon) -> None:
    """The compaction of a conversation that begins with an earlier summary has that summary's facts."""
    with Client(daemon.socket) as client:
        said = [
            {
                "role": "user",
                "content": "This session is being continued from a previous conversation.\nThe mast is oak.",
            },
            *SAID,
        ]
        made = client.compact_conversation(wire.CompactConversation("claude-code", said))
    assert made.source == "messages"
    assert "The mast is oak." in made.text
    assert "paint the south gate" in made.text


def test_the_items_of_codex(daemon: Daemon) -> None:
    """A compaction for Codex has the person's and agent's words, not the developer's; a malformed item is skipped."""
    items = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "You are Codex."}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>x"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Run the tests of the crane."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["make","crane"]}', "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "Exit code: 1\ncrane is stuck"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The crane is stuck."}]},
        "no item",
    ]
    with Client(daemon.socket) as client:
        made = client.compact_conversation(wire.CompactConversation("codex", items))
    assert "Run the tests of the crane." in made.text
    assert "The crane is stuck." in made.text
    assert "You are Codex" not in made.text


LOOK = {"type": "tool_use", "id": "look", "name": "Bash", "input": {"command": "cat gate.txt"}}
BLOCKS = [
    {"type": "tool_result", "tool_use_id": "look", "content": "the lock_of_the_gate is rusty"},
    {"type": "text", "text": "[Request interrupted by user]"},
    {"type": "text", "text": "No, wait for the rain to end."},
    {"type": "text", "text": ASKED},
]
ADDED = {"role": "system", "content": "SessionStart hook additional context: the tide is low"}
MARKS = [
    {"role": "user", "content": "Why does </summary> end it? And <summary>?"},
    {"role": "assistant", "content": "Since the last word is HERE."},
]


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        (
            [*SAID, {"role": "assistant", "content": [LOOK]}, {"role": "user", "content": BLOCKS}],
            ("- No, wait for the rain to end.", "the lock_of_the_gate is rusty"),
        ),
        ([*asked_to()["messages"], ADDED], ("paint the south gate",)),
        (asked_to(said=MARKS)["messages"], ("HERE",)),
    ],
    ids=["words_with_the_request", "hook_behind_the_request", "marks_in_the_text"],
)
def test_what_a_summary_has(daemon: Daemon, messages: list[dict[str, Any]], words: tuple[str, ...]) -> None:
    """Words and a result beside the request are in the summary, what a hook adds is not, and marks do not end it."""
    with ModelServer() as models, proxied(models.url, daemon=daemon.socket) as server:
        _, text = compacted(server, {**asked_to(), "messages": messages})
        assert models.requests == []
    assert all(word in summary_of(text) for word in words)
    assert "the tide is low" not in text


def test_a_long_conversation_is_capped(daemon: Daemon) -> None:
    """A capped conversation keeps its beginning between cuts, and no tool result is sent without its call."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please paint every gate."}]
    before: list[str] = []
    cuts = 0
    with (
        ModelServer() as models,
        proxied(models.url, daemon=daemon.socket, max_tokens=12_000) as server,
        anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client,
    ):
        for number in range(40):
            call = {"type": "tool_use", "id": f"call{number}", "name": "Bash", "input": {"command": f"paint {number}"}}
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": f"gate {number} is green. " * 120}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
            client.messages.create(model="m", max_tokens=7, system="You paint.", messages=messages)  # type: ignore[arg-type]
            body = models.requests[-1].body
            assert (body["model"], body["max_tokens"], body["system"]) == ("m", 7, "You paint.")
            sent = [json.dumps(message) for message in body["messages"]]
            is_prefix = sent[: len(before)] == before
            cuts += not is_prefix
            calls = {
                block["id"]
                for message in body["messages"]
                if message["role"] == "assistant"
                for block in message["content"]
            }
            results = {
                block.get("tool_use_id")
                for message in body["messages"][1:]
                if message["role"] == "user"
                for block in message["content"]
            }
            assert results <= calls
            assert sent[-2:] == [json.dumps(message) for message in messages[-2:]]
            before = sent
        assert 1 <= cuts <= 8
        assert "Please paint every gate." in before[0]
        assert "gate 3 is green" in before[0] or "paint 3" in before[0]
