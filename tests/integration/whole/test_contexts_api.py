"""Notes, working state, digest, summaries, contexts and distillations over the API."""

from __future__ import annotations

import hashlib
import time
from pathlib import Path
from typing import Any, get_args

import orjson
import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, NotFound, TokenBudgetExceeded
from reverie.models import NoteCategory
from reveried.cli.send_sessions import import_file
from support.api_rules import violations
from support.daemon import Daemon, running_daemon
from support.pages import newest_operation, stored_messages
from support.story import session_file


def talk(client: Client, thread: str, rounds: int, words: int = 40, **options: Any) -> None:
    """Create a thread of `rounds` questions with answers of about `words` tokens each."""
    client.create_thread(id=thread, **options)
    for number in range(rounds):
        client.append(
            thread,
            [
                {"role": "user", "content": f"question {number}: please fix src/part_{number}.py"},
                {"role": "assistant", "content": f"I fixed src/part_{number}.py. " + "word " * words},
            ],
        )


def asked_and_answered(text: str) -> list[dict[str, Any]]:
    """Return the messages of one complete turn."""
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "It is done."}]


def notes_of(client: Client, thread: str) -> list[tuple[str, str]]:
    return [(note.category, note.content) for note in client.notes(thread).items]


def test_notes_are_listed_and_deleted(client: Client, daemon: Daemon) -> None:
    """Notes have id, category and time, are listed in order and in pages; deleting one can be undone."""
    client.create_thread(id="noted")
    categories: tuple[NoteCategory, ...] = get_args(NoteCategory)
    notes = []
    for kind in categories:
        notes.append(client.add_note("noted", f"about the {kind}", kind))
        time.sleep(0.002)  # notes are in the order of their milliseconds
    expected = [(kind, f"about the {kind}") for kind in categories]

    assert notes_of(client, "noted") == expected
    assert notes[0].id.startswith("note_")
    page = daemon.ask("GET", "/v1/threads/noted/notes?limit=2").json()
    rest = daemon.ask("GET", f"/v1/threads/noted/notes?limit=10&after={page['next']}").json()
    assert [note["content"] for note in [*page["items"], *rest["items"]]] == [text for _, text in expected]
    assert rest["next"] is None

    client.delete_note("noted", notes[2].id)
    assert notes_of(client, "noted") == [*expected[:2], *expected[3:]]
    with pytest.raises(NotFound, match="no note"):
        client.delete_note("noted", notes[2].id)
    client.undo(newest_operation(client).id)
    assert notes_of(client, "noted") == expected


def test_an_empty_thread_has_an_empty_context(client: Client) -> None:
    """An empty thread has an acceptable context, and no state, digest or summary."""
    client.create_thread(id="empty")
    state, digest = client.working_state("empty"), client.digest("empty")
    answer = client.context("empty")

    assert (state.current_task, state.open_files, digest.text, digest.tokens, digest.updated_at) == (
        "",
        [],
        "",
        0,
        None,
    )
    assert client.summaries("empty").items == []
    assert (answer.distillation, answer.tokens.summary, answer.tokens.excerpts) == (0, 0, 0)
    with pytest.raises(Conflict, match="nothing to distill"):
        client.distill("empty")


def test_a_short_thread_cannot_be_distilled(client: Client) -> None:
    """Distilling a short thread is a conflict with a reason, and its context has every message."""
    talk(client, "short", 2)
    with pytest.raises(Conflict, match="preserved tail"):
        client.distill("short")
    texts = orjson.dumps(client.context("short").request.messages).decode()
    assert all(f"question {number}" in texts for number in range(2))


def test_placement_moves_the_volatile_tiers(client: Client, daemon: Daemon) -> None:
    """`placement=late` puts volatile tiers into a trailing system message, `system` into the system prompt."""
    talk(client, "placed", 3)
    client.add_note("placed", "the tide turns at noon", "context")
    late = client.context("placed", placement="late").request
    system = client.context("placed", placement="system").request

    assert late.messages[-1]["role"] == "system"
    assert "the tide turns at noon" in str(late.messages[-1])
    assert "the tide turns at noon" in str(system.system)
    assert "the tide turns at noon" not in str(system.messages)
    for placement in ("", "?placement=late", "?placement=system"):
        assert violations(daemon.ask("GET", f"/v1/threads/placed/context{placement}").json()["request"]) == []


def test_a_small_budget_names_the_least_one(client: Client) -> None:
    """A budget that is too small is 422 with the least budget, and that one works."""
    talk(client, "tight", 3, words=300)
    with pytest.raises(TokenBudgetExceeded) as caught:
        client.context("tight", max_tokens=5)
    least = caught.value.minimum_required
    assert caught.value.budget == 5 < least
    assert client.context("tight", max_tokens=least).tokens.total <= least


