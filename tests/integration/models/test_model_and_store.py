"""A model beside other writers: answers are used again for a stale plan, and a full store keeps warnings."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from reverie import wire
from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, memory, thread_of
from support.waiting import wait_until

TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "The ferry must not leave before the ramp is up."},
    {"role": "assistant", "content": "Understood: the ramp first."},
]
GOOD = memory("The ferry leaves after the ramp is up.", "must not leave before the ramp is up", 1, scope="person")


def test_a_stale_plan_is_made_again_from_the_same_answers(
    client: Client, daemon: Daemon, model: FakeModel, token: str
) -> None:
    """If a memory is written while the model answers, the plan is made again from the same answers."""
    model.extract(GOOD)
    how = (model.folder / "extract.json").read_text()
    (model.folder / "extract.json").write_text(how[:-1] + ', "before": 2}')
    thread = thread_of(client, TALK)

    with ThreadPoolExecutor() as pool, Client(daemon.socket, token=token) as other:
        learning = pool.submit(client.learn, thread)
        wait_until(lambda: model.requests("extract"))
        other.remember(wire.CreateMemory(content="The gull sits on the mast.", type="fact"))
        answer = learning.result()

    assert answer.counts["ADD"] == 1
    assert len(model.requests("extract")) == 1
    assert len(client.memories().items) == 2


def test_two_callers_ask_once(client: Client, daemon: Daemon, model: FakeModel, token: str) -> None:
    """Of two concurrent calls to learn from one thread, one asks the model and learns, the other does nothing."""
    model.extract(GOOD)
    thread = thread_of(client, TALK)

    with ThreadPoolExecutor() as pool, Client(daemon.socket, token=token) as other:
        answers = [pool.submit(caller.learn, thread) for caller in (client, other)]
        operations = [answer.result().operation for answer in answers]

    assert len(model.requests("extract")) == 1
    assert operations.count(None) == 1


def test_a_full_store_is_cut_without_losing_a_warning(model: FakeModel) -> None:
    """In HEAVY_CUT the model may delete generic memories, but not a warning that nothing supersedes."""
    with (
        running_daemon(None, **model.settings(REVERIE_CONSOLIDATION_WINDOW="1000")) as daemon,
        Client(daemon.socket) as client,
    ):
        facts = [f"Berth {number} has water and shore power for two boats of ten metres." for number in range(20)]
        ids = [client.remember(wire.CreateMemory(content=text, type="fact")).id for text in facts]
        warning = client.remember(wire.CreateMemory(content="Never moor at berth 7 at low tide.", type="mistake")).id
        model.extract(GOOD)
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
