"""Working states refined by the cheap model: used where it answers in time, else those by rules."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, thread_of
from support.waiting import wait_until


def item(text: str, entry: int) -> dict[str, object]:
    """Return an item of a state, which rests on an entry."""
    return {"text": text, "entry": entry}


STATE = {
    "currentTask": item("Paint the shed green.", 1),
    "taskChain": [],
    "completedSteps": [item("Sanded the door.", 2)],
    "nextSteps": [item("Paint the door next.", 2)],
    "openFiles": [],
    "recentDecisions": [item("Green, not red.", 1)],
    "blockers": [],
}
TALK = [
    {"role": "user", "content": "Please paint the shed green, not red."},
    {"role": "assistant", "content": "I have sanded the door and will paint it next."},
]


@pytest.fixture
def daemon(model: FakeModel) -> Iterator[Daemon]:
    """A daemon with a cheap model, and time for it on a busy machine."""
    settings = model.settings(REVERIE_DISTILLER_CHEAP_MODEL="small", REVERIE_DISTILLER_STATE_SECONDS="20")
    with running_daemon(None, **settings) as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as opened:
        yield opened


def test_the_models_state_is_stored(client: Client, model: FakeModel) -> None:
    """A thread's working state becomes the one that the cheap model returns, with each text cut to its limit."""
    model.behave("state", text=json.dumps({**STATE, "blockers": [item("door " * 1_000, 2)]}))

    thread = thread_of(client, TALK)

    wait_until(lambda: client.working_state(thread).next_steps == ["Paint the door next."])
    state = client.working_state(thread)
    assert state.current_task == "Paint the shed green."
    assert len(state.blockers[0]) <= 500
    assert model.requests("state")[0]["role"] == "cheap"
    assert model.requests("state")[0]["model"] == "small"


@pytest.mark.parametrize("how", [{"text": "{"}, {"text": json.dumps({**STATE, "blockers": 5})}, {"status": 1}])
def test_a_state_that_cannot_be_used(client: Client, model: FakeModel, how: dict[str, object]) -> None:
    """If the model's working state cannot be used, the one by rules stays."""
    model.behave("state", **how)

    thread = thread_of(client, TALK)

    wait_until(lambda: model.requests("state"))
    assert "paint the shed green" in client.working_state(thread).current_task.lower()
    with Client(client.socket_path) as other:
        assert other.working_state(thread).completed_steps != ["Sanded the door."]


def test_items_without_a_basis_are_left_out(client: Client, model: FakeModel) -> None:
    """An item rests on the entry that it names: no other entry, no words of the agent as the person's, no new names."""
    unfounded = {
        **STATE,
        "nextSteps": [item("Paint the door next.", 2), item("Order lamps from Bergen.", 2), item("Paint.", 77)],
        "recentDecisions": [item("Green, not red.", 1), item("I have sanded the door.", 2)],
        "openFiles": [item("src/door.py", 2)],
        "blockers": [item("The roof leaks.", 0)],
    }
    model.behave("state", text=json.dumps(unfounded))

    thread = thread_of(client, TALK)

    wait_until(lambda: client.working_state(thread).completed_steps == ["Sanded the door."])
    state = client.working_state(thread)
    assert (state.next_steps, state.recent_decisions) == (["Paint the door next."], ["Green, not red."])
    assert (state.open_files, state.blockers) == ([], [])
