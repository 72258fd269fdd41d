"""Working states refined by the cheap model: used where it answers in time, else those by rules."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from reverie.client import Client
from support.daemon import Daemon, running_daemon
from support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.fake_model import FakeModel

STATE = {
    "currentTask": "Paint the shed green.",
    "taskChain": [],
    "completedSteps": ["Sanded the door."],
    "nextSteps": ["Paint the door."],
    "openFiles": [],
    "recentDecisions": ["Green, not red."],
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


def appended(client: Client) -> str:
    """Return a new thread with the talk."""
    thread = client.create_thread().id
    client.append(thread, TALK)
    return thread


def test_the_models_state_is_stored(client: Client, model: FakeModel) -> None:
    """A thread's working state becomes the one that the cheap model returns, with each text cut to its limit."""
    model.behave("state", text=json.dumps({**STATE, "blockers": ["x" * 5_000]}))

    thread = appended(client)

    wait_until(lambda: client.working_state(thread).next_steps == STATE["nextSteps"])
    state = client.working_state(thread)
    assert state.current_task == STATE["currentTask"]
    assert len(state.blockers[0]) <= 500
    assert model.requests("state")[0]["role"] == "cheap"
    assert model.requests("state")[0]["model"] == "small"


@pytest.mark.parametrize("how", [{"text": "{"}, {"text": json.dumps({**STATE, "blockers": 5})}, {"status": 1}])
def test_a_state_that_cannot_be_used(client: Client, model: FakeModel, how: dict[str, object]) -> None:
    """If the model's working state cannot be used, the one by rules stays."""
    model.behave("state", **how)

    thread = appended(client)

    wait_until(lambda: model.requests("state"))
    assert "paint the shed green" in client.working_state(thread).current_task.lower()
    with Client(client.socket_path) as other:
        assert other.working_state(thread).completed_steps != STATE["completedSteps"]
