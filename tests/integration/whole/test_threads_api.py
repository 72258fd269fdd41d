"""Threads and messages over the API: create, append, list, concurrent writers, delete."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.store.check import run_check
from reverie.usecases import threads
from reverie.usecases.by import By
from support.daemon import Daemon, check_refused, running_daemon
from support.pages import all_items, stored_messages
from support.stores import opened, write
from support.waiting import wait_until

Said = list[dict[str, Any]]


def alternate(*texts: str) -> Said:
    """Return messages in turn, the user's first."""
    return [{"role": ("user", "assistant")[index % 2], "content": text} for index, text in enumerate(texts)]


def test_a_new_thread_has_the_requested_fields(client: Client) -> None:
    """Every requested field comes back; omitted ones are null, and an id is generated."""
    created = client.create_thread(id="t.1", agent="ann", title="Tides", model="m-1", context_window=50_000)
    plain = client.create_thread()

    assert (created.id, created.agent, created.title, created.model) == ("t.1", "ann", "Tides", "m-1")
    assert (created.context_window, created.context.window) == (50_000, 50_000)
    assert (created.message_count, created.tokens, created.distillations) == (0, 0, 0)
    assert plain.id.startswith("thr_")
    assert (plain.agent, plain.title, plain.context.window) == (None, None, 200_000)
    assert client.thread("t.1") == created


def test_an_id_in_use_is_a_conflict(client: Client) -> None:
    """Creating a thread with an id in use is a conflict, and the first thread is unchanged."""
    first = client.create_thread(id="once", title="first")
    with pytest.raises(Conflict, match="already called 'once'"):
        client.create_thread(id="once", title="second")
    assert client.thread("once") == first


def test_threads_are_listed_to_the_end(client: Client) -> None:
    """Pages of any size list every thread once, in the same order."""
    for number in range(7):
        client.create_thread(id=f"listed-{number}")
    ids = [thread.id for thread in client.threads(limit=1000).items]
    for size in (1, 2, 3, 1000):
        assert [thread.id for thread in all_items(client.threads, size)] == ids


def test_messages_come_back_unchanged(client: Client) -> None:
    """Messages come back unchanged and in order, with sequence numbers, times and token counts."""
    client.create_thread(id="said")
    blocks = [
        {"type": "text", "text": "Grüße — 完了 \U0001f30a\u0000"},
        {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls", "n": [1, 2.5, None, True]}},
    ]
    result = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a\nb\r\n", "is_error": False}]
    first = client.append("said", alternate("hello"))
    second = client.append(
        "said", [{"role": "assistant", "content": blocks}, {"role": "user", "content": result}, *alternate("more")[:1]]
    )
    page = client.messages("said")

    assert (first.first_seq, first.last_seq, second.first_seq, second.last_seq) == (1, 1, 2, 4)
    assert stored_messages(client, "said")[:2] == [("user", "hello"), ("assistant", blocks)]
    assert page.items[0].tokens > 0
    assert page.items[0].at is not None
    assert client.thread("said").message_count == 4
    assert second.context.tokens == client.thread("said").context.tokens > first.context.tokens
    assert (second.applied, second.distilled) == ([], None)


def test_messages_are_read_to_the_end(client: Client) -> None:
    """Pages of any size have every message of a long thread once."""
    client.create_thread(id="long")
    texts = [f"line {number}" for number in range(1003)]
    for start in range(0, len(texts), 100):
        client.append(
            "long",
            [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts[start : start + 100]],
        )
    everything = stored_messages(client, "long")
    block_texts = [block["text"] for _, content in everything for block in content]

    assert block_texts == texts
    for size in (7, 250, 1000):
        assert stored_messages(client, "long", limit=size) == everything


def test_a_stale_expected_seq_is_a_conflict(client: Client) -> None:
    """A stale `expectedSeq` is a conflict with the current sequence number; nothing is appended."""
    client.create_thread(id="raced")
    client.append("raced", alternate("a"), expected_seq=0)
    with pytest.raises(Conflict) as caught:
        client.append("raced", alternate("b"), expected_seq=0)
    assert caught.value.details["currentVersion"] == 1
    assert client.append("raced", alternate("b"), expected_seq=1).last_seq == 2


def test_a_repeated_key_gets_the_stored_answer(daemon: Daemon, client: Client) -> None:
    """A repeated call with the same idempotency key gets the stored answer; another body is a conflict."""
    first = client.create_thread(title="keyed", key="k-thread")
    again = client.create_thread(title="keyed", key="k-thread")
    assert again == first

    body = {"messages": alternate("only once")}
    path = f"/v1/threads/{first.id}/messages"
    answers = [daemon.ask("POST", path, body, {"Idempotency-Key": "k-append"}) for _ in range(3)]
    client.append(first.id, alternate("something else"))
    late = daemon.ask("POST", path, body, {"Idempotency-Key": "k-append"})
    assert {answer.body for answer in [*answers, late]} == {answers[0].body}
    assert client.thread(first.id).message_count == 2

    other = daemon.ask("POST", path, {"messages": alternate("x")}, {"Idempotency-Key": "k-append"})
    check_refused(other, 409, "conflict")
    assert "new key" in other.json()["details"]["hint"]
    check_refused(daemon.ask("POST", path, body, {"Idempotency-Key": ""}), 400, "validation_error")
    check_refused(daemon.ask("POST", path, body, {"Idempotency-Key": "k" * 256}), 400, "validation_error")


def test_usage_replaces_our_count(client: Client) -> None:
    """A reply's `usage` replaces our own count of the context; later messages are added to it."""
    client.create_thread(id="used")
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 40_000,
        "cache_creation_input_tokens": 5,
        "output_tokens": 85,
    }
    appended = client.append("used", alternate("q", "a"), usage=usage)
    after = client.append("used", alternate("and then?"))

    assert appended.context.tokens == 40_100
    assert appended.context.fraction == pytest.approx(40_100 / 200_000, abs=1e-4)
    assert 40_100 < after.context.tokens < 40_120


