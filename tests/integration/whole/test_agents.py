"""Concurrent agents: every acknowledged write is stored exactly once, in order, by one writing process."""

from __future__ import annotations

import os
import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import Conflict
from support.daemon import Daemon, request, running_daemon
from support.pages import stored_messages
from support.soak import count

AGENTS = count(8, 16)
APPENDS = count(25, 500)
NOTE_EVERY = 10
JOIN_S = 300
WRITES = os.O_WRONLY | os.O_RDWR


@dataclass(slots=True)
class Agent:
    """One agent with its own connection, and the writes acknowledged to it."""

    name: str
    messages: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def work(self, socket: Path, thread: str, *, expecting: bool) -> None:
        """Append APPENDS messages, sometimes a note and a recall; with `expecting`, repeat appends after a conflict."""
        with Client(socket) as client:
            for number in range(APPENDS):
                text = f"{self.name} {number}"
                if expecting:
                    self._race(client, thread, text)
                else:
                    client.append(thread, [{"role": "user", "content": text}])
                self.messages.append(text)
                if number % NOTE_EVERY == 0:
                    client.add_note(thread, text, "task")
                    self.notes.append(text)
                    client.recall(text)

    def _race(self, client: Client, thread: str, text: str) -> None:
        last_seq = client.thread(thread).message_count
        while True:
            try:
                client.append(thread, [{"role": "user", "content": text}], expected_seq=last_seq)
            except Conflict as conflict:
                last_seq = conflict.details["currentVersion"]
            else:
                return


def at_once(works: list[Callable[[], None]]) -> None:
    """Run all functions concurrently in threads of their own; fail if one raises or hangs."""
    failures: list[BaseException] = []
    ready = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            ready.wait()
            work()
        except BaseException as error:  # noqa: BLE001 - told to the test below
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(JOIN_S)
    assert not failures, failures
    assert not any(thread.is_alive() for thread in threads), "an agent hangs"


def writers_of(file: Path) -> set[int]:
    """Return the processes that have `file` open for writing."""
    writers = set()
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            for handle in (process / "fd").iterdir():
                if handle.resolve() == file:
                    flags = (process / "fdinfo" / handle.name).read_text("ascii").splitlines()[1]
                    if int(flags.split()[1], 8) & WRITES:
                        writers.add(int(process.name))
        except OSError:
            continue  # it ended meanwhile, or is another user's
    return writers


def test_each_on_its_own_thread(daemon: Daemon) -> None:
    """Concurrent appends, notes and recalls: all stored once, in each agent's order."""
    agents = [Agent(f"own-{index}") for index in range(AGENTS)]
    with Client(daemon.socket) as client:
        for agent in agents:
            client.create_thread(id=agent.name)
        at_once(
            [
                lambda agent=agent: agent.work(daemon.socket, agent.name, expecting=False)  # type: ignore[misc]
                for agent in agents
            ]
        )
        for agent in agents:
            assert [content for _, content in stored_messages(client, agent.name)] == agent.messages
            assert sorted(note.content for note in client.notes(agent.name).items) == sorted(agent.notes)


@pytest.mark.parametrize("expecting", [False, True], ids=["as it comes", "where nobody was faster"])
def test_all_on_one_thread(daemon: Daemon, *, expecting: bool) -> None:
    """On one shared thread no message is lost or doubled, and each agent's messages are in its own order."""
    thread = f"shared-{expecting}"
    agents = [Agent(f"{index}") for index in range(AGENTS)]
    with Client(daemon.socket) as client:
        client.create_thread(id=thread)
        at_once(
            [
                lambda agent=agent: agent.work(daemon.socket, thread, expecting=expecting)  # type: ignore[misc]
                for agent in agents
            ]
        )
        texts = message_texts(client, thread)
        assert client.thread(thread).message_count == len(texts) == AGENTS * APPENDS
        assert len(client.notes(thread).items) == sum(len(agent.notes) for agent in agents)
    by_agent: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        by_agent[text.split()[0]].append(text)
    assert by_agent == {agent.name: agent.messages for agent in agents}
    if expecting:  # whether two of them ever raced is left to chance; that a late one is refused is not
        with Client(daemon.socket) as client, pytest.raises(Conflict):
            client.append(thread, [{"role": "user", "content": "late"}], expected_seq=1)


