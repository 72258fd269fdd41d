"""Every fault of a model, over both transports: nothing that is stored changes, and the answer says why.

In time; the ledger has what was sent; no secret is on the wire, in the answer or in the log. What a whole answer says
is in `test_answers.py`, and what cannot be read of it in `unit/language_model/test_answers.py`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import pytest
from _pytest.mark import ParameterSet

from reverie import wire
from reverie.client import Client
from support import model_server as faults
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, call, thread_of
from support.model_server import ModelServer, answer, status, tool_turns
from support.provider import (
    ANSWER,
    GOOD,
    KEY,
    SAID,
    SECRET,
    TALK,
    WAIT_S,
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
from support.waiting import wait_until

PATIENT_S, HASTY_S = 60.0, 3.0  # deadlines: far above what a busy machine needs, and for answers that never come
ADD = call("memory_append", path="facts/project.md", entry=f"- {SAID}", quotes=[SAID])


@dataclass(frozen=True, slots=True)
class Fault:
    """What a model does, and the reason with which learning or a reflection fails, None where it succeeds after all.

    `how` are the steps of a server, or the behaviour of a program. The model gets `tries` requests, None for as many as
    there is time for, with `pause_s` seconds or more between them.
    """

    how: Any
    reason: str | None = None
    tries: int | None = 1
    pause_s: float = 0.0
    use: Literal["learn", "reflect"] = "learn"


def tools(content: Any, reason: str, stop_reason: str = "tool_use") -> Fault:
    """Return the fault of a turn with this content after the first turn of a reflection."""
    return Fault((answer("", content=content, stop_reason=stop_reason),), reason, use="reflect")


def use_of(tool: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": "x", "name": tool, **fields}]


LATER = {"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}
SERVER: dict[str, list[Fault]] = {
    "429_retry_after": [
        Fault((status(429, {"retry-after": "1"}), WELL), None, 2, pause_s=1.0),
        Fault((status(429, {"retry-after": "99999"}), WELL), None, 2, pause_s=WAIT_S),
    ],
    "429_retry_after_date": [
        Fault((status(429, {"retry-after": "-4"}), status(429, {"retry-after": "abc"}), WELL), None, 3),
        Fault((status(429, {"retry-after": "1e9", "date": "x"}), status(429, LATER), WELL), None, 3),
        Fault((status(429, {**LATER, "date": "Wed, 21 Oct 2099 07:27:00 GMT"}), WELL), None, 2, pause_s=WAIT_S),
    ],
    "429_spend_limit": [Fault((status(429, error_code="contract_spend_limit_reached"),), "over_ceiling")],
    "529": [Fault((status(529, kind="overloaded_error"),), "rate_limited", 6)],
    "500": [Fault((status(500, html=True, message="body-of-a-500"), WELL), None, 2)],
    "503_then_ok": [Fault((status(503), status(503), WELL), None, 3)],
    "401": [Fault((status(401, kind="authentication_error", message=f"bad key {KEY}"),), "rejected")],
    "402_413_422": [Fault((status(code),), "rejected") for code in (402, 413, 422)],
    "404_model": [Fault((status(404, kind="not_found_error"),), "rejected")],
    "hang_connect": [Fault((faults.hang,), "timeout"), Fault((faults.hang,), "timeout", use="reflect")],
    "hang_mid": [Fault((faults.hang_in_body,), "timeout")],
    "slow_drip": [Fault((faults.drip,), "timeout")],
    "reset_mid": [
        Fault((faults.reset_in_body, WELL), None, 2),
        Fault((faults.reset_in_body, status(529, {"retry-after": "0"}), tool_turns([ADD])), None, 3, use="reflect"),
    ],
    "redirect": [
        Fault((status(302, {"location": target}),), "rejected")
        for target in ("http://169.254.169.254/latest/meta-data", "file:///etc/passwd", "https://other.example/v1")
    ],
    "null_content": [Fault((answer("", content=None),), "unparseable")],
    "truncated": [
        Fault((answer(ANSWER[:-40], stop_reason="max_tokens"),), "truncated"),
        tools(use_of("memory_list"), "truncated", "max_tokens"),
    ],
    "usage_missing": [Fault((said(ANSWER, usage=None),))],
    "tool_call": [
        Fault((answer("", stop_reason="tool_use", content=[{"type": "tool_use", "name": "x"}]),), "unparseable"),
        tools([], "unparseable"),
        tools(use_of("memory_list", input=5), "unparseable"),
        tools(use_of("a", input={"n": 10**30}), "unparseable"),
    ],
    "refusal": [
        Fault((answer("I cannot.", stop_reason="refusal"),), "refused"),
        Fault((answer("I cannot.", stop_reason="refusal"),), "refused", use="reflect"),
    ],
}
NO_CREDIT = f"no credit left for {SECRET}\n"
PROGRAM: dict[str, list[Fault]] = {
    "absent": [Fault({"absent": True}, "unreachable", 0)],
    "status": [Fault({"status": 1, "stderr": NO_CREDIT}, "failed"), Fault({"status": 3}, "failed", use="reflect")],
    "errors_of_megabytes": [Fault({"status": 1, "stderr": "x " * 2_000_000 + NO_CREDIT}, "failed")],
    "temporary": [Fault({"status": 75}, "rate_limited")],
    "hang": [Fault({"before": 600}, "timeout")],
    "slow_drip": [Fault({"text": " ", "times": 1000, "between": 0.1}, "timeout")],
    "prose": [Fault({"text": "Sure! Here is the JSON you asked for."}, "unparseable")],
    "half": [Fault({"text": '{"calls": ['}, "unparseable", use="reflect")],
    "not_utf8": [Fault({"hex": "7b22ff227d"}, "unparseable")],
    "huge": [Fault({"text": "x" * (1 << 16), "times": 64}, "unparseable")],
    "truncated": [
        Fault({"text": json.dumps({"answer": ANSWER, "stopReason": "max_tokens"})}, "truncated"),
        Fault({"text": '{"answer": {"calls": []}, "stopReason": "max_tokens"}'}, "truncated", use="reflect"),
    ],
    "refusal": [
        Fault({"text": '{"answer": "I cannot help.", "stopReason": "refusal"}'}, "refused"),
        Fault({"text": '{"answer": "no", "stopReason": "refusal"}'}, "refused", use="reflect"),
    ],
    "child_holds_the_pipe": [Fault({"text": ANSWER, "fork": True})],
}

UNBILLED = ("rejected", "rate_limited", "over_ceiling", "unreachable")
ELSEWHERE = {
    # in `unit/models/test_anthropic.py`
    *("dns", "refused", "tls_bad", "huge", "gzip_bomb", "usage_lies"),
    # in this file and its neighbours, by other names
    *("nondeterministic", "model_change", "over_budget", "crash_after_call", "disk_full_after", "instruction"),
    # of what an answer says
    *("empty", "prose", "fenced", "two_json", "trailing_comma", "bad_type", "long_content", "path_in_op", "missing_id"),
    *("new_secret", "secret_split", "secret_split_reversed", "secret_split_base64", "secret_split_hex", "secret_echo"),
    *("marker_forge", "unicode", "clock", "dup_ops", "unknown_id", "foreign_id", "delete_all", "bad_index"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A daemon with ten memories that no answer may harm, and the model that it asks."""

    daemon: Daemon
    client: Client
    model: ModelServer | FakeModel

    def script(self, use: str, how: Any = None) -> None:
        """Make the model answer well, or with a fault; in a reflection over a server the fault comes after a turn."""
        if isinstance(self.model, FakeModel):
            self.model.reset()
            self.model.extract(GOOD)
            self.model.reflect([ADD])
            if how is not None:
                self.model.behave("extract" if use == "learn" else "reflect", **how)
        elif use == "learn":
            self.model.script(*(how or (WELL,)))
        else:
            self.model.script(tool_turns([ADD]), *(how or ()))

    def run(self, use: str, thread: str) -> wire.MemoryChanges:
        return self.client.learn(thread) if use == "learn" else self.client.reflect(thread)


