"""After a purge no file under the home has the word: store, free pages, history, archives, folder, stored answers."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import Conflict, DaemonNotRunning, NotFound, ValidationError
from reverie.store.check import run_check
from support.cli import reverie
from support.daemon import Daemon, environment, request, running_daemon, scratch_home
from support.soak import count
from support.stores import files_with
from support.waiting import wait_until

SYLLABLES = ("quok", "zan", "bri", "vex", "lom", "jur", "pax", "dwi")


@pytest.fixture
def word(request: pytest.FixtureRequest) -> str:
    """A word that no other test has."""
    chance = random.Random(request.node.name)
    return "Zanzi" + "".join(chance.choices(SYLLABLES, k=5))


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.3") as running:
        yield running


@pytest.fixture(scope="module")
def client(daemon: Daemon) -> Iterator[Client]:
    with Client(daemon.socket) as opened:
        yield opened


def root(daemon: Daemon) -> Any:
    return daemon.folder


def remembered(client: Client, content: str, **fields: Any) -> wire.Memory:
    return client.remember(wire.CreateMemory(content=content, **fields))


def test_a_purged_memory_is_nowhere(daemon: Daemon, client: Client, word: str) -> None:
    """After the purge of a memory no version, document, index, dream, archive or stored answer has its word."""
    neighbour = remembered(client, "Deployments are announced in the harbour channel")
    memory = client.remember(wire.CreateMemory(content=f"The staging host is called {word}"), key=f"once {word}")
    client.change_memory(memory.id, wire.ChangeMemory(content=f"The staging host {word} is retired"))
    later = remembered(client, "Releases happen on Thursday mornings")
    assert client.recall(word).hits
    client.dream()
    archive = client.archives().items[0].sha256
    backup = daemon.home / "data" / "backups" / "old"
    client.backup(str(backup))
    assert files_with(daemon.home, word)
    archives = root(daemon) / "archives"
    wait_until((archives / f"{archive}.json").exists, "the archive")
    # Written by a store that a restored backup replaced; this one does not know it.
    (archives / f"{'0' * 64}.json").write_bytes((archives / f"{archive}.json").read_bytes())

    answer = client.forget(memory.id, purge=True)

    assert answer.purged is not None
    assert answer.purged.archives == 1
    assert [file.path for file in answer.purged.backups] == [str(backup)]
    backup.unlink()
    wait_until(lambda: not files_with(daemon.home, word), f"no {word}")
    assert {item.id for item in client.memories().items} >= {neighbour.id, later.id}
    with pytest.raises(NotFound):
        client.memory_history(memory.id)
    listed = [item.sha256 for item in client.archives().items]
    assert len(listed) == 1
    assert listed[0] != archive
    assert client.dreams().items[0].archive == listed[0]
    assert [file.name for file in archives.iterdir()] == [f"{listed[0]}.json"]
    with pytest.raises(Conflict, match="purged"):
        client.remember(wire.CreateMemory(content=f"The staging host is called {word}"), key=f"once {word}")


def test_the_history_of_others_stays_usable(daemon: Daemon, client: Client, word: str) -> None:
    """Versions are rewritten and not dropped, and words of purged texts are no times, types and authors of others."""
    first = remembered(client, "Deployments are announced in the harbour channel")
    year = first.created_at[:4]
    memory = remembered(client, f"In {year} an agent noted the fact that the staging host is called {word}")
    client.change_memory(first.id, wire.ChangeMemory(content="Deployments are announced by mail"))
    change = client.memory_history(first.id).items[-1].operation

    client.forget(memory.id, purge=True)

    assert all(
        version.memory is None or version.memory.type == "fact" for version in client.memory_history(first.id).items
    )
    client.undo(change)
    restored = client.memory(first.id)
    assert restored.content == "Deployments are announced in the harbour channel"
    assert (restored.type, restored.created_at) == (first.type, first.created_at)
    assert not files_with(daemon.home, word)


def test_a_forgotten_memory_can_still_be_purged(daemon: Daemon, client: Client, word: str) -> None:
    """A deletion without a purge leaves the word in the store; a later purge removes it."""
    memory = remembered(client, f"The staging host is called {word}")
    client.forget(memory.id)
    assert files_with(daemon.home, word)
    client.forget(memory.id, purge=True)
    assert not files_with(daemon.home, word)
    with pytest.raises(NotFound):
        client.forget(memory.id, purge=True)


def thread_with_everything(client: Client, word: str) -> str:
    """Return the id of a new thread that has the word in its messages, results, summary, notes and state."""
    thread = client.create_thread(agent="ada", title=f"about {word}")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": f"ping {word}"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": f"{word} answers"}
    client.append(
        thread.id,
        [
            {"role": "user", "content": f"Always deploy to {word} before noon. We decided to use {word}."},
            {"role": "assistant", "content": [{"type": "text", "text": f"I ping {word}."}, call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": f"{word} answers."},
        ],
        key=f"append {word}",
    )
    for turn in range(12):
        client.append(
            thread.id,
            [
                {"role": "user", "content": f"Step {turn}: please check the harbour ledger"},
                {"role": "assistant", "content": f"Checked the harbour ledger, step {turn}."},
            ],
        )
    client.add_note(thread.id, f"never restart {word}", "decision", key=f"note {word}")
    client.set_working_state(thread.id, current_task=f"restart {word}")
    client.set_working_state(thread.id, current_task="write the report")
    client.distill(thread.id, key=f"distill {word}")
    client.learn(thread.id)
    return thread.id


def test_a_purged_thread_is_nowhere(daemon: Daemon, client: Client, word: str) -> None:
    """After the purge of a thread no file has its word, and a later thread has none of its notes."""
    stays = remembered(client, "Invoices are filed in the marble cabinet")
    thread = thread_with_everything(client, word)
    heir = client.create_thread(agent="ada")
    assert any(word in note.content for note in client.notes(heir.id).items)
    client.dream()
    assert files_with(daemon.home, word)

    answer = client.delete_thread(thread, confirm=thread, purge=True)

    assert answer.purged is not None
    assert answer.messages == 28
    wait_until(lambda: not files_with(daemon.home, word), f"no {word}")
    assert client.memory(stays.id).content == "Invoices are filed in the marble cabinet"
    assert client.thread(heir.id).id == heir.id
    assert client.notes(heir.id).items == []
    assert client.context(heir.id).tokens.total >= 0


def test_a_plain_deletion_takes_the_archives_of_the_thread(daemon: Daemon, client: Client, word: str) -> None:
    """A deletion without a purge removes the thread's archives, not its memories; a later purge removes all."""
    thread = thread_with_everything(client, word)
    (address,) = [item.sha256 for item in client.archives().items if item.ref == f"thread:{thread}"]
    wait_until((root(daemon) / "archives" / f"{address}.json").exists, "the archive's file")

    client.delete_thread(thread, confirm=thread)

    assert address not in {item.sha256 for item in client.archives().items}
    wait_until(lambda: not (root(daemon) / "archives" / f"{address}.json").exists(), "the removal of its file")
    assert any(word in item.content for item in client.memories().items)
    client.delete_thread(thread, confirm=thread, purge=True)
    wait_until(lambda: not files_with(daemon.home, word), f"no {word}")