def test_a_small_window_can_be_changed(client: Client) -> None:
    """Where the thread's window is too small for a budget the refusal says so, and the least one works once it is."""
    client.create_thread(id="narrow", context_window=1_000)
    client.append("narrow", [{"role": "user", "content": "tide " * 3_000}])
    with pytest.raises(TokenBudgetExceeded) as caught:
        client.context("narrow", max_tokens=2_000)
    least = caught.value.minimum_required
    assert f"contextWindow {least} or more, not 1000" in str(caught.value.hint)
    changed = client.change_thread("narrow", wire.ChangeThread(context_window=least))
    assert (changed.context_window, changed.context.window) == (least, least)
    assert client.context("narrow", max_tokens=least).tokens.total <= least


def test_a_distilled_thread_continues(client: Client) -> None:
    """After a distillation the context begins with the summary, all messages stay, and a second one works."""
    talk(client, "long", 20, words=300)
    messages = stored_messages(client, "long")
    first = client.distill("long")
    context = client.context("long")

    assert (first.number, first.summary.number, first.tail.messages) == (1, 1, 10)
    assert first.summary.text.startswith("# Conversation Summary (Distillation #1)")
    assert first.tokens_after < first.tokens_before
    assert first.tokens_used > 0
    assert stored_messages(client, "long") == messages
    assert context.distillation == 1
    assert "# Conversation Summary (Distillation #1)" in str(context.request.messages[0])
    assert "question 19" in str(context.request.messages)
    assert client.thread("long").context.tokens < first.tokens_before

    client.append("long", [{"role": "user", "content": f"and part_{number}?"} for number in range(12)])
    second = client.distill("long")
    past = client.summaries("long").items
    assert second.number == 2
    assert [(one.number, one.imported, one.archive) for one in past] == [
        (1, False, first.archive),
        (2, False, second.archive),
    ]
    assert past[0].summary.sections == first.summary.sections
    assert client.digest("long").tokens > 0
    assert client.working_state("long").updated_at is not None


def test_a_distillation_as_a_job(client: Client, daemon: Daemon) -> None:
    """Without `wait` a distillation is 202 with a job, whose result or error is the outcome."""
    talk(client, "followed", 12)
    started = daemon.ask("POST", "/v1/threads/followed/distill", {})
    assert started.status == 202
    assert started.headers["location"] == f"/v1/jobs/{started.json()['job']}"
    job = finished(client, started.json()["job"])
    assert (job.state, job.kind, job.progress) == ("done", "distill", 1.0)
    assert job.result["number"] == 1

    again = finished(client, client.start_distill("followed", token_budget=3).job)
    assert again.state == "failed"
    assert again.error["error"] in {"token_budget_exceeded", "conflict"}


def finished(client: Client, job_id: str) -> Any:
    """Return a job once it has ended."""
    while (job := client.job(job_id)).state == "running":
        pass
    return job


def test_a_budget_that_cannot_be_met_writes_nothing(client: Client) -> None:
    """A token budget that is too small is 422, and no archive, operation, event or memory is written."""
    talk(client, "poor", 15, words=200)
    before = client.status()
    with pytest.raises(TokenBudgetExceeded) as caught:
        client.distill("poor", token_budget=20)
    after = client.status()
    assert caught.value.minimum_required > 20
    assert (after.counts, after.operation) == (before.counts, before.operation)
    enough = client.distill("poor", token_budget=caught.value.minimum_required)
    assert enough.tokens_used <= caught.value.minimum_required


def test_the_least_budget_of_a_distillation_is_one_number(client: Client) -> None:
    """Every budget that is too small names the same least budget; that one works, and so does each larger one."""
    sizes = (300, 20, 5, 80, 2, 600, 40, 1, 120, 15, 33, 250)
    budgets = (1, 7, 60, 200, 333, 480, 600, 700, 834, 1_000, 1_500, 2_500, 5_003, 9_000)
    for name, words in (("uneven", sizes), ("falling", sorted(sizes, reverse=True)), ("rising", sorted(sizes))):
        named: set[int] = set()
        answered: list[int] = []
        for budget in budgets:
            thread = f"least-{name}-{budget}"
            client.create_thread(id=thread)
            client.append(thread, [message for number, size in enumerate(words) for message in turn(number, size)])
            try:
                answered.append(client.distill(thread, token_budget=budget).tokens_used)
            except TokenBudgetExceeded as refused:
                named.add(refused.minimum_required)
            if thread_is_whole(client, thread):
                assert client.distill(thread, token_budget=min(named)).tokens_used == min(named)
        assert len(named) == 1, (name, named)
        met = [budget for budget in budgets if budget >= min(named)]
        assert len(answered) == len(met)
        assert all(used <= budget for used, budget in zip(answered, met, strict=True))


def thread_is_whole(client: Client, thread: str) -> bool:
    """Return True if the thread was not distilled yet."""
    return client.thread(thread).distillations == 0


def turn(number: int, words: int) -> list[dict[str, object]]:
    """Return the two messages of a turn whose request has three times `words` words."""
    say = " ".join(f"tide{number} pier{word % 17} depth{word % 5}." for word in range(words))
    return [
        {"role": "user", "content": f"Please note number {number}: {say}"},
        {"role": "assistant", "content": [{"type": "text", "text": f"Noted: {say[:200]}"}]},
    ]