Start = Callable[[str, float], Asked]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Return a function that gives the module's daemon for a transport and a deadline."""
    with ExitStack() as stack:

        @cache
        def asked(transport: str, deadline_s: float) -> Asked:
            deadline = {"REVERIE_DISTILLER_DEADLINE_SECONDS": str(deadline_s)}
            model: ModelServer | FakeModel
            if transport == "anthropic":
                model = stack.enter_context(ModelServer())
                chosen = settings(model, **deadline)
            else:
                model = FakeModel.at(tmp_path_factory.mktemp("model"))
                chosen = model.settings(**deadline)
            daemon = stack.enter_context(running_daemon(None, **chosen))
            client = stack.enter_context(Client(daemon.socket))
            if isinstance(model, ModelServer):
                warm_up(client, model)
            for number in range(10):
                content = f"The mailer of relay {number} listens on port {2500 + number}."
                client.remember(wire.CreateMemory(content=content, type="fact"))
            return Asked(daemon, client, model)

        yield asked


@pytest.fixture
def asked(start: Start, request: pytest.FixtureRequest) -> Iterator[Asked]:
    """The daemon of a test's transport and deadline; what the test has learnt is rolled back."""
    made = start(*getattr(request, "param", ("anthropic", PATIENT_S)))
    made.script("learn")
    before = made.client.operations().items[0].id
    yield made
    if made.client.operations().items[0].id != before:
        made.client.rollback(before)


