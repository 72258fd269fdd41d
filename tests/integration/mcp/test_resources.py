"""Resources, their changes, prompts, completions, the thread of a client's session, and questions before a deletion."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from support.daemon import Daemon, environment, running_daemon, scratch_home
from support.fake_daemon import Answer as FakeAnswer
from support.fake_daemon import envelope, fake_daemon
from support.mcp_bridge import META, STATELESS, BridgeProcess, bridge

PATH = "facts/gates.md"
LIST_CHANGED = "notifications/resources/list_changed"
URI = f"memory://documents/{PATH}"
TEXT = "# Gates\n\n- The north gate is green\n"
ELICITS: dict[str, Any] = {META + "clientCapabilities": {"elicitation": {"form": {}}}}


@contextmanager
def opened(daemon: Daemon, folder: Path, *, stateless: bool, **capabilities: Any) -> Iterator[BridgeProcess]:
    """Yield a client of either form, whose session is open."""
    with bridge(daemon.env, folder, stateless=stateless) as agent:
        if not stateless:
            agent.open(**capabilities)
        yield agent


@pytest.mark.parametrize("stateless", [False, True])
def test_resources_are_listed_and_read(daemon: Daemon, client: Client, tmp_path: Path, *, stateless: bool) -> None:
    """Working state, notes and index of the client's thread, and every document, are listed as resources and read."""
    client.put_document(PATH, TEXT)
    with opened(daemon, tmp_path, stateless=stateless) as agent:
        listed = {item["uri"]: item for item in agent.ask("resources/list")["result"]["resources"]}
        assert {"memory://working-state", "memory://notes", "memory://index", "memory://brief", URI} <= listed.keys()
        assert (listed[URI]["name"], listed[URI]["mimeType"]) == (PATH, "text/markdown")
        templates = agent.ask("resources/templates/list")["result"]["resourceTemplates"]
        assert [template["uriTemplate"] for template in templates] == ["memory://documents/{+path}"]

        def text(uri: str) -> str:
            (content,) = agent.ask("resources/read", uri=uri)["result"]["contents"]
            assert content["uri"] == uri
            return str(content["text"])

        assert text("memory://notes") == text("memory://working-state") == ""
        agent.call("note", {"content": "the gate is green", "category": "decision"})
        agent.call("working_state_set", {"currentTask": "paint the gates"})
        assert text("memory://notes") == "- [decision] the gate is green\n"
        assert "Current task: paint the gates" in text("memory://working-state")
        assert PATH in text("memory://index")
        assert "The north gate is green" in text(URI)
        for uri in ("memory://nonsense", "memory://documents/facts/none.md", "memory://documents/../../etc/passwd"):
            assert agent.ask("resources/read", uri=uri)["error"]["code"] == (-32602 if stateless else -32002)


def test_changes_reach_a_client_with_a_session(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A client hears of changes of resources that it subscribed to, by any writer, until it unsubscribes."""
    client.put_document(PATH, TEXT)
    with opened(daemon, tmp_path, stateless=False) as agent:
        for uri in (URI, "memory://notes"):
            assert agent.ask("resources/subscribe", uri=uri)["result"] == {}
        assert agent.ask("resources/subscribe", uri="memory://none")["error"]["code"] == -32002
        agent.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"of no request"}}')
        (daemon.folder / PATH).write_text(TEXT + "- The south gate is red\n")
        agent.until(updated(URI))
        client.put_document("facts/other.md", "# Other\n\n- Something else\n")
        agent.until({"method": LIST_CHANGED})
        agent.begin("call", "note", {"content": "x", "category": "task"})
        agent.until(updated("memory://notes"))
        assert agent.ask("resources/unsubscribe", uri=URI)["result"] == {}
        client.patch_document(PATH, [("- The south gate is red", "- The south gate is blue")])
        client.delete_document(PATH)
        while (heard := agent.received())["method"] != LIST_CHANGED:
            assert heard != updated(URI)


def test_changes_reach_a_client_without_a_session(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A stream without a session first says that it began, has its id in each change, and ends when cancelled."""
    client.put_document(PATH, TEXT)
    asked = {"resourceSubscriptions": [URI], "resourcesListChanged": True, "toolsListChanged": True}
    params = {"_meta": STATELESS, "notifications": asked}
    with opened(daemon, tmp_path, stateless=True) as agent:
        began = agent.message({"jsonrpc": "2.0", "id": "l1", "method": "subscriptions/listen", "params": params})
        assert began["method"] == "notifications/subscriptions/acknowledged"
        assert began["params"]["notifications"] == {"resourceSubscriptions": [URI], "resourcesListChanged": True}
        client.patch_document(PATH, [("- The north gate is green", "- The north gate is white")])
        changed = agent.until({"method": "notifications/resources/updated"})
        assert changed["params"] == {"uri": URI, "_meta": {META + "subscriptionId": "l1"}}
        client.put_document("facts/new.md", "# New\n\n- Something new\n")
        agent.until({"method": LIST_CHANGED})
        cancelled = {"requestId": "l1", "_meta": STATELESS}
        agent.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}).encode())
        client.delete_document(PATH)
        assert "tools" in agent.ask("tools/list")["result"]


