"""A tool-heavy session over 120,000 tokens: old tool results are cleared, and the conversation continues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from reverie.client import Client
from reverie.context.edits import PLACEHOLDER
from support.messages_api import MODEL, MessagesApi, api_client, send_accepted
from support.turns import Worker

OUTPUT = "2026-03-05 09:12:44 pump 7 opened its valve, pressure 4.1 bar, nothing unusual\n" * 110  # about 3,000 tokens
TURNS = 60
TRIGGER = 120_000
DISTIL_AT = 140_000
KEEP = 8


@pytest.fixture
def api() -> MessagesApi:
    return MessagesApi()


@pytest.fixture
def model(api: MessagesApi, tmp_path_factory: pytest.TempPathFactory) -> Iterator[anthropic.Anthropic]:
    with api_client(tmp_path_factory.mktemp("api") / "s", api) as client:
        yield client


def results_of(request: Any) -> list[dict[str, Any]]:
    return [block for message in request.messages for block in message["content"] if block["type"] == "tool_result"]


def test_the_server_clears_old_tool_results(client: Client, api: MessagesApi, model: anthropic.Anthropic) -> None:
    """With a model that applies `context_management`, results are cleared by the server without a distillation."""
    work = Worker(client, "edited", model=MODEL)
    weights: list[int] = []
    for turn in range(TURNS):
        work.user(f"look at the log of pump {turn}").bash(f"cat pump_{turn}.log", OUTPUT)
        answer = send_accepted(model, client.context("edited", placement="late").request)
        weights.append(answer.usage.input_tokens)
        work.reply("accepted", usage={"input_tokens": answer.usage.input_tokens, "output_tokens": 1})
    began = next(turn for turn, cleared in enumerate(api.cleared) if cleared)

    assert max(weights) <= TRIGGER
    assert weights[began] < weights[began - 1] - 20_000
    assert api.cleared[-1] == [f"toolu_edited_{number:04}" for number in range(1, TURNS - KEEP + 1)]
    assert client.thread("edited").tokens > DISTIL_AT
    assert client.thread("edited").distillations == 0
    assert client.thread("edited").context.tokens == weights[-1] + 1
    assert "log of pump 59" in client.working_state("edited").current_task


def test_the_daemon_clears_for_models_without_context_management(
    client: Client, api: MessagesApi, tmp_path: Path
) -> None:
    """For a model without `context_management` the daemon clears the tool results that the server would clear."""
    ours = Worker(client, "ours", model="another-model-1")
    theirs = Worker(client, "theirs", model=MODEL)
    pairs = []
    with api_client(tmp_path / "s", api) as model:
        for turn in range(46):
            for work in (ours, theirs):
                work.user(f"look at the log of pump {turn}").bash(f"cat pump_{turn}.log", OUTPUT)
                work.reply("It is fine.", usage={"input_tokens": 1_000, "output_tokens": 1})
            if turn < 36:
                continue
            edited = client.context("ours").request
            local = [result["tool_use_id"] for result in results_of(edited) if result["content"] == PLACEHOLDER]
            send_accepted(model, client.context("theirs").request)
            assert edited.context_management == {"edits": []}
            pairs.append((local, api.cleared[-1]))
    # The counters differ by the overhead of blocks, so one of the two may begin a turn earlier.
    both = [(local, cleared) for local, cleared in pairs if local and cleared]
    assert len(both) >= 3
    assert all([result.replace("ours", "theirs") for result in local] == cleared for local, cleared in both)
    assert both[-1][0] == [f"toolu_ours_{number:04}" for number in range(1, 46 - KEEP + 1)]


def test_clearing_keeps_the_tool_calls(client: Client, api: MessagesApi, tmp_path: Path) -> None:
    """Clearing keeps the tool calls with their inputs, and `dropped` lists the cleared results."""
    work = Worker(client, "smaller", model="another-model-1")
    before = after = None
    turn = 0
    while after is None:
        work.user(f"look at the log of pump {turn}").bash(f"cat pump_{turn}.log", OUTPUT)
        work.reply("It is fine.", usage={"input_tokens": 1_000, "output_tokens": 1})
        turn += 1
        context = client.context("smaller")
        if any(item.why == "cleared" for item in context.dropped):
            after = context
        else:
            before = context
    assert before is not None
    assert 100_000 < before.tokens.total <= TRIGGER
    assert after.tokens.total < before.tokens.total - 20_000
    calls = [block for message in after.request.messages for block in message["content"] if block["type"] == "tool_use"]
    assert [block["input"]["command"] for block in calls] == [f"cat pump_{number}.log" for number in range(turn)]
    assert sum(result["content"] != PLACEHOLDER for result in results_of(after.request)) == KEEP
    with api_client(tmp_path / "s", api) as model:
        work.user("and now?")
        send_accepted(model, client.context("smaller").request)
