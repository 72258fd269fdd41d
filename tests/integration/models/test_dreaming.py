"""Dreams with a model: memories near each other are weighed, within the budget, and the archive names what was done."""

from __future__ import annotations

import json

import pytest

from reverie import wire
from reverie.client import Client
from support.daemon import running_daemon, scratch_home
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


def test_the_budget_bounds_what_is_asked(client: Client, model: FakeModel) -> None:
    """A dream whose budget has no room for a request and its answer asks the model nothing, and is made within it."""
    remembered(client)

    answer = client.dream(token_budget=2_000)

    assert answer.archive is not None
    assert answer.tokens_used <= 2_000
    assert model.requests() == []


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
            assert "ended twice" in failure.message
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
