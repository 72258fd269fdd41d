"""Learning with a model: candidates that quote their source, consolidated against the memories near them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest

from reverie import wire
from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, memory, thread_of
from support.waiting import wait_until

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "From now on write British spelling in the docs. Why does the cache drop entries?"},
    {
        "role": "assistant",
        "content": "The cache drops entries because the clock is read before the lock is taken. I moved the read.",
    },
    {"role": "user", "content": "Use SQLite for it, not Postgres: it must work without a server."},
    {"role": "assistant", "content": "Done: the cache is in SQLite now."},
]
WISH = memory(
    "Docs are written with British spelling.",
    "From now on write British spelling in the docs.",
    1,
    type="preference",
    scope="person",
    tags=["Docs", "spelling"],
)
CAUSE = memory(
    "The cache dropped entries because the clock was read before the lock was taken.",
    "the clock is read before the lock is taken",
    1,  # a wrong number: the words are in entry 2
    type="mistake",
)


def contents(client: Client) -> list[str]:
    """Return the contents of all memories."""
    return sorted(memory.content for memory in client.memories().items)


def test_what_is_quoted_is_learnt_once(client: Client, model: FakeModel) -> None:
    """Memories have the model's words, type and scope, and the entries that hold their quotes; a thread is read once.

    The request is complete, and the program's environment marks the call.
    """
    model.extract(WISH, CAUSE)
    thread = thread_of(client, TALK)

    answer, again = client.learn(thread), client.learn(thread)
    client.append(thread, [{"role": "user", "content": "Thanks, and good night."}])
    client.learn(thread)

    assert (answer.fallback, again.operation) == (None, None)
    assert [change.candidate_index for change in answer.changes if isinstance(change, wire.AddChange)] == [0, 1]
    assert [item.content for item in answer.proposed] == [WISH["content"], CAUSE["content"]]
    by_type = {item.type: item for item in client.memories().items}
    assert by_type["preference"].tags == ["docs", "spelling"]
    assert by_type["preference"].provenance["seqs"] == [1]
    assert by_type["mistake"].provenance["seqs"] == [2]
    assert by_type["mistake"].provenance["prompt"] == "extract-5"
    first, second = model.requests("extract")
    assert (first["marker"], first["prompt_version"], first["role"]) == ("1", "extract-5", "strong")
    assert first["schema"]["additionalProperties"] is False
    assert first["prompt"].startswith(first["system"])
    record = second["messages"][0]["content"].partition("<record>")[2]
    assert "good night" in record
    assert "British spelling" not in record


OLD, NEW, ALSO = "The cache is in Postgres.", "The cache is in SQLite now.", "The importer reads the cache."
PLACED = {"action": "ADD", "candidateIndex": 0}
UPDATE = {"action": "UPDATE", "content": NEW, "tags": ["cache"], "candidateIndex": 0}
UPDATED = {"UPDATE": 1, "SKIP": 1, "ADD": 1}


@pytest.mark.parametrize(
    ("author", "operation", "placed", "counts"),
    [
        ("agent", UPDATE, [{"action": "SKIP", "candidateIndex": 0}], UPDATED),
        ("agent", UPDATE, [], UPDATED),
        ("agent", UPDATE, [PLACED], UPDATED),
        ("person", {"action": "DELETE", "candidateIndex": 0}, [PLACED], {"KEEP": 1, "ADD": 2}),
    ],
    ids=["skipped", "not_mentioned", "added", "of_a_person"],
)
def test_consolidation_sees_the_neighbours(  # noqa: PLR0917 - fixtures
    client: Client,
    model: FakeModel,
    author: Literal["agent", "person"],
    operation: dict[str, Any],
    placed: list[dict[str, Any]],
    counts: dict[str, int],
) -> None:
    """Memories near a candidate are shown with ids and use, and an UPDATE supersedes one; a person's is not changed.

    A candidate whose words a memory has got, but for their spelling, is skipped, whatever the answer says of it.
    """
    old = client.remember(wire.CreateMemory(content=OLD, type="fact", author=author))
    quote = "the cache is in SQLite now"
    model.extract(memory(NEW[:-1], quote, 4, scope="person"), memory(ALSO, quote, 4, scope="person"))
    model.consolidate({**operation, "id": old.id}, *placed)

    answer = client.learn(thread_of(client, TALK))

    assert (answer.counts, answer.fallback) == (counts, None)
    assert contents(client) == (sorted([NEW, ALSO]) if author == "agent" else sorted([OLD, NEW[:-1], ALSO]))
    assert [one.change.id for one in answer.proposals or ()] == ([old.id] if author == "person" else [])
    shown = model.requests("consolidate")[0]["messages"][0]["content"]
    assert all(word in shown for word in (old.id, "recalled", "GENEROUS"))


def test_an_episode_has_the_words_of_its_task(client: Client, model: FakeModel, daemon: Daemon, space: str) -> None:
    """An episode is a memory with fields, in the document of its month."""
    episode = {
        "title": "The cache drops entries",
        "task": "Find out why the cache drops entries.",
        "outcome": "The clock is read inside the lock now; the cache is in SQLite.",
        "lesson": "Read the clock after taking the lock.",
        "next": "",
        "date": "2026-11-20",
        "tags": ["cache"],
        "quotes": [{"entry": 1, "text": "Why does the cache drop entries?"}],
    }
    model.extract(episodes=[episode])

    client.learn(thread_of(client, TALK))

    (learnt,) = client.memories().items
    assert learnt.title == episode["title"]
    assert learnt.fields["Lesson"] == episode["lesson"]
    assert "Next" not in learnt.fields
    assert (daemon.home / "root" / space / "episodes" / "2026-11.md").is_file()


def test_a_warning_goes_with_its_bug(client: Client, model: FakeModel) -> None:
    """A memory that the model says is wrong, here a warning, is deleted; an id that it was not shown is reported."""
    for number in range(5):
        client.remember(wire.CreateMemory(content=f"Release {number} was tagged by Ann.", type="fact"))
    warning = client.remember(wire.CreateMemory(content="The cache drops entries under load.", type="mistake"))
    quotes = [{"entry": 2, "text": "I moved the read."}]
    noted = [{"id": name, "why": "it was mended", "quotes": quotes} for name in (warning.id, "mem_unknown")]
    model.extract(wrong=noted)
    model.consolidate({"action": "DELETE", "id": warning.id, "reason": "mended"})

    answer = client.learn(thread_of(client, TALK))

    assert warning.content not in contents(client)
    assert answer.counts == {"DELETE": 1, "KEEP": 5}
    assert "a memory that was not shown was said to be wrong" in (answer.fallback or "")
    shown = model.requests("consolidate")[0]["messages"][0]["content"]
    assert "said to be wrong" in shown
    assert warning.id in model.requests("extract")[0]["messages"][0]["content"]


def test_a_stale_plan_is_made_again_from_the_same_answers(
    client: Client, daemon: Daemon, model: FakeModel, token: str, tmp_path: Path
) -> None:
    """If a memory is written while the model answers, the plan is made again from the same answers.

    Of two callers at once one asks the model and learns, the other does nothing.
    """
    written = tmp_path / "written"
    model.behave("extract", text=json.dumps({"memories": [CAUSE]}), until=str(written))
    thread = thread_of(client, TALK)

    with ThreadPoolExecutor() as pool, ExitStack() as stack:
        *callers, other = (stack.enter_context(Client(daemon.socket, token=token)) for _ in range(3))
        learning = [pool.submit(caller.learn, thread) for caller in callers]
        wait_until(lambda: model.requests("extract"))
        other.remember(wire.CreateMemory(content="The gull sits on the mast.", type="fact"))
        written.touch()
        answers = [one.result() for one in learning]

    assert sorted(answer.counts.get("ADD", 0) for answer in answers) == [0, 1]
    assert [answer.operation for answer in answers].count(None) == 1
    assert len(model.requests("extract")) == 1
    assert len(client.memories().items) == 2


def test_a_full_store_is_cut_without_losing_a_warning(model: FakeModel) -> None:
    """In HEAVY_CUT the model may delete generic memories, but not a warning that nothing supersedes."""
    with (
        running_daemon(None, **model.settings(REVERIE_CONSOLIDATION_WINDOW="1000")) as daemon,
        Client(daemon.socket) as client,
    ):
        facts = [f"Berth {number} has water and shore power for two boats of ten metres." for number in range(20)]
        ids = [client.remember(wire.CreateMemory(content=text, type="fact")).id for text in facts]
        warning = client.remember(wire.CreateMemory(content="Never moor at berth 7 at low tide.", type="mistake")).id
        model.extract(CAUSE)
        model.consolidate(
            *({"action": "DELETE", "id": name, "reason": "generic"} for name in [*ids[:3], warning]),
            {"action": "ADD", "candidateIndex": 0},
        )

        answer = client.learn(thread_of(client, TALK))

        assert answer.tier == "HEAVY_CUT"
        assert answer.counts == {"DELETE": 3, "KEEP": 18, "ADD": 1}
        assert "a mistake was to be deleted that nothing supersedes" in (answer.fallback or "")
        shown = model.requests("consolidate")[0]["messages"][0]["content"]
        assert all(name in shown for name in (*ids, warning))
        assert client.memory(warning).content.startswith("Never moor")