def test_numbers_of_any_size_can_be_archived(client: Client) -> None:
    """A tool input with an integer that canonical JSON cannot write is archived, and the message is unchanged."""
    tool_input = {"n": 2**63, "deep": [{"m": -(2**60), "fine": 7, "half": 0.5, "yes": True, "no": None}]}
    client.create_thread(id="numbers")
    for number in range(8):
        use = {"type": "tool_use", "id": f"toolu_{number}", "name": "Count", "input": tool_input}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "counted"}
        client.append(
            "numbers", [{"role": "user", "content": f"count {number}"}, {"role": "assistant", "content": [use]}]
        )
        client.append(
            "numbers", [{"role": "user", "content": [result]}, {"role": "assistant", "content": "it is done"}]
        )
    distillation = client.distill("numbers")
    assert hashlib.sha256(client.archive(distillation.archive)).hexdigest() == distillation.archive
    assert stored_messages(client, "numbers")[1] == (
        "assistant",
        [{"type": "tool_use", "id": "toolu_0", "name": "Count", "input": tool_input}],
    )


def test_a_full_thread_is_distilled_by_the_append(client: Client) -> None:
    """The append that passes the window's threshold distills: the answer names the archive, the context is small."""
    client.create_thread(id="full", context_window=4_000)
    answers = [client.append("full", asked_and_answered("word " * 190 + str(number))) for number in range(40)]
    distillations = [answer.distilled for answer in answers if answer.distilled is not None]

    assert len(distillations) >= 2
    assert [one.number for one in distillations] == list(range(1, len(distillations) + 1))
    assert client.summaries("full").items[0].archive == distillations[0].archive
    assert all(answer.context.fraction < 1.0 for answer in answers)
    assert client.thread("full").distillations == len(distillations)
    assert client.thread("full").message_count == 80


def test_a_high_usage_starts_a_distillation(client: Client) -> None:
    """A reported `usage` over the threshold starts a distillation."""
    talk(client, "told", 15)
    usage = {"input_tokens": 150_000, "output_tokens": 10}
    answer = client.append("told", [{"role": "assistant", "content": "so it is"}], usage=usage)
    assert answer.distilled is not None
    assert answer.context.tokens < 20_000


def test_a_full_thread_that_cannot_be_distilled_is_appended_to(client: Client) -> None:
    """An append to a full thread with nothing old enough to distill stores the message and distills nothing."""
    client.create_thread(id="stuffed", context_window=1_000)
    answer = client.append("stuffed", asked_and_answered("word " * 2_000))
    assert answer.distilled is None
    assert answer.context.fraction > 1
    assert client.thread("stuffed").message_count == 2


def test_a_failing_distillation_does_not_lose_the_message() -> None:
    """A distillation that fails does not fail the append, and the next append tries again."""
    with running_daemon(REVERIE_DAEMON_COMPUTE_SECONDS="0.05") as own, Client(own.socket) as client:
        client.create_thread(id="late", context_window=1_000)
        answer = client.append("late", asked_and_answered("word " * 900))
        assert answer.distilled is None
        assert client.thread("late").message_count == 2
        assert "a full thread was not distilled" in own.log_text()


def test_a_large_append_is_counted_beside_the_loop(client: Client) -> None:
    """A body over 64 KiB, whose tokens are counted in a thread, is stored unchanged."""
    client.create_thread(id="large")
    text = "a line of a long log\n" * 8_000
    answer = client.append("large", [{"role": "user", "content": text}])
    assert answer.context.tokens > 30_000
    assert stored_messages(client, "large") == [("user", text)]


def test_a_bootstrap_document_opens_the_context(tmp_path: Path) -> None:
    """The documents of `context.bootstrap` come first; missing ones are skipped."""
    paths = '["facts/harbour/preferences.md", "facts/absent.md"]'
    with running_daemon(REVERIE_CONTEXT_BOOTSTRAP=paths) as own, Client(own.socket) as client:
        thread = str(import_file(client, session_file(tmp_path, 1), program="claude-code").thread)
        assert client.context(thread).tokens.bootstrap == 0
        client.distill(thread)
        answer = client.context(thread)
        assert client.document("facts/harbour/preferences.md").content.strip() in answer.request.system[0]["text"]
        assert answer.tokens.bootstrap > 0


def test_a_new_thread_opens_with_the_index(tmp_path: Path) -> None:
    """A new thread's context begins with the memory index of its creation time, unchanged later."""
    with running_daemon() as own, Client(own.socket) as client:
        client.create_thread(id="before")
        assert client.context("before").tokens.index == 0
        client.distill(str(import_file(client, session_file(tmp_path, 2), program="claude-code").thread))
        client.create_thread(id="after")
        client.append("after", [{"role": "user", "content": "hello"}])
        opening = client.context("after")
        assert opening.tokens.index > 0
        assert str(opening.request.messages[0]).count("Available memory:") == 1
        client.distill(str(import_file(client, session_file(tmp_path, 3), program="claude-code").thread))
        assert client.context("after").request.messages[0] == opening.request.messages[0]
        assert client.context("before").tokens.index == 0
