"""SIGKILL at random moments of an import beside eight clients: every acknowledged message is stored once, in order."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reverie.client import Client
from reverie.errors import ReverieError
from reverie.store.check import run_check
from reveried.cli import send_sessions
from support.daemon import Daemon, running_daemon
from support.pages import stored_messages
from support.soak import count
from support.story import generated_session, session_file
from support.talk import main_line_messages

KILLS = count(4, 200)
CLIENTS = 8
MESSAGES_MAX = 60  # of a client: on a busy machine the import, which a kill is to interrupt, takes its time beside them
HOMES_AFTER = count(4, 10)  # kills of one store; then another begins, so that its size stays that of a young one
PIECE_BYTES = 32 * 1024  # an import of many commits
TURNS, NOISE = count(16, 24), 300
JOIN_S = 30
SOUND = "the store is sound after an unclean stop"


@dataclass(slots=True)
class Agent:
    """A client that appends to its own thread while the daemon runs, and records acknowledged messages."""

    thread: str
    acknowledged: list[str] = field(default_factory=list)
    last: str = ""  # sent; perhaps acknowledged, perhaps not

    def work(self, socket: Path) -> None:
        try:
            with Client(socket) as client:
                client.create_thread(id=self.thread)
                while len(self.acknowledged) < MESSAGES_MAX:
                    self.last = f"{self.thread} {len(self.acknowledged)}"
                    client.append(self.thread, [{"role": "user", "content": self.last}])
                    self.acknowledged.append(self.last)
        except (ReverieError, OSError):
            return

    def check(self, client: Client) -> None:
        """Assert that every acknowledged message is stored once and in order, and at most one unacknowledged one."""
        if self.last == "":  # killed before its thread was acknowledged
            return
        stored = [content for _, content in stored_messages(client, self.thread)]
        assert stored in (self.acknowledged, [*self.acknowledged, self.last]), self.thread


@dataclass(slots=True)
class Campaign:
    """One home, the kills and their figures."""

    daemon: Daemon
    agents: list[Agent] = field(default_factory=list)
    restarts_s: list[float] = field(default_factory=list)

    def one(self, number: int, delay_s: float) -> None:
        """Work, kill after `delay_s`, restart; assert that the store is sound and complete."""
        path = session_file(self.daemon.home, number, TURNS, NOISE)
        new = [Agent(f"t{number}-{index}") for index in range(CLIENTS)]
        with working(self.daemon, new, path):
            time.sleep(delay_s)
            self.daemon.kill()
        began = time.monotonic()
        self.daemon.start()
        self.restarts_s.append(time.monotonic() - began)
        assert self.daemon.log_text().count(SOUND) == len(self.restarts_s) + 1
        with Client(self.daemon.socket) as client:
            for agent in new:
                agent.check(client)
            finished = send_sessions.import_file(client, path, program="claude-code")
            assert finished.error is None
            assert stored_messages(client, str(finished.thread)) == main_line_messages(path.read_bytes())
        self.agents += new

    def end(self) -> int:
        """Check everything at the end; return the number of acknowledged messages."""
        with Client(self.daemon.socket) as client:
            for agent in self.agents:
                agent.check(client)
        assert self.daemon.stop() == 0
        report = run_check(self.daemon.store)
        assert report.ok, report.problems
        return sum(len(agent.acknowledged) for agent in self.agents)


def imported(daemon: Daemon, path: Path) -> None:
    """Run one import, which may fail with its daemon."""
    try:
        with Client(daemon.socket) as client:
            send_sessions.import_file(client, path, program="claude-code")
    except (ReverieError, OSError):
        return


@contextmanager
def working(daemon: Daemon, agents: list[Agent], path: Path | None) -> Iterator[None]:
    """Run the agents and an import of `path` concurrently until the daemon is gone."""
    threads = [threading.Thread(target=agent.work, args=(daemon.socket,)) for agent in agents]
    if path is not None:
        threads.append(threading.Thread(target=imported, args=(daemon, path)))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join(JOIN_S)
    assert not any(thread.is_alive() for thread in threads), "a client hangs after its daemon was killed"


@contextmanager
def campaign() -> Iterator[Campaign]:
    """A new store under a daemon whose compute process has started."""
    with running_daemon() as daemon:
        home = daemon.home
        try:
            with Client(daemon.socket) as client:
                send_sessions.import_file(client, session_file(home, 0, 1), program="claude-code")
            yield Campaign(daemon)
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()


def usual_s(daemon: Daemon) -> float:
    """Return the duration of the import beside the agents without a kill."""
    agents = [Agent(f"usual-{index}") for index in range(CLIENTS)]
    path = session_file(daemon.home, 1_000_000, TURNS, NOISE)
    with working(daemon, agents, None):
        began = time.monotonic()
        imported(daemon, path)
        taken_s = time.monotonic() - began
        daemon.kill()
    daemon.start()
    return taken_s


@pytest.mark.timeout(3600)
def test_nothing_acknowledged_is_lost(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """After each of many kills all messages are stored in order, once; the import completes; check finds nothing."""
    monkeypatch.setattr(send_sessions, "_PIECE_BYTES", PIECE_BYTES)
    assert len(generated_session(0, TURNS, NOISE)) > 5 * PIECE_BYTES
    chance = random.Random(20261121)
    kills = acknowledged = 0
    restarts_s: list[float] = []
    while kills < KILLS:
        with campaign() as home:
            whole_s = usual_s(home.daemon)
            for number in range(kills + 1, min(KILLS, kills + HOMES_AFTER) + 1):
                home.one(number, chance.uniform(0.0, 1.1 * whole_s))
                kills = number
            acknowledged += home.end()
            restarts_s += home.restarts_s
    with capsys.disabled():
        print(
            f"\n{kills} kills, {acknowledged} messages acknowledged, 0 lost; restart median "
            f"{statistics.median(restarts_s):.2f} s, worst {max(restarts_s):.2f} s"
        )
