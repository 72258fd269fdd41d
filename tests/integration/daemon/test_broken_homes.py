"""Tests of homes that cannot be used, as with a truncated store or a read-only folder: errors are one sentence."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.client import Client
from reverie.errors import StorageFailed
from reverie.store import needs_check, truncated_at
from reverie.wire import CreateMemory
from support.daemon import Daemon, environment, running_daemon, scratch_home
from support.spaces import run_or_skip
from support.waiting import wait_until

MEMORIES = 40  # enough for a store of several pages
COMMANDS = ("up", "serve", "status", "doctor", "check")


def reverie(home: Path, *words: str, prefix: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a `reverie` command with this home, and assert that it printed no traceback."""
    command = [*prefix, sys.executable, "-m", "reveried.cli", *words]
    done = subprocess.run(command, env=environment(home), capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stdout + done.stderr, done
    return done


def without_root_rights() -> tuple[str, ...]:
    """Return the command prefix that makes file permissions apply to root too; empty for other users."""
    return () if os.getuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """Yield a home whose daemon has stored memories and has stopped."""
    with scratch_home() as made:
        with running_daemon(made) as daemon, Client(daemon.socket) as client:
            for number in range(MEMORIES):
                client.remember(CreateMemory(f"fact {number} of the harbour", document="facts/user.md"))
        yield made


@pytest.fixture
def home(stopped: Path) -> Iterator[Path]:
    """Yield a copy of that home."""
    with scratch_home() as made:
        shutil.copytree(stopped, made, dirs_exist_ok=True)
        yield made


def halve(home: Path) -> Path:
    """Truncate the store's file to half of its size; return it."""
    data = home / "data" / "store" / "data.mdb"
    os.truncate(data, data.stat().st_size // 2)
    return data


@pytest.mark.parametrize("command", COMMANDS)
def test_a_half_truncated_store_is_named(home: Path, command: str) -> None:
    """Every command prints how much of a half truncated store file is left, and the next command, without a crash."""
    data = halve(home)

    done = reverie(home, command)

    assert done.returncode not in {0, -signal.SIGBUS}
    printed = done.stdout + done.stderr
    assert f"it has {data.stat().st_size:,} of " in printed
    assert "reverie check" in printed or "reverie restore" in printed


def test_up_beside_a_truncated_store_is_one_sentence(home: Path) -> None:
    """For a truncated store `up` and `status` print one sentence and the next command, each with its exit status."""
    halve(home)

    for command, exit_status in (("up", 1), ("status", 3)):
        done = reverie(home, command)
        assert done.returncode == exit_status
        assert len(done.stderr.strip().splitlines()) == 2
        assert done.stderr.splitlines()[1].startswith("next: ")
    assert reverie(home, "serve").returncode == 78


@pytest.mark.parametrize("number", [signal.SIGBUS, signal.SIGABRT, signal.SIGSEGV])
def test_up_names_a_crash_of_the_daemon(home: Path, number: signal.Signals) -> None:
    """If a signal such as SIGBUS ends the daemon at its start, `up` names probable damage and the next commands."""
    (home / "state").mkdir(mode=0o700, exist_ok=True)
    (home / "state" / "daemon.log").write_text("reveried: an old line\n")

    done = crash_at_start(home, number)

    assert done.returncode == 1
    assert number.name in done.stderr
    assert "damaged" in done.stderr
    assert "`reverie check`" in done.stderr
    assert "`reverie restore FILE`" in done.stderr
    assert "an old line" not in done.stderr


def test_up_names_another_signal(home: Path) -> None:
    """If SIGKILL ends the daemon at its start, `up` names the signal and does not call the store damaged."""
    done = crash_at_start(home, signal.SIGKILL)

    assert done.returncode == 1
    assert "SIGKILL" in done.stderr
    assert "damaged" not in done.stderr


def crash_at_start(home: Path, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Run `reverie up` with a daemon that a given signal ends while it opens its store; return the command's result."""
    startup = home / "startup"
    startup.mkdir()
    (startup / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if sys.orig_argv[-1] == 'serve':\n"
        "    import lmdb\n"
        f"    lmdb.open = lambda *_, **__: os.kill(os.getpid(), {int(number)})\n"
    )
    return subprocess.run(
        [sys.executable, "-m", "reveried.cli", "up"],
        env={**environment(home), "PYTHONPATH": str(startup)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_store_that_crashed_the_daemon_is_checked_at_the_next_start(home: Path) -> None:
    """A crash while the store is opened marks it to be checked at the next start; an orderly stop removes the mark."""
    store = home / "data" / "store"
    assert not needs_check(store)

    crash_at_start(home, signal.SIGABRT)

    assert needs_check(store)
    assert "it ended without closing its store" in reverie(home, "status").stderr
    assert reverie(home, "up").returncode == 0
    assert reverie(home, "down").returncode == 0
    assert not needs_check(store)


def test_a_sound_store_is_not_truncated(home: Path) -> None:
    """A store file shorter than its meta page says is reported as truncated; a whole file, or no LMDB file, is not."""
    data = home / "data" / "store" / "data.mdb"
    size = data.stat().st_size
    assert truncated_at(data) is None

    os.truncate(data, size - 1)
    assert truncated_at(data) == (size - 1, size)
    assert needs_check(data.parent)

    for content in (b"", b"\xff" * size, bytes(size)):
        data.write_bytes(content)
        assert truncated_at(data) is None


def test_doctor_in_a_read_only_home(home: Path) -> None:
    """In a read-only home `doctor` names the folder, and still checks the store, which can be read."""
    for folder in (home / "data", home / "data" / "store", home / "state", home):
        folder.mkdir(exist_ok=True)
        folder.chmod(0o500)
    (home / "data" / "store" / "store.lock").chmod(0o400)
    try:
        findings = json.loads(reverie(home, "doctor", "--json", prefix=without_root_rights()).stdout)
        up = reverie(home, "up", prefix=without_root_rights())
    finally:
        for folder in (home, home / "data", home / "data" / "store", home / "state"):
            folder.chmod(0o700)

    by_name = {finding["check"]: finding for finding in findings}
    assert by_name["folders"]["verdict"] == "bad"
    assert "is not writable" in by_name["folders"]["says"]
    assert by_name["store"]["verdict"] == "good"
    assert up.returncode == 1
    assert str(home) in up.stderr
    assert "reverie doctor" in up.stderr
    assert len(up.stderr.strip().splitlines()) == 2


def test_up_with_a_read_only_data_folder(home: Path) -> None:
    """If the daemon can write its log but not its data folder, the last line of `up` names the folder."""
    lock = home / "data" / "daemon.lock"
    lock.chmod(0o400)

    up = reverie(home, "up", prefix=without_root_rights())

    assert up.returncode == 1
    assert f"{lock} cannot be used: Permission denied" in up.stderr
    assert len(up.stderr.strip().splitlines()) == 2


def test_down_ends_a_daemon_whose_writes_fail() -> None:
    """The hint of a failed write begins with `down`: it ends the process, and what was acknowledged is there."""
    with running_daemon() as daemon, Client(daemon.socket) as client:
        client.remember(CreateMemory("The pier is long"))
        data = daemon.store / "data.mdb"
        run_or_skip("chattr", "+i", data)
        try:
            with pytest.raises(StorageFailed):
                client.remember(CreateMemory("The pier is short"))
        finally:
            run_or_skip("chattr", "-i", data)
        assert "stopped" in reverie(daemon.home, "down").stdout
        daemon.start()
        assert [memory.content for memory in client.memories().items] == ["The pier is long"]


def test_up_with_invalid_settings_names_the_check_of_settings() -> None:
    """Settings that the daemon refuses are no damaged store, though the exit status is the same."""
    with scratch_home() as home:
        (home / "config.toml").write_text("[log]\nlevel = 1\n")
        up = reverie(home, "up")
        assert up.returncode == 1
        assert "log.level" in up.stderr
        assert "next: reverie config validate" in up.stderr
        assert "damaged" not in up.stderr


WITHOUT_WATCHES = """
import ctypes, errno, os
from watchdog.observers import inotify_c

def fail(*_):
    ctypes.set_errno(errno.ENOSPC)
    return -1

inotify_c.inotify_add_watch = fail
from reveried.app import run
raise SystemExit(run(os.environ))
"""


def test_exhausted_inotify_is_told() -> None:
    """If inotify has no watch left, files are synced by scans, and the status says how to raise the limit."""
    with scratch_home() as home:
        daemon = Daemon(home, environment(home), arguments=("-c", WITHOUT_WATCHES)).start()
        try:
            path = home / "root" / "default" / "facts" / "user.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("- a line of mine\n")
            wait_until(lambda: b"a line of mine" in daemon.ask("GET", "/v1/memories").body, "the scan")

            wait_until(lambda: daemon.ask("GET", "/v1/sync").json()["watchingHint"], "the try to watch")
            sync = daemon.ask("GET", "/v1/sync").json()
            assert (sync["state"], sync["watching"]) == ("ok", "scans")
            assert "sudo sysctl fs.inotify.max_user_watches=" in sync["watchingHint"]
            shown = daemon.ask("GET", "/v1/status").json()["sync"]
            assert {**shown, "lastScanAt": None} == {**sync, "lastScanAt": None}  # scans go on
            for words in (("status",), ("sync", "status")):
                assert f"periodic scans: {sync['watchingHint']}" in reverie(home, *words).stdout
        finally:
            daemon.kill()


def test_a_watched_folder_is_told() -> None:
    """In an ordinary home changes come from events, and no limit is named."""
    with running_daemon() as daemon:
        daemon.ask("PUT", "/v1/documents/facts/user.md", {"content": "- a line of mine\n"})
        wait_until(lambda: daemon.ask("GET", "/v1/sync").json()["watching"] == "events", "the first scan")
        assert daemon.ask("GET", "/v1/sync").json()["watchingHint"] is None
        assert "periodic scans" not in reverie(daemon.home, "status").stdout
