"""A tool is called by a model: what it writes over the owner's own socket, without a token, is an agent's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict
from support.cli import reverie
from support.daemon import Daemon, running_daemon
from support.mcp_bridge import bridge
from support.pages import newest_operation

FORGOTTEN = "Deploys of the harbour go through quay seven"
OTHER_WORDS = "Quay seven is where the harbour deploys go."
UNRELATED = "The crane lifts nine tonnes on the north pier"
FILE = "facts/project.md"


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.3") as running:
        yield running


@pytest.fixture
def owner(daemon: Daemon) -> Iterator[Client]:
    """The owner, in the default space: what a test wrote and forgot there is rolled back behind it."""
    with Client(daemon.socket) as opened:
        opened.create_thread()
        before = opened.operations(limit=1).items[0].id
        yield opened
        opened.rollback(before)


@pytest.fixture
def forgotten(owner: Client) -> str:
    """A statement that the owner wrote and forgot."""
    made = owner.remember(wire.CreateMemory(FORGOTTEN, type="fact", author="person"))
    owner.forget(made.id)
    return FORGOTTEN


def contents(client: Client) -> dict[str, str]:
    """Return the trust of each memory by its content."""
    return {memory.content: memory.trust for memory in client.memories(limit=1000).items}


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("again", [FORGOTTEN, OTHER_WORDS])
def test_the_installed_bridge_brings_nothing_forgotten_back(
    daemon: Daemon, owner: Client, tmp_path: Path, again: str
) -> None:
    """Without a token the bridge's tools are refused what a person forgot, in the same words and in others."""
    with bridge(daemon.env, tmp_path) as agent:
        agent.open()
        for tool, given in (
            ("memory_append", {"entry": f"- {again}"}),
            ("memory_write", {"content": f"# Quays\n\n- {again}\n"}),
        ):
            text, is_error = agent.call(tool, {"path": "facts/quays.md", **given})
            assert is_error
            assert "waits in review" in text
    assert contents(owner) == {}
    assert again in {change.content for item in owner.candidates().items for change in item.changes}


@pytest.mark.usefixtures("forgotten")
@pytest.mark.parametrize("again", [FORGOTTEN, OTHER_WORDS])
def test_tools_over_http_bring_nothing_forgotten_back(owner: Client, again: str) -> None:
    """Neither does a tool over HTTP, nor the memory tool, nor a memory whose author the request calls an agent."""
    appended = owner.call_tool("memory_append", {"path": FILE, "entry": f"- {again}"})
    created = owner.call_tool(
        "memory", {"command": "create", "path": "/memories/facts/again.md", "file_text": f"- {again}\n"}
    )
    assert (appended.is_error, created.is_error) == (True, True)
    with pytest.raises(Conflict, match="waits in review"):
        owner.remember(wire.CreateMemory(again, type="fact", author="agent"))
    assert contents(owner) == {}
    assert owner.remember(wire.CreateMemory(again, type="fact", author="person")).trust == "person"


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("memory_append", {"path": FILE, "entry": f"- {UNRELATED}", "summary": FORGOTTEN}),
        ("memory_append", {"path": FILE, "entry": f"- {UNRELATED} #{FORGOTTEN.lower().replace(' ', '-')}"}),
        ("memory_write", {"path": f"facts/{FORGOTTEN.lower().replace(' ', '-')}.md", "content": f"- {UNRELATED}\n"}),
    ],
    ids=["summary", "tag", "name"],
)
def test_no_label_says_what_was_forgotten(owner: Client, forgotten: str, tool: str, given: dict[str, str]) -> None:
    """A summary, a tag or a file's name with the words of a forgotten statement is refused: an index shows them."""
    answer = owner.call_tool(tool, given)
    assert answer.is_error
    assert "waits in review" in answer.content
    assert contents(owner) == {}
    assert forgotten.lower() not in owner.index().text.lower().replace("-", " ")


