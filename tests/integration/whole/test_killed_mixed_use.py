"""SIGKILL at random moments of mixed use: memories, undo, purge, imports, dreams, syncs, backups and restores: 0 lost.

`make soak ARGS=tests/integration/whole/test_killed_mixed_use.py` runs 300 kills, and prints how often each act was
acknowledged and how often a kill came first.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count as numbers
from pathlib import Path

import pytest

from reverie import wire
from reverie.client import Client
from reverie.errors import DaemonNotRunning, NotFound, ReverieError
from reverie.store.check import run_check
from reveried.cli.send_sessions import import_file
from reveried.sync.loop import RECORD_S
from support.daemon import Daemon, running_daemon
from support.daemon_folder import bytes_below
from support.pages import stored_messages
from support.soak import count
from support.stores import texts_below
from support.story import session_file
from support.talk import main_line_messages
from support.waiting import wait_until

SEEDS = count(1, 5)  # each a home of its own
KILLS = count(3, 60)
PURGE_EVERY = count(3, 5)  # kills; that one waits for an acknowledged purge, however busy the machine is
RESTORE_EVERY = count(3, 15)  # kills; then a backup is restored, and that is killed too
AGENTS = 2
GRACE_S = "0.3"  # of a purge: so short that many are acknowledged before the kill
JOIN_S = 60
WORD = re.compile(rb"w\d{6}x")
BULLET = re.compile(rb"^- (w\d{6}x)", re.MULTILINE)  # the summary of a file has a word too
COPIES = ("data/backups/", "data/store-before-")  # have what is purged later


@dataclass
class Ledger:
    """The words of memories: those that are `there` for certain, those `gone`, and those `maybe` of either."""

    there: dict[str, str] = field(default_factory=dict)  # word to id of the memory
    gone: set[str] = field(default_factory=set)
    maybe: set[str] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)
    acts: list[str] = field(default_factory=list)  # each with its outcome
    numbers: Iterator[int] = field(default_factory=lambda: numbers(1))

    def line(self) -> tuple[int, str, str]:
        """Return a number, its word, and a line with it that is near to no other one: such a line is held back."""
        number = next(self.numbers)
        pick, word = random.Random(number), f"w{number:06}x"
        self.maybe.add(word)
        return number, word, " ".join([word, *("".join(pick.choices("bcdfgklmnprst", k=7)) for _ in range(5))])

    def settle(self, found: dict[str, str]) -> None:
        """Note what there is: all else that was ever tried is gone."""
        self.gone = (self.gone | self.maybe | self.there.keys()) - found.keys()
        self.there, self.maybe = found, set()


class Use:
    """Random acts of one client each, until the daemon is gone."""

    def __init__(self, daemon: Daemon, ledger: Ledger, seed: str) -> None:
        self.daemon, self.ledger = daemon, ledger
        self.pick = random.Random(seed)
        self.sessions: list[Path] = []

    def memories(self) -> None:
        """Remember, forget, purge and undo, one after another."""
        self._until_gone([*[self._remember] * 6, *[self._forget, self._undo] * 2, self._purge])

    def others(self) -> None:
        """Import, dream, sync and back up, one after another."""
        self._until_gone([self._import, self._dream, self._sync, self._backup])

    def _until_gone(self, acts: list[Callable[[Client], object]]) -> None:
        with suppress(DaemonNotRunning), Client(self.daemon.socket) as client:
            while True:
                act = self.pick.choice(acts)
                outcome = "acknowledged"
                try:
                    act(client)
                except DaemonNotRunning:
                    outcome = "killed"
                    raise
                except ReverieError as error:
                    outcome = error.code
                finally:
                    self.ledger.acts.append(f"{act.__name__.strip('_')} {outcome}")

    def _remember(self, client: Client) -> None:
        number, word, content = self.ledger.line()
        made = client.remember(wire.CreateMemory(content=content, document=f"facts/k{number % 7}.md"))
        self.ledger.maybe.discard(word)
        self.ledger.there[word] = made.id

    def _forget(self, client: Client) -> None:
        self._remove(client.forget)

    def _purge(self, client: Client) -> None:
        self.ledger.purged |= self._remove(lambda memory: client.forget(memory, purge=True))

    def _remove(self, call: Callable[[str], object]) -> set[str]:
        word = self.pick.choice(sorted(self.ledger.there) or [""])
        memory = self.ledger.there.pop(word, None)
        if memory is None:
            raise NotFound("there is none, or another agent removes it")
        self.ledger.maybe.add(word)
        call(memory)
        self.ledger.maybe.discard(word)
        self.ledger.gone.add(word)
        return {word}

    def _undo(self, client: Client) -> None:
        """Remember a line in a file of its own and undo that."""
        number, word, content = self.ledger.line()
        client.append_entry(f"facts/u{number}.md", f"- {content}")
        client.undo(client.document_history(f"facts/u{number}.md").items[0].operation)
        self.ledger.maybe.discard(word)
        self.ledger.gone.add(word)

    def _import(self, client: Client) -> None:
        self.sessions.append(session_file(self.daemon.home, next(self.ledger.numbers), 6, 100))
        import_file(client, self.sessions[-1], program="claude-code")

    def _dream(self, client: Client) -> None:
        client.dream()

    def _sync(self, client: Client) -> None:
        client.sync_now()

    def _backup(self, client: Client) -> None:
        client.backup(str(self.daemon.home / "data/backups" / f"copy-{self.pick.random()}"))


def words_of(client: Client) -> dict[str, str]:
    """Return each word of the memories with the id of its memory."""
    found: dict[str, str] = {}
    after = None
    while True:
        page = client.memories(limit=1000, after=after)
        for memory in page.items:
            for word in WORD.findall(memory.content.encode()):
                assert word.decode() not in found, f"{word} is there twice"
                found[word.decode()] = memory.id
        after = page.next
        if after is None:
            return found


def check(daemon: Daemon, ledger: Ledger, wanted: set[str], possible: set[str]) -> None:
    """Assert that the store has all `wanted` words and only `possible` ones, and the folder the same, each once.

    No byte of what was purged is anywhere. What was not acknowledged is settled.
    """
    with Client(daemon.socket) as client:
        wait_until(lambda: client.sync_now().status.pending == 0, "files that may be a tool's work")
        found = words_of(client)
    assert wanted <= found.keys(), f"lost: {sorted(wanted - found.keys())}"
    assert found.keys() <= possible, f"back: {sorted(found.keys() - possible)}"
    files = bytes_below(daemon.home / "root/default/facts", ".md")
    written = Counter(word.decode() for text in files.values() for word in BULLET.findall(text))
    assert written == Counter(found.keys())
    texts = texts_below(daemon.home)
    left = {name: ledger.purged & {word.decode() for word in WORD.findall(text)} for name, text in texts}
    assert not {name: words for name, words in left.items() if words and not name.startswith(COPIES)}
    ledger.settle(found)


class Campaign:
    """One home under one seed."""

    def __init__(self, daemon: Daemon, seed: int) -> None:
        self.daemon, self.pick, self.ledger = daemon, random.Random(seed), Ledger()

    def killed(self, *, after_purge: bool = False) -> list[Path]:
        """Use the daemon until it is killed; return the session files of which an import was begun."""
        purged = len(self.ledger.purged)
        use = Use(self.daemon, self.ledger, str(self.pick.random()))
        threads = [threading.Thread(target=work) for work in (*[use.memories] * AGENTS, use.others)]
        for thread in threads:
            thread.start()
        if after_purge:
            wait_until(lambda: len(self.ledger.purged) > purged, "the purge")
        time.sleep(0.1 + 1.5 * self.pick.random())
        self.daemon.kill()
        for thread in threads:
            thread.join(JOIN_S)
        assert not any(thread.is_alive() for thread in threads)
        self.ledger.acts.append("kill of the daemon")
        return use.sessions

    def started(self, sessions: list[Path]) -> None:
        """Start again, check that nothing is lost or back, and finish the imports."""
        self.daemon.start()
        check(self.daemon, self.ledger, {*self.ledger.there}, self.ledger.there.keys() | self.ledger.maybe)
        with Client(self.daemon.socket) as client:
            for path in sessions:
                thread = str(import_file(client, path, program="claude-code").thread)
                assert stored_messages(client, thread) == main_line_messages(path.read_bytes())

    def restored(self) -> None:
        """Back up, go on, kill the daemon and the first restore, restore, and check that all of the backup is there.

        A file of which the killed daemon had not recorded its own write counts as a person's, so newer lines may be
        there: those that were there at the end, not those that were gone.
        """
        copy = self.daemon.home / "data/backups" / f"kept-{self.pick.random()}"
        with Client(self.daemon.socket) as client:
            client.backup(str(copy))
        kept, purged = {*self.ledger.there}, {*self.ledger.purged}
        self.killed()
        command = [sys.executable, "-m", "reveried.cli", "restore", str(copy)]
        with subprocess.Popen(command, env=self.daemon.env, stdout=subprocess.DEVNULL) as first:
            time.sleep(1.5 * self.pick.random())
            self.ledger.acts.append(f"restore {'killed' if first.poll() is None else 'acknowledged'}")
            first.kill()
        done = subprocess.run(command, env=self.daemon.env, check=False, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        self.ledger.acts.append("restore acknowledged")
        self.ledger.purged = purged  # the backup has what was purged after it
        self.daemon.start()
        check(self.daemon, self.ledger, kept, kept | self.ledger.there.keys() | self.ledger.maybe)


def test_a_cut_off_write_over_a_text_that_the_file_had_before_waits_and_is_made() -> None:
    """After a kill the file may be a tool's that put the older text back, so sync looks again after two seconds."""
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS=GRACE_S) as daemon:
        ledger = Ledger()
        path, lines = daemon.home / "root/default/facts/k.md", [ledger.line()[2] for _ in range(3)]
        with Client(daemon.socket) as client:
            client.remember(wire.CreateMemory(content=lines[0], document="facts/k.md"))
            before = path.read_bytes()
            removed = client.remember(wire.CreateMemory(content=lines[1], document="facts/k.md")).id
            time.sleep(RECORD_S + 1)  # the baseline of this text is saved
            client.forget(removed)
            client.remember(wire.CreateMemory(content=lines[2], document="facts/k.md"))
        daemon.kill()
        path.write_bytes(before)  # as if the kill had been before the last write
        daemon.start()
        with Client(daemon.socket) as client:
            wait_until(lambda: client.sync_now().status.pending == 0, "the write")
            assert [memory.content for memory in client.memories().items] == [lines[0], lines[2]]
        assert BULLET.findall(path.read_bytes()) == [line[:8].encode() for line in (lines[0], lines[2])]


@pytest.mark.timeout(count(600, 7_200))
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_acknowledged_is_lost_in_mixed_use(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    """After each kill what was acknowledged is there once, what was forgotten, undone or purged is not; imports end."""
    with running_daemon(REVERIE_SYNC_GRACE_SECONDS=GRACE_S) as daemon:
        campaign = Campaign(daemon, seed)
        for number in range(1, KILLS + 1):
            campaign.started(campaign.killed(after_purge=number % PURGE_EVERY == 0))
            if number % RESTORE_EVERY == 0:
                campaign.restored()
        assert daemon.stop() == 0
        report = run_check(daemon.store)
        assert report.ok, report.problems
    acts = sorted(Counter(campaign.ledger.acts).items())
    with capsys.disabled():
        print(f"\nseed {seed}: {', '.join(f'{times} {act}' for act, times in acts)}; 0 lost or back")