def test_a_stream_goes_on_with_a_daemon_that_was_started_again(tmp_path: Path) -> None:
    """After a restart clients with and without a session hear once that all may have changed, then of each change."""
    with running_daemon() as own, opened(own, tmp_path, stateless=False) as first:
        first.call("memory_write", {"path": PATH, "content": TEXT})
        first.ask("resources/subscribe", uri=URI)
        with opened(own, tmp_path, stateless=True) as second:
            params = {"_meta": STATELESS, "notifications": {"resourceSubscriptions": [URI]}}
            second.message({"jsonrpc": "2.0", "id": 99, "method": "subscriptions/listen", "params": params})
            own.stop()
            own.start()
            told = {**updated(URI), "params": {"uri": URI, "_meta": {META + "subscriptionId": 99}}}
            first.until(updated(URI))
            assert first.received()["method"] == LIST_CHANGED
            second.until(told)
            own.ask("PUT", f"/v1/documents/{PATH}", {"content": f"{TEXT}- The south gate is red\n"})
            first.until(updated(URI))
            second.until(told)


def test_a_stream_that_is_refused_is_opened_again(tmp_path: Path) -> None:
    """A stream that a busy daemon refuses is requested again until it is opened."""
    heard = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": URI}}
    event = b"event: message\ndata: " + json.dumps(heard).encode() + b"\n\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    answers = iter(
        [
            FakeAnswer(raw=head),
            envelope("busy", status=503),
            FakeAnswer(raw=head + b"%x\r\n%b\r\n" % (len(event), event)),
        ]
    )
    with scratch_home() as home:
        (home / "run").mkdir()
        with (
            fake_daemon(home / "run" / "reverie.sock", lambda _: next(answers, envelope("busy", status=503))),
            bridge(environment(home), tmp_path, stateless=True) as agent,
        ):
            params = {"_meta": STATELESS, "notifications": {"resourceSubscriptions": [URI]}}
            message = {"jsonrpc": "2.0", "id": 99, "method": "subscriptions/listen", "params": params}
            agent.send(json.dumps(message).encode())
            assert agent.received() == heard