def test_the_history_and_the_memory_name_the_agent(daemon: Daemon, owner: Client, tmp_path: Path) -> None:
    """The log names the client of the bridge, and the memory its tool and its thread; `show` prints them."""
    with bridge(daemon.env, tmp_path) as agent:
        agent.open()
        agent.call("note", {"content": "the crane is looked at first", "category": "task"})
        agent.call("memory_append", {"path": FILE, "entry": f"- {UNRELATED}"})
    authors = {item.why: item.who for item in reversed(owner.operations(limit=10).items)}
    assert (authors["thread.create"], authors["document.append"]) == ("claude-code", "claude-code")
    (memory,) = owner.memories().items
    thread = str(memory.provenance["thread"])
    assert memory.provenance == {"by": "claude-code", "tool": "memory_append", "thread": thread}
    assert owner.thread(thread).agent == "claude-code"
    assert "claude-code (memory_append)" in reverie(daemon.env, "show", memory.id).out
    assert "claude-code" in reverie(daemon.env, "log", FILE).out


def test_the_agent_of_a_tool_without_a_token(owner: Client) -> None:
    """Over HTTP a tool's author is the thread's agent, and `agent` without one; no name of Reverie's own is taken."""
    names = []
    for agent in (None, "gpt", "owner"):
        thread = owner.create_thread(agent=agent).id
        owner.call_tool("memory_append", {"path": FILE, "entry": f"- {UNRELATED} for {agent}"}, thread=thread)
        names.append(newest_operation(owner).who)
    assert names == ["agent", "gpt", "agent"]


def test_a_deleted_line_that_an_agent_writes_again_is_the_agents(owner: Client) -> None:
    """A person's line that an agent deleted and writes again has an agent's trust; an undo restores the person's."""
    owner.remember(wire.CreateMemory(UNRELATED, type="fact", author="person", document=FILE))
    thread = owner.create_thread().id
    owner.call_tool("memory_read", {"path": FILE}, thread=thread)
    owner.call_tool("memory_write", {"path": FILE, "content": "# Project\n"}, thread=thread)
    deletion = newest_operation(owner).id
    assert contents(owner) == {}
    owner.call_tool("memory_append", {"path": FILE, "entry": f"- {UNRELATED}"}, thread=thread)
    assert contents(owner) == {UNRELATED: "agent"}
    owner.undo(newest_operation(owner).id)
    owner.undo(deletion)
    assert contents(owner) == {UNRELATED: "person"}


@pytest.mark.parametrize("way", ["move", "rename"])
def test_a_document_moved_into_the_memories(owner: Client, daemon: Daemon, forgotten: str, way: str) -> None:
    """An agent moves a document among the memories: forgotten lines wait in review, new ones have an agent's trust."""
    token = str(owner.create_token("default", agent="coder").token)
    with Client(daemon.socket, token=token) as agent:

        def move(name: str) -> Any:
            if way == "move":
                return agent.move_document(f"{name}.md", f"facts/{name}.md")
            paths = {"old_path": f"/memories/{name}.md", "new_path": f"/memories/facts/{name}.md"}
            answer = agent.call_tool("memory", {"command": "rename", **paths})
            if answer.is_error:
                raise Conflict(answer.content)
            return answer

        agent.put_document(f"old-{way}.md", f"# Notes\n\n- {forgotten}\n")
        with pytest.raises(Conflict, match="waits in review"):
            move(f"old-{way}")
        assert contents(owner) == {}
        agent.put_document(f"new-{way}.md", f"# Notes\n\n- {UNRELATED}\n")
        move(f"new-{way}")
        assert contents(owner) == {UNRELATED: "agent"}
        # A person's memory that an agent moves stays the person's.
        mine = owner.remember(wire.CreateMemory("The pier is closed in March", author="person", document="facts/p.md"))
        agent.move_document("facts/p.md", f"facts/pier-{way}.md")
        assert owner.memory(mine.id).trust == "person"
