"""Answers of a model that follow a poisoned source: what they may change, and how far it reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie import wire
from support.fake_model import memory

if TYPE_CHECKING:
    from reverie.client import Client
    from support.fake_model import FakeModel

SAID = "The build takes nine minutes on the runner since the cache is cold"


def learn(client: Client) -> wire.MemoryChanges:
    thread = client.create_thread(project="harbour")
    client.append(thread.id, [{"role": "user", "content": "Look at it."}, {"role": "assistant", "content": f"{SAID}."}])
    return client.learn(thread.id)


@pytest.mark.parametrize(
    ("operation", "note"),
    [
        ({"action": "UPDATE", "content": "The cache must not be cleared before the schema", "tags": []}, "denies"),
        ({"action": "DELETE", "candidateIndex": 0}, "something else"),
    ],
)
def test_a_memory_is_neither_turned_nor_deleted_by_another(
    client: Client, model: FakeModel, operation: dict[str, object], note: str
) -> None:
    """An UPDATE that adds a denial without a candidate, or a DELETE by an unrelated candidate, leaves the memory."""
    words = "The cache must be cleared before the schema"
    given = client.remember(wire.CreateMemory(words, type="mistake", project="harbour"))
    model.extract(memory(f"{SAID}.", SAID, 2))
    model.consolidate({**operation, "id": given.id}, {"action": "ADD", "candidateIndex": 0})
    answer = learn(client)
    assert note in (answer.fallback or "")
    assert client.memory(given.id).content == words


def test_what_the_agent_said_reaches_its_project_alone(client: Client, model: FakeModel) -> None:
    """A memory of scope `person` that quotes no person is of the project, and an episode has no day to come."""
    model.extract(
        memory(f"{SAID}.", SAID, 2, scope="person"),
        episodes=[
            {"title": "Slow build", "task": SAID, "outcome": "open", "date": "2999-01-01"}
            | {"quotes": [{"entry": 2, "text": SAID}]}
        ],
    )
    learn(client)
    found = client.memories(limit=100, all_projects=True).items
    assert {item.project for item in found if item.content == f"{SAID}."} == {"harbour"}
    assert not any("2999" in item.document + item.content for item in found)