def test_one_process_has_the_store_open_for_writing(daemon: Daemon) -> None:
    """The daemon is the only process that has the store's file open for writing; its child processes do not."""
    with Client(daemon.socket) as client:
        client.create_thread(id="watched")
        client.append("watched", [{"role": "user", "content": "hello"}])
        client.context("watched")
        assert writers_of((daemon.store / "data.mdb").resolve()) == {daemon.pid}


def message_texts(client: Client, thread: str) -> list[str]:
    """Return every message text of a thread; adjacent ones of one role may come as one."""
    texts: list[str] = []
    for _, content in stored_messages(client, thread):
        texts += [content] if isinstance(content, str) else [block["text"] for block in content]
    return texts


def test_a_client_that_disconnects_before_its_answer(daemon: Daemon) -> None:
    """A message whose client left before the answer is stored exactly once after it is sent again with its key."""
    with Client(daemon.socket) as client:
        client.create_thread(id="leaver")
        for number in range(40):
            with daemon.wire() as wire:
                wire.send(keyed("leaver", f"m{number}"))
                if number % 2:
                    time.sleep(0.001 * (number % 8))
        for number in range(40):
            client.append("leaver", [{"role": "user", "content": f"m{number}"}], key=f"key m{number}")
        assert sorted(message_texts(client, "leaver")) == sorted(f"m{number}" for number in range(40))


def keyed(thread: str, text: str) -> bytes:
    """Return an append with an idempotency key of its own."""
    body = f'{{"messages":[{{"role":"user","content":"{text}"}}]}}'.encode()
    return request("POST", f"/v1/threads/{thread}/messages", body, {"Idempotency-Key": f"key {text}"})


def stored_count(client: Client, thread: str) -> int:
    """Return how many of the messages are stored."""
    return client.thread(thread).message_count


@pytest.mark.timeout(1800)
def test_a_key_survives_a_kill_between_commit_and_answer() -> None:
    """After a SIGKILL with answers unread, before or after the commit, each repeated write is stored once."""
    chance = random.Random(20261121)
    total = 0
    with running_daemon() as own:
        with Client(own.socket) as client:
            client.create_thread(id="keyed")
        for round_ in range(count(4, 40)):
            texts = [f"r{round_} m{index}" for index in range(16)]
            send_and_kill(own, texts, chance, until=8 if round_ % 2 else None)
            own.start()
            with Client(own.socket) as client:
                committed = stored_count(client, "keyed") - total
                assert 0 <= committed <= len(texts)
                assert round_ % 2 == 0 or committed >= 8
                answers = [
                    client.append("keyed", [{"role": "user", "content": text}], key=f"key {text}") for text in texts
                ]
                total += len(texts)
                assert stored_count(client, "keyed") == total
                assert sorted({answer.first_seq for answer in answers}) == list(range(total - 15, total + 1))
                assert sorted(message_texts(client, "keyed")[-16:]) == sorted(texts)


def send_and_kill(own: Daemon, texts: list[str], chance: random.Random, *, until: int | None) -> None:
    """Send an append per text without reading answers; kill the daemon once `until` are stored, or within 30 ms."""
    with Client(own.socket) as client:
        before = stored_count(client, "keyed")
        wires = [own.wire() for _ in texts]
        for wire, text in zip(wires, texts, strict=True):
            wire.send(keyed("keyed", text))
        if until is None:
            time.sleep(chance.uniform(0.0, 0.03))
        else:
            while stored_count(client, "keyed") < before + until:
                time.sleep(0.0005)
        own.kill()
    for wire in wires:
        wire.socket.close()


def test_a_distillation_with_a_key_is_made_once(daemon: Daemon) -> None:
    """Concurrent requests with one key make one distillation, and all get its answer."""
    with Client(daemon.socket) as client:
        client.create_thread(id="distilled")
        for number in range(30):
            talk: list[dict[str, Any]] = [{"role": "user", "content": f"please fix module_{number}.py, it fails"}]
            client.append("distilled", [*talk, {"role": "assistant", "content": f"I fixed module_{number}.py."}])
    archives: list[str] = []

    def ask() -> None:
        with Client(daemon.socket) as own:
            archives.append(own.distill("distilled", key="one distillation").archive)

    at_once([ask] * 4)
    ask()
    assert len(archives) == 5
    assert len(set(archives)) == 1
    with Client(daemon.socket) as client:
        assert client.thread("distilled").distillations == 1
        with pytest.raises(Conflict, match="another request"):
            client.distill("distilled", token_budget=5_000, key="one distillation")
