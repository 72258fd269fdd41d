"""SIGKILL at random moments of mixed use: memories, undo, purge, imports, dreams, backups and restores: 0 lost."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import DaemonNotRunning, ReverieError
from reverie.store.check import run_check
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, environment, scratch_home
from support.session import main_line_messages, session_file, stored_messages
from support.soak import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KILLS = count(4, 300)
RESTORE_EVERY = count(2, 15)  # kills; then a backup is restored, and that is killed too
JOIN_S = 60


@dataclass
class Ledger:
    """The words of memories: those that are `there` for certain, those `gone`, and those `maybe` of either."""

    there: dict[str, str] = field(default_factory=dict)  # word to id of the memory
    gone: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)
    numbers: int = 0


def line(number: int) -> tuple[str, str]:
    """Return a word and a line that has it, and nothing else in common with other lines: a near one is held back."""
    pick, word = random.Random(number), f"w{number}x"
    return word, " ".join([word, *("".join(pick.choices("bcdfgklmnprst", k=7)) for _ in range(5))])


class Use:
    """Random acts of one client each, until the daemon is gone."""

    def __init__(self, daemon: Daemon, ledger: Ledger, seed: int) -> None:
        self.daemon, self.ledger = daemon, ledger
        self.pick = random.Random(seed)
        self.backups = 0
        self.tally: dict[str, int] = {}

    def memories(self) -> None:
        """Remember, forget, purge and undo, one after another."""
        self._until_gone([*[self._remember] * 6, self._forget, self._forget, self._undo, self._undo, self._purge])

    def others(self, path: Path) -> None:
        """Import, dream and back up, one after another."""

        def imports(client: Client) -> None:
            import_file(client, path)

        def dreams(client: Client) -> None:
            client.dream()

        self._until_gone([imports, dreams, self._backup])

    def _until_gone(self, acts: list[Callable[[Client], object]]) -> None:
        try:
            with Client(self.daemon.socket) as client:
                while self.daemon.process is not None and self.daemon.process.poll() is None:
                    act = self.pick.choice(acts)
                    name = act.__name__.strip("_")
                    try:
                        act(client)
                    except DaemonNotRunning:
                        return
                    except ReverieError as error:
                        name = f"{name}: {error.code}"
                    self.tally[name] = self.tally.get(name, 0) + 1
        except (ReverieError, OSError):
            return

    def _remember(self, client: Client) -> None:
        self.ledger.numbers += 1
        word, content = line(self.ledger.numbers)
        self.ledger.maybe.add(word)
        body = wire.CreateMemory(content=content, document=f"facts/k{self.ledger.numbers % 7}.md")
        made = client.remember(body)
        self.ledger.maybe.discard(word)
        self.ledger.there[word] = made.id

    def _forget(self, client: Client) -> None:
        self._remove(client.forget)

    def _purge(self, client: Client) -> None:
        word = self._remove(lambda memory: client.forget(memory, purge=True))
        self.ledger.purged |= {word} if word in self.ledger.gone else set()

    def _remove(self, call: Callable[[str], object]) -> str:
        if not self.ledger.there:
            return ""
        word = self.pick.choice(sorted(self.ledger.there))
        memory = self.ledger.there.pop(word)
        self.ledger.maybe.add(word)
        call(memory)
        self.ledger.maybe.discard(word)
        self.ledger.gone.add(word)
        return word

    def _undo(self, client: Client) -> None:
        """Remember a line in a file of its own and undo that."""
        self.ledger.numbers += 1
        (word, content), path = line(self.ledger.numbers), f"facts/u{self.ledger.numbers}.md"
        self.ledger.maybe.add(word)
        client.append_entry(path, f"- {content}")
        client.undo(client.document_history(path).items[0].operation)
        self.ledger.maybe.discard(word)
        self.ledger.gone.add(word)

    def _backup(self, client: Client) -> None:
        self.backups += 1
        client.backup(str(self.daemon.home / "data/backups" / f"copy-{self.pick.random()}"))


def words_of(client: Client) -> dict[str, str]:
    """Return each word of the memories with the id of its memory."""
    found: dict[str, str] = {}
    after = None
    while True:
        page = client.memories(limit=1000, after=after)
        for memory in page.items:
            word = next((word for word in memory.content.split() if word.startswith("w") and word.endswith("x")), "")
            assert word not in found, f"{word} is there twice"
            found |= {word: memory.id} if word else {}
        after = page.next
        if after is None:
            return found


def check(client: Client, ledger: Ledger) -> None:
    """Assert that every acknowledged change holds, and settle what was not acknowledged."""
    found = words_of(client)
    assert ledger.there.keys() <= found.keys(), sorted(ledger.there.keys() - found.keys())[:5]
    assert not ledger.gone & found.keys(), sorted(ledger.gone & found.keys())[:5]
    assert found.keys() <= ledger.there.keys() | ledger.maybe
    ledger.there = found
    ledger.gone |= ledger.maybe - found.keys()
    ledger.maybe = set()


def restored(daemon: Daemon, ledger: Ledger, pick: random.Random, work: Callable[[], object]) -> None:
    """Back up, go on, kill the daemon and the first restore, restore, and assert that all is there that was backed up.

    A file of which the killed daemon had not recorded its own write counts as a person's, so newer lines may be there:
    those that were there at the end, not those that were gone.
    """
    copy = daemon.home / "data/backups" / f"kept-{pick.random()}"
    with Client(daemon.socket) as client:
        client.backup(str(copy))
    kept = dict(ledger.there)
    work()
    command = [sys.executable, "-m", "reveried.cli", "restore", str(copy)]
    env = environment(daemon.home)
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        time.sleep(pick.random() * 1.5)
        first.kill()
    subprocess.run(command, env=env, check=True, capture_output=True, timeout=120)
    daemon.start()
    with Client(daemon.socket) as client:
        client.sync_now()
        found = words_of(client)
        assert kept.keys() <= found.keys() <= kept.keys() | ledger.there.keys() | ledger.maybe
        ledger.gone = (ledger.gone | ledger.maybe | ledger.there.keys()) - found.keys()
        ledger.there, ledger.maybe = found, set()


@pytest.mark.timeout(count(600, 14_400))
def test_nothing_acknowledged_is_lost_in_mixed_use() -> None:
    """After each kill what was acknowledged is there, what was forgotten, undone or purged is not; imports resume."""
    pick, ledger, tally = random.Random(11), Ledger(), dict[str, int]()
    with scratch_home() as home:
        daemon = Daemon(home, environment(home)).start()

        def killed(number: int) -> Path:
            use, path = Use(daemon, ledger, number), session_file(home, number, 6, 100)
            threads = [threading.Thread(target=use.memories), threading.Thread(target=use.others, args=(path,))]
            for thread in threads:
                thread.start()
            time.sleep(0.1 + pick.random())
            daemon.kill()
            for thread in threads:
                thread.join(JOIN_S)
            assert not any(thread.is_alive() for thread in threads)
            for name, times in use.tally.items():
                tally[name] = tally.get(name, 0) + times
            return path

        try:
            for number in range(KILLS):
                path = killed(number)
                daemon.start()
                with Client(daemon.socket) as client:
                    check(client, ledger)
                    finished = import_file(client, path)
                    assert stored_messages(client, str(finished.thread)) == main_line_messages(path.read_bytes())
                if number % RESTORE_EVERY == RESTORE_EVERY - 1:
                    restored(daemon, ledger, pick, partial(killed, KILLS + number))
            assert daemon.stop() == 0
            report = run_check(home / "data" / "store")
            assert report.ok, report.problems
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()
    print(f"{KILLS} kills: {tally}, {len(ledger.there)} memories at the end, {len(ledger.purged)} purged")
