"""Every fault of a provider, from learning to the store: the real client, a local server, a real daemon.

Nothing changes byte for byte, or what the fallback says; in time; the ledger has what the server has seen; and no
secret is on the wire or in the log. The text of an answer has the same reader as with a program (`test_answers.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from _pytest.mark import ParameterSet

from reverie import wire
from reverie.client import Client
from support import model_server as faults
from support.daemon import Daemon, running_daemon
from support.fake_model import thread_of
from support.model_server import ModelServer, Step, answer, status
from support.provider import (
    ANSWER,
    GOOD,
    KEY,
    TALK,
    WELL,
    extraction,
    nothing_leaked,
    said,
    settings,
    spent,
    state,
    warm_up,
)
from support.shared import shared_rows


@dataclass(frozen=True, slots=True)
class Case:
    """The server's steps for one request, and the expected reason of a failed extraction, None if it succeeds.

    `tries` is how many extraction requests the server sees; None: as many as fit.
    """

    steps: tuple[Step, ...]
    reason: str | None = None
    tries: int | None = 1


PATIENT_S = 60.0  # the deadline of requests that are answered, far above what a busy machine needs
NO_CONTENT: tuple[object, ...] = (None, 7, "x", [])
TRANSPORT: dict[str, list[Case]] = {
    "429_retry_after": [Case((status(429, {"retry-after": "3"}), WELL), None, 2)],
    "429_retry_after_date": [
        Case((status(429, {"retry-after": "-4"}), status(429, {"retry-after": "abc"}), WELL), None, 3),
        Case((status(429, {"retry-after": "1e9", "date": "x"}), WELL), None, 2),
        Case((status(429, {"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}), WELL), None, 2),
    ],
    "429_spend_limit": [Case((status(429, error_code="contract_spend_limit_reached"),), "over_ceiling")],
    "529": [Case((status(529, kind="overloaded_error"),), "rate_limited", None)],
    "500": [Case((status(500, html=True, message="body-of-a-500"), WELL), None, 2)],
    "503_then_ok": [Case((status(503), status(503), WELL), None, 3)],
    "401": [Case((status(401, kind="authentication_error", message=f"bad key {KEY}"),), "rejected")],
    "402_413_422": [Case((status(code),), "rejected") for code in (402, 413, 422)],
    "404_model": [Case((status(404, kind="not_found_error"),), "rejected")],
    "hang_connect": [Case((faults.hang,), "timeout")],
    "hang_mid": [Case((faults.hang_in_body,), "timeout")],
    "slow_drip": [Case((faults.drip,), "timeout")],
    "reset_mid": [Case((faults.reset_in_body, WELL), None, 2)],
    "redirect": [
        Case((status(302, {"location": target}),), "rejected")
        for target in ("http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "https://other.example/v1")
    ],
    "huge": [Case((faults.huge,), "unparseable")],
    "gzip_bomb": [Case((faults.gzip_bomb,), "unparseable")],
    "null_content": [Case((answer("", content=content),), "unparseable") for content in NO_CONTENT],
    "truncated": [Case((answer(ANSWER[:-40], stop_reason="max_tokens"),), "truncated")],
    "usage_missing": [Case((said(ANSWER, usage=None),))],
    "usage_lies": [
        Case((said(ANSWER, usage={"input_tokens": count, "output_tokens": count}),)) for count in (0, -1, 10**18)
    ],
    "tool_call": [
        Case((answer("", stop_reason="tool_use", content=[{"type": "tool_use", "name": "x"}]),), "unparseable")
    ],
    "refusal": [Case((answer("I cannot.", stop_reason="refusal"),), "refused")],
}
"""Faults of the way to the model and of the answer as a whole."""

ELSEWHERE = {  # tests of this file that have a name of their own, those of the transport, and of what an answer says
    *("dns", "refused", "tls_bad", "nondeterministic", "model_change", "over_budget", "crash_after_call"),
    *("disk_full_after", "instruction"),
    *("empty", "prose", "fenced", "two_json", "trailing_comma", "bad_type", "long_content", "path_in_op", "missing_id"),
    *("new_secret", "secret_split", "secret_split_reversed", "secret_split_base64", "secret_split_hex", "secret_echo"),
    *("marker_forge", "unicode", "clock", "dup_ops", "unknown_id", "foreign_id", "delete_all", "bad_index"),
}  # fmt: skip


@pytest.fixture(scope="module")
def daemon(server: ModelServer) -> Iterator[Daemon]:
    """A daemon whose model processes run, and ten memories that no answer may harm."""
    with running_daemon(None, **settings(server, REVERIE_DISTILLER_DEADLINE_SECONDS=str(PATIENT_S))) as running:
        with Client(running.socket) as client:
            warm_up(client, server)
            for number in range(10):
                content = f"The mailer of relay {number} listens on port {2500 + number}."
                client.remember(wire.CreateMemory(content=content, type="fact"))
        yield running


@pytest.fixture
def client(daemon: Daemon, server: ModelServer) -> Iterator[Client]:
    """A client; what a test has learnt is rolled back."""
    server.script(WELL)
    with Client(daemon.socket) as opened:
        before = opened.operations().items[0].id
        yield opened
        if opened.operations().items[0].id != before:
            opened.rollback(before)


def cases(*, late: bool) -> list[ParameterSet]:
    """Return the cases that last until the deadline, or the others."""
    return [
        pytest.param(case, id=f"{name}-{number}" if number else name)
        for name, all_cases in TRANSPORT.items()
        for number, case in enumerate(all_cases)
        if (case.reason == "timeout") == late
    ]


@pytest.mark.parametrize("case", cases(late=False))
def test_faults_of_the_provider(client: Client, daemon: Daemon, server: ModelServer, case: Case) -> None:
    """An answer that cannot be used changes nothing, a usable one is learnt; the ledger has every call."""
    check_fault(client, daemon, server, case)


@pytest.fixture(scope="module")
def hasty(server: ModelServer) -> Iterator[Daemon]:
    """A daemon with a short deadline, for answers that never come: on a busy machine others may miss it too."""
    with running_daemon(None, **settings(server)) as running:
        with Client(running.socket) as client:
            warm_up(client, server)
        yield running


@pytest.mark.parametrize("case", cases(late=True))
def test_an_answer_that_never_comes_whole(hasty: Daemon, server: ModelServer, case: Case) -> None:
    """A request whose answer does not come, or not to its end, fails at the deadline and changes nothing."""
    with Client(hasty.socket) as client:
        check_fault(client, hasty, server, case)


def check_fault(client: Client, daemon: Daemon, server: ModelServer, case: Case) -> None:
    """Learn from an answer with a fault; assert what is stored, said, counted and tried again."""
    before, used = state(client, daemon), spent(client)
    thread = thread_of(client, TALK)
    server.script(*case.steps)

    learnt = client.learn(thread)

    seen = list(server.requests)
    extractions = [request for request in seen if request.purpose == "extract"]
    assert case.tries is None or len(extractions) == case.tries
    assert all(later.at - earlier.at < PATIENT_S for earlier, later in itertools.pairwise(extractions))
    assert spent(client)[0] - used[0] == len(seen)
    nothing_leaked(server, daemon)
    if case.reason is None:
        assert learnt.counts["ADD"] == 1
        return
    assert f"extraction failed ({case.reason})" in (learnt.fallback or "")
    assert (learnt.operation, learnt.counts) == (None, {})
    assert state(client, daemon) == before
    if case.reason != "timeout":
        server.script(WELL)
        assert client.learn(thread).counts["ADD"] == 1


def test_a_stated_pause_is_kept(client: Client, server: ModelServer) -> None:
    """After `retry-after: 3` the next request comes three seconds later or more, and the tokens are counted once."""
    used = spent(client)
    server.script(status(429, {"retry-after": "3"}), WELL)
    client.learn(thread_of(client, TALK))
    first, second, *_ = server.requests
    assert second.at - first.at >= 3.0
    now = spent(client)
    assert (now[1] - used[1], now[2] - used[2]) == server.tokens


def test_the_same_source_is_asked_about_once(client: Client, server: ModelServer) -> None:
    """A second run over the same messages asks no model, so it cannot learn another text: nondeterministic."""
    thread = thread_of(client, TALK)
    client.learn(thread)
    server.script(said(extraction({**GOOD, "content": "The relay drops connections."})))
    assert client.learn(thread).operation is None
    assert not server.requests


def test_the_model_that_answered_is_recorded(client: Client, server: ModelServer) -> None:
    """The provenance names the model that answered, even if another was asked: model_change."""
    server.script(said(ANSWER, model="claude-other-9"))
    client.learn(thread_of(client, TALK))
    learnt = next(item for item in client.memories(limit=1000).items if item.content == GOOD["content"])
    assert learnt.provenance["model"] == "claude-other-9"
    assert server.requests[0].body["model"] != "claude-other-9"


@pytest.mark.measures("data/cases/llm_faults.jsonl")
def test_every_known_fault_has_a_test() -> None:
    """The names of the collected faults are those of this module's cases."""
    names = {row["name"] for row in shared_rows("data/cases/llm_faults.jsonl")}
    assert names <= {*TRANSPORT, *ELSEWHERE}
