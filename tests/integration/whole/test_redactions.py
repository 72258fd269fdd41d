"""What redaction took, in a running daemon: listed without the value, allowed, and restored from transcripts."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import orjson
import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import DaemonNotRunning, Forbidden, NotFound, ValidationError
from reverie.models import Json
from reveried.cli.send_sessions import import_file
from support.cli import run_in_process, use_daemon
from support.daemon import Daemon, environment, running_daemon, scratch_home
from support.daemon_folder import bytes_below
from support.spaces import run_or_skip
from support.waiting import wait_until

WORD = "kq7Xv2LmZ9rTb4Wc"  # a made-up name that is no secret and looks like one
LABELLED = f"set `password: {WORD}` in the lantern form, then run the beacon check"
TEXTS = (LABELLED, "ok", f"the lantern form shows {WORD} twice")
OTHER = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def transcript(folder: Path, texts: tuple[str, ...] = TEXTS, session: str = "s1", *, named: bool = True) -> Path:
    """Write a transcript of a person and an agent in turn, whose lines have ids if `named`, and return its path."""
    path = folder / f"{session}.jsonl"
    roles = ("user", "assistant")
    lines: list[Json] = [
        {
            "type": roles[at % 2],
            **({"uuid": f"{session}-{at}"} if named else {}),
            "sessionId": session,
            "cwd": "/srv/lantern",
            "timestamp": f"2026-11-20T{10 + at // 3_600}:{at // 60 % 60:02}:{at % 60:02}.000Z",
            "message": {"role": roles[at % 2], "content": text},
        }
        for at, text in enumerate(texts)
    ]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def said(client: Client, thread: str) -> list[Any]:
    return [message.content for message in client.messages(thread).items]


def all_said(client: Client, thread: str) -> list[str]:
    """Return the texts of all messages of a thread, page by page."""
    texts: list[str] = []
    after: str | None = None
    while True:
        page = client.messages(thread, limit=200, after=after)
        texts += [str(message.content) for message in page.items]
        after = page.next
        if after is None:
            return texts


def events_of(client: Client) -> list[wire.Event]:
    """Return all events so far."""
    last, events = client.status().counts["events"], []
    for event in client.events(after=0):
        events.append(event)
        if event.seq >= last:
            break
    return events


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    with running_daemon() as daemon:
        yield daemon


def test_what_was_wrongly_taken_is_listed_allowed_and_restored_word_for_word(daemon: Daemon, tmp_path: Path) -> None:
    """Listed without the value; restored in the thread and found by search; later mentions and a restart leave it."""
    with Client(daemon.socket) as client:
        report = import_file(client, transcript(tmp_path), program="claude-code")
        thread = str(report.thread)
        assert WORD not in str(said(client, thread))
        assert sum(report.kinds.values()) == report.redacted == 2
        (item,) = client.redactions().items
        assert WORD not in str(item)
        assert (item.count, item.allowed) == (2, False)
        assert [(place.thread, place.messages) for place in item.places] == [(thread, [1, 3])]
        assert client.redactions(project="lantern").items == [item]
        assert WORD.encode() not in b"".join(bytes_below(daemon.home).values())

        assert WORD not in str(client.thread(thread).title)

        answer = client.allow_redactions(item.id)
        assert (answer.allow, answer.values, answer.left) == ([item.id], 2, [])
        assert WORD in str(client.thread(thread).title)
        assert [event.type for event in events_of(client)][-1] == "redactions.allowed"
        assert [(place.thread, place.messages) for place in answer.restored] == [(thread, [1, 3])]
        assert said(client, thread) == list(TEXTS)
        assert [hit.thread for hit in client.search(WORD).hits]
        assert client.redactions().items[0].allowed
        client.append(thread, [{"role": "user", "content": f"password: {WORD} and {OTHER}"}])
        assert said(client, thread)[-1].startswith(f"password: {WORD} and [REDACTED:")
    assert daemon.stop() == 0
    daemon.start()
    with Client(daemon.socket) as client:
        client.append(thread, [{"role": "user", "content": f"again, password: {WORD}"}])
        assert said(client, thread)[-1].endswith(WORD)
        client.remember(wire.CreateMemory(type="fact", content=f"The lantern form asks for password: {WORD}"))
        assert WORD in str(client.memories().items)

        back = client.disallow_redactions(item.id)
        assert back.allow == []
        assert [event.type for event in events_of(client)][-1] == "redactions.disallowed"
        assert WORD not in str(client.memories().items)
        assert WORD not in str(said(client, thread))
        client.append(thread, [{"role": "user", "content": f"password: {WORD}"}])
        assert WORD not in str(said(client, thread))
        with pytest.raises(NotFound, match="not allowed"):
            client.disallow_redactions(item.id)


def test_what_is_disallowed_is_in_no_past_version_and_no_byte_of_the_store(daemon: Daemon) -> None:
    """Memories, documents and threads as they were while it was allowed; a person's file keeps it and is named."""
    with Client(daemon.socket) as client:
        client.allow_redactions(like=WORD)
        thread = client.create_thread(title=LABELLED).id
        client.append(thread, [{"role": "user", "content": LABELLED}])
        client.add_note(thread, LABELLED, "decision")
        memory = client.remember(wire.CreateMemory(type="fact", content=LABELLED))
        client.change_memory(memory.id, wire.ChangeMemory(content=f"The form of lanterns asks for password: {WORD}"))
        client.sync_now()
        operations = [item.id for item in client.operations().items]

        def history() -> str:
            past = [client.memory_history(memory.id), client.document_history(memory.document), client.difference("0")]
            return str([*past, *(client.operation(name) for name in operations), client.messages(thread)])

        assert WORD in history()
        assert WORD in str(client.document(memory.document, at=operations[0]))
        answer = client.disallow_redactions(like=WORD)
        assert WORD not in history()
        assert "[REDACTED:password]" in str(client.document(memory.document, at=operations[0]))
        assert client.conflicts().items == []
        assert {place.document for place in answer.left} == {memory.document, "MEMORY.md"}
        files = {f"root/default/{place.document}" for place in answer.left}
        assert {path for path, data in bytes_below(daemon.home).items() if WORD.encode() in data} <= files


