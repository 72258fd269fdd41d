"""A real client sends the fragment as it is to a local server that refuses what the messages API refuses."""

from __future__ import annotations

import http.server
import json
import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from reverie.context import Limits, Parts, RecallLine, assemble, choose
from reverie.distill.extractive import Extractive
from reverie.distill.state import render as state_text
from reverie.distill.summary import render as summary_text
from reverie.importers.files import entries
from reverie.importers.reading import join
from reverie.models import Message, Note
from support.api_rules import HEADER, TOP, problems
from support.shared import sessions
from support.soak import count
from support.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import anthropic

MODEL = "claude-opus-5-5"
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [{"type": "text", "text": "accepted"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


class _Messages(http.server.BaseHTTPRequestHandler):
    """`POST /v1/messages`, judged by the rules of the API; `signed` are the thinking blocks ever given out."""

    signed: list[dict[str, Any]] | None = None

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        betas = self.headers.get("anthropic-beta", "").split(",")
        found = problems({**{name: body[name] for name in TOP - {"betas"}}, "betas": betas}, self.signed)
        found += [f"extra inputs: {name}" for name in set(body) - TOP - {"model", "max_tokens", "tools"}]
        if HEADER not in betas:
            found.append("no beta header")
        answer = {"type": "error", "error": {"type": "invalid_request_error", "message": "; ".join(found)}}
        self._reply(400 if found else 200, answer if found else ANSWER)

    def _reply(self, status: int, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self) -> str:
        return "local"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base class
        """Says nothing."""


@contextmanager
def _serving(path: Path) -> Iterator[anthropic.Anthropic]:
    """A client whose every request goes to our own server on the socket at `path`."""
    import anthropic
    import httpx2

    server = _Server(str(path), _Messages)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    transport = httpx2.HTTPTransport(uds=str(path))
    try:
        with httpx2.Client(transport=transport) as http_client:
            yield anthropic.Anthropic(api_key="k", base_url="http://fake", http_client=http_client, max_retries=0)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[anthropic.Anthropic]:
    with _serving(tmp_path_factory.mktemp("api") / "s") as made:
        yield made


def accepted(client: anthropic.Anthropic, request: dict[str, Any]) -> None:
    """The client sends the fragment unchanged and gets an answer."""
    tools: Any = [{"name": "Bash", "input_schema": {"type": "object"}}]
    answer = client.beta.messages.create(model=MODEL, max_tokens=64, tools=tools, **request)
    assert answer.content[0].type == "text"
    assert answer.content[0].text == "accepted"


def parts_of(messages: list[Message], cut: int, placement: Any) -> Parts:
    """What an agent would be given after `messages[:cut]`, distilled where its tail begins."""
    before = messages[:cut]
    begins = choose(before)
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
        tools=5_000,
    )


def blocks_of(messages: list[Message]) -> list[dict[str, Any]]:
    return [block for message in messages if isinstance(message.content, list) for block in message.content]


@pytest.mark.parametrize("placement", ["late", "system"])
def test_a_small_conversation_is_accepted(client: anthropic.Anthropic, placement: Any) -> None:
    """Every tier, thinking, an image and an open call, in both placements."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}
    talk = Talk().user([{"type": "text", "text": "what is this?"}, image]).reply("a picture").user("fix it")
    talk.call("Bash", {"command": "make"}, "", thinking="hm").waiting("Bash", {"command": "make test"})
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
    _Messages.signed = blocks_of(list(talk.done()))
    accepted(client, assemble(parts, Limits()).request)


def test_the_server_refuses_what_the_api_refuses(client: anthropic.Anthropic) -> None:
    """The judge is no pushover: each of these is answered with 400 naming the rule."""
    import anthropic

    good = assemble(Parts(messages=Talk().user("a").call("Bash", {}, "x", thinking="hm").done()), Limits()).request
    user, assistant, result = good["messages"]
    thought, call = assistant["content"]
    _Messages.signed = [thought]
    accepted(client, good)
    altered = {**assistant, "content": [{**thought, "thinking": "ha"}, call]}
    marked = [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5
    for messages, rule in {
        "first": ([assistant, result], "first message"),
        "prefill": ([user, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}], "prefill"),
        "empty": ([{"role": "user", "content": [{"type": "text", "text": " "}]}], "non-empty"),
        "unanswered": ([user, assistant, user], "answer calls"),
        "altered": ([user, altered, result], "altered"),
        "marks": ([{"role": "user", "content": marked}], "breakpoints"),
        "late": ([{"role": "user", "content": [call]}, assistant, {**result, "role": "system"}], "out of place"),
    }.values():
        with pytest.raises(anthropic.BadRequestError, match=rule):
            client.beta.messages.create(model=MODEL, max_tokens=64, **{**good, "messages": messages})
    with pytest.raises(anthropic.BadRequestError, match="beta header"):
        client.beta.messages.create(model=MODEL, max_tokens=64, **{**good, "betas": ["another"]})


def _sessions() -> list[Path]:
    """The real sessions; none where they are absent, which skips the test that reads them."""
    try:
        return sessions()
    except pytest.skip.Exception:
        return []


@pytest.mark.parametrize("path", _sessions(), ids=lambda path: path.name[:13])
def test_real_sessions_are_accepted_at_many_cuts(client: anthropic.Anthropic, path: Path) -> None:
    """Distilled and undistilled, in both placements, within 35,000 tokens right after a distillation."""
    messages = join(entries(path, tokens=False))
    _Messages.signed = blocks_of(messages)
    steps = count(2, 40)
    for step in range(1, steps + 1):
        cut = len(messages) * step // steps
        for placement in ("late", "system"):
            parts = parts_of(messages, cut, placement)
            context = assemble(parts, Limits())
            assert context.tokens["total"] <= 35_000
            accepted(client, context.request)
    whole = assemble(Parts(messages=tuple(messages), model=MODEL), Limits(window=1_000_000))
    accepted(client, whole.request)
    for budget in (4_000, 16_000):
        small = assemble(Parts(messages=tuple(messages), model=MODEL), Limits(max_tokens=max(budget, _least(messages))))
        assert small.tokens["total"] <= max(budget, _least(messages))
        accepted(client, small.request)


def _least(messages: list[Message]) -> int:
    """What the last turn of a session needs, for those that end with a very long message."""
    from reverie.errors import TokenBudgetExceeded

    try:
        assemble(Parts(messages=tuple(messages), model=MODEL), Limits(max_tokens=1))
    except TokenBudgetExceeded as refused:
        return refused.minimum_required
    return 1
