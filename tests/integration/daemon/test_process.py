"""The daemon as a process: start, answers, shutdown, single instance, memory and idle cost."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from reverie.client import Client
from reveried.app import EXIT_CONFIG
from support.cli import reverie
from support.daemon import Daemon, environment, request, running_daemon, scratch_home
from support.fake_daemon import HEALTH, Answer, always, envelope, fake_daemon
from support.waiting import wait_until


def times_run(pid: int) -> int:
    """Return the number of context switches of all threads of a process, which does not depend on load."""
    waits = re.compile(r"^voluntary_ctxt_switches:\t(\d+)", re.MULTILINE)
    found = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):  # the thread has ended meanwhile
            found += sum(map(int, waits.findall((task / "status").read_text("ascii"))))
    return found


LAZY = (
    *("apscheduler", "watchdog", "anthropic", "tiktoken", "rich", "mcp", "pydantic", "click", "reveried.cli"),
    *(f"reverie.distill.{name}" for name in ("distiller", "brief", "facts")),
    # What is imported once health is answered, or by the first request that needs it.
    *(
        f"reveried.{name}"
        for name in ("background", "follower", "sync.loop", "session_texts", "mcp", "routes.sessions")
    ),
    *(f"reverie.usecases.{name}" for name in ("consolidation", "documents", "memories", "sync", "threads")),
)


def test_starts_answers_and_stops() -> None:
    """Health has version and protocol, and nothing about the machine; SIGTERM ends with 0 and removes the socket."""
    with running_daemon() as daemon:
        answer = daemon.ask("GET", "/v1/health")
        body = answer.json()

        assert answer.status == 200
        assert answer.headers["reverie-protocol"] == "1"
        assert set(body) == {"status", "version", "protocol", "pid", "uptimeSeconds"}
        assert (body["status"], body["protocol"], body["pid"]) == ("ok", 1, daemon.pid)

        socket_path = daemon.socket
        assert stat.S_IMODE(socket_path.stat().st_mode) == 0o600
        assert stat.S_IMODE(socket_path.parent.stat().st_mode) == 0o700
        assert daemon.stop() == 0
        assert not socket_path.exists()


def test_interrupt_ends_with_zero() -> None:
    """SIGINT is an orderly shutdown too."""
    with running_daemon() as daemon:
        os.kill(daemon.pid, signal.SIGINT)
        assert daemon.process is not None
        assert daemon.process.wait(60) == 0


def test_hangup_does_not_end_it() -> None:
    """SIGHUP, which a closing terminal sends, leaves the daemon running."""
    with running_daemon() as daemon:
        os.kill(daemon.pid, signal.SIGHUP)
        time.sleep(0.1)
        assert daemon.ask("GET", "/v1/health").status == 200


def test_second_daemon_is_refused() -> None:
    """A second daemon ends with exit code 4 and names the first one's process, which keeps running."""
    with running_daemon() as daemon:
        second = subprocess.run(
            [sys.executable, "-m", "reveried"], env=daemon.env, capture_output=True, timeout=60, check=False
        )
        assert second.returncode == 4
        assert str(daemon.pid) in second.stderr.decode()
        assert "reverie down" in second.stderr.decode()
        assert daemon.ask("GET", "/v1/health").status == 200


def test_one_socket_for_two_stores_is_refused() -> None:
    """A daemon of another store does not replace a socket in use."""
    with running_daemon() as daemon, scratch_home() as other:
        env = environment(other, REVERIE_SOCKET=str(daemon.socket))
        second = subprocess.run(
            [sys.executable, "-m", "reveried"], env=env, capture_output=True, timeout=60, check=False
        )
        assert second.returncode == 4
        assert daemon.ask("GET", "/v1/health").json()["pid"] == daemon.pid


