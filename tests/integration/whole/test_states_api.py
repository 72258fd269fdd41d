"""The working state over the API: kept up to date, set by an agent, with the source entry of each item."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import NotFound, ValidationError
from support.daemon import running_daemon
from support.pages import newest_operation
from support.talk import logger_fix


def turns(*texts: str) -> list[dict[str, Any]]:
    """Return messages of the user and the agent in turn."""
    return [{"role": ("user", "assistant")[number % 2], "content": text} for number, text in enumerate(texts)]


def logger_thread(client: Client, thread: str) -> None:
    """Create a thread in which the user has a logger fixed."""
    client.create_thread(id=thread)
    client.append(thread, [{"role": message.role, "content": message.content} for message in logger_fix().messages])


def test_every_item_has_a_source(client: Client) -> None:
    """Each item of a working state has in `sources` the number of the entry it came from."""
    logger_thread(client, "sourced")
    state = client.working_state("sourced")
    texts = {message.last_seq: str(message.content) for message in client.messages("sourced").items}

    assert len(state.sources.completed_steps) == len(state.completed_steps) > 1
    assert len(state.sources.open_files) == len(state.open_files) > 0
    assert "lineTransport.ts" in texts[state.sources.open_files[-1]]
    assert "public makeLogger signature" in str(texts)
    assert state.sources.current_task in texts


def test_set_fields_stay_until_newer_messages_replace_them(client: Client) -> None:
    """PATCH keeps other fields, PUT empties them; a later request replaces a set task, a plain "yes" does not."""
    logger_thread(client, "set")
    before = client.working_state("set")
    patched = client.set_working_state("set", current_task="Release 2.1", next_steps=["tag it", "tell Ann"])

    assert (patched.current_task, patched.next_steps) == ("Release 2.1", ["tag it", "tell Ann"])
    assert patched.completed_steps == before.completed_steps
    assert patched.sources.next_steps == [len(logger_fix().messages)] * 2
    assert client.working_state("set") == patched

    client.append("set", turns("yes"))
    assert client.working_state("set").current_task == "Release 2.1"
    client.append("set", turns("thanks", "I tag it now.", "Please write the announcement for the new release"))
    after = client.working_state("set")
    assert after.current_task == "Please write the announcement for the new release"
    assert "tag it" in after.next_steps

    replaced = client.replace_working_state("set", open_files=["NEWS.md"])
    assert (replaced.current_task, replaced.next_steps, replaced.open_files) == ("", [], ["NEWS.md"])


def test_a_set_state_survives_distillation_and_restart() -> None:
    """A working state that was set stays in contexts after a distillation and a restart."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as client:
            client.create_thread(id="kept")
            for number in range(20):
                client.append("kept", turns(f"question {number} about the harbour", "Answered. " + "word " * 300))
            client.set_working_state("kept", current_task="Count the boats", recent_decisions=["by hand, not by radar"])
            assert "Current task: Count the boats" in str(client.context("kept").request)
            client.distill("kept")
            assert client.working_state("kept").current_task == "Count the boats"
        daemon.stop()
        daemon.start()
        with Client(daemon.socket) as client:
            state = client.working_state("kept")
            assert (state.current_task, state.recent_decisions[-1]) == ("Count the boats", "by hand, not by radar")
            assert "Current task: Count the boats" in str(client.context("kept").request)


def test_setting_a_state_can_be_undone(client: Client) -> None:
    """Setting a state is an operation that undo reverts."""
    logger_thread(client, "undone")
    before = client.working_state("undone")
    client.set_working_state("undone", current_task="nonsense")
    client.undo(newest_operation(client).id)
    assert client.working_state("undone") == before


def test_a_secret_in_a_set_state_is_redacted(client: Client) -> None:
    """A secret in a set working state is redacted in the answer and in later reads."""
    client.create_thread(id="hushed")
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    state = client.set_working_state("hushed", blockers=[f"the token {secret} expired"])
    assert secret not in str(state)
    assert secret not in str(client.working_state("hushed"))


def test_a_state_over_the_token_limit_is_refused(client: Client) -> None:
    """A state over 500 tokens is refused and nothing of it is stored; an unknown thread is 404."""
    client.create_thread(id="wordy")
    with pytest.raises(ValidationError, match="at most 500 tokens"):
        client.set_working_state("wordy", next_steps=["many different words in one step " * 14] * 20)
    assert client.working_state("wordy").next_steps == []
    with pytest.raises(NotFound, match="no thread"):
        client.set_working_state("nobody", current_task="x")
