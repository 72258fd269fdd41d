"""Tests of forgotten statements: rejected ones, lines that a write removed, and those that an agent writes again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict
from support.daemon import running_daemon
from support.said_again import SAID_AGAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.daemon import Daemon


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.3") as running:
        yield running


@pytest.fixture(scope="module")
def owner(daemon: Daemon) -> Iterator[Client]:
    """A client without a token, which creates spaces and tokens."""
    with Client(daemon.socket) as opened:
        yield opened


@pytest.fixture
def space(owner: Client) -> str:
    """A space of its own for each test: what was forgotten holds for all threads of a space."""
    return owner.create_space(f"review-{len(owner.spaces().items)}").id


@pytest.fixture
def client(daemon: Daemon, owner: Client, space: str) -> Iterator[Client]:
    """A person's client of that space."""
    with Client(daemon.socket, token=owner.create_token(space).token) as opened:
        yield opened


def learn(client: Client, *texts: str) -> wire.MemoryChanges:
    """Append a thread in which the person says these texts, and learn from it."""
    thread = client.create_thread()
    messages: list[dict[str, Any]] = []
    for text in texts:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}]
    client.append(thread.id, messages)
    return client.learn(thread.id)


def contents(client: Client) -> set[str]:
    return {memory.content for memory in client.memories(limit=1000).items}


def test_an_agents_write_of_what_a_person_forgot_waits(daemon: Daemon, owner: Client, space: str) -> None:
    """An agent's call, line or document with a forgotten statement is refused and waits; the person's own is not."""
    person = Client(daemon.socket, token=owner.create_token(space).token)
    agent = Client(daemon.socket, token=owner.create_token(space, agent="coder").token)
    with person, agent:
        new = wire.CreateMemory("Deploys of the harbour go through quay seven", type="fact", project="harbour")
        first = agent.remember(new)
        person.forget(first.id)
        line = f"- {new.content}\n"
        other = wire.CreateMemory("Quay seven is where the harbour deploys go.", type="fact", project="harbour")
        for write in (
            lambda: agent.remember(new),
            lambda: agent.remember(other),
            lambda: agent.append_entry("facts/harbour/project.md", f"- {other.content}\n"),
            lambda: agent.append_entry("facts/harbour/project.md", line),
            lambda: agent.put_document("facts/harbour/other.md", line),
        ):
            with pytest.raises(Conflict, match="waits in review"):
                write()
        assert contents(person) == set()
        waiting = {change.content for item in person.candidates().items for change in item.changes}
        assert waiting == {new.content, other.content}
        agent.remember(wire.CreateMemory("The crane of the harbour lifts nine tonnes", type="fact", project="harbour"))
        back = person.remember(msgspec.structs.replace(new, author="person"))
        assert agent.remember(new).id == back.id


def test_a_line_that_an_agent_removes_is_forgotten(client: Client) -> None:
    """A memory whose line a document write removes is not learnt again; undo of the write lifts that."""
    text, _ = SAID_AGAIN[0]
    learn(client, text)
    (memory,) = client.memories().items
    document = client.document(memory.document)
    client.put_document(memory.document, document.content.replace(f"- {memory.content}", ""), etag=document.etag)
    assert contents(client) == set()
    assert learn(client, text).forgotten == 1
    client.undo(next(item.id for item in client.operations().items if item.why == "document.write"))
    assert learn(client, text).forgotten == 0
    assert contents(client) == {memory.content}


def test_what_was_rejected_as_a_paste_waits_when_the_person_says_it(client: Client) -> None:
    """A rejected candidate is not learnt from a later session, where its words wait; undo of the rejection ends it."""
    text, _ = SAID_AGAIN[0]
    learn(client, f"Here is the mail:\n{text}")
    (item,) = client.candidates().items
    rejected = client.reject_candidate(item.id)
    assert learn(client, f"Here is the mail:\n{text}").waiting == []
    assert len(learn(client, text).waiting) == 1
    assert contents(client) == set()
    client.undo(rejected.operation)
    learn(client, text)
    assert contents(client) == {item.changes[0].content}