def test_memories_may_stay(client: Client, word: str) -> None:
    """With `keepMemories` a purge keeps the thread's memories and names them; none refers to the thread any more."""
    thread = thread_with_everything(client, word)
    learnt = {item.id for item in client.memories().items if thread in str(item.provenance)}
    assert learnt

    answer = client.delete_thread(thread, confirm=thread, purge=True, keep_memories=True)

    assert answer.purged is not None
    assert set(answer.purged.kept) == learnt
    assert {item.id for item in client.memories().items} >= learnt
    assert all(thread not in str(item.provenance) for item in client.memories().items)


@pytest.mark.parametrize("purged", [0, 1])
def test_what_another_thread_says_too_stays(daemon: Daemon, client: Client, word: str, purged: int) -> None:
    """A memory that two threads taught stays whichever is purged, and goes with the last of them."""
    said = f"Always call the harbour printer {word} in the logs."
    threads = [client.create_thread(agent="ada").id for _ in range(2)]
    for thread in threads:
        client.append(thread, [{"role": "user", "content": said}, {"role": "assistant", "content": "I will."}])
        client.learn(thread)
    [memory] = [memory for memory in client.memories(limit=1000).items if word in memory.content]

    first = threads.pop(purged)
    answer = client.delete_thread(first, confirm=first, purge=True)
    assert answer.purged is not None
    assert (answer.purged.memories, answer.purged.kept) == (0, [memory.id])
    kept = client.memory(memory.id)
    assert (kept.content, kept.updated_at) == (memory.content, memory.updated_at)
    assert first not in str(kept.provenance)

    client.delete_thread(threads[0], confirm=threads[0], purge=True)
    assert not files_with(daemon.home, word)


def test_a_purge_without_confirmation_names_the_whole_request(client: Client) -> None:
    """A deletion without `confirm` is refused with a hint of the whole request, `purge` and `keepMemories` included."""
    thread = client.create_thread().id
    with pytest.raises(ValidationError, match="cannot be undone") as error:
        client.delete_thread(thread, confirm="", purge=True, keep_memories=True)
    assert str(error.value.hint).endswith(f"/v1/threads/{thread}?confirm={thread}&purge=true&keepMemories=true")
    with pytest.raises(ValidationError) as error:
        client.delete_thread(thread, confirm="")
    assert str(error.value.hint).endswith(f"?confirm={thread}")
    with pytest.raises(ValidationError, match="belongs to `purge`"):
        client.delete_thread(thread, confirm=thread, keep_memories=True)