def test_what_is_disallowed_beside_appends_and_an_import_is_in_no_message(daemon: Daemon, tmp_path: Path) -> None:
    """Messages that were sealed before are sealed again, and each page of every thread is read."""
    text = LABELLED + " and on" * 100
    long = transcript(tmp_path, (text,) * 3_000)
    messages = [{"role": role, "content": text} for role in ("user", "assistant")] * 100
    with Client(daemon.socket) as client:
        client.allow_redactions(like=WORD)
        threads = [client.create_thread().id for _ in range(6)]
        for thread in threads:
            for _ in range(2):
                client.append(thread, messages)
            client.messages(thread)
    begun, done = Barrier(len(threads) + 2), Event()

    def appends(thread: str) -> int:
        with Client(daemon.socket) as client:
            begun.wait()
            number = 0
            while not number or not done.is_set():
                client.append(thread, messages)
                number += 1
            return number

    def imports() -> str:
        with Client(daemon.socket) as client:
            begun.wait()
            return str(import_file(client, long, program="claude-code").thread)

    with ThreadPoolExecutor(len(threads) + 1) as pool, Client(daemon.socket) as client:
        appended = [pool.submit(appends, thread) for thread in threads]
        imported = pool.submit(imports)
        begun.wait()
        try:
            wait_until(lambda: len(client.threads().items) > len(threads), "the thread that is imported", 20)
            client.disallow_redactions(like=WORD)
        finally:
            done.set()
        sizes = {imported.result(): 3_000}
        sizes |= {thread: 200 * (2 + one.result()) for thread, one in zip(threads, appended, strict=True)}
        for thread, size in sizes.items():
            texts = all_said(client, thread)
            assert len(texts) == size
            assert not [text for text in texts if WORD in text]


DISALLOW_KILLED = """
import os
from reverie.usecases import unredact
from reveried.app import run

def again(reader, thread, retaken):
    plan = of_thread(reader, thread, retaken)
    if not plan.restored and replaced:
        os._exit(9)
    replaced.append(thread.id)
    return plan

replaced, of_thread, unredact.again = [], unredact.again, again
raise SystemExit(run(os.environ))
"""


