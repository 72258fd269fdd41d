"""A model's mass deletion waits as one candidate, and a run's files are read by the model whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict
from support.fake_model import FakeModel, memory
from support.waiting import wait_until


def learn(client: Client) -> wire.MemoryChanges:
    """Let a thread that speaks of the cache be learnt from."""
    thread = client.create_thread()
    talk = [
        {"role": "user", "content": "The cache is gone."},
        {"role": "assistant", "content": "The cache was removed."},
    ]
    client.append(thread.id, talk)
    return client.learn(thread.id)


@pytest.fixture
def caches(client: Client, model: FakeModel) -> list[wire.Memory]:
    """Five memories about the cache, of which the model wants to delete three and update one."""
    kept: list[wire.Memory] = [
        client.remember(wire.CreateMemory(f"The cache has the property number {number}", type="fact"))
        for number in range(5)
    ]
    model.extract(memory("The cache was removed.", "The cache was removed.", 2))
    model.consolidate(
        *({"action": "DELETE", "id": item.id, "candidateIndex": 0} for item in kept[:3]),
        {"action": "UPDATE", "id": kept[3].id, "content": "The cache was removed.", "tags": [], "candidateIndex": 0},
        {"action": "SKIP", "candidateIndex": 0},
    )
    return kept


def test_a_mass_deletion_waits_as_one_candidate(client: Client, caches: list[wire.Memory]) -> None:
    """Nothing is deleted before a person accepts it, then all of it in one operation, which undo takes back."""
    answer = learn(client)
    assert "waits for a person" in (answer.fallback or "")
    before = client.memories().items
    assert {item.id for item in caches} < {item.id for item in before}

    (candidate,) = client.candidates().items
    assert (candidate.reason, [candidate.id]) == ("large_deletion", answer.waiting)
    assert sorted(change.action for change in candidate.changes) == ["DELETE", "DELETE", "DELETE", "UPDATE"]

    decided = client.accept_candidate(candidate.id)
    left = {item.id: item.content for item in client.memories().items}
    assert left.keys() == {item.id for item in before} - {item.id for item in caches[:3]}
    assert left[caches[3].id] == "The cache was removed."
    client.undo(decided.operation)
    assert client.memories().items == before
    assert [item.id for item in client.candidates().items] == [candidate.id]


def test_a_memory_that_was_changed_since_is_left_out(client: Client, caches: list[wire.Memory]) -> None:
    """A memory changed after a candidate was made is left out when it is accepted, and keeps its new words."""
    learn(client)
    (candidate,) = client.candidates().items
    client.change_memory(caches[0].id, wire.ChangeMemory("The cache is back"))
    assert sum(change.stale for change in client.candidate(candidate.id).changes) == 1
    decided = client.accept_candidate(candidate.id)
    assert decided.stale == [caches[0].id]
    assert client.memory(caches[0].id).content == "The cache is back"


def test_all_words_changed_since(client: Client, caches: list[wire.Memory]) -> None:
    learn(client)
    (candidate,) = client.candidates().items
    for number, item in enumerate(caches):
        client.change_memory(item.id, wire.ChangeMemory(f"The queue is number {number}"))
    with pytest.raises(Conflict):
        client.accept_candidate(candidate.id)
    assert client.reject_candidate(candidate.id).state == "rejected"


def test_the_files_of_a_run_are_read_by_the_model(client: Client, model: FakeModel) -> None:
    """A run's files and working memory are shown to the model whole; quoted memories are learnt, once."""
    thread = client.create_thread(agent="coder")
    run = client.start_run(thread=thread.id)
    talk = [
        {"role": "user", "content": "Write down the ports."},
        {"role": "assistant", "content": "I wrote them down."},
    ]
    client.append(thread.id, talk)
    client.put_run_file(run.id, "ports.md", "# Ports\n\nThe ledger listens on 7070.\n")
    client.put_working_memory(run.id, {"broker": "the broker listens on 5672"})
    model.extract(
        memory("The ledger listens on port 7070.", "The ledger listens on 7070.", 3),
        memory("The broker listens on port 5672.", "the broker listens on 5672", 4),
    )

    result = client.complete_run(run.id)

    assert result.fallback is None
    assert [item.content for item in result.candidates] == [
        "The ledger listens on port 7070.",
        "The broker listens on port 5672.",
    ]
    assert {item.content for item in client.memories().items} == {item.content for item in result.candidates}
    shown = model.requests("extract")[0]["messages"][0]["content"]
    assert "ports.md\n# Ports\n\nThe ledger listens on 7070." in shown
    assert "file that the agent wrote" in shown
    assert client.learn(thread.id).operation is None


def test_a_run_whose_extraction_fails_adds_nothing(client: Client, model: FakeModel, tmp_path: Path) -> None:
    """Runs whose model answers with half a surrogate pair are completed without memories, one and the next one.

    The failure is in `fallback`.
    """
    model.behave("extract", text='{"answer": "\\ud800"}')
    ports = "# Ports\n\nThe ledger listens on 7070.\n"
    run = client.start_run(agent="coder")
    client.put_run_file(run.id, "ports.md", ports)
    result = client.complete_run(run.id)
    assert "extraction failed" in (result.fallback or "")
    assert (result.candidates, client.memories().items) == ([], [])
    assert client.run(run.id).state == "completed"
    for name in ("first", "second"):
        session = client.start_session(wire.StartSession(client="codex", session=name, project=str(tmp_path)))
        run = client.start_run(thread=session.thread, agent="codex")
        client.put_run_file(run.id, "ports.md", ports)
        client.end_session("codex", name)
        wait_until(lambda run=run: client.run(run.id).state == "completed")  # type: ignore[misc] # bound now