def test_an_unknown_thread_is_not_found(daemon: Daemon) -> None:
    """Every route of an unknown thread answers 404 with a hint."""
    body = {"messages": alternate("x")}
    calls: list[tuple[str, str, Any]] = [
        ("GET", "", None),
        ("DELETE", "?confirm=absent", None),
        ("POST", "/messages", body),
        ("GET", "/messages", None),
        ("GET", "/context", None),
        ("GET", "/working-state", None),
        ("GET", "/digest", None),
        ("GET", "/summaries", None),
        ("GET", "/notes", None),
        ("POST", "/notes", {"content": "x", "category": "task"}),
        ("DELETE", "/notes/n1", None),
        ("POST", "/distill?wait=true", {}),
        ("POST", "/distill", {}),
    ]
    for method, path, payload in calls:
        check_refused(daemon.ask(method, f"/v1/threads/absent{path}", payload), 404, "not_found")


def test_deleting_needs_confirmation(client: Client) -> None:
    """Deleting needs the id as `confirm`; then the thread and all its records are gone."""
    client.create_thread(id="doomed")
    client.append("doomed", alternate("a", "b"))
    client.add_note("doomed", "keep it short", "preference")
    for wrong in (None, "another", "Doomed"):
        with pytest.raises(ValidationError, match="cannot be undone"):
            client.delete_thread("doomed", confirm=wrong)
    deletion = client.delete_thread("doomed", confirm="doomed")

    assert (deletion.id, deletion.messages) == ("doomed", 2)
    with pytest.raises(NotFound):
        client.thread("doomed")
    again = client.create_thread(id="doomed")
    assert again.message_count == 0
    assert client.notes("doomed").items == []
    assert client.append("doomed", alternate("fresh")).first_seq == 1


def test_a_long_thread_is_deleted_whole() -> None:
    """A deletion of several writes that was killed half-way is finished by the next call; the store is sound."""
    with running_daemon() as own:
        with Client(own.socket) as client:
            client.create_thread(id="huge")
            client.create_thread(id="other")
            client.append("other", alternate("stay"))
            for _ in range(12):
                client.append("huge", alternate(*("x" * 10 for _ in range(500))))
            with own.wire() as wire:
                wire.send(b"DELETE /v1/threads/huge?confirm=huge HTTP/1.1\r\nHost: reverie\r\n\r\n")
                own.kill()
        report = run_check(own.store)
        assert report.ok, report.problems
        own.start()
        with Client(own.socket) as client:
            if "huge" in {thread.id for thread in client.threads().items}:
                client.delete_thread("huge", confirm="huge")
            assert [thread.id for thread in client.threads().items] == ["other"]
            assert stored_messages(client, "other") == [("user", "stay")]
        assert own.stop() == 0
        report = run_check(own.store)
        assert report.ok, report.problems
        assert report.counts["entry"] == 1


def test_a_deletion_goes_on_at_the_next_start() -> None:
    """A deletion that ended after its first write is continued by the next start, and no reader has the thread."""
    with running_daemon() as own:
        with Client(own.socket) as client:
            client.create_thread(id="huge")
            client.append("huge", alternate(*("a walrus" for _ in range(600))))
            assert client.search("walrus").hits
        assert own.stop() == 0
        with opened(own.store) as store:
            assert not write(store, threads.delete, By("default", "owner"), "huge").value.done
        own.start()
        with Client(own.socket) as client:
            assert client.threads().items == []
            assert client.search("walrus").hits == []
            with pytest.raises(NotFound):
                client.append("huge", alternate("go on"))

            def is_made_again() -> bool:
                with suppress(Conflict):  # until the deletion has ended
                    return client.create_thread(id="huge").message_count == 0
                return False

            wait_until(is_made_again, "the end of the deletion")
        assert own.stop() == 0
        report = run_check(own.store)
        assert report.ok, report.problems
        assert report.counts.get("entry", 0) == 0


