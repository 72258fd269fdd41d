"""Dreams with a model: memories near each other are weighed, within the budget, and the archive names what was done."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from reverie import wire
from reverie.client import Client
from support.cli import Outcome, run_in_process, use_daemon
from support.daemon import Daemon, running_daemon, scratch_home
from support.fake_model import FakeModel
from support.waiting import wait_until

SAID = (
    "The heron nests on the north pier.",
    "Herons nest on the north pier in March.",
    "The lock keeper opens at six.",
    "Boats queue at the south gate.",
    "The crane is out of order on Mondays.",
)
MERGED = "The heron nests on the north pier, in March."


def remembered(client: Client) -> list[str]:
    """Return the ids of five memories."""
    return [client.remember(wire.CreateMemory(content=text, type="fact")).id for text in SAID]


def contents(client: Client) -> set[str]:
    """Return the contents of all memories."""
    return {memory.content for memory in client.memories().items}


def test_two_memories_become_one(client: Client, model: FakeModel) -> None:
    """A merge is one UPDATE and one DELETE, and the archive names both by the content of the memories."""
    first, second, *_ = remembered(client)
    model.consolidate(
        {"action": "UPDATE", "id": first, "content": MERGED, "tags": ["heron"]},
        {"action": "DELETE", "id": second, "mergedInto": first},
    )

    answer = client.dream()

    assert contents(client) == {MERGED, *SAID[2:]}
    assert answer.fallback is None
    assert answer.archive is not None
    archive = json.loads(client.archive(answer.archive))
    assert [change["action"] for change in archive["model"]["changes"]] == ["UPDATE", "DELETE"]
    assert first not in json.dumps(archive)
    assert answer.tokens_used > sum(len(text.split()) for text in SAID)
    assert {request["purpose"] for request in model.requests()} == {"consolidate"}


@pytest.mark.parametrize(
    ("deleted", "fallback", "waiting"), [((0, 0), "two operations about one memory", 0), ((0, 1, 2), "", 1)]
)
def test_an_answer_that_is_not_followed(
    client: Client, model: FakeModel, deleted: tuple[int, ...], fallback: str, waiting: int
) -> None:
    """An answer that cannot be used, or deletes more than a fifth, changes no memory; the dream is made by rule."""
    ids = remembered(client)
    model.consolidate(*({"action": "DELETE", "id": ids[number], "reason": "old"} for number in deleted))

    answer = client.dream()

    assert contents(client) == set(SAID)
    assert answer.archive is not None
    assert fallback in (answer.fallback or "")
    assert len(client.candidates().items) == waiting
    assert client.dream_record(str(answer.id)).fallback == answer.fallback


def test_the_budget_bounds_what_is_asked(client: Client, model: FakeModel) -> None:
    """A dream whose budget has no room for a request and its answer asks the model nothing, and is made within it."""
    remembered(client)

    answer = client.dream(token_budget=2_000)

    assert answer.archive is not None
    assert answer.tokens_used <= 2_000
    assert model.requests() == []
    assert "the budget of 2,000 tokens has no room to ask it, which " in (answer.fallback or "")
    needed = int((answer.fallback or "").split("which ")[1].split(" ")[0].replace(",", ""))
    for text in ("The lamp of the pier burns oil.", "A lamp burns on the pier until dawn."):
        client.remember(wire.CreateMemory(content=text, type="fact"))
    assert client.dream(token_budget=needed + 2_000).fallback is None
    assert len(model.requests()) == 1


def test_a_dream_that_was_undone_is_not_made_again(client: Client, model: FakeModel) -> None:
    """What an undo restored is not new to the next dream; what is written after it is."""
    first, second, *_ = remembered(client)
    changes: tuple[dict[str, object], ...] = (
        {"action": "UPDATE", "id": first, "content": MERGED, "tags": []},
        {"action": "DELETE", "id": second, "mergedInto": first},
    )
    model.consolidate(*changes)
    client.undo(str(client.dream().operation))
    assert contents(client) == set(SAID)

    assert client.dream().archive is None
    assert contents(client) == set(SAID)
    client.change_memory(second, wire.ChangeMemory(content="Herons nest on the north pier in April."))
    assert client.dream().sources == 1


@pytest.fixture
def cli(
    daemon: Daemon, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """The command line of that space's person."""
    use_daemon(daemon, monkeypatch)
    monkeypatch.setenv("REVERIE_TOKEN", token)
    return run_in_process(capsys)


def test_a_dream_without_its_model_says_so(client: Client, model: FakeModel, cli: Callable[..., Outcome]) -> None:
    """The command, the record and the status name what the model did not decide."""
    remembered(client)
    model.behave("consolidate", absent=True)

    assert "\nWithout the model: consolidation failed (unreachable)" in cli("dream").out
    assert "without the model: consolidation failed (unreachable)" in cli("status").out
    assert "without the model: consolidation failed" in cli("show", client.dreams().items[0].id).out


def test_a_dream_that_ends_the_daemon_is_begun_twice(model: FakeModel) -> None:
    """A daemon killed in a scheduled dream asks the model once more, and then not before the next night.

    The model's program ends with it, long before its deadline.
    """
    model.behave("consolidate", before=600)
    with scratch_home() as home:
        (home / "clock").write_text("2026-05-04T12:00:00Z")
        with running_daemon(home, **model.settings(REVERIE_DISTILLER_DEADLINE_SECONDS="600")) as daemon:
            with Client(daemon.socket) as client:
                remembered(client)
                client.add_schedule("0 3 * * *", timezone="UTC")
            (home / "clock").write_text("2026-05-05T03:00:30Z")
            for number in (1, 2):
                wait_until(lambda number=number: len(model.requests()) == number, "a request")  # type: ignore[misc] # bound now
                daemon.kill()
                wait_until(model.has_ended, "the program's end")
                daemon.start()
            with Client(daemon.socket) as client:
                wait_until(lambda: client.schedules().items[0].last_run is not None)
                failure = client.schedules().items[0].failure
            assert failure is not None
            assert "the daemon ended in the last two runs" in failure.message
    assert len(model.requests()) == 2


def test_a_stop_in_a_dream_leaves_it_to_the_next_start(model: FakeModel) -> None:
    """A daemon stopped, however often, while a scheduled dream waits for the model makes it with the model later."""
    model.behave("consolidate", before=600)
    with scratch_home() as home:
        (home / "clock").write_text("2026-05-04T12:00:00Z")
        with running_daemon(home, **model.settings(REVERIE_DISTILLER_DEADLINE_SECONDS="600")) as daemon:
            with Client(daemon.socket) as client:
                first, *_ = remembered(client)
                client.add_schedule("0 3 * * *", timezone="UTC")
            (home / "clock").write_text("2026-05-05T03:00:30Z")
            for number in (1, 2, 3):
                wait_until(lambda number=number: len(model.requests()) == number, "a request")  # type: ignore[misc] # bound now
                if number == 3:
                    model.consolidate({"action": "UPDATE", "id": first, "content": MERGED, "tags": []})
                assert daemon.stop() == 0
                wait_until(model.has_ended, "the program's end")
                daemon.start()
            with Client(daemon.socket) as client:
                wait_until(lambda: client.schedules().items[0].last_run is not None)
                assert client.schedules().items[0].failure is None
                assert len(client.dreams().items) == 1
                assert MERGED in contents(client)
