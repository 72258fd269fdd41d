"""Malformed threads: clear errors or reported losses, never a context that the model API refuses."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import Conflict, ReverieError, TokenBudgetExceeded, TooLarge, ValidationError
from reveried.clock import CLOCK_FILE
from support.api_rules import violations
from support.daemon import Daemon, check_refused, running_daemon, scratch_home
from support.turns import Worker

BUDGETS = (None, 1_500, 6_000, 40_000)
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def use(call_id: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "make"}}


def result(call_id: str, content: Any = "it is made") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


ROLES = [
    ("assistant", "I begin"),
    ("assistant", "and go on"),
    ("user", "so do I"),
    ("user", "twice"),
    ("assistant", "and end"),
]
ORPHANS = [
    ("user", [result("toolu_a")]),
    ("assistant", [use("toolu_b")]),
    ("user", "never mind the result"),
    ("user", [result("toolu_b"), result("toolu_b"), result("toolu_c")]),
    ("assistant", [use("toolu_d"), use("toolu_d")]),
    ("user", [result("toolu_d")]),
    ("assistant", [use("toolu_b")]),
    ("user", [result("toolu_b", "again")]),
    ("assistant", "done"),
]
EMPTY = [
    ("user", "hello"),
    ("assistant", [{"type": "text", "text": ""}]),
    ("user", [{"type": "text", "text": " \n"}]),
    ("assistant", [{"type": "text", "text": ""}, use("toolu_e")]),
    ("user", [result("toolu_e", "")]),
    ("assistant", [{"type": "thinking", "thinking": "", "signature": ""}]),
    ("user", [result("toolu_f", [])]),
]
IMAGES = [
    ("user", [IMAGE, {"type": "text", "text": "what is this?"}]),
    ("assistant", [use("toolu_g")]),
    ("user", [result("toolu_g", [IMAGE, {"type": "text", "text": "a picture"}])]),
    ("user", [{"type": "image", "source": {}}]),
    ("user", [{"type": "image"}]),
    ("assistant", [IMAGE]),
    ("user", [{"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a letter"}}]),
]
UNKNOWN = [
    ("user", [{"type": "poem", "text": "unknown"}]),
    ("assistant", [{"type": "tool_use", "id": "an id!", "name": "two words", "input": {}}]),
    ("user", [{"type": "tool_result", "tool_use_id": "an id!", "content": "x"}]),
    ("assistant", [{"type": "thinking", "thinking": "unsigned"}]),
    ("user", "and now?"),
]
TALKS: dict[str, list[tuple[str, Any]]] = {
    "roles": ROLES,
    "orphans": ORPHANS,
    "empty": EMPTY,
    "images": IMAGES,
    "unknown": UNKNOWN,
}


LOSSES: dict[str, tuple[str, ...]] = {
    "roles": (),
    "orphans": ("[a call that cannot be made again]", "it is made"),
    "empty": ("it is not signed", "[no output]"),
    "images": ("what='image'",),
    "unknown": ("what='poem'", "it is not signed"),
}
"""What tells a reader that something is missing, in the request or beside it."""


def check_every_context(client: Client, daemon: Daemon, thread: str) -> None:
    """Assert that any budget and placement gives an acceptable request, or an error with the least budget."""
    for placement in ("late", "system"):
        for budget in BUDGETS:
            query = f"placement={placement}" + (f"&maxTokens={budget}" if budget else "")
            answer = daemon.ask("GET", f"/v1/threads/{thread}/context?{query}", timeout=60)
            if answer.status == 422:
                least = answer.json()["details"]["minimumRequired"]
                assert least > budget
                assert client.context(thread, max_tokens=least).tokens.total <= least
                continue
            assert answer.status == 200
            assert violations(answer.json()["request"]) == []
            assert budget is None or answer.json()["tokens"]["total"] <= budget


@pytest.mark.parametrize("name", TALKS)
def test_malformed_threads_give_acceptable_requests(client: Client, daemon: Daemon, name: str) -> None:
    """Contexts after every odd message, and after distilling, are acceptable; what was left out is in `dropped`."""
    client.create_thread(id=name)
    for role, content in TALKS[name]:
        client.append(name, [{"role": role, "content": content}])
        check_every_context(client, daemon, name)
    shown = client.context(name)
    assert [loss for loss in LOSSES[name] if loss not in f"{shown.dropped} {shown.request.messages}"] == []
    ordinary_turns(client, name)
    client.distill(name)
    check_every_context(client, daemon, name)


def ordinary_turns(client: Client, thread: str) -> None:
    """Append enough ordinary turns to distill."""
    for number in range(12):
        client.append(
            thread,
            [
                {"role": "user", "content": f"please look at pier {number}"},
                {"role": "assistant", "content": f"Pier {number} is as it was."},
            ],
        )


@pytest.mark.parametrize(
    "body",
    [
        {"messages": [{"role": "user", "content": ""}]},
        {"messages": [{"role": "user", "content": []}]},
        {"messages": []},
        {"messages": [{"role": "system", "content": "obey"}]},
        {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": 7}]},
        {"messages": [{"role": "user", "content": ["words"]}]},
        {"messages": [{"role": "user", "content": "x", "name": "y"}]},
        {"messages": [{"role": "user", "content": "x"}], "usage": []},
        {"messages": [{"role": "user", "content": [{"text": "no type"}]}]},
        {"messages": [{"role": "user", "content": "fine"}, {"role": "user", "content": ""}]},
    ],
)
def test_an_invalid_message_refuses_the_whole_append(client: Client, daemon: Daemon, body: dict[str, Any]) -> None:
    """An invalid message is 400 with its position, and nothing of the call is stored."""
    client.create_thread(id="strict", key="strict")
    check_refused(daemon.ask("POST", "/v1/threads/strict/messages", body), 400, "validation_error")
    assert client.thread("strict").message_count == 0


def test_a_tool_result_of_a_megabyte(client: Client, daemon: Daemon) -> None:
    """A tool result of more than a megabyte is stored whole; a context trims it visibly or lists it as dropped."""
    log = "".join(f"{number:07} the pump opened its valve, nothing unusual\n" for number in range(24_000))
    assert len(log) > 1 << 20
    work = Worker(client, "huge").user("read the log").bash("cat pump.log", log)
    assert client.messages("huge").items[-1].content[0]["content"] == log
    check_every_context(client, daemon, "huge")
    trimmed = client.context("huge", max_tokens=20_000)
    assert trimmed.tokens.total <= 20_000
    assert any(item.what == "tool_result" and item.why == "trimmed" for item in trimmed.dropped)
    assert "tokens trimmed" in str(trimmed.request.messages)
    work.reply("The pump is fine.")
    ordinary_turns(client, "huge")
    assert any(answer.distilled for answer in work.answers) or client.distill("huge").number == 1
    check_every_context(client, daemon, "huge")
    assert client.context("huge").tokens.total <= 35_000


def test_two_writers_on_one_thread(client: Client, daemon: Daemon) -> None:
    """Two concurrent writers: every message is stored once; with `expectedSeq` the slower one gets 409."""
    client.create_thread(id="shared")
    refused: list[ReverieError] = []

    def write(name: str) -> None:
        with Client(daemon.socket) as own:
            for number in range(25):
                while True:
                    last_seq = len(own.messages("shared", limit=1000).items)
                    try:
                        own.append("shared", [{"role": "user", "content": f"{name} {number}"}], expected_seq=last_seq)
                        break
                    except Conflict as conflict:
                        refused.append(conflict)

    writers = [threading.Thread(target=write, args=(name,)) for name in ("one", "two")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    texts = [message.content for message in client.messages("shared", limit=1000).items]
    assert sorted(texts) == sorted(f"{name} {number}" for name in ("one", "two") for number in range(25))
    for name in ("one", "two"):
        assert [text for text in texts if text.startswith(name)] == [f"{name} {number}" for number in range(25)]
    assert all("currentVersion" in conflict.details for conflict in refused)
    check_every_context(client, daemon, "shared")


def test_a_stale_expected_seq_is_refused(client: Client) -> None:
    """A stale `expectedSeq` is 409 with the current sequence number, and nothing is appended."""
    client.create_thread(id="overtaken")
    client.append("overtaken", [{"role": "user", "content": "first"}], expected_seq=0)
    with pytest.raises(Conflict) as conflict:
        client.append("overtaken", [{"role": "user", "content": "also first"}], expected_seq=0)
    assert conflict.value.details["currentVersion"] == 1
    assert conflict.value.hint
    assert client.thread("overtaken").message_count == 1


def test_a_clock_that_goes_backwards() -> None:
    """Messages are ordered by append, not by time, also after the clock was set back and after a restart."""
    with scratch_home() as home:
        (home / CLOCK_FILE).write_text("2026-11-21T09:30:00.000Z")
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            client.create_thread(id="back")
            ordinary_turns(client, "back")
            client.add_note("back", "noted at half past nine", "task")
            for moment, restart in (("2026-11-20T09:30:00.000Z", False), ("2019-01-01T00:00:00.000Z", True)):
                (home / CLOCK_FILE).write_text(moment)
                if restart:
                    assert daemon.stop() == 0
                    daemon.start()
                client.append("back", [{"role": "user", "content": f"and at {moment}?"}])
                newest = client.messages("back", limit=1000).items[-1]
                assert (newest.content, newest.at) == (f"and at {moment}?", moment)
                client.add_note("back", f"noted at {moment}", "task")
                number = client.distill("back").number
                ordinary_turns(client, "back")
                context = client.context("back", placement="system")
                assert context.distillation == number
                assert all(f"Pier {pier} is as it was" in str(context.request.messages) for pier in range(7, 12))
                assert f"noted at {moment}" in str(context.request.system)
                check_every_context(client, daemon, "back")
            assert [past.number for past in client.summaries("back").items] == [1, 2]


@pytest.mark.parametrize("window", [1_000, 2_000, 8_000])
def test_a_window_smaller_than_the_minimum(client: Client, daemon: Daemon, window: int) -> None:
    """A tiny window gives a context within it, or 422 with the least budget; all messages are stored."""
    thread = f"window-{window}"
    work = Worker(client, thread, context_window=window)
    for number in range(6):
        work.user(f"please look at pier {number}: " + "it creaks and leans and nobody knows why. " * 20)
        work.reply(f"Pier {number} is as it was. " * 10)
    assert client.thread(thread).message_count == 12
    for placement in ("late", "system"):
        answer = daemon.ask("GET", f"/v1/threads/{thread}/context?placement={placement}")
        if answer.status == 200:
            assert violations(answer.json()["request"]) == []
            assert answer.json()["tokens"]["total"] <= window
        else:
            check_refused(answer, 422, "token_budget_exceeded")
            assert answer.json()["details"]["minimumRequired"] > answer.json()["details"]["budget"]
    with pytest.raises(TokenBudgetExceeded):
        client.context(thread, max_tokens=1)


def test_a_body_over_the_limit_is_refused(client: Client, daemon: Daemon) -> None:
    """An append whose body is over the limit is refused with a hint, and the thread stays usable."""
    client.create_thread(id="flood")
    with pytest.raises((TooLarge, ValidationError)) as refused:
        client.append("flood", [{"role": "user", "content": "x" * (65 << 20)}])
    assert refused.value.hint
    client.append("flood", [{"role": "user", "content": "and now?"}])
    check_every_context(client, daemon, "flood")
