"""Distilling with a model: summary and memories in one operation, each by rules if the model fails."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.tokenizer import count as tokens
from reveried.session_texts import CHARS_MAX, PARTS
from support.cli import reverie
from support.daemon import Daemon, running_daemon
from support.fake_model import FakeModel, memory
from support.story import LiveSession, session_file
from support.waiting import wait_until

SUMMARY = {
    "taskContext": ["Ann wants the lamp controller to survive a power cut."],
    "completedWork": ["The controller writes its state to lamp.json before each change."],
    "decisions": ["JSON was chosen over SQLite, since the controller has no room for it."],
    "currentState": ["All tests pass."],
    "openThreads": ["Next: try it on the real board."],
    "corrections": [],
    "tone": ["Short answers."],
}


def long_thread(client: Client, turns: int = 14) -> str:
    """Return a thread with more turns than a preserved tail has."""
    thread = client.create_thread().id
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        messages.append({"role": "user", "content": f"Step {turn}: make lamp {turn} survive a power cut."})
        messages.append({"role": "assistant", "content": f"Lamp {turn} writes its state to lamp.json now."})
    client.append(thread, messages)
    return thread


def context_text(client: Client, thread: str, size: int) -> str:
    """Return all texts of a context for `size` tokens."""
    request = client.context(thread, max_tokens=size).request
    blocks = [block for message in request.messages for block in message["content"] if isinstance(block, dict)]
    return "\n".join(block.get("text", "") for block in blocks)


LEARNT = memory("Lamp state is in lamp.json.", "Lamp 0 writes its state to lamp.json now", 2)
MORE = [{"role": "user", "content": "Now the fan, please."}, {"role": "assistant", "content": "Ok."}]


def test_the_summary_is_the_models(client: Client, model: FakeModel) -> None:
    """Summary and memories come from the model; contexts of every size have the summary word for word.

    The request of the second distillation has the first summary.
    """
    model.behave("summary", text=json.dumps(SUMMARY))
    model.extract(LEARNT)
    thread = long_thread(client, turns=300)

    answer = client.distill(thread)

    assert (answer.fallback, answer.summary.sections["Open Threads"]) == (None, SUMMARY["openThreads"])
    assert answer.memories is not None
    assert answer.memories.counts == {"ADD": 1}
    spend = client.status().spend
    assert (spend.model_sessions, (spend.model_tokens_per_session or 0) > 100) == (1, True)
    assert client.learn(thread).candidates == 0
    stored = answer.summary.text
    assert all(SUMMARY[name][0] in stored for name in SUMMARY if SUMMARY[name])
    assert "make lamp 0 survive" not in stored
    for size in (2_000, 4_000, 8_000):
        assert stored in context_text(client, thread, size)
    client.append(thread, MORE * 8)
    assert stored in context_text(client, thread, 4_000)
    assert client.distill(thread).number == 2
    assert "JSON was chosen over SQLite" in model.requests("summary")[1]["messages"][0]["content"]


def test_one_half_that_fails_leaves_the_other(client: Client, model: FakeModel) -> None:
    """Without a readable summary it is by rules and says so; without an extraction its messages are learnt later."""
    model.behave("summary", text='{"taskContext": ["half')
    model.extract(LEARNT)
    answer = client.distill(long_thread(client))
    assert (answer.fallback or "").startswith("summary by rules (unparseable)")
    assert answer.summary.sections["Task Context"]
    assert answer.memories is not None
    assert answer.memories.counts == {"ADD": 1}

    model.behave("summary", text=json.dumps(SUMMARY))
    model.behave("extract", text="sorry")
    thread = long_thread(client)
    answer = client.distill(thread)
    assert answer.number == 1
    assert answer.memories is not None
    assert (answer.memories.fallback or "").startswith("extraction failed (unparseable)")
    model.extract({**LEARNT, "content": "Each lamp writes its own file."})
    client.append(thread, MORE * 8)
    answer = client.distill(thread)
    assert answer.memories is not None
    assert "wait to be learnt from first" in (answer.memories.fallback or "")
    assert client.learn(thread).counts["ADD"] == 1


def test_the_foot_of_a_brief_has_the_cost(client: Client, model: FakeModel) -> None:
    """Where a model reads sessions, the brief that a person reads says what one takes, within its tokens."""
    model.behave("summary", text=json.dumps(SUMMARY))
    thread = client.create_thread(project="harbour").id
    turn = [{"role": "user", "content": "Always keep the ropes dry."}, {"role": "assistant", "content": "Yes. " * 9}]
    client.append(thread, turn * 8)
    assert client.brief("harbour").model_tokens_per_session is None
    client.distill(thread)
    cost = client.status().spend.model_tokens_per_session
    assert client.brief("harbour").model_tokens_per_session == cost
    text = client.brief_text("harbour", max_tokens=200)
    assert text.endswith(f"\nRead by a model: about {cost:,} tokens a session.")
    assert tokens(text) <= 200


@pytest.mark.parametrize("lines", [20, 150])
def test_a_compaction_hook_prints_the_stored_summary(  # noqa: PLR0917 - fixtures
    client: Client, model: FakeModel, daemon: Daemon, token: str, tmp_path: Path, lines: int
) -> None:
    """After a compaction hooks print the model's summary as it is stored; where one has no room, the next goes on."""
    said = [
        f"Berth {number} keeps its rope in src/berth_{number}.rs, since the tide came in at {number * 7}."
        for number in range(lines)
    ]
    model.behave("summary", text=json.dumps(SUMMARY | {"currentState": said[::2], "completedWork": said[1::2]}))
    session = LiveSession(tmp_path, tmp_path, lines)
    for turn in range(60):
        session.say(f"Step {turn}: make lamp {turn} survive a power cut.", f"Lamp {turn} writes its state now. " * 120)

    headers = {"authorization": f"Bearer {token}"}

    def printed(event: str, **fields: Any) -> str:
        query = f"?part={fields.pop('part')}" if "part" in fields else ""
        answer = daemon.ask("POST", f"/v1/hooks/claude-code{query}", session.hook(event, **fields), headers)
        text = answer.body.decode()
        return json.loads(text)["hookSpecificOutput"]["additionalContext"] if text.startswith("{") else ""

    printed("SessionStart", source="startup", part="state")
    wait_until(lambda: client.threads().items and client.threads().items[0].message_count == 120, "the import")
    stored = client.distill(client.threads().items[0].id).summary.text.strip()

    texts: list[str] = []

    def is_told() -> bool:
        printed("PreCompact", trigger="auto")
        texts[:] = [printed("SessionStart", source="compact", part=part) for part in PARTS]
        return bool(texts[1])

    wait_until(is_told, "the summary in time")
    state, summary, excerpts = texts
    assert max(len(state), len(summary), len(excerpts)) <= CHARS_MAX
    _, _, rest = excerpts.partition("The summary goes on:\n")
    assert stored in f"{summary}\n{rest}"
    assert (stored in summary) is (lines == 20)


