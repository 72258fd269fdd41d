"""Fifty turns, distilled on the way: the context still has the task, decisions and corrections."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.client import Client
from support.api_rules import violations
from support.turns import Worker, texts_of

TURNS = 50
WINDOW = 60_000
OUTPUT = "   0.1s  collected and checked one more case of the feed, as before\n"


def fifty_turns(client: Client, thread: str) -> Worker:
    """Fifty turns on a feed reader: an early decision, a dead end, a correction, an open question."""
    work = Worker(client, thread, context_window=WINDOW)
    for turn in range(TURNS - 3):
        name = f"feed_{turn}"
        work.user(f"Please make src/{name}.py skip entries without a date, like the others.")
        match turn:
            case 6:
                work.reply(
                    "We agreed: squash merge, not a regular merge, because the release notes list one per change."
                )
            case 15:
                work.bash("pip install fastfeed", "ERROR: fastfeed needs libxml2 2.14", failed=True)
                work.reply("fastfeed doesn't work here because libxml2 is too old; going back to the standard parser.")
            case 22:
                work.user("no, don't rename parse_entry in src/feed_common.py, the mailer imports it")
                work.reply("You're right, parse_entry keeps its name.")
        work.call("Read", {"file_path": f"/home/ann/reader/src/{name}.py"}, f"def read_{name}(entry):\n" + OUTPUT * 40)
        work.edit(f"/home/ann/reader/src/{name}.py")
        work.bash(f"pytest -q tests/test_{name}.py", OUTPUT * 30 + "4 passed in 0.12s")
        work.reply(f"src/{name}.py skips entries without a date now.")
    work.user("Now move the retry settings of src/fetcher.py into config/retries.toml, then update the docs.")
    work.todos(
        Move_retry_settings_to_config_retries_toml="in_progress", Describe_retries_toml_in_docs_settings_md="pending"
    )
    work.edit("/home/ann/reader/config/retries.toml")
    work.bash("pytest -q tests/test_fetcher.py", "9 passed in 0.31s")
    work.bash("git commit -m 'fetcher: retries come from a file'", "[main 4f2d9ab] fetcher: retries come from a file")
    work.todos(
        Move_retry_settings_to_config_retries_toml="completed", Describe_retries_toml_in_docs_settings_md="in_progress"
    )
    work.reply(
        "The settings are in config/retries.toml, committed as 4f2d9ab. Next I describe them in docs/settings.md."
    )
    return work


@pytest.fixture(scope="module")
def distilled(client: Client) -> Worker:
    """The fifty turns, distilled by appends and once more at the end."""
    work = fifty_turns(client, "fifty")
    assert any(answer.distilled for answer in work.answers)
    client.distill("fifty")
    return work


@pytest.mark.parametrize("placement", ["late", "system"])
def test_the_context_names_task_and_steps(client: Client, distilled: Worker, placement: Any) -> None:
    """The context names the current task, the last completed step and the next one."""
    request = client.context(distilled.thread, placement=placement).request
    texts = texts_of(request)
    state = dict(
        line.split(": ", 1)
        for line in (texts["late"] or texts["system"]).splitlines()
        if line.startswith(("Current task: ", "Completed: ", "Next: ", "Open files: "))
    )
    assert "retry settings" in state["Current task"]
    assert "src/fetcher.py" in state["Current task"]
    assert "4f2d9ab" in state["Completed"]
    assert "docs settings md" in state["Next"]
    assert "config/retries.toml" in state["Open files"]
    assert violations({name: request[name] for name in request.keys()}) == []  # noqa: SIM118 - a fragment, not a dict


@pytest.mark.parametrize("placement", ["late", "system"])
def test_the_context_has_decisions_and_corrections(client: Client, distilled: Worker, placement: Any) -> None:
    """The context has a decision with its reason, a dead end and a correction from distilled messages.

    A short summary leaves to the working state what that says as well.
    """
    texts = texts_of(client.context(distilled.thread, placement=placement).request)
    remembered = f"{texts['opening']}\n{texts['late'] or texts['system']}"
    for fact in ("squash merge", "one per change", "fastfeed", "libxml2", "don't rename parse_entry"):
        assert fact not in texts["tail"], fact
        assert fact in remembered, fact


def test_a_turn_after_the_distillation(client: Client, distilled: Worker) -> None:
    """A turn after the distillation appears in the working state."""
    distilled.user("what were we just working on?")
    context = client.context(distilled.thread)
    assert "what were we just working on?" in texts_of(context.request)["tail"]
    assert "config/retries.toml" in str(context.request.messages) + str(context.request.system)
    assert context.tokens.total <= WINDOW * 35 // 200
    distilled.reply("We moved the retry settings into config/retries.toml (4f2d9ab); docs/settings.md is next.")
    assert "retry settings" in client.working_state(distilled.thread).current_task
    assert len(client.messages(distilled.thread, limit=1000).items) == client.thread(distilled.thread).message_count
