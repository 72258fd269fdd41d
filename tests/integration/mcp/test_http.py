"""`/mcp` over HTTP: sessions, requests without one, headers, bad input, tokens, and two spaces that never meet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reverie import tools
from reverie.client import Client
from support.daemon import Answer, Daemon, TcpCaller, free_port, running_daemon
from support.mcp_bridge import META, STATELESS

INFO = {"name": "Some Client", "version": "1"}


def message(method: str, **params: Any) -> dict[str, Any]:
    """Return the JSON-RPC message of a request that belongs to no MCP session."""
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": {"_meta": STATELESS, **params}}


def headers_of(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the HTTP headers that must repeat the method and name in a message's body."""
    params = body["params"]
    name = params.get("name", params.get("uri"))
    return {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": body["method"],
        **({"Mcp-Name": name} if name else {}),
    }


def asked(daemon: Daemon, method: str, **params: Any) -> Answer:
    """Send a request that belongs to no MCP session; return the answer."""
    body = message(method, **params)
    return daemon.ask("POST", "/mcp", body, headers_of(body))


class Session:
    """An MCP session over HTTP, with the headers that its requests carry."""

    def __init__(self, daemon: Daemon, version: str = "2025-11-25", **capabilities: Any) -> None:
        self.daemon = daemon
        params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": INFO}
        opened = daemon.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        assert opened.status == 200
        self.result = opened.json()["result"]
        self.headers = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "MCP-Protocol-Version": version}

    def ask(self, method: str, **params: Any) -> Answer:
        """Send a request of the session; return the answer."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self.daemon.ask("POST", "/mcp", body, self.headers)


def test_a_session_is_opened_used_and_ended(daemon: Daemon) -> None:
    """An MCP session over HTTP has an ASCII id, answers requests, and is unknown (404) after it was ended."""
    session = Session(daemon)
    assert session.headers["Mcp-Session-Id"].isascii()
    assert session.result["protocolVersion"] == "2025-11-25"
    notified = daemon.ask("POST", "/mcp", {"jsonrpc": "2.0", "method": "notifications/initialized"}, session.headers)
    assert (notified.status, notified.body) == (202, b"")
    assert session.ask("ping").json()["result"] == {}
    assert session.ask("tools/list").json()["result"] == {"tools": tools.definitions("mcp")}
    assert daemon.ask("DELETE", "/mcp", headers=session.headers).status == 204
    assert session.ask("ping").status == 404


def test_a_ping_needs_no_session(daemon: Daemon) -> None:
    """The revisions with sessions allow it before `initialize`."""
    assert daemon.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}).json()["result"] == {}


def test_a_session_outlives_the_daemon() -> None:
    """An MCP session continues, in the same thread, after the daemon was restarted."""
    with running_daemon() as own:
        session = Session(own)
        note = {"content": "the gate is green", "category": "decision"}
        session.ask("tools/call", name="note", arguments=note)
        own.stop()
        own.start()
        session.ask("tools/call", name="note", arguments=note)
        read = session.ask("resources/read", uri="memory://notes").json()["result"]["contents"][0]
        assert read["text"] == "- [decision] the gate is green\n" * 2


def test_a_request_without_a_session_describes_itself(daemon: Daemon) -> None:
    """Without a session `server/discover`, lists (with `ttlMs` 0) and tool calls are answered."""
    found = asked(daemon, "server/discover").json()["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["_meta"][META + "serverInfo"]["name"] == "reverie"
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        listed = asked(daemon, method).json()["result"]
        assert (listed["ttlMs"], listed["cacheScope"], listed["resultType"]) == (0, "private", "complete")
    called = asked(daemon, "tools/call", name="memory_list").json()["result"]
    assert called["structuredContent"] == {"files": json.loads(called["content"][0]["text"])}


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"Mcp-Method": "prompts/list"}, 400, -32020),
        ({"Mcp-Method": "TOOLS/CALL"}, 400, -32020),
        ({"Mcp-Name": "other"}, 400, -32020),
        ({"Mcp-Name": None}, 400, -32020),
        ({"Mcp-Method": None}, 400, -32020),
        ({"MCP-Protocol-Version": "2025-11-25"}, 400, -32020),
        ({"Mcp-Name": "  recall "}, 200, None),
    ],
)
def test_headers_say_what_the_body_says(
    daemon: Daemon, change: dict[str, str | None], status: int, code: int | None
) -> None:
    """A request without a session is refused if its headers are missing or do not match its body."""
    body = message("tools/call", name="recall", arguments={"query": "gate"})
    headers = {name: value for name, value in {**headers_of(body), **change}.items() if value is not None}
    answer = daemon.ask("POST", "/mcp", body, headers)
    assert answer.status == status
    assert answer.json().get("error", {}).get("code") == code


def test_bad_input_gets_a_code_and_nothing_is_kept(daemon: Daemon, client: Client) -> None:
    """Malformed requests, unknown sessions, methods or revisions and a 10 MB note are refused; nothing is stored."""
    before = client.status().counts
    for body, headers, status, code in (
        (b'{"jsonrpc": "2.0", "id"', {}, 400, -32700),
        (b"[]", {}, 400, -32600),
        (b"7", {}, 400, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {}, 400, -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping"}', {"Mcp-Session-Id": "nonsense"}, 404, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"x"}', {"MCP-Protocol-Version": "2026-07-28"}, 400, -32602),
    ):
        answer = daemon.ask("POST", "/mcp", body, {"Content-Type": "application/json", **headers})
        assert (answer.status, answer.json()["error"]["code"]) == (status, code), body
    unknown = asked(daemon, "no/such")
    assert (unknown.status, unknown.json()["error"]["code"], unknown.json()["id"]) == (404, -32601, 7)
    assert Session(daemon).ask("no/such").json()["error"]["code"] == -32601
    other = message("tools/list")
    other["params"]["_meta"] = {**STATELESS, META + "protocolVersion": "2031-01-01"}
    refused = daemon.ask("POST", "/mcp", other, {"MCP-Protocol-Version": "2031-01-01", "Mcp-Method": "tools/list"})
    assert (refused.status, refused.json()["error"]["code"]) == (400, -32022)
    assert refused.json()["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}
    text = "wall " * 2_100_000
    answer = asked(daemon, "tools/call", name="note", arguments={"content": text, "category": "task"})
    assert answer.json()["result"]["isError"] is True
    assert client.status().counts == before


def test_a_thread_begins_with_its_first_note_or_state(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """Calls on memories make no thread, and work in the project of the folder; the first note makes one."""
    folder = tmp_path / "crane"
    folder.mkdir()
    bridge = f"{tmp_path.name};1;{folder}"

    def call(name: str, **arguments: Any) -> Any:
        body = message("tools/call", name=name, arguments=arguments)
        answer = daemon.ask("POST", "/mcp", body, {**headers_of(body), "Reverie-Bridge": bridge})
        result = answer.json()["result"]
        assert not result["isError"], result
        return result

    before = {thread.id for thread in client.threads(limit=100).items}
    assert json.loads(call("memory_list")["content"][0]["text"]) == []
    call("recall", query="gate")
    assert json.loads(call("working_state_get")["content"][0]["text"])["currentTask"] in ("", None)
    call("memory_append", path="facts/crane/project.md", entry="- The crane is red.")
    assert [item["path"] for item in json.loads(call("memory_list")["content"][0]["text"])] == [
        "facts/crane/project.md"
    ]
    assert "red" in call("memory_read", path="facts/crane/project.md")["content"][0]["text"]
    [crane] = [memory for memory in client.memories(limit=100).items if memory.content == "The crane is red."]
    assert crane.project == "crane"
    assert {thread.id for thread in client.threads(limit=100).items} == before
    call("memory_write", path="facts/crane/project.md", content="# Crane\n\n- The crane is blue.\n")
    call("note", content="Paint it", category="task")
    [begun] = [thread for thread in client.threads(limit=100).items if thread.id not in before]
    assert (begun.project, begun.id.endswith(tmp_path.name)) == ("crane", True)
    call("memory_delete", path="facts/crane/project.md")


def test_over_tcp_a_token_is_needed() -> None:
    """Over TCP `/mcp` needs a token, and refuses web pages of other origins than this machine."""
    port = free_port()
    with running_daemon(REVERIE_DAEMON_TCP=f"127.0.0.1:{port}") as own:
        body = message("tools/list")
        with TcpCaller(port) as caller:
            assert caller.ask("POST", "/mcp", body, headers_of(body)).json()["error"] == "unauthenticated"
        token = own.ask("POST", "/v1/tokens", {"space": "default"}).json()["token"]
        with TcpCaller(port, token) as caller:
            assert caller.ask("POST", "/mcp", body, headers_of(body)).status == 200
            for origin, status in (("http://localhost:3000", 200), ("https://evil.example", 403), ("null", 403)):
                assert caller.ask("POST", "/mcp", body, {**headers_of(body), "Origin": origin}).status == status
            assert caller.ask("GET", "/v1/status", headers={"Origin": "http://localhost:3000"}).status == 403


def test_two_spaces_never_meet(daemon: Daemon, client: Client) -> None:
    """With a space's token, MCP resources, recall and completion show nothing of another space."""
    client.create_space("orchard")
    token = client.create_token("orchard", agent="ann").token
    client.put_document("facts/harbour.md", "# Harbour\n\n- The tall crane lifts nine tonnes\n")

    def ask(method: str, **params: Any) -> Any:
        body = message(method, **params)
        return daemon.ask("POST", "/mcp", body, {**headers_of(body), "Authorization": f"Bearer {token}"}).json()

    assert "harbour" not in json.dumps(ask("resources/list"))
    assert ask("resources/read", uri="memory://documents/facts/harbour.md")["error"]["code"] == -32602
    assert "nine tonnes" not in json.dumps(ask("tools/call", name="recall", arguments={"query": "tall crane tonnes"}))
    ref = {"type": "ref/resource", "uri": "memory://documents/{+path}"}
    assert (
        ask("completion/complete", ref=ref, argument={"name": "path", "value": ""})["result"]["completion"]["values"]
        == []
    )
    assert "harbour" in json.dumps(asked(daemon, "resources/list").json())