def test_an_append_does_not_wait_for_the_model(model: FakeModel) -> None:
    """If an append fills a thread, it returns the job that distills it, and a second append starts no other job."""
    model.behave("summary", text=json.dumps(SUMMARY))
    settings = model.settings(REVERIE_CONTEXT_WINDOW="1000", REVERIE_CONTEXT_ABSOLUTE_CAP="1000")
    with running_daemon(None, **settings) as daemon, Client(daemon.socket) as client:
        thread = client.create_thread().id
        words = "The lamp controller has to survive a power cut in every one of its states. " * 10
        messages = [{"role": role, "content": words} for _ in range(14) for role in ("user", "assistant")]
        distilled = client.append(thread, messages).distilled
        assert distilled is not None
        assert (distilled.archive, distilled.number) == (None, None)
        wait_until(lambda: client.job(distilled.job or "").state != "running")
        assert client.job(distilled.job or "").result["summary"]["sections"]["Open Threads"] == SUMMARY["openThreads"]


def test_what_would_be_sent_is_shown(client: Client, model: FakeModel, daemon: Daemon, token: str) -> None:
    """`--show-request` shows redacted requests, sends nothing, and a distillation then sends the same ones."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    empty, thread = client.create_thread().id, long_thread(client)
    client.append(thread, [{"role": "user", "content": f"The token is {key}."}, {"role": "assistant", "content": "."}])

    assert [client.model_requests(empty, reflect=reflect).items for reflect in (False, True)] == [[], []]
    shown = client.model_requests(thread)

    assert [request.purpose for request in shown.items] == ["summary", "extract"]
    printed = reverie({**daemon.env, "REVERIE_TOKEN": token}, "distill", thread, "--show-request").out
    assert "[system]" in printed
    assert "nothing was sent" in printed
    assert model.requests() == []
    assert "[REDACTED:" in shown.items[1].messages[0].content
    assert all(request.tokens < 100_000 for request in shown.items)
    model.behave("summary", text=json.dumps(SUMMARY))
    client.distill(thread)
    assert {request["id"] for request in model.requests()} == {request.id for request in shown.items}


def test_knowledge_of_a_session_with_answers(tmp_path: Path) -> None:
    """`eval knowledge` writes requests to the spool and shows the summary by rules; with answers, the model's text."""
    session = session_file(tmp_path, 31, turns=4)
    spool = tmp_path / "spool"

    def run(*words: str) -> str:
        return reverie(os.environ, "eval", "knowledge", str(session), *words).out

    assert run("--spool", str(spool)).strip() in run()
    asked = [json.loads(path.read_text()) for path in (spool / "requests").iterdir()]
    assert sorted(request["purpose"] for request in asked) == ["extract", "summary"]
    for request in asked:
        wish = memory("Wants small commits.", "I prefer small commits.", type="preference", scope="person")
        answer = SUMMARY if request["purpose"] == "summary" else {"memories": [wish]}
        path = spool / "answers" / f"{request['id']}.json"
        path.write_text(json.dumps(answer))
        os.utime(path, (0, 0))
    text = run("--spool", str(spool))
    assert "- Wants small commits." in text
    assert SUMMARY["decisions"][0] in text


def test_a_distillation_is_answered_before_the_end(model: FakeModel) -> None:
    """A request that takes longer than the grace of stopping, whose work the daemon still ends, has its answer."""
    model.behave("summary", text=json.dumps(SUMMARY), before=3)
    settings = model.settings(REVERIE_DAEMON_DRAIN_SECONDS="2.5")
    with running_daemon(None, **settings) as daemon, Client(daemon.socket) as client, ThreadPoolExecutor(1) as pool:
        thread = long_thread(client)
        asked = pool.submit(client.distill, thread)
        wait_until(lambda: bool(model.requests("summary")), "a request to the model")
        assert daemon.stop() == 0
        assert asked.result().summary.sections["Open Threads"] == SUMMARY["openThreads"]