def test_stale_socket_is_replaced() -> None:
    """After SIGKILL the next daemon checks the store and replaces the socket that was left."""
    with scratch_home() as home:
        with running_daemon(home) as daemon:
            daemon.kill()
            assert daemon.socket.exists()
        with running_daemon(home) as daemon:
            assert daemon.ask("GET", "/v1/health").status == 200
            assert "sound after an unclean stop" in daemon.log_text()


@pytest.mark.parametrize("removed", ["file", "folder"])
def test_a_removed_socket_is_made_again(removed: str) -> None:
    """A runtime directory goes with its login session: open connections stay, and others are soon accepted again."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        client.health()
        if removed == "file":
            daemon.socket.unlink()
        else:
            shutil.rmtree(daemon.socket.parent)
        assert client.health().pid == daemon.pid
        wait_until(daemon.socket.exists, "the socket")
        assert daemon.ask("GET", "/v1/health").json()["pid"] == daemon.pid
        assert stat.S_IMODE(daemon.socket.stat().st_mode) == 0o600
        second = Daemon(daemon.home, {**daemon.env, "REVERIE_MEMORY_DATA_DIR": str(daemon.home / "other")})
        second.launch()
        assert second.process is not None
        assert second.process.wait(60) == 4, "the new socket is locked too"
        assert daemon.stop() == 0
        assert not daemon.socket.exists()


def test_down_without_a_socket_ends_the_process() -> None:
    """Who removed the socket and types `down` at once has ended the daemon, and not been told that there is none."""
    with running_daemon() as daemon:
        daemon.socket.unlink()
        done = reverie(daemon.env, "down", "--json")
        assert done.json == {"stopped": True, "pid": daemon.pid}
        assert reverie(daemon.env, "down", "--json").json == {"stopped": False}


OTHER_VERSIONS: dict[str, Answer] = {
    "protocol": Answer(HEALTH, protocol="2"),
    "fields": Answer({"state": "ok"}),
    "start": envelope("starting", status=503),
}
HOLDS = """
import signal, sys, pathlib
from reveried.process_lock import DAEMON_LOCK, ProcessLock
lock = ProcessLock(pathlib.Path(sys.argv[1]) / DAEMON_LOCK)
print("held", flush=True)
signal.pause()
"""


@pytest.mark.parametrize("name", OTHER_VERSIONS)
def test_down_ends_a_daemon_whose_answer_it_cannot_use(name: str) -> None:
    """The daemon is of another version, or opens its store: every hint says `down`, which takes its lock's process."""
    with scratch_home() as home:
        socket = home / "run" / "reverie.sock"
        socket.parent.mkdir()
        words = [sys.executable, "-c", HOLDS, str(home / "data")]
        with (
            fake_daemon(socket, always(OTHER_VERSIONS[name])),
            subprocess.Popen(words, stdout=subprocess.PIPE) as other,
        ):
            assert other.stdout is not None
            try:
                assert other.stdout.readline() == b"held\n"
                done = reverie(environment(home), "down", "--json")
                assert done.json == {"stopped": True, "pid": other.pid}
            finally:
                other.kill()


CHECKS_LONG = """
import asyncio, os, sys
import reveried.app as app
async def check(store_dir):
    await asyncio.to_thread((store_dir.parent.parent / "checked").read_text)
app._check_store, app.needs_check = check, lambda store_dir: True
sys.exit(app.run(os.environ))
"""


def test_down_waits_for_the_check_of_the_store() -> None:
    """A daemon that checks its store, which may take minutes, is waited for and does not count as one that hangs."""
    with scratch_home() as home:
        os.mkfifo(home / "checked")
        daemon = Daemon(home, environment(home), arguments=("-c", CHECKS_LONG))
        daemon.launch()
        assert daemon.process is not None
        try:
            wait_until(daemon.socket.exists, "the socket")
            words = [sys.executable, "-m", "reveried.cli", "down"]
            with subprocess.Popen(words, env=daemon.env, stderr=subprocess.PIPE, text=True) as down:
                assert down.stderr is not None
                assert down.stderr.readline().startswith("Waiting for the check of the store;")
                (home / "checked").write_text("")
                assert daemon.process.wait(60) == 0
            assert down.returncode == 0
        finally:
            daemon.kill()


