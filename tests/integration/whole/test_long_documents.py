"""A document that agents add to is continued in parts: lists, repetitions, undo and the folder follow."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reverie import wire
from reverie.client import Client
from reverie.documents.parts import PART_ITEMS_MAX
from support.daemon import Daemon, running_daemon
from support.waiting import wait_until

MORE = 3  # memories beyond those of the first part


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """A daemon whose project document has one full part, and some memories in the next."""
    with running_daemon() as running:
        with Client(running.socket) as client:
            body = "".join(f"- Port {number} belongs to service {number * 7919}\n" for number in range(PART_ITEMS_MAX))
            client.put_document("facts/project.md", body)
            for number in range(MORE):
                client.remember(wire.CreateMemory(content=f"Later fact {number} about the harbour"))
        yield running


def test_new_memories_go_into_the_next_part(client: Client) -> None:
    by_document: dict[str, int] = {}
    for memory in client.memories(limit=1000).items:
        by_document[memory.document] = by_document.get(memory.document, 0) + 1
    assert by_document == {"facts/project.md": PART_ITEMS_MAX, "facts/project-2.md": MORE}
    text = client.document("facts/project-2.md").content
    assert text.startswith("# Project")
    assert "> Summary:" in text


def test_a_part_named_by_the_caller_leads_to_the_open_one(client: Client) -> None:
    memory = client.remember(wire.CreateMemory(content="A named document that is full", document="facts/project.md"))
    assert memory.document == "facts/project-2.md"
    client.forget(memory.id)


def test_a_repetition_is_found_in_a_full_part(client: Client) -> None:
    """Remembering what the full first part already says returns that memory, and adds none."""
    before = client.memories(limit=1000).items
    repeated = client.remember(wire.CreateMemory(content="Port 5 belongs to service 39595"))
    assert repeated.document == "facts/project.md"
    assert repeated.id in {memory.id for memory in before}
    assert client.memories(limit=1000).items == before


def test_the_list_of_memory_has_every_part_in_order(daemon: Daemon) -> None:
    path = daemon.folder / "MEMORY.md"
    wait_until(lambda: path.exists() and "facts/project-2.md" in path.read_text())
    listed = path.read_text()
    assert listed.index("(facts/project.md)") < listed.index("(facts/project-2.md)")