def test_a_purged_document_is_nowhere(daemon: Daemon, client: Client, word: str) -> None:
    """After the purge of a document with conflict and copy nothing has its words in any version."""
    file = root(daemon) / "facts" / "hosts.md"
    client.put_document("facts/hosts.md", f"# Hosts\n\n- The host is {word}\n- The port is eighty\n")
    client.put_document("notes/other.md", "# Other\n\nNothing of interest.\n")
    wait_until(file.exists, "the file")
    file.write_text(f"# Hosts\n\n- The host is {word} of the person\n- The port is eighty\n", "utf-8")
    client.patch_document("facts/hosts.md", [("eighty", "ninety")])
    file.rename(file.with_name("machines.md"))
    wait_until(lambda: any(item.path == "facts/machines.md" for item in client.documents().items), "the move")

    answer = client.delete_document("facts/machines.md", purge=True)

    assert answer.purged is not None
    assert answer.purged.documents >= 1
    wait_until(lambda: not files_with(daemon.home, word), f"no {word}")
    assert {item.path for item in client.documents().items} >= {"notes/other.md"}


def test_the_command_asks_and_names_backups(daemon: Daemon, client: Client, word: str, tmp_path: Path) -> None:
    """`forget --purge` asks; "no" changes nothing; then it tells what is gone, and which backups have it."""
    memory = remembered(client, f"The printer is called {word}")
    assert reverie(daemon.env, "backup", str(tmp_path / "copy")).code == 0

    refused = reverie(daemon.env, "forget", memory.id, "--purge", typed="n\n")
    assert refused.code == 1
    assert client.memory(memory.id).content == memory.content

    done = reverie(daemon.env, "forget", memory.id, "--purge", typed="y\n")
    assert done.code == 0, done.err
    assert "Purged: 1 memory" in done.out
    assert str(tmp_path / "copy") in done.out
    assert not files_with(daemon.home, word)

    gone = reverie(daemon.env, "show", memory.id)
    assert f"there is no memory {memory.id} now" in gone.err

    thread = client.create_thread(agent="ada")
    client.append(thread.id, [{"role": "user", "content": f"Call the printer {word}."}])
    purged = reverie(daemon.env, "forget", thread.id, "--purge", "--yes")
    assert "Purged: 1 thread with 1 message, 0 memories" in purged.out

    client.put_document("notes/printer.md", f"# Printer\n\n{word}\n")
    plain = reverie(daemon.env, "forget", "notes/printer.md")
    assert "reverie forget notes/printer.md --purge" in plain.out
    assert files_with(daemon.home, word)
    purged = reverie(daemon.env, "forget", "notes/printer.md", "--purge", "--yes", "--json")
    assert purged.json["purged"]["documents"] == 1
    assert not files_with(daemon.home, word)
    assert "less than before" in reverie(daemon.env, "compact").out


PURGE_KILLED = """
import os
from reveried.actions import purge
from reveried.app import run

async def erased(*args):
    await erase(*args)
    os._exit(9)

erase, purge._erase = purge._erase, erased
raise SystemExit(run(os.environ))
"""


def test_a_purge_that_is_killed_once_its_sources_are_gone_leaves_nothing(word: str) -> None:
    """What repeats the words is found by the sources, so all of it is gone before them, also a model's answer."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home), arguments=("-c", PURGE_KILLED)).start()
        with Client(daemon.socket) as client:
            memory = remembered(client, f"The staging host is called {word}")
            client.dream()
            (home / "data" / "spool" / "answers").mkdir(parents=True)
            (home / "data" / "spool" / "answers" / "one.json").write_text(json.dumps({"text": f"It is {word}"}))
            with pytest.raises(DaemonNotRunning):
                client.forget(memory.id, purge=True)
        assert daemon.process is not None
        assert daemon.process.wait() == 9
        daemon.arguments = ("-m", "reveried")
        daemon.start()
        wait_until(partial(_is_gone, home, word), f"no {word}")
        assert daemon.stop() == 0


def test_a_killed_purge_is_finished_by_the_next_start() -> None:
    """After a kill at any moment of a purge and a new start the thread is whole, or nothing of it is left."""
    chance = random.Random(7)
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS="0.1") as daemon:
        home = daemon.home
        for number in range(count(2, 60)):
            word = f"Zanzibar{'abcdefgh'[number % 8] * (number + 2)}"
            with Client(daemon.socket) as client:
                stays = remembered(client, f"Deployments of team {number} are announced in the harbour channel")
                thread = thread_with_everything(client, word)
            with daemon.wire() as wire_:
                wire_.send(request("DELETE", f"/v1/threads/{thread}?confirm={thread}&purge=true"))
                time.sleep(chance.uniform(0.0, 0.6))
                daemon.kill()
            daemon.start()
            with Client(daemon.socket) as client:
                with suppress(NotFound):  # then the purge had begun, and goes on by itself
                    assert client.thread(thread).message_count == 28
                    client.delete_thread(thread, confirm=thread, purge=True)
                assert client.memory(stays.id).content == stays.content
            wait_until(partial(_is_gone, home, word), f"no {word}")
        assert daemon.stop() == 0
        assert run_check(home / "data" / "store").ok


def _is_gone(home: Path, word: str) -> bool:
    return not files_with(home, word)