def test_a_new_thread_is_answered_redacted(daemon: Daemon) -> None:
    """A secret in a title is redacted in the answer; ids with a newline or path meaning are refused."""
    secret = "ghp_" + "a1B2" * 9
    answer = daemon.ask("POST", "/v1/threads", {"id": "secretive", "title": f"with {secret}"})
    assert answer.status == 201
    assert secret.encode() not in answer.body
    assert answer.json() == daemon.ask("GET", "/v1/threads/secretive").json()
    for name in ("a\n", ".", ".."):
        assert daemon.ask("POST", "/v1/threads", {"id": name}).status == 400


def test_impossible_numbers_are_ignored(client: Client, daemon: Daemon) -> None:
    """Impossible usage numbers are ignored, and query integers over 64 bits are refused."""
    client.create_thread(id="absurd")
    body = {
        "messages": [{"role": "user", "content": "q"}],
        "usage": {"input_tokens": 70, "output_tokens": -50, "cache_read_input_tokens": 1_000_000_001},
    }
    answer = daemon.ask("POST", "/v1/threads/absurd/messages", body)
    assert answer.status == 200
    assert answer.json()["context"]["tokens"] == client.thread("absurd").context.tokens == 70
    for number in ("9e22", str(1 << 64)):
        assert daemon.ask("GET", f"/v1/threads/absurd/context?maxTokens={number}").status == 400


def test_applied_edits_are_counted(client: Client, daemon: Daemon) -> None:
    """`appliedEdits` are echoed by name, subtracted from the context's tokens, and added to the thread's totals."""
    client.create_thread(id="edited")
    edits = [
        {"type": "clear_thinking_20251015", "cleared_thinking_turns": 2, "cleared_input_tokens": 100},
        {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 900},
    ]
    client.append("edited", alternate("q", "a"), usage={"input_tokens": 5_000, "output_tokens": 10})
    appended = client.append("edited", alternate("q", "a"), applied_edits=edits)

    assert appended.applied == ["clear_thinking", "clear_tool_uses"]
    assert appended.context.tokens < 5_010
    cleared = client.thread("edited").cleared
    assert cleared is not None
    assert (cleared.edits, cleared.tokens) == (2, 1_000)
    assert client.append("edited", alternate("q", "a")).applied == []
    body = {"messages": alternate("q"), "appliedEdits": "all"}
    check_refused(daemon.ask("POST", "/v1/threads/edited/messages", body), 400, "validation_error")


def test_a_models_factor_applies_to_its_next_thread(client: Client) -> None:
    """A token factor learnt in one thread applies to new threads of the same model, not of others."""
    words = "the tide is out and the boats lie in the mud " * 60
    client.create_thread(id="taught", model="model-a")
    for account in (1_000, 3_000):
        client.append("taught", alternate(words, "a"), usage={"input_tokens": account, "output_tokens": 0})
    factor = client.thread("taught").context.factor
    assert factor > 1.5
    for thread, model, expected in (("same", "model-a", factor), ("other", "model-b", 1.0)):
        client.create_thread(id=thread, model=model)
        assert client.append(thread, alternate(words)).context.factor == expected


def test_messages_bring_their_own_time(client: Client) -> None:
    """A message with `at` is served with that time in UTC, one without gets the time of the append."""
    client.create_thread(id="dated")
    first, second = alternate("We met in May.", "Noted.")
    client.append("dated", [{**first, "at": "2023-05-08T13:56:00+02:00"}, second])
    told, noted = client.messages("dated").items
    assert told.at == "2023-05-08T11:56:00.000Z"
    assert noted.at is not None
    assert noted.at > "2026"


@pytest.mark.parametrize("at", ["yesterday", "2023-05-08", "2023-02-30T10:00:00Z", "2023-05-08T13:56:00", "", 7])
def test_a_message_with_no_real_time_is_refused(daemon: Daemon, client: Client, at: Any) -> None:
    """The error names the message, and nothing is appended."""
    thread = client.create_thread().id
    body = {"messages": [*alternate("One."), {"role": "assistant", "content": "Two.", "at": at}]}
    answer = daemon.ask("POST", f"/v1/threads/{thread}/messages", body)
    check_refused(answer, 400, "validation_error")
    assert answer.json()["details"]["field"] == "messages[1].at"
    assert client.thread(thread).message_count == 0
