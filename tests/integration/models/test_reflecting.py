"""Reflection: a model changes the memory files by calls of tools, bounded, in one operation (seed 004, section 7)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import ValidationError
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, call, thread_of

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "I'm Zhang San, a full-stack developer. Why does the logger print to stdout?"},
    {"role": "assistant", "content": "The pino pipeline leaks to stdout. I replaced it with a line transport."},
    {"role": "user", "content": "Good. From now on answer me in Chinese, and keep the code in English."},
]
NAME = call(
    "memory_write",
    path="facts/user.md",
    content="- Name: Zhang San\n- Role: full-stack developer\n",
    quotes=["I'm Zhang San, a full-stack developer"],
)
EPISODE = call(
    "memory_append",
    path="episodes/2026-02.md",
    entry="## Logger stdout leak\n- Summary: pino pipeline leak, line transport\n- Date: 2026-02-24\n"
    "- Problem: the pino pipeline leaks to stdout\n- Solution: a line transport\n- Lesson: avoid the pipeline\n",
    quotes=["The pino pipeline leaks to stdout."],
)


def contents(client: Client) -> list[str]:
    """Return the contents of all memories that are no episodes."""
    return sorted(item.content for item in client.memories(limit=1000).items if item.type != "episode")


def test_facts_and_episodes_are_written(client: Client, model: FakeModel, daemon: Daemon, space: str) -> None:
    """Calls of tools become readable files with provenance, in one operation, which one undo takes back."""
    model.reflect([NAME], [EPISODE])

    answer = client.reflect(thread_of(client, TALK))

    assert answer.fallback is None
    assert answer.counts == {"ADD": 3}
    root = daemon.home / "root" / space
    assert "- Name: Zhang San" in (root / "facts" / "user.md").read_text()
    assert "## Logger stdout leak" in (root / "episodes" / "2026-02.md").read_text()
    (fact,) = [item for item in client.memories().items if item.content == "Name: Zhang San"]
    assert (fact.trust, fact.provenance["seqs"], fact.provenance["prompt"]) == ("engine", [1], "reflect-1")
    assert answer.operation is not None
    client.undo(answer.operation)
    assert client.memories().items == []


def test_what_was_written_is_remembered_after_a_restart(
    client: Client, model: FakeModel, daemon: Daemon, space: str, token: str
) -> None:
    """The person's name and the bug of last time are recalled by a later daemon; a person's edit counts."""
    model.reflect([NAME, EPISODE])
    client.reflect(thread_of(client, TALK))

    daemon.stop()
    file = daemon.home / "root" / space / "facts" / "user.md"
    file.write_text(file.read_text().replace("full-stack", "backend"))
    daemon.start()

    with Client(daemon.socket, token=token) as later:
        later.sync_now()
        assert "Zhang San" in later.recall("what is my name?").hits[0].memory.content
        assert "pino" in later.recall("which logger bug did we fix last time?").hits[0].memory.content
        assert "Role: backend developer" in contents(later)


def test_facts_and_the_index_are_loaded_before(client: Client, model: FakeModel) -> None:
    """The first request has all facts whole, the index of the episodes, and the tools of the reflection alone."""
    client.put_document("facts/user.md", "# User Facts\n\n- Prefers tabs, with a reason of many words.\n")
    client.put_document(
        "episodes/2026-01.md",
        "# 2026-01 Episodes\n\n## Short ids\n- Summary: UUID to 16 hex\n- Date: 2026-01-05\n"
        "- Solution: only in the file\n",
    )
    thread = thread_of(client, TALK)
    model.reflect()

    shown = client.model_requests(thread, reflect=True).items
    assert model.requests() == []
    client.reflect(thread)

    (sent,) = model.requests("reflect")
    assert "- Prefers tabs, with a reason of many words." in sent["system"]
    assert "Short ids: UUID to 16 hex" in sent["system"]
    assert "only in the file" not in sent["system"]
    names = [tool["name"] for tool in sent["tools"]]
    assert names == ["memory_list", "memory_read", "memory_write", "memory_patch", "memory_append"]
    assert [(item.purpose, item.system, item.id) for item in shown] == [("reflect", sent["system"], sent["id"])]
    assert "Zhang San" in sent["messages"][0]["content"]


def test_results_come_back_turn_by_turn(client: Client, model: FakeModel) -> None:
    """Each request has the results of the calls before; a refused edit is an error that the model can correct."""
    client.remember(wire.CreateMemory(content="The relay listens on port 2501.", type="fact"))
    patch = {"oldText": "on port 2501.", "newText": "on port 2502."}
    talk = [{"role": "user", "content": "The relay listens on port 2502 since today, not on 2501."}]
    quotes = ["The relay listens on port 2502"]
    model.reflect(
        [call("memory_list"), call("memory_read", path="facts/project.md")],
        [call("memory_patch", path="facts/project.md", patches=[{**patch, "oldText": "port 99"}], quotes=quotes)],
        [call("memory_patch", path="facts/project.md", patches=[patch], quotes=["a quote of nobody"])],
        [call("memory_patch", path="facts/project.md", patches=[patch], quotes=quotes)],
    )

    answer = client.reflect(thread_of(client, talk))

    assert contents(client) == ["The relay listens on port 2502."], answer
    assert answer.counts == {"UPDATE": 1}
    assert answer.fallback == "refused 1 x no such text; refused 1 x a quote that is not in the record"
    last = model.requests("reflect")[-1]["messages"]
    results = [result for message in last for result in message.get("results", [])]
    assert [result.get("is_error", False) for result in results] == [False, False, True, True, False]
    assert "facts/project.md" in results[0]["content"]
    assert "port 2501" in results[1]["content"]
    assert json.loads(results[-1]["content"]) == {"success": True, "appliedCount": 1}
    (memory,) = client.memories().items
    assert memory.provenance["updates"][-1]["seqs"] == [1]


def test_a_repeated_request_reflects_once(client: Client, model: FakeModel, daemon: Daemon, token: str) -> None:
    """A request with the same idempotency key gets the first answer, and asks the model nothing more."""
    model.reflect([NAME])
    path, headers = (
        f"/v1/threads/{thread_of(client, TALK)}/reflect?wait=true",
        {"Idempotency-Key": "once", "Authorization": f"Bearer {token}"},
    )

    first, again = (daemon.ask("POST", path, None, headers) for _ in range(2))

    assert (first.status, first.json()["counts"], again.json()) == (200, {"ADD": 2}, first.json())
    assert len(model.requests("reflect")) == 2


def test_small_talk_writes_nothing(client: Client, model: FakeModel) -> None:
    """A model that calls no tool changes nothing, and the thread is not read again."""
    model.reflect()
    thread = thread_of(client, [{"role": "user", "content": "Nice weather today, is it not?"}])

    client.reflect(thread)
    again = client.reflect(thread)

    assert contents(client) == []
    assert again.operation is None
    assert len(model.requests()) == 1


def test_the_same_work_twice(client: Client, model: FakeModel) -> None:
    """A statement that a memory has already is not added once more."""
    model.reflect([NAME, EPISODE])
    client.reflect(thread_of(client, TALK))
    again = call("memory_append", path="facts/user.md", entry="- Name: Zhang San", quotes=["I'm Zhang San"])
    model.reflect([again, EPISODE])

    answer = client.reflect(thread_of(client, TALK))

    assert answer.counts["SKIP"] == 2
    assert "ADD" not in answer.counts
    assert len(client.memories().items) == 3


def test_learning_reflects_where_the_settings_say_so(model: FakeModel) -> None:
    """With `distiller.learning`, learning from a thread is a reflection, and asks for no extraction."""
    model.reflect([NAME])
    settings = model.settings(REVERIE_DISTILLER_LEARNING="reflection")
    with running_daemon(None, **settings) as daemon, Client(daemon.socket) as client:
        client.learn(thread_of(client, TALK))
        assert contents(client) == ["Name: Zhang San", "Role: full-stack developer"]
    assert {request["purpose"] for request in model.requests()} <= {"reflect", "state"}


def test_without_a_model_there_is_an_error() -> None:
    """The rules have no tools: the error says which distillers do."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        thread = thread_of(client, TALK)
        with pytest.raises(ValidationError, match="extractive distiller") as refused:
            client.reflect(thread)
        assert "command can" in (refused.value.hint or "")
        assert client.model_requests(thread, reflect=True).items[0].purpose == "reflect"