def cases() -> list[ParameterSet]:
    return [
        pytest.param(
            (transport, HASTY_S if fault.reason == "timeout" else PATIENT_S), fault, id=f"{transport}-{name}-{n}"
        )
        for transport, table in (("anthropic", SERVER), ("command", PROGRAM))
        for name, all_of_them in table.items()
        for n, fault in enumerate(all_of_them)
    ]


@pytest.mark.parametrize(("asked", "fault"), cases(), indirect=["asked"])
def test_a_fault(asked: Asked, fault: Fault) -> None:
    """An answer that cannot be used changes nothing, and its messages are read again; a usable one is learnt from."""
    client, use = asked.client, fault.use
    before, used, thread = state(client), spent(client), thread_of(client, TALK)
    asked.script(use, fault.how)

    answered = asked.run(use, thread)

    now = spent(client)
    assert now[0] - used[0] == seen(asked, fault)
    assert fault.reason not in UNBILLED or now[1:] == used[1:]
    assert fault.reason != "timeout" or now[3] == used[3] + 1
    nothing_leaked(asked.model, asked.daemon, answered.fallback or "")
    assert "no credit left" not in asked.daemon.log_text()
    if fault.reason is None:
        assert answered.counts["ADD"] == 1
        return
    assert f"{'extraction' if use == 'learn' else 'reflection'} failed ({fault.reason})" in (answered.fallback or "")
    assert ("no credit left for [REDACTED:" in (answered.fallback or "")) is ("no credit" in str(fault.how))
    assert (answered.operation, answered.counts) == (None, {})
    assert state(client) == before
    if fault.reason != "timeout":
        asked.script(use)
        assert asked.run(use, thread).counts["ADD"] == 1


def seen(asked: Asked, fault: Fault) -> int:
    """Return how many requests the model has got, after checks of their number and times, and of a program's end."""
    if isinstance(asked.model, FakeModel):
        requests = asked.model.requests()
        wait_until(asked.model.has_ended, "the end of the program")
        assert fault.reason is None or len(requests) == fault.tries
        return len(requests)
    tries = [
        one.at for one in asked.model.requests if one.purpose == ("extract" if fault.use == "learn" else "reflect")
    ]
    tries = tries[fault.use == "reflect" :]  # without the turn before the fault
    assert fault.tries is None or len(tries) == fault.tries
    assert all(fault.pause_s <= later - earlier < PATIENT_S for earlier, later in itertools.pairwise(tries))
    return len(asked.model.requests)


