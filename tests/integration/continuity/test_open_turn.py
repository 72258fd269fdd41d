"""Distillations happen between turns: an open turn is never distilled, whatever the thread's size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import pytest

from reverie.client import Client
from reverie.errors import Conflict
from support.messages_api import MODEL, MessagesApi, api_client, send_accepted
from support.turns import Worker

WINDOW = 8_000
OUTPUT = "2026-03-05 09:12:44 pump 7 opened its valve, pressure 4.1 bar, nothing unusual\n" * 10


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[anthropic.Anthropic]:
    api = MessagesApi()
    api.signed = None
    with api_client(tmp_path_factory.mktemp("api") / "s", api) as client:
        yield client


def beginning(work: Worker, turns: int) -> Worker:
    for turn in range(turns):
        work.user(f"look at the log of pump {turn}").bash(f"cat pump_{turn}.log", OUTPUT).reply(f"Pump {turn} is fine.")
    return work


def test_a_full_thread_is_distilled_after_its_turn(client: Client, model: anthropic.Anthropic) -> None:
    """Appends inside a turn do not distill a full thread; the reply that ends the turn does."""
    work = beginning(Worker(client, "waits", context_window=WINDOW, model=MODEL), 6)
    begun = len(work.answers)
    work.user("now compare all pumps")
    while client.thread("waits").context.fraction < 1.0:
        work.bash("cat all.log", OUTPUT)
        send_accepted(model, client.context("waits").request)
    within = work.answers[begun:]
    number = client.thread("waits").distillations

    ended = work.reply("They are alike.").answers[-1]

    assert len(within) > 4
    assert all(answer.distilled is None for answer in within)
    assert ended.distilled is not None
    assert ended.distilled.number == number + 1
    assert ended.context.fraction < 0.7


@pytest.mark.parametrize("ending", ["words", "call", "result"])
@pytest.mark.parametrize("calls", [0, 30])
def test_a_requested_distillation_leaves_the_open_turn(
    client: Client, model: anthropic.Anthropic, ending: str, calls: int
) -> None:
    """A requested distillation ends at a completed turn; the context then has the open turn whole."""
    thread = f"open-{ending}-{calls}"
    work = beginning(Worker(client, thread, model=MODEL), 12)
    before = client.thread(thread).message_count
    work.user("now look at pump 99")
    for number in range(calls):
        work.bash(f"cat pump_99_{number}.log", OUTPUT)
    if ending != "words":
        work.open_call("Bash", {"command": "cat pump_99.log"})
    if ending == "result":
        work.tool_result(OUTPUT)

    distillation = client.distill(thread)
    context = client.context(thread)
    past = client.summaries(thread).items[0]

    assert past.through_seq <= before
    assert distillation.tail.messages >= client.thread(thread).message_count - before
    assert "now look at pump 99" in str(context.request.messages)
    assert all(f"cat pump_99_{number}.log" in str(context.request.messages) for number in range(calls))
    assert context.tokens.total <= 35_000
    assert client.thread(thread).context.tokens <= 35_000
    assert "now look at pump 99" in client.working_state(thread).current_task
    if ending != "call":
        send_accepted(model, context.request)


def test_a_completed_turn_is_distilled_by_the_next_distillation(client: Client) -> None:
    """A turn that one distillation left out is covered by the next one."""
    work = beginning(Worker(client, "later", model=MODEL), 12)
    work.user("please write the report harbour_report.md")
    client.distill("later")
    work.bash("cat harbour_report.md", OUTPUT).reply("I wrote harbour_report.md.")
    beginning(work, 6)

    second = client.distill("later")

    assert second.number == 2
    assert "harbour_report.md" in second.summary.text


def test_a_thread_with_no_finished_turn_is_not_distilled(client: Client) -> None:
    """A thread whose first turn is open gives 409 with a hint, and nothing is written."""
    work = Worker(client, "going", model=MODEL).user("look at every pump")
    for pump in range(20):
        work.bash(f"cat pump_{pump}.log", OUTPUT)
    before = client.status().operation
    with pytest.raises(Conflict, match="is not complete") as refused:
        client.distill("going")
    hint: Any = refused.value.details["hint"]
    assert "append" in hint
    assert client.status().operation == before
    assert client.thread("going").distillations == 0
