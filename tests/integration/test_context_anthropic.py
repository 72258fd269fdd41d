"""A real client sends the request fragment to a local server with the validation of the messages API."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import pytest

from reverie.client import Client
from reverie.context.assemble import assemble
from reverie.context.inputs import Limits, Parts, RecallLine
from reverie.context.units import tail_start
from reverie.distill.distiller import Extractive
from reverie.distill.state_text import render as state_text
from reverie.distill.summary_text import render as summary_text
from reverie.errors import TokenBudgetExceeded
from reverie.importers.find import read_entries
from reverie.importers.join import main_line
from reverie.models import Message, Note
from reverie.wire import RequestFragment
from reveried.cli.send_sessions import import_file
from support.daemon import running_daemon
from support.messages_api import MODEL, MessagesApi, api_client, send_accepted
from support.shared import all_sessions
from support.soak import count
from support.talk import Talk

SAMPLE = 2  # cuts of every third recorded session in the default run; the long campaign takes every cut of every one
PLACEMENTS: tuple[Any, ...] = ("late", "system")


@pytest.fixture(scope="module")
def api() -> MessagesApi:
    return MessagesApi()


@pytest.fixture(scope="module")
def client(api: MessagesApi, tmp_path_factory: pytest.TempPathFactory) -> Iterator[anthropic.Anthropic]:
    with api_client(tmp_path_factory.mktemp("api") / "s", api) as anthropic_client:
        yield anthropic_client


def parts_of(messages: list[Message], cut: int, placement: Any) -> Parts:
    """Return the context's parts after `messages[:cut]`, distilled up to the beginning of the tail."""
    before = messages[:cut]
    begins = tail_start(before)
    distilled = Extractive().distill(
        before, number=1, previous=None, tail_from_seq=before[begins].first_seq if begins < cut else cut + 1
    )
    return Parts(
        digest=distilled.digest,
        notes=(Note("n1", "keep the tests green", "preference", ""),),
        state=state_text(distilled.state),
        recall=(RecallLine("- [fact · facts/project.md] it is a project", "m1", "facts/project.md"),),
        summary=summary_text(distilled.summary),
        distillation=1,
        passages=distilled.passages,
        messages=tuple(before[begins:]),
        model=MODEL,
        placement=placement,
        distilled_at_seq=before[-1].last_seq,
    )


