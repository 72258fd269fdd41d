"""A memory is in doubt from what a later session says or does against it, until the person decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from support.cli import run_in_process, use_daemon
from support.daemon import Daemon, running_daemon

OLD, NEW = "Please always use tabs.", "From now on use spaces, not tabs."


def learn(client: Client, *turns: tuple[str, Any]) -> wire.MemoryChanges:
    """Learn from a thread of these turns."""
    thread = client.create_thread(project="harbour").id
    client.append(thread, [{"role": role, "content": content} for role, content in turns])
    return client.learn(thread)


def shell(command: str, output: str) -> list[tuple[str, Any]]:
    """Return the turns in which an agent runs a command."""
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": output}
    return [("user", "Go on."), ("assistant", [call]), ("user", [result]), ("assistant", "That is done.")]


def session(said: str) -> list[tuple[str, Any]]:
    """Return the turns of a session with work in which the person says this."""
    return [*shell("make build", "built"), ("user", said), ("assistant", "Yes."), ("user", "Thanks.")]


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    """A daemon for each test, since the commands read its default space."""
    with running_daemon() as running:
        yield running


@pytest.fixture
def client(daemon: Daemon) -> Iterator[Client]:
    """A client of that daemon."""
    with Client(daemon.socket) as opened:
        yield opened


@pytest.fixture
def doubted(client: Client) -> tuple[wire.Memory, str]:
    """Return a wish that a newer one contradicts, and the candidate that asks about it."""
    learn(client, *session(OLD))
    (older,) = client.memories(kind="preference").items
    (waiting,) = learn(client, *session(NEW)).waiting
    return client.memory(older.id), waiting


def test_a_contradicted_memory_says_so_wherever_it_is_told(
    daemon: Daemon,
    client: Client,
    doubted: tuple[wire.Memory, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mark has date and thread, and is in the brief, recall and `reverie memories`; the file has none."""
    memory, _ = doubted
    doubt = memory.provenance["doubt"]
    since = f"in doubt since {doubt['at'][:10]}"
    assert client.thread(doubt["thread"]).message_count > 0
    assert doubt["seqs"]
    use_daemon(daemon, monkeypatch)
    cli = run_in_process(capsys)
    for command, told in (
        ("brief --project harbour", since),
        ("brief --project harbour --json", f'"note": "{since}"'),
        ("memories", since),
        ("recall tabs", since),
        (f"show {memory.id}", doubt["thread"]),
    ):
        assert told in " ".join(cli(*command.split()).out.split()), command
    assert since in client.brief_text("harbour")
    assert since in str(client.call_tool("search", {"query": "always use tabs"}).content)
    assert "doubt" not in client.document(memory.document).content


@pytest.mark.parametrize("edit", [False, True])
def test_a_person_ends_the_doubt(client: Client, doubted: tuple[wire.Memory, str], *, edit: bool) -> None:
    """A person who keeps the memory, or edits it, ends the doubt; the newer wish said again does not bring it back."""
    memory, waiting = doubted
    if edit:
        client.change_memory(memory.id, wire.ChangeMemory(content="Use tabs in Makefiles", author="person"))
    else:
        client.reject_candidate(waiting)
    assert "doubt" not in client.memory(memory.id).provenance
    learn(client, *session(NEW))
    assert "doubt" not in client.memory(memory.id).provenance


def test_an_undo_takes_the_doubt_back(client: Client) -> None:
    """The mark belongs to the operation that learnt what contradicts the memory."""
    learn(client, *session(OLD))
    (older,) = client.memories(kind="preference").items
    client.undo(str(learn(client, *session(NEW)).operation))
    assert "doubt" not in client.memory(older.id).provenance


def test_a_reverted_commit_puts_its_memory_in_doubt(client: Client) -> None:
    """A later session that reverts a commit marks the memory that names it, and no other."""
    texts = ("The queue is emptied by a cron job since 1a2b3c4d5", "The queue keeps a week of messages since 99aabbcc1")
    first, second = (client.remember(wire.CreateMemory(text, type="fact")) for text in texts)
    learn(client, *shell("git revert --no-edit 1a2b3c4", "[main 77aa88b] Revert it"))
    assert client.memory(first.id).provenance["doubt"]["seqs"]
    assert "doubt" not in client.memory(second.id).provenance


def test_a_correction_that_names_the_same_things(client: Client) -> None:
    """The person's correction marks a memory of another session with the same two names, not one with one of them."""
    texts = ("Deploys run `scripts/deploy.sh` with `--dry-run` first", "Logs of `scripts/deploy.sh` are in `var/log`")
    first, second = (client.remember(wire.CreateMemory(text, type="fact")) for text in texts)
    learn(client, *session("No, that's wrong: don't run scripts/deploy.sh with --dry-run, it deletes the cache."))
    assert "doubt" in client.memory(first.id).provenance
    assert "doubt" not in client.memory(second.id).provenance
