"""A new thread of an agent inherits that agent's last notes and digest."""

from __future__ import annotations

import time

from reverie import tokenizer
from reverie.client import Client
from support.daemon import running_daemon
from support.turns import texts_of

TURNS = 12
PIERS = "Please look at pier {}."


def note(client: Client, thread: str, content: str) -> str:
    """Add a note in a millisecond of its own, so that notes have an order."""
    time.sleep(0.002)
    return client.add_note(thread, content, "decision").id


def contents(client: Client, thread: str) -> list[str]:
    return [note.content for note in client.notes(thread).items]


def talk(client: Client, thread: str, agent: str, request: str, turns: int = TURNS) -> None:
    """Create a thread of `agent` and distil it, so that it has a digest."""
    client.create_thread(id=thread, agent=agent)
    for turn in range(turns):
        reply = {"role": "assistant", "content": f"Number {turn} is as it was. " + "All is well. " * 60}
        client.append(thread, [{"role": "user", "content": request.format(turn)}, reply])
    client.distill(thread)


def test_a_new_thread_inherits_notes_and_digest() -> None:
    """A new thread inherits notes, each with its thread, and the digest; they are there after a restart too."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            talk(client, "first", "ann", PIERS)
            note(client, "first", "the depth is measured at low tide")
            digest = client.digest("first").text
            assert digest.count("Please look at pier") == TURNS
        daemon.kill()
        daemon.start()
        with Client(daemon.socket) as client:
            client.create_thread(id="second", agent="ann")
            client.append("second", [{"role": "user", "content": "good morning"}])
            assert [(item.content, item.thread) for item in client.notes("second").items] == [
                ("the depth is measured at low tide", "first")
            ]
            system = texts_of(client.context("second", placement="system").request)["system"]
            assert "the depth is measured at low tide" in system
            assert digest in system
            client.delete_thread("first", confirm="first")
            assert contents(client, "second") == ["the depth is measured at low tide"]


def test_a_distillation_builds_on_the_inherited_digest(client: Client) -> None:
    """The first distillation of the new thread builds on the inherited digest; older lines give way."""
    talk(client, "known", "kim", PIERS)
    talk(client, "unknown", "kim", "Please paint boat {} with a new coat.", turns=8)
    worked_on = [line.partition("Please ")[2] for line in client.digest("unknown").text.splitlines()]
    assert worked_on == [
        *(f"look at pier {turn}." for turn in range(8, TURNS)),
        *(f"paint boat {turn} with a new coat." for turn in range(8)),
    ]


def test_other_agents_inherit_nothing(client: Client) -> None:
    """A caller without a name, and another agent, inherit nothing."""
    client.create_thread(id="mine", agent="eva")
    note(client, "mine", "eva's own business")
    client.create_thread(id="nameless")
    note(client, "nameless", "nobody's business")
    for thread, agent in (("theirs", "tom"), ("anonymous", None)):
        client.create_thread(id=thread, agent=agent)
        assert contents(client, thread) == []
        assert client.digest(thread).text == ""


def test_deleted_notes_are_not_inherited(client: Client) -> None:
    """A note deleted in a later thread is not inherited again from the earlier one."""
    client.create_thread(id="one", agent="bo")
    remaining, deleted = note(client, "one", "keep this"), note(client, "one", "drop this")
    client.create_thread(id="two", agent="bo")
    assert [item.id for item in client.notes("two").items] == [remaining, deleted]
    client.delete_note("two", deleted)
    note(client, "two", "and this")
    client.create_thread(id="three", agent="bo")
    assert contents(client, "three") == ["keep this", "and this"]
    assert contents(client, "one") == ["keep this", "drop this"]


def test_the_newest_notes_are_inherited_within_the_limit(client: Client) -> None:
    """Notes are inherited up to the tier's token limit, newest first; the newest one always."""
    client.create_thread(id="left", agent="cy")
    client.create_thread(id="right", agent="cy")
    for number in range(40):
        note(client, ("left", "right")[number % 2], f"note {number}: " + "tide " * 99)
    client.create_thread(id="after", agent="cy")
    notes = contents(client, "after")

    assert 2 < len(notes) < 40
    assert [text.partition(":")[0] for text in notes] == [f"note {number}" for number in range(40 - len(notes), 40)]
    assert sum(tokenizer.count(text) for text in notes) <= 2_000


def test_notes_in_a_context_are_capped_newest_first(client: Client) -> None:
    """The notes of a context take about 2,000 tokens at most; the newest one is always there."""
    client.create_thread(id="many")
    for number in range(60):
        note(client, "many", f"note number {number}: " + "moon " * 99)
    client.append("many", [{"role": "user", "content": "hello"}])
    answer = client.context("many", placement="system")
    system = texts_of(answer.request)["system"]

    assert answer.tokens.notes <= 2_000
    assert system.index("note number 59") < system.index("note number 58")
    assert "note number 0:" not in system
    assert [entry for entry in answer.dropped if entry.tier == "notes"]