def blocks_of(messages: list[Message]) -> list[dict[str, Any]]:
    return [block for message in messages if isinstance(message.content, list) for block in message.content]


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_a_small_conversation_is_accepted(api: MessagesApi, client: anthropic.Anthropic, placement: Any) -> None:
    """A conversation with every tier, thinking, an image and an open call is accepted in both placements."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    talk = Talk().user([{"type": "text", "text": "what is this?"}, image]).reply("a picture").user("fix it")
    talk.call("Bash", {"command": "make"}, "", thinking="hm").open_call("Bash", {"command": "make test"})
    parts = Parts(
        bootstrap=(("SOUL.md", "You are careful."),),
        digest="A person.",
        notes=(Note("n", "small commits", "preference", ""),),
        state="## Working State (auto-maintained)\nCurrent task: fix it",
        recall=(RecallLine("- [fact · facts/user.md] likes tea", "m", "facts/user.md"),),
        messages=talk.done(),
        placement=placement,
        index="Available memory:\n- facts/user.md (12B)",
    )
    api.signed = blocks_of(list(talk.done()))
    send_accepted(client, assemble(parts, Limits()).request)


def test_the_server_refuses_invalid_requests(api: MessagesApi, client: anthropic.Anthropic) -> None:
    """The test server answers each invalid request with 400 naming the rule."""
    import anthropic

    good = assemble(Parts(messages=Talk().user("a").call("Bash", {}, "x", thinking="hm").done()), Limits()).request
    user, assistant, result = good["messages"]
    thought, call = assistant["content"]
    api.signed = [thought]
    send_accepted(client, good)
    altered = {**assistant, "content": [{**thought, "thinking": "ha"}, call]}
    marked = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5
    for messages, rule in {
        "nothing": ([], "first message"),
        "first": ([assistant, result], "first message"),
        "prefill": ([user, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}], "prefill"),
        "empty": ([{"role": "user", "content": [{"type": "text", "text": " "}]}], "non-empty"),
        "no block": ([{"role": "user", "content": []}], "non-empty"),
        "unanswered": ([user, assistant, user], "answer calls"),
        "orphan": ([user, result], "answer calls|in a row"),
        "altered": ([user, altered, result], "altered"),
        "marks": ([{"role": "user", "content": marked}], "breakpoints"),
        "late": ([{"role": "user", "content": [call]}, assistant, {**result, "role": "system"}], "out of place"),
        "type": ([{"role": "user", "content": [call]}], "type tool_use"),
        "unknown type": ([{"role": "user", "content": [{"type": "poem", "text": "x"}]}], "type poem"),
        "twice": ([user, assistant, result, assistant, result], "unique"),
    }.values():
        with pytest.raises(anthropic.BadRequestError, match=rule):
            client.beta.messages.create(model=MODEL, max_tokens=64, **{**good, "messages": messages})
    with pytest.raises(anthropic.BadRequestError, match="beta header"):
        client.beta.messages.create(model=MODEL, max_tokens=64, **{**good, "betas": ["another"]})


@pytest.mark.parametrize("path", all_sessions(count(4, 10), step=count(3, 1)), ids=lambda path: path.name[:13])
def test_sessions_are_accepted_at_every_cut(api: MessagesApi, client: anthropic.Anthropic, path: Path) -> None:
    """Contexts of sessions are accepted at every cut, distilled or not, and are within their token limit."""
    messages = main_line(read_entries(path, tokens=False))
    api.signed = blocks_of(messages)
    steps = count(SAMPLE, len(messages))
    for step in range(1, steps + 1):
        before = parts_of(messages, len(messages) * step // steps, None)
        for placement in PLACEMENTS:
            context = assemble(_placed(before, placement), Limits())
            assert context.tokens["total"] <= 35_000
            send_accepted(client, context.request)
    full = assemble(Parts(messages=tuple(messages), model=MODEL), Limits(window=1_000_000))
    send_accepted(client, full.request)
    for budget in (4_000, 16_000):
        small = assemble(Parts(messages=tuple(messages), model=MODEL), Limits(max_tokens=max(budget, _least(messages))))
        assert small.tokens["total"] <= max(budget, _least(messages))
        send_accepted(client, small.request)


def test_contexts_of_the_daemon_are_accepted(api: MessagesApi, client: anthropic.Anthropic) -> None:
    """`request` of an imported session is accepted, before and after a distillation, at any budget it allows."""
    api.signed = None
    with running_daemon() as daemon, Client(daemon.socket) as reverie:
        for path in all_sessions(2, step=count(13, 1)):
            thread = str(import_file(reverie, path, program="claude-code").thread)
            for budget, placement in itertools.product((None, 40_000), PLACEMENTS):
                send_accepted(client, _request(reverie, thread, placement, budget))
            reverie.distill(thread)
            for budget, placement in itertools.product((None, 30_000), PLACEMENTS):
                send_accepted(client, _request(reverie, thread, placement, budget))


def _request(reverie: Client, thread: str, placement: Any, budget: int | None) -> RequestFragment:
    return reverie.context(thread, placement=placement, max_tokens=budget).request


def _placed(parts: Parts, placement: Any) -> Parts:
    return replace(parts, placement=placement)


def _least(messages: list[Message]) -> int:
    """Return the least budget in which a session's last turn fits, for sessions that end with a long message."""
    try:
        assemble(Parts(messages=tuple(messages), model=MODEL), Limits(max_tokens=1))
    except TokenBudgetExceeded as refused:
        return refused.minimum_required
    return 1
