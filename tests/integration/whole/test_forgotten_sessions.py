"""A thread that a person deleted is not brought back by its file, a hook or a followed transcript, unless asked for."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import Conflict, Forbidden
from reverie.redact import Redactor
from reverie.store import ImportRecord, Store
from reveried.cli.send_sessions import import_file
from support.cli import reverie
from support.daemon import Daemon, running_daemon, scratch_home
from support.pages import stored_messages
from support.stores import files_with
from support.story import LiveSession, generated_session, session_file
from support.talk import main_line_messages
from support.waiting import wait_until

WAYS = [[], ["--purge"]]
SPACE = "default"


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    """A daemon with an empty store."""
    with running_daemon() as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as opened:
        yield opened


def report_of(daemon: Daemon, *words: str) -> Any:
    """Run `reverie import`, which must succeed; return its report as JSON."""
    done = reverie(daemon.env, "import", *words, "--json")
    assert done.code == 0, done.err
    return done.json


def thread_ids(client: Client) -> set[str]:
    """Return the ids of all threads."""
    return {thread.id for thread in client.threads(limit=1000).items}


def forget(daemon: Daemon, thread: str, *words: str) -> None:
    """Delete a thread with the `forget` command, without a question."""
    done = reverie(daemon.env, "forget", thread, "--yes", *words)
    assert done.code == 0, done.err


@pytest.mark.parametrize("way", WAYS, ids=["delete", "purge"])
def test_an_import_leaves_out_what_was_forgotten(
    daemon: Daemon, client: Client, tmp_path: Path, way: list[str]
) -> None:
    """Imports after a deletion add nothing and name the deleted session; with --again it is imported once more."""
    gone, stays = session_file(tmp_path, 1), session_file(tmp_path, 2)
    first = report_of(daemon, "claude-code", str(tmp_path))
    thread, other = (
        next(file["thread"] for file in first["files"] if file["path"] == str(path)) for path in (gone, stays)
    )
    if way:
        assert client.memories(limit=1000).items
    forget(daemon, thread, *way)
    memories = {memory.id for memory in client.memories(limit=1000).items}

    again = report_of(daemon, "claude-code", str(tmp_path))
    assert (again["added"], again["failed"], again["forgotten"]) == (0, 0, 1)
    assert [file["path"] for file in again["files"] if file["forgotten"]] == [str(gone)]
    shown = reverie(daemon.env, "import", "claude-code", str(tmp_path))
    assert (shown.code, shown.err) == (0, "")
    assert "0 new lines from 1 file." in shown.out
    assert "1 session that you forgot was left out; --again brings it back." in shown.out
    assert thread_ids(client) == {other}
    assert {memory.id for memory in client.memories(limit=1000).items} == memories

    back = report_of(daemon, "claude-code", str(tmp_path), "--again")
    assert (back["forgotten"], thread_ids(client)) == (0, {thread, other})
    assert stored_messages(client, thread) == main_line_messages(generated_session(1))
    assert report_of(daemon, "claude-code", str(tmp_path))["forgotten"] == 0


def test_a_forgotten_conversation_of_an_export(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """An export of ChatGPT is read again without the conversation that was deleted."""
    content = {"content_type": "text", "parts": ["paint the gate"]}
    message = {"author": {"role": "user"}, "content": content, "create_time": 1.0}
    node: dict[str, Any] = {"id": "n1", "parent": None, "children": [], "message": message}
    talks = [{"id": name, "conversation_id": name, "mapping": {"n1": node}} for name in ("talk-1", "talk-2", "talk-3")]
    export = tmp_path / "export.zip"
    with zipfile.ZipFile(export, "w") as archive:
        archive.writestr("conversations.json", json.dumps(talks))
    files = report_of(daemon, "chatgpt", str(export))["files"]
    for file in files[:2]:
        forget(daemon, file["thread"])
    shown = reverie(daemon.env, "import", "chatgpt", str(export))
    assert "2 sessions that you forgot were left out; --again brings them back." in shown.out
    assert thread_ids(client) == {files[2]["thread"]}
    report_of(daemon, "chatgpt", str(export), "--again")
    assert thread_ids(client) == {file["thread"] for file in files}


@pytest.mark.parametrize("way", WAYS, ids=["delete", "purge"])
def test_a_followed_transcript_of_a_forgotten_thread(
    daemon: Daemon, client: Client, tmp_path: Path, way: list[str]
) -> None:
    """A client's further messages of a deleted thread are not stored, and its hooks name no thread."""
    session, witness = LiveSession(tmp_path, tmp_path, 1), LiveSession(tmp_path, tmp_path, 2)
    thread, other = session.start(daemon)["thread"], witness.start(daemon)["thread"]
    session.say("paint the gate zanzibrivex", "it is green")
    wait_until(lambda: len(stored_messages(client, thread)) == 2, "the first messages")
    forget(daemon, thread, *way)
    assert [known.session for known in client.sessions().items] == [witness.id]

    for number in range(2):
        session.say(f"zanzibrivex again {number}")
        prompt = daemon.ask("POST", "/v1/hooks/claude-code", session.hook("UserPromptSubmit", prompt="zanzibrivex"))
        assert prompt.status == 200, prompt.body
        assert session.start(daemon, "resume")["thread"] is None
        witness.say(f"and the fence {number}")
        wait_until(partial(_has, client, other, number + 1), "the other session")
    assert thread_ids(client) == {other}
    assert [known.session for known in client.sessions().items] == [witness.id]
    if way:
        wait_until(lambda: not files_with(daemon.home, "zanzibrivex"), "no word")

    daemon.stop()
    daemon.start()
    with Client(daemon.socket) as later:
        witness.say("one more")
        wait_until(lambda: len(stored_messages(later, other)) == 3, "the other session after the restart")
        assert thread_ids(later) == {other}
        report_of(daemon, "claude-code", str(session.path), "--again")
        assert session.start(daemon, "resume")["thread"] == thread
        session.say("it is back")
        wait_until(lambda: len(stored_messages(later, thread)) == 5, "all messages")


