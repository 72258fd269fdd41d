"""Idempotency keys: every POST is done once, its answer is the first one, and a key is of one request only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reverie.client import Client
from reveried.routes import routes
from support.daemon import Answer, Daemon, check_refused, running_daemon

MESSAGE = {"messages": [{"role": "user", "content": "once"}]}
BODIES: dict[str, tuple[Any, Any]] = {
    "/v1/threads": ({"title": "once"}, {"title": "twice"}),
    "/v1/threads/{id}/messages": (MESSAGE, {"messages": [{"role": "user", "content": "twice"}]}),
    "/v1/threads/{id}/notes": ({"content": "once", "category": "task"}, {"content": "twice", "category": "task"}),
    "/v1/threads/{id}/rewind": ({"toSeq": 26}, {"toSeq": 25}),
    "/v1/threads/{id}/distill": ({}, {"tokenBudget": 1_000_000}),
    "/v1/threads/{id}/learn": (None, {}),
    "/v1/memories": ({"content": "the crane is yellow"}, {"content": "the crane is green"}),
    "/v1/recall": ({"query": "crane"}, {"query": "buoy"}),
    "/v1/search": ({"query": "crane"}, {"query": "buoy"}),
    "/v1/projects/sort": (None, {}),
    "/v1/documents/{path:path}/patch": (
        {"patches": [{"oldText": "one", "newText": "one two"}]},
        {"patches": [{"oldText": "one", "newText": "three"}]},
    ),
    "/v1/documents/{path:path}/append": ({"entry": "- once"}, {"entry": "- twice"}),
    "/v1/documents/{path:path}/insert": ({"line": 0, "text": "- zero"}, {"line": 1, "text": "- zero"}),
    "/v1/documents/{path:path}/move": ({"to": "facts/moved.md"}, {"to": "facts/elsewhere.md"}),
    "/v1/tools/{name}": ({"input": {}}, {"input": {}, "thread": "t"}),
    "/v1/sync": ({}, {"deep": True}),
    "/v1/dreams": ({"dryRun": True}, {"dryRun": False}),
    "/v1/schedules": ({"cron": "0 3 * * *"}, {"cron": "0 4 * * *"}),
    "/v1/imports": ({"client": "claude-code", "session": "a"}, {"client": "claude-code", "session": "b"}),
    "/v1/operations/{id}/undo": (None, {}),
    "/v1/compact": (None, {}),
    "/v1/spaces": ({"id": "once"}, {"id": "twice"}),
    "/v1/runs": ({"title": "once"}, {"title": "twice"}),
    "/v1/runs/{id}/complete": (None, {}),
    "/v1/sessions": (
        {"client": "codex", "session": "s-1", "project": "pier"},
        {"client": "codex", "session": "s-2", "project": "pier"},
    ),
    "/v1/sessions/{client}/{session}/end": (None, {}),
    "/v1/distiller/check": (None, {}),
    "/v1/redactions/allow": ({"like": "harbour"}, {"like": "pier"}),
    "/v1/redactions/disallow": ({"like": "quay"}, {"like": "pier"}),
    "/v1/rollback": ({"operation": "1"}, {"operation": "0"}),
}
"""The body of a first request, and another one, by path."""

# They need a conflict, a candidate and a path, and the answer of a repetition has no secret: tested beside those. A
# message of MCP has its own error for a key of another call, and only its tools change something. A hook's input is an
# event of its client, which sends no keys. A compaction changes nothing, and its answer is never stored. A reflection
# needs a model.
MADE_ELSEWHERE = {
    "/v1/projects/{project}/brief/lines/{id}",
    "/v1/candidates/{id}/accept",
    "/v1/candidates/{id}/reject",
    "/v1/conflicts/{id}/resolve",
    "/v1/backups",
    "/v1/tokens",
    "/v1/hooks/{client}",
    "/v1/compactions",
    "/v1/compactions/prepare",
    "/v1/threads/{id}/reflect",
    "/mcp",
}


@pytest.fixture(scope="module")
def served() -> Iterator[Daemon]:
    """Yield a daemon with a thread, a document and an operation to undo."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        client.create_thread(id="t")
        client.create_thread(id="long")
        for number in range(14):
            words = f"pier {number} is closed because of the tide. " * 20
            client.append("long", [{"role": "user", "content": f"Remember that {words}"}])
            client.append("long", [{"role": "assistant", "content": [{"type": "text", "text": f"Noted: {words}"}]}])
        client.call_tool("memory_write", {"path": "facts/keyed.md", "content": "# Keyed\n\n- one\n"})
        client.allow_redactions(like="quay")
        yield daemon


