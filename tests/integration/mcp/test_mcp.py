"""`reverie mcp` over real pipes, before a real daemon: both forms of the protocol, every tool, and bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import mcp
import msgspec
import pytest

from reverie import tools
from reverie.client import Client
from reverie.errors import Conflict
from reveried.mcp.stdio import LINE_BYTES_MAX
from support.daemon import Daemon, running_daemon
from support.mcp_bridge import META, PROGRAM, STATELESS, bridge

CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("note", {"content": "the gate is green", "category": "decision"}),
    ("memory_write", {"path": "facts/gates.md", "content": "# Gates\n\n- The north gate is green\n"}),
    ("memory_append", {"path": "facts/gates.md", "entry": "- The south gate is red"}),
    ("memory_read", {"path": "facts/gates.md"}),
    (
        "memory_patch",
        {
            "path": "facts/gates.md",
            "patches": [{"oldText": "- The south gate is red", "newText": "- The south gate is blue"}],
        },
    ),
    ("memory_list", {}),
    ("recall", {"query": "which colour has the south gate"}),
    ("remember", {"fact": "The east gate is opened by the harbour master alone."}),
    ("search", {"query": "who opens the east gate"}),
    ("read_thread", {"thread": "gates"}),
    ("working_state_set", {"currentTask": "paint the gates"}),
    ("working_state_get", {}),
    ("memory_delete", {"path": "facts/gates.md"}),
)


def make_thread(client: Client) -> None:
    """Create the thread that `read_thread` reads, unless an earlier test did."""
    with suppress(Conflict):
        client.create_thread(id="gates")


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_a_session_is_opened_in_the_revision_of_the_client(daemon: Daemon, tmp_path: Path, version: str) -> None:
    """`initialize` answers with the client's revision, `ping` with an empty result; the tools are the daemon's."""
    with bridge(daemon.env, tmp_path) as client:
        opened = client.open(version)
        assert opened["protocolVersion"] == version
        assert set(opened["capabilities"]) == {"tools", "resources", "prompts", "completions"}
        assert "`search`" in opened["instructions"]
        assert client.ask("ping")["result"] == {}
        assert client.ask("tools/list")["result"] == {"tools": tools.definitions("mcp")}


def test_an_unknown_revision_gets_the_newest_with_a_session(daemon: Daemon, tmp_path: Path) -> None:
    """`initialize` with an unknown revision is answered with the newest revision that has sessions."""
    with bridge(daemon.env, tmp_path) as client:
        assert client.open("2031-01-01")["protocolVersion"] == "2025-11-25"


def test_without_a_session_each_request_names_its_revision(daemon: Daemon, tmp_path: Path) -> None:
    """`server/discover` and results with their type; another revision and the methods of a session are refused."""
    with bridge(daemon.env, tmp_path, stateless=True) as client:
        found = client.ask("server/discover")["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        assert found["resultType"] == "complete"
        assert found["_meta"][META + "serverInfo"]["name"] == "reverie"
        listed = client.ask("tools/list")["result"]
        assert listed["tools"] == tools.definitions("mcp")
        assert (listed["ttlMs"], listed["cacheScope"]) == (0, "private")
        assert client.ask("tools/call", name="memory_list")["result"]["resultType"] == "complete"
        assert client.ask("ping")["error"]["code"] == -32601
        refused = client.ask("tools/list", {META + "protocolVersion": "1999-01-01"})["error"]
        assert (refused["code"], refused["data"]["supported"]) == (-32022, ["2026-07-28"])


def test_prose_beside_bullets_is_named(daemon: Daemon, tmp_path: Path) -> None:
    """The result of `memory_write` quotes a paragraph beside bullets, which is no memory, as text and as structure."""
    content = "# Locks\n\n- The upper lock is shut\n\nThe keeper sleeps.\n\n- The lower lock is open\n"
    with bridge(daemon.env, tmp_path, stateless=True) as client:
        result = client.ask("tools/call", name="memory_write", arguments={"path": "facts/locks.md", "content": content})
        answer = result["result"]["structuredContent"]
        assert '"The keeper sleeps."' in answer["note"]
        assert json.loads(result["result"]["content"][0]["text"]) == answer


@pytest.mark.parametrize("stateless", [False, True])
def test_every_tool_is_called(daemon: Daemon, client: Client, tmp_path: Path, *, stateless: bool) -> None:
    """Each tool answers without an error and reads what was written, all in one thread of the folder's project."""
    folder = tmp_path / ("without" if stateless else "with")
    folder.mkdir()
    make_thread(client)
    before = {thread.id for thread in client.threads(limit=1000).items}
    with bridge(daemon.env, folder, stateless=stateless) as agent:
        if not stateless:
            agent.open()
        answers = {name: agent.call(name, fields) for name, fields in CALLS}
        assert answers.keys() == {tool.name for tool in tools.TOOLS}
        assert not any(is_error for _, is_error in answers.values()), answers
        assert "The south gate is red" in answers["memory_read"][0]
        assert "The south gate is blue" in answers["recall"][0]
        assert "harbour master" in answers["search"][0]
        assert json.loads(answers["working_state_get"][0])["currentTask"] == "paint the gates"
    (made,) = [thread for thread in client.threads(limit=1000).items if thread.id not in before]
    assert made.agent == ("Some-Client" if stateless else "claude-code")
    assert made.project == folder.name
    assert [note.content for note in client.notes(made.id).items][-1:] == ["the gate is green"]