def test_an_agent_does_not_bring_it_back(daemon: Daemon, client: Client, tmp_path: Path) -> None:
    """An agent's token cannot import a deleted session, with or without `again`, but other sessions."""
    path = session_file(tmp_path, 4)
    thread = str(import_file(client, path, program="claude-code").thread)
    client.delete_thread(thread, confirm=thread)
    with Client(daemon.socket, token=client.create_token("default", agent="mole").token) as mole:
        with pytest.raises(Conflict):
            import_file(mole, path, program="claude-code")
        with pytest.raises(Forbidden):
            import_file(mole, path, program="claude-code", again=True)
        other = str(import_file(mole, session_file(tmp_path, 5), program="claude-code").thread)
    assert thread_ids(client) == {other}
    with pytest.raises(Conflict):
        import_file(client, path, program="claude-code")


def _has(client: Client, thread: str, messages: int) -> bool:
    return len(stored_messages(client, thread)) == messages


def test_only_hashes_and_a_time_are_left() -> None:
    """A purged imported thread leaves a mark with hashes and a time alone; a thread made by hand leaves nothing."""
    with scratch_home() as home:
        with running_daemon(home) as daemon, Client(daemon.socket) as client:
            place = client.start_import("claude-code", "session-zanzibrivex", source="/home/ann/zanzibrivex.jsonl")
            client.send_chunk(place.id, generated_session(3), offset=0, first_line=1, final=True)
            client.create_thread(id="by-hand")
            for thread in (place.thread, "by-hand"):
                client.delete_thread(thread, confirm=thread, purge=True)
            wait_until(lambda: not files_with(home, "zanzibrivex"), "no word")
        with Store.open(home / "data" / "store", redactor=Redactor()) as store, store.reader(SPACE) as reader:
            [(_, mark)] = list(reader.records(ImportRecord))
        assert mark.forgotten is not None
        assert mark == ImportRecord(
            id=place.id, source=place.id, client="", session="", thread=place.thread, forgotten=mark.forgotten
        )