def test_tools_as_the_api_has_them(asked: Asked) -> None:
    """Tools, calls and results are sent as the API defines them, with a cacheable prefix; tokens are counted once."""
    assert isinstance(asked.model, ModelServer)
    used = spent(asked.client)
    look = call("memory_read", path="facts/project.md")
    asked.model.script(status(429, {"retry-after": "0"}), tool_turns([look], [ADD]))

    learnt = asked.client.reflect(thread_of(asked.client, TALK))

    assert (learnt.fallback, learnt.counts["ADD"]) == (None, 1)
    _, first, second, third = (seen.body for seen in asked.model.requests)
    assert [tool["name"] for tool in first["tools"]][:2] == ["memory_list", "memory_read"]
    assert first["tools"][3]["input_schema"]["required"] == ["path", "patches"]
    assert "output_config" not in first
    assert second["messages"][1]["content"] == [
        {"type": "tool_use", "id": "call-1", "name": "memory_read", "input": look["input"]}
    ]
    result = second["messages"][2]["content"][0]
    assert (result["type"], result["tool_use_id"], result["is_error"]) == ("tool_result", "call-1", False)
    assert "port 2501" in result["content"]
    assert third["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert third["system"] == first["system"]
    now = spent(asked.client)
    assert (now[0] - used[0], now[3]) == (4, used[3])
    assert (now[1] - used[1], now[2] - used[2]) == asked.model.tokens


def test_the_same_source_is_asked_about_once(asked: Asked) -> None:
    """A second run over the same messages asks no model, so it cannot learn another text: nondeterministic."""
    assert isinstance(asked.model, ModelServer)
    thread = thread_of(asked.client, TALK)
    asked.client.learn(thread)
    asked.model.script(said(extraction({**GOOD, "content": "The relay drops connections."})))
    assert asked.client.learn(thread).operation is None
    assert not asked.model.requests


def test_the_model_that_answered_is_recorded(asked: Asked) -> None:
    """The provenance names the model that answered, even if another was asked: model_change."""
    assert isinstance(asked.model, ModelServer)
    asked.model.script(said(ANSWER, model="claude-other-9"))
    asked.client.learn(thread_of(asked.client, TALK))
    learnt = next(item for item in asked.client.memories(limit=1000).items if item.content == GOOD["content"])
    assert learnt.provenance["model"] == "claude-other-9"
    assert asked.model.requests[0].body["model"] != "claude-other-9"


@pytest.mark.parametrize("asked", [("command", PATIENT_S)], indirect=True)
def test_no_answer_uses_up_the_day(asked: Asked) -> None:
    """If a program claims to have used a billion tokens, no more than its request can have used is counted."""
    assert isinstance(asked.model, FakeModel)
    before = spent(asked.client)
    claimed = {"answer": json.loads(ANSWER), "inputTokens": 10**9, "outputTokens": 10**9}
    asked.model.behave("extract", text=json.dumps(claimed))

    assert asked.client.learn(thread_of(asked.client, TALK)).counts["ADD"] == 1

    now = spent(asked.client)
    assert 0 < now[1] + now[2] - before[1] - before[2] < 200_000
    assert "more tokens than it can have used" in asked.daemon.log_text()


@pytest.mark.measures("data/cases/llm_faults.jsonl")
def test_every_known_fault_has_a_test() -> None:
    """The names of the collected faults are those of this module's cases."""
    names = {row["name"] for row in shared_rows("data/cases/llm_faults.jsonl")}
    assert names <= {*SERVER, *ELSEWHERE}