@pytest.mark.parametrize("lists", [False, True])
def test_results_are_as_their_schema_says(daemon: Daemon, client: Client, tmp_path: Path, *, lists: bool) -> None:
    """Structured content fits the tool's schema and equals the text; a tool without a schema, or an error, has none."""
    make_thread(client)
    with bridge(daemon.env, tmp_path) as agent:
        agent.open()
        if lists:
            agent.ask("tools/list")
        for name, fields in CALLS:
            result = agent.ask("tools/call", name=name, arguments=fields)["result"]
            tool = tools.tool_named(name)
            assert tool is not None
            if tool.output_type is None:
                assert "structuredContent" not in result
                continue
            text = json.loads(result["content"][0]["text"])
            assert result["structuredContent"] == (text if tool.listed_as is None else {tool.listed_as: text})
            parsed = msgspec.convert(result["structuredContent"], tool.output_type)
            assert msgspec.to_builtins(parsed) == result["structuredContent"]
        assert "structuredContent" not in agent.ask("tools/call", name="note", arguments={})["result"]


def test_recall_takes_the_project_of_the_folder(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """Memories that an agent writes in one project are not recalled in another."""
    here, there = tmp_path / "harbour", tmp_path / "orchard"
    here.mkdir()
    there.mkdir()
    with bridge(daemon.env, here) as agent:
        agent.open()
        agent.call("memory_append", {"path": "facts/cranes.md", "entry": "- The tall crane lifts nine tonnes"})
        assert "nine tonnes" in agent.call("recall", {"query": "how much does the tall crane lift"})[0]
    with bridge(daemon.env, there) as agent:
        agent.open()
        assert "nine tonnes" not in agent.call("recall", {"query": "how much does the tall crane lift"})[0]
    assert client.recall("how much does the tall crane lift").hits


def test_a_thread_id_of_the_client_is_used(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """Two thread ids in one process are two threads, to which a later process adds by the same ids."""
    for text in ("first", "second"):
        with bridge(daemon.env, tmp_path) as agent:
            agent.open(name="codex")
            for thread in ("a1", "b2"):
                fields = {"content": f"{text} of {thread}", "category": "task"}
                assert not agent.call("note", fields, {"threadId": thread})[1]
    for thread in ("a1", "b2"):
        notes = [note.content for note in client.notes(f"mcp:codex:{thread}").items]
        assert [note for note in notes if note.endswith(thread)] == [f"first of {thread}", f"second of {thread}"]


def test_bad_input_gets_the_error_of_json_rpc(daemon: Daemon, tmp_path: Path) -> None:
    """Each malformed line or request gets one error of JSON-RPC, and a good request after them is answered."""
    with bridge(daemon.env, tmp_path) as agent:
        assert agent.ask("tools/list")["error"]["code"] == -32602
        agent.open()
        for line, code, number in (
            (b'{"jsonrpc": "2.0", "id"', -32700, None),
            (b"\xff\xfe", -32700, None),
            (b"[" * 100_000, -32700, None),
            (b"x" * (LINE_BYTES_MAX + 2_000_000), -32600, None),
            (b"[]", -32600, None),
            (b"7", -32600, None),
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
            (b'{"id":1,"method":"ping"}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":"q","method":"ping","params":[1]}', -32602, "q"),
            (b'{"jsonrpc":"2.0","id":"q","method":"no/such"}', -32601, "q"),
            (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":7}}', -32602, 2),
            (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"n","arguments":[]}}', -32602, 2),
            (b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"../x"}}', -32602, 2),
            (b'{"jsonrpc":"2.0","id":2,"method":"initialize"}', -32602, 2),
        ):
            agent.send(line)
            answer = agent.received()
            assert (answer["error"]["code"], answer["id"]) == (code, number), line[:80]
            assert answer["error"]["message"]
        assert agent.ask("ping")["result"] == {}


def test_a_wrong_parameter_is_a_result_that_says_so(daemon: Daemon, tmp_path: Path) -> None:
    """A call with a wrong or missing parameter returns an error result whose text names the parameter."""
    with bridge(daemon.env, tmp_path) as agent:
        agent.open()
        for tool, fields, part in (
            ("note", {"content": "x", "category": "idea"}, "category"),
            ("recall", {"question": "x"}, "query"),
            ("memory_read", {"path": "../../etc/passwd"}, "path"),
        ):
            text, is_error = agent.call(tool, fields)
            assert is_error
            assert part in text


def test_notifications_and_answers_get_no_answer(daemon: Daemon, tmp_path: Path) -> None:
    """Notifications, known or unknown, unrequested answers and empty lines get no answer."""
    with bridge(daemon.env, tmp_path) as agent:
        agent.open()
        for line in (
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
            b'{"jsonrpc":"2.0","method":"notifications/unheard-of","params":[]}',
            b'{"jsonrpc":"2.0","id":9,"result":{}}',
            b"",
            b"   \r",
        ):
            agent.send(line)
        assert agent.ask("ping")["result"] == {}


def test_a_batch_is_answered_in_the_one_revision_that_has_it(daemon: Daemon, tmp_path: Path) -> None:
    """A batch gets one list of answers, without any for notifications; a batch of notifications alone gets none."""
    ping: Mapping[str, Any] = {"jsonrpc": "2.0", "method": "ping"}
    with bridge(daemon.env, tmp_path) as agent:
        agent.open("2025-03-26")
        answers = agent.message([{**ping, "id": 1}, ping, {**ping, "id": 2, "method": "no/such"}, 5])
        assert [answer["id"] for answer in answers] == [1, 2, None]
        assert answers[1]["error"]["code"] == -32601
        agent.send(json.dumps([ping]).encode())
        assert agent.ask("ping")["result"] == {}


def test_a_daemon_that_is_down_is_a_result(tmp_path: Path) -> None:
    """While the daemon is down tools are listed and calls are errors that name `reverie up`; later calls work again."""
    with running_daemon() as own, bridge(own.env, tmp_path) as agent:
        agent.open()
        own.stop()
        assert agent.ask("tools/list")["result"] == {"tools": tools.definitions("mcp")}
        text, is_error = agent.call(*CALLS[0])
        assert is_error
        assert "`reverie up`" in text
        own.start()
        assert agent.call(*CALLS[0])[1] is False
        own.kill()
        assert agent.call(*CALLS[0])[1] is True
        own.start()
        assert agent.call("working_state_get", {})[1] is False


def test_a_wrong_token_is_named(daemon: Daemon, tmp_path: Path) -> None:
    """With a wrong token a tool call returns an error result, and the list of tools an error; both name the token."""
    with bridge({**daemon.env, "REVERIE_TOKEN": "rev_wrong"}, tmp_path) as agent:
        agent.open()
        text, is_error = agent.call(*CALLS[0])
        assert is_error
        assert "token" in text
        refused = agent.ask("tools/list")["error"]
        assert (refused["code"], refused["data"]) == (-32603, {"error": "unauthenticated"})
        assert "token" in refused["message"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_gets_along_with_it(daemon: Daemon, tmp_path: Path, mode: str) -> None:
    """The official Python client of MCP lists and calls tools, with a session and without."""

    async def talk() -> tuple[str, int, Any]:
        server = mcp.StdioServerParameters(command=PROGRAM, args=["mcp"], env=daemon.env, cwd=tmp_path)
        async with mcp.Client(mcp.stdio_client(server), mode=mode) as client:
            listed = (await client.list_tools()).tools
            called = await client.call_tool("note", dict(CALLS[0][1]))
            return client.protocol_version, len(listed), called

    version, count, called = anyio.run(talk)
    assert version == ("2025-11-25" if mode == "legacy" else STATELESS[META + "protocolVersion"])
    assert count == len(tools.LISTED)
    assert not called.is_error