def test_prompts_continue_hand_over_and_review(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """The prompts `continue`, `handoff` and `review` have an earlier thread, the notes and the index in their text."""
    folder = tmp_path / "gatehouse"
    folder.mkdir()
    earlier = client.create_thread(project=str(folder)).id
    client.append(earlier, [{"role": "user", "content": "paint the gates"}, {"role": "assistant", "content": "half"}])
    client.set_working_state(earlier, current_task="paint the gates", next_steps=["the south gate"])
    with opened(daemon, folder, stateless=False) as agent:
        listed = [prompt["name"] for prompt in agent.ask("prompts/list")["result"]["prompts"]]
        assert listed == ["continue", "handoff", "review"]
        agent.call("note", {"content": "green was chosen", "category": "decision"})

        def text(name: str, **arguments: str) -> str:
            (message,) = agent.ask("prompts/get", name=name, arguments=arguments)["result"]["messages"]
            assert message["role"] == "user"
            return str(message["content"]["text"])

        assert f"Thread: {earlier}" in text("continue")
        assert "the south gate" in text("continue", thread=earlier)
        assert "green was chosen" in text("handoff")
        agent.call("memory_write", {"path": PATH, "content": "# Gates\n\n- The east door is of oak\n"})
        assert "gates.md" in text("review")
        assert "gates.md" in text("continue", thread=earlier)
        for name, arguments in (("nonsense", {}), ("continue", {"thread": "none"}), ("review", {"x": "y"})):
            assert agent.ask("prompts/get", name=name, arguments=arguments)["error"]["code"] == -32602
        ref, argument = {"type": "ref/prompt", "name": "continue"}, {"name": "thread", "value": earlier[:6]}
        completed = agent.ask("completion/complete", ref=ref, argument=argument)["result"]["completion"]
        assert earlier in completed["values"]


@pytest.mark.parametrize("by", ["process", "thread"])
def test_the_thread_is_that_of_the_session(daemon: Daemon, client: Client, tmp_path: Path, by: str) -> None:
    """A note goes to the thread of the session that a hook reported, found by process or by the id that is sent."""
    transcript = tmp_path / f"{by}-1.jsonl"
    transcript.touch()
    name: wire.AgentClient = "claude-code" if by == "process" else "codex"
    pid = os.getpid() if by == "process" else None
    begun = client.start_session(wire.StartSession(name, f"{by}-1", str(tmp_path), str(transcript), pid))
    with opened(daemon, tmp_path, stateless=True) as agent:
        meta = {"threadId": f"{by}-1"} if by == "thread" else None
        agent.call("note", {"content": f"by the {by}", "category": "task"}, meta)
    assert begun.thread is not None
    assert [note.content for note in client.notes(begun.thread).items][-1:] == [f"by the {by}"]
    client.end_session(name, f"{by}-1")


def test_a_deletion_is_asked_about_without_a_session(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """The first answer to a deletion is a question; only a yes to this version of the file deletes it."""
    client.put_document(PATH, TEXT)
    params: dict[str, Any] = {"name": "memory_delete", "arguments": {"path": PATH}}
    with opened(daemon, tmp_path, stateless=True) as agent:
        asked = agent.ask("tools/call", ELICITS, **params)["result"]
        assert asked["resultType"] == "input_required"
        question = asked["inputRequests"]["delete"]
        assert question["method"] == "elicitation/create"
        assert PATH in question["params"]["message"]

        def answered(action: str, *, delete: bool, state: str = asked["requestState"]) -> Any:
            answer = {"action": action, "content": {"delete": delete}}
            return agent.ask("tools/call", ELICITS, **params, inputResponses={"delete": answer}, requestState=state)

        assert answered("decline", delete=True)["result"]["isError"] is True
        assert answered("accept", delete=False)["result"]["isError"] is True
        assert answered("accept", delete=True, state="%%%")["error"]["code"] == -32602
        client.patch_document(PATH, [("- The north gate is green", "- The north gate is white")])
        assert answered("accept", delete=True)["result"]["resultType"] == "input_required"
        assert "gate is white" in client.document(PATH).content
        again = agent.ask("tools/call", ELICITS, **params)["result"]["requestState"]
        assert answered("accept", delete=True, state=again)["result"]["isError"] is False
        assert PATH not in [document.path for document in client.documents().items]


@pytest.mark.parametrize("agrees", [True, False])
def test_a_deletion_is_asked_about_in_a_session(
    daemon: Daemon, client: Client, tmp_path: Path, *, agrees: bool
) -> None:
    """The server asks before a deletion, answers other requests meanwhile, and deletes only after a yes."""
    client.put_document(PATH, TEXT)
    with opened(daemon, tmp_path, stateless=False, elicitation={}) as agent:
        agent.send(_call("memory_delete", {"path": PATH}))
        question = agent.received()
        assert question["method"] == "elicitation/create"
        assert agent.ask("ping")["result"] == {}
        answer = {"action": "accept", "content": {"delete": True}} if agrees else {"action": "cancel"}
        done = agent.message({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        assert (done["id"], done["result"]["isError"]) == ("call", not agrees)
    assert (PATH in [document.path for document in client.documents().items]) is not agrees


def test_a_daemon_that_ends_while_it_asks(tmp_path: Path) -> None:
    """A call ends with an error if the daemon dies while it asks, and a late yes does not answer the next question."""
    with running_daemon() as own, opened(own, tmp_path, stateless=False, elicitation={}) as agent:
        for path in (PATH, "facts/lamps.md"):
            agent.call("memory_write", {"path": path, "content": TEXT})
        agent.send(_call("memory_delete", {"path": PATH}))
        first = agent.received()
        own.kill()
        ended = agent.until({"id": "call"})
        assert ended["result"]["isError"]
        assert "ended before it answered" in ended["result"]["content"][0]["text"]
        own.start()
        agent.send(_call("memory_delete", {"path": "facts/lamps.md"}))
        second = agent.until({"method": "elicitation/create"})
        yes = {"action": "accept", "content": {"delete": True}}
        agent.send(json.dumps({"jsonrpc": "2.0", "id": first["id"], "result": yes}).encode())
        no = {"jsonrpc": "2.0", "id": second["id"], "result": {"action": "cancel"}}
        agent.send(json.dumps(no).encode())
        assert agent.until({"id": "call"})["result"]["isError"]
        assert own.ask("GET", "/v1/documents/facts/lamps.md").status == 200


def test_a_client_that_shows_no_forms_is_not_asked(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """A client that can show no question gets the file deleted at once; undo brings it back."""
    client.put_document(PATH, TEXT)
    with opened(daemon, tmp_path, stateless=False) as agent:
        result = agent.ask("tools/call", name="memory_delete", arguments={"path": PATH})["result"]
        client.undo(result["structuredContent"]["operation"])
        assert "north gate" in client.document(PATH).content
        text, is_error = agent.call("memory_delete", {"path": "facts/none.md"})
        assert is_error
        assert "memory_list" in text


def updated(uri: str) -> dict[str, Any]:
    """Return the notification that a resource changed."""
    return {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}


def _call(tool: str, arguments: dict[str, Any]) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": params}).encode()