def test_every_call_is_listed() -> None:
    """Every POST route of the API has a case in this file's table or is listed as tested elsewhere."""
    posts = {row.path for row in routes() if row.method == "POST"}
    assert posts == BODIES.keys() | MADE_ELSEWHERE


@pytest.mark.parametrize("path", BODIES)
def test_a_repeated_request_is_done_once(served: Daemon, path: str) -> None:
    """A POST repeated with its key gets the first answer and writes nothing; another body is a conflict."""
    first, other = BODIES[path]
    thread = "long" if path.endswith(("distill", "learn", "rewind")) else "t"
    concrete = path.replace("{path:path}", "facts/keyed.md").replace("{name}", "memory_list")
    concrete = concrete.replace("{client}/{session}", "codex/s-1")
    with Client(served.socket) as client:
        operation = next(item.id for item in client.operations().items if item.undoable)
        run = client.start_run().id if path.startswith("/v1/runs/") else ""
        concrete = concrete.replace("{id}", run or (operation if "operations" in path else thread))
        waits = "?wait=true" if path.endswith(("distill", "learn", "dreams")) else ""
        key = {"Idempotency-Key": f"key of {path}"}
        answer = served.ask("POST", concrete + waits, first, key)
        assert answer.status < 300, answer.body
        after = client.status()
        again = served.ask("POST", concrete + waits, first, key)
        assert (again.status, without_times(again)) == (answer.status, without_times(answer))
        assert (client.status().operation, client.status().counts) == (after.operation, after.counts)
        check_refused(served.ask("POST", concrete + waits, other, key), 409, "conflict")


def without_times(answer: Answer) -> Any:
    """Return a JSON answer; of a schedule without its next run."""
    return {name: value for name, value in answer.json().items() if name != "nextRun"}


def test_a_repeated_start_is_the_same_job(served: Daemon) -> None:
    """Two requests with one key start one job; another body under the key is refused without a job."""
    for path in ("/v1/dreams", "/v1/threads/long/distill", "/v1/threads/long/learn"):
        key = {"Idempotency-Key": f"start of {path}"}
        body: dict[str, Any] | None = None if path.endswith("learn") else {}
        first = served.ask("POST", path, body, key)
        assert first.status == 202
        with Client(served.socket) as client:
            jobs = len(served.ask("GET", "/v1/jobs").json()["items"])
            while client.job(first.json()["job"]).state == "running":
                pass
            if client.job(first.json()["job"]).state == "done":
                assert served.ask("POST", path, body, key).json() == first.json()
                assert len(served.ask("GET", "/v1/jobs").json()["items"]) == jobs
        check_refused(served.ask("POST", path, {"tokenBudget": 5_000}, key), 409, "conflict")


@pytest.mark.parametrize("removed", ["forgotten", "deleted with its document", "changed"])
def test_a_replay_is_the_first_answer_whatever_came_since(served: Daemon, removed: str) -> None:
    """A repeated POST gets its first answer even if the memory was deleted or changed in between."""
    body = {"content": f"the keel was {removed}", "document": "facts/replayed.md"}
    key = {"Idempotency-Key": removed}
    first = served.ask("POST", "/v1/memories", body, key)
    assert first.status == 201
    memory = f"/v1/memories/{first.json()['id']}"
    steps: dict[str, Callable[[], Answer]] = {
        "forgotten": lambda: served.ask("DELETE", memory),
        "deleted with its document": lambda: served.ask("DELETE", "/v1/documents/facts/replayed.md"),
        "changed": lambda: served.ask("PATCH", memory, {"content": "another keel"}),
    }
    assert steps[removed]().status == 200
    again = served.ask("POST", "/v1/memories", body, key)
    assert (again.status, again.json()) == (201, first.json())
