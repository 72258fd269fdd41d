"""Working states refined by the cheap model: used where it answers in time, else those by rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

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


@pytest.fixture(scope="module")
def daemon(program: FakeModel) -> Iterator[Daemon]:
    """A daemon with a cheap model, and time for it on a busy machine."""
    settings = program.settings(REVERIE_DISTILLER_CHEAP_MODEL="small", REVERIE_DISTILLER_STATE_SECONDS="20")
    with running_daemon(None, **settings) as running:
        yield running


def test_the_models_state_is_stored(client: Client, model: FakeModel) -> None:
    """A thread's working state becomes the one that the cheap model returns, with each text cut to its limit.

    An item rests on the entry that it names: no other entry, no words of the agent as the person's, no new names.
    """
    answer = {
        **STATE,
        "nextSteps": [item("Paint the door next.", 2), item("Order lamps from Bergen.", 2), item("Paint.", 77)],
        "recentDecisions": [item("Green, not red.", 1), item("I have sanded the door.", 2)],
        "openFiles": [item("src/door.py", 2)],
        "blockers": [item("The roof leaks.", 0), item("door " * 1_000, 2)],
    }
    model.behave("state", text=json.dumps(answer))

    thread = thread_of(client, TALK)

    wait_until(lambda: client.working_state(thread).next_steps == ["Paint the door next."])
    state = client.working_state(thread)
    assert (state.current_task, state.completed_steps) == ("Paint the shed green.", ["Sanded the door."])
    assert (state.recent_decisions, state.open_files) == (["Green, not red."], [])
    (blocker,) = state.blockers
    assert blocker.startswith("door door")
    assert len(blocker) <= 500
    (request,) = model.requests("state")
    assert (request["role"], request["model"]) == ("cheap", "small")


@pytest.mark.parametrize("how", [{"text": "{"}, {"text": json.dumps({**STATE, "blockers": 5})}, {"status": 1}])
def test_a_state_that_cannot_be_used(client: Client, model: FakeModel, how: dict[str, Any]) -> None:
    """If the model's working state cannot be used, the one by rules stays, until a later one can be used."""
    model.behave("state", **how)
    thread = thread_of(client, TALK)
    wait_until(lambda: model.requests("state") and model.has_ended())
    assert "paint the shed green" in client.working_state(thread).current_task.lower()
    assert client.working_state(thread).completed_steps != ["Sanded the door."]

    model.behave("state", text=json.dumps(STATE))
    client.append(thread, [{"role": "user", "content": "Go on, please."}])
    wait_until(lambda: client.working_state(thread).completed_steps == ["Sanded the door."])