def test_what_is_disallowed_is_replaced_by_a_repeat_after_a_kill() -> None:
    """A kill when a thread's messages are replaced, and those of others and the memories are not."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home), arguments=("-c", DISALLOW_KILLED)).start()
        with Client(daemon.socket) as client:
            client.allow_redactions(like=WORD)
            threads = [client.create_thread(id=f"thr_{name}").id for name in "abc"]
            client.append(threads[0], [{"role": "user", "content": LABELLED}])
            client.append(threads[2], [{"role": "user", "content": LABELLED}])
            client.remember(wire.CreateMemory(type="fact", content=f"The lantern form asks for password: {WORD}"))
            with pytest.raises(DaemonNotRunning):
                client.disallow_redactions(like=WORD)
        assert daemon.process is not None
        assert daemon.process.wait() == 9
        daemon.arguments = ("-m", "reveried")
        daemon.start()
        with Client(daemon.socket) as client:
            assert [WORD in str(said(client, thread)) for thread in threads] == [False, False, True]
            assert client.disallow_redactions(like=WORD).allow == []
            assert WORD not in str([said(client, thread) for thread in threads])
            assert WORD not in str(client.memories().items)
            client.append(threads[1], [{"role": "user", "content": LABELLED}])
            assert WORD not in str(said(client, threads[1]))
            with pytest.raises(NotFound, match="not allowed"):
                client.disallow_redactions(like=WORD)
        assert daemon.stop() == 0
        daemon.start()
        with Client(daemon.socket) as client:
            assert client.redactions().allow == []
        assert daemon.stop() == 0


def test_what_is_disallowed_stays_where_the_setting_cannot_be_written(daemon: Daemon) -> None:
    """A settings file that cannot be replaced is refused before any text changes, and the same call works later."""
    with Client(daemon.socket) as client:
        client.allow_redactions(like=WORD)
        thread = client.create_thread().id
        client.append(thread, [{"role": "user", "content": LABELLED}])
        path = next(daemon.home.rglob("config.toml"))
        run_or_skip("chattr", "+i", path)
        try:
            with pytest.raises(Forbidden, match=r"config\.toml"):
                client.disallow_redactions(like=WORD)
        finally:
            run_or_skip("chattr", "-i", path)
        client.append(thread, [{"role": "user", "content": LABELLED}])
        assert said(client, thread) == [LABELLED] * 2
        assert client.redactions().allow == [f"like:{WORD}"]
        assert client.disallow_redactions(like=WORD).allow == []
        assert WORD not in str(said(client, thread))


def test_what_has_no_transcript_any_more_is_named_and_stays(daemon: Daemon, tmp_path: Path) -> None:
    """A transcript that is gone, one with other words by now, what was typed directly, a thread that was purged."""
    with Client(daemon.socket) as client:
        gone, changed, purged = (
            str(import_file(client, transcript(tmp_path, session=name), program="claude-code").thread)
            for name in ("gone", "changed", "purged")
        )
        typed = client.create_thread().id
        client.append(typed, [{"role": "user", "content": LABELLED}])
        memory = client.remember(wire.CreateMemory(type="fact", content=f"The form wants password: {WORD}")).id
        (tmp_path / "gone.jsonl").unlink()
        transcript(tmp_path, ("rewritten", "ok", "by hand"), "changed")
        client.delete_thread(purged, confirm=purged, purge=True)
        (item,) = client.redactions().items
        assert {place.thread for place in item.places} == {gone, changed, typed, None}

        answer = client.allow_redactions(item.id)
        why = {place.thread or place.memory: place.why for place in answer.left}
        assert why == {
            gone: "its transcript is gone",
            changed: "its transcript has another text there",
            typed: "it was typed directly, and stored nowhere as it was",
            memory: "it was typed directly, and stored nowhere as it was; edit its line in facts/project.md",
        }
        assert answer.restored == []
        with pytest.raises(NotFound):
            client.thread(purged)
    assert daemon.stop() == 0
    assert WORD.encode() not in b"".join(data for path, data in bytes_below(daemon.home).items() if path != "log")
    daemon.start()


def test_a_rule_and_a_pattern_are_allowed_and_nothing_else_is(daemon: Daemon, tmp_path: Path) -> None:
    """A rule restores all that it took, second mentions among it, and no value of another rule."""
    with Client(daemon.socket) as client:
        thread = str(
            import_file(
                client, transcript(tmp_path, (*TEXTS, f"push with {OTHER}"), named=False), program="claude-code"
            ).thread
        )
        labelled = next(item for item in client.redactions().items if item.kind != "github-token")
        client.allow_redactions(rule=labelled.rule)
        assert said(client, thread)[:3] == list(TEXTS)
        assert OTHER not in str(said(client, thread))
        client.allow_redactions(like="ghp_a1*")
        assert said(client, thread)[3] == f"push with {OTHER}"
        for body in ({}, {"rule": "label", "like": "x"}, {"rule": "no-such"}):
            with pytest.raises(ValidationError):
                client.allow_redactions(**body)
        token = client.create_token("default", agent="claude").token
    with Client(daemon.socket, token=token) as agent:
        with pytest.raises(Forbidden):
            agent.allow_redactions(rule="label")
        assert agent.redactions().allow == []


def test_a_person_s_file_gives_its_document_back_what_was_taken(daemon: Daemon) -> None:
    """What is redacted in a file that a person saved is listed by its path, and restored from the file itself."""
    mine = daemon.folder / "facts" / "mine.md"
    with Client(daemon.socket) as client:
        mine.parent.mkdir(parents=True, exist_ok=True)
        mine.write_text(f"# Mine\n\n- The form has password: {WORD}\n- It is green.\n")
        client.sync_now()
        assert WORD not in client.document("facts/mine.md").content
        (item,) = client.redactions().items
        assert [place.document for place in item.places] == ["facts/mine.md"]
        ids = [memory.id for memory in client.memories().items]
        answer = client.allow_redactions(item.id)
        assert ([place.document for place in answer.restored], answer.left) == (["facts/mine.md"], [])
        assert client.document("facts/mine.md").content == mine.read_text()
        assert [memory.id for memory in client.memories().items] == ids
        client.sync_now()
        assert WORD in client.document("facts/mine.md").content
        assert client.conflicts().items == []


def test_the_commands_say_what_was_taken_and_what_became_of_it(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`import`, `redactions`, `redactions allow` by the end of an id, and its way back."""
    use_daemon(daemon, monkeypatch)
    cli = run_in_process(capsys)
    done = cli("import", "claude-code", str(transcript(tmp_path)))
    assert "Replaced 2 values: 2 password; see reverie redactions." in done.out
    listed = cli("redactions")
    assert listed.code == 0
    assert WORD not in listed.out
    (item,) = cli("redactions", "--json").json["items"]
    end = item["id"][-8:]
    for part in (end, "password", "label", "lantern", "#1 #3"):
        assert part in listed.out
    allowed = cli("redactions", "allow", end)
    assert "2 markers restored, in 2 messages of 1 thread." in allowed.out
    assert "allowed" in cli("redactions").out
    assert "2 values replaced again, in 2 messages of 1 thread." in cli("redactions", "disallow", item["id"]).out
    assert cli("redactions", "allow", "12345678").code != 0
    assert cli("redactions", "allow").code == 2
    unknown = cli("redactions", "allow", "--rule", "labe", "--yes")
    assert "near it: label" in unknown.err
    assert len(unknown.err) < 300

    use = f"push with {OTHER}"
    told_twice = [cli("remember", use).out, cli("remember", use, "--document", "facts/project.md").out]
    token = next(item for item in cli("redactions", "--json").json["items"] if item["kind"] == "github-token")
    for told in told_twice:
        assert f"If it is none: reverie redactions allow {token['id'][-8:]}, then reverie forget" in told
    assert f"reverie show {token['places'][0]['memory']}" in cli("show", f"rdn_…{token['id'][-8:]}").out
    for options in (("--rule", "label"), ("--like", "*")):
        asked = cli("redactions", "allow", *options)
        assert (asked.code != 0, "Allow it?" in asked.out) == (True, True)
    assert cli("redactions", "--json").json["allow"] == []
    assert "edit its line in facts/project.md" in cli("redactions", "allow", "--like", "ghp_*", "--yes").out
    cli("remember", use)
    alone = cli("redactions", "disallow", "--like", "ghp_*").out
    assert "1 value replaced again, in 1 document." in alone