def test_a_file_in_the_sockets_place_is_kept() -> None:
    """A file that is no socket is not removed."""
    with scratch_home() as home:
        file = home / "run" / "reverie.sock"
        file.parent.mkdir()
        file.write_text("mine")
        daemon = Daemon(home, environment(home))
        daemon.launch()
        assert daemon.process is not None
        assert daemon.process.wait(60) == 4
        assert file.read_text() == "mine"
        assert "not a socket" in daemon.log_text()


def test_a_wrong_setting_ends_with_a_hint_and_an_unknown_one_is_logged() -> None:
    """A wrong value ends the start with status 78; a misspelt key does not, and the log names the nearest."""
    with scratch_home() as home:
        (home / "config.toml").write_text('[log]\nlevel = "loud"\n')
        daemon = Daemon(home, environment(home))
        daemon.launch()
        assert daemon.process is not None
        assert daemon.process.wait(60) == EXIT_CONFIG == 78
        assert "log.level" in daemon.log_text()
        assert "Traceback" not in daemon.log_text()
        (home / "config.toml").write_text('[log]\nlevle = "debug"\n')
        daemon.start()
        assert "Did you mean 'log.level'?" in daemon.log_text()
        assert daemon.stop() == 0


def test_running_requests_are_answered_before_the_end() -> None:
    """A request in transfer at SIGTERM has a short grace period and is answered."""
    with running_daemon(REVERIE_DAEMON_DRAIN_SECONDS="30") as daemon, daemon.wire() as wire:
        wire.send(request("GET", "/v1/health") * 3)
        assert daemon.stop() == 0
        answers = [wire.answer() for _ in range(3)]
        assert [answer.status for answer in answers if answer is not None] == [200, 200, 200]


def test_idle_daemon_is_small_and_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon at rest has less than 60 MB of anonymous memory and wakes up a few times a second at most."""
    monkeypatch.setattr(Daemon, "forks", False)  # a forked one has the memory of the process that forks
    with running_daemon() as daemon:
        # A state, since the work of the start comes first: three seconds in a row with fewer wakes than a single timer
        # of ten times a second has. The folder that nobody has made yet is looked for every two seconds: 6 to 17 wakes.
        wait_until(lambda: wakes_in(3.0, daemon.pid) < 25, "three quiet seconds")
        assert daemon.anonymous_rss() < 60_000_000


def wakes_in(seconds: float, pid: int) -> int:
    """Return how often a process wakes up within the next seconds."""
    before = times_run(pid)
    time.sleep(seconds)
    return times_run(pid) - before


def test_heavy_modules_are_not_on_the_start_path() -> None:
    """Rarely used modules are imported at their first use."""
    code = f"import sys, reveried.app; print([name for name in {LAZY!r} if name in sys.modules])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)

    assert process.stdout.strip() == "[]"


def test_damaged_store_ends_with_its_own_status() -> None:
    """An unreadable store ends the start with 78, on which the service manager does not restart it."""
    with scratch_home() as home:
        with running_daemon(home) as daemon:
            daemon.kill()
        data = home / "data" / "store" / "data.mdb"
        data.write_bytes(b"\xff" * data.stat().st_size)
        daemon = Daemon(home, environment(home))
        daemon.launch()
        assert daemon.process is not None
        assert daemon.process.wait(60) == 78
        assert "reverie restore" in daemon.log_text() or "reverie check" in daemon.log_text()


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_socket_folder_is_closed_to_others(mode: int) -> None:
    """A socket folder that others can enter has mode 0700 once the daemon runs."""
    with scratch_home() as home:
        (home / "run").mkdir(mode=mode)
        with running_daemon(home) as daemon:
            assert stat.S_IMODE(daemon.socket.parent.stat().st_mode) == 0o700