def test_a_row_is_shown_with_all_its_places(
    daemon: Daemon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each message by a number that `thread --around` takes, and what is no message by its line of the transcript."""
    use_daemon(daemon, monkeypatch)
    cli = run_in_process(capsys)
    path = transcript(tmp_path)
    meta = orjson.loads(path.read_bytes().splitlines()[0]) | {"uuid": "s1-9", "isMeta": True}
    path.write_bytes(path.read_bytes() + orjson.dumps(meta) + b"\n")
    cli("import", "claude-code", str(path))
    (item,) = cli("redactions", "--json").json["items"]
    thread = item["places"][0]["thread"]
    shown = cli("show", item["id"]).out
    assert WORD not in shown
    for number in (1, 3):
        assert f"reverie thread {thread} --around {number}\n" in shown
        assert f">{number}  user" in cli("thread", thread, "--around", str(number)).out
    assert f"line 4 of {path}\n" in shown
    assert "#1 #3 line 4" in cli("redactions").out
    for missing in ("rdn_…12345678", "cnd_…12345678", "sch_12345678"):
        assert "next: " in cli("show", missing).err
    cli("schedule", "add", "0 3 * * *")
    (schedule,) = cli("schedule", "list", "--json").json["items"]
    assert "0 3 * * *" in cli("show", schedule["id"]).out
