"""The command line with a real daemon: start, import, search, undo, backup, restore, stop; and the demo."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import orjson
import pytest

from reverie.client import Client
from reverie.errors import Starting, StorageFailed
from reverie.places import Layout
from reveried.cli import daemon, daemon_client, main
from reveried.demo.session import SESSION, sample
from reveried.stop_note import NAME, StopNote
from support.cli import Cli, Outcome


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Set REVERIE_HOME (a short path) and HOME to new folders; stop a daemon that is left running."""
    folder = Path(tempfile.mkdtemp(prefix="rv-"))
    monkeypatch.setenv("REVERIE_HOME", str(folder / "r"))
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("REVERIE_SOCKET", raising=False)
    yield folder
    main(["down"])
    shutil.rmtree(folder)


@pytest.fixture
def cli(home: Path, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs `reverie` in this process, with the daemon of this home."""
    assert home.exists()

    def run(*words: str) -> Outcome:
        capfd.readouterr()
        code = main(words)
        output = capfd.readouterr()
        return Outcome(code, output.out, output.err)

    return run


def check(done: Outcome, *parts: str) -> Outcome:
    """Assert that the command succeeded and printed all these parts; return its outcome."""
    assert (done.code, done.err) == (0, ""), done.out
    for part in parts:
        assert part in done.out
    return done


def test_a_day(cli: Cli, home: Path) -> None:
    """Every command from `up` to `down` succeeds, in the order in which a user would type them."""
    check(cli("down"), "not running")
    check(cli("up"), "The daemon is running", "Next: reverie import claude-code")
    check(cli("up"), "already running")
    session = home / f"{SESSION}.jsonl"
    session.write_bytes(sample())
    lines = sample().count(b"\n")
    check(cli("import", "claude-code", str(session)), f"{lines} new lines from 1 file.")
    check(cli("import", "claude-code", str(session)), "0 new lines from 1 file.")
    [thread] = cli("threads", "--json").json["items"]
    check(cli("threads"), thread["id"])
    check(cli("distill", thread["id"][:9], "--full"), "# Conversation Summary (Distillation #1)")
    check(cli("context", thread["id"], "--max-tokens", "4000"), "assistant:", "make check")
    check(cli("memories"), "facts/tidetable/preferences.md", "episodes/tidetable")
    check(cli("recall", "may we add a dependency"), "Never add a dependency")
    check(cli("recall", "make check"), "instead of bare pytest")
    check(cli("recall", "may we add a library"), "The nearest, which share a word", "Never add a dependency")
    check(cli("log"), "yes")
    check(cli("show", cli("log", "--json").json["items"][0]["id"]), "Operation")
    check(cli("archives", "list"))
    check(cli("archives", "verify"), "checked and good")
    check(cli("status"), "memories")
    check(cli("dream", "--dry-run"))
    check(cli("schedule", "add", "0 3 * * *", "--timezone", "UTC"), "next")
    [schedule] = cli("schedule", "list", "--json").json["items"]
    check(cli("schedule", "remove", schedule["id"]))
    stopped = cli("undo", "--yes")  # a schedule is newer, and what would be undone is older
    assert (stopped.code, "schedule" in stopped.err) == (4, True), stopped.err
    undoable = next(item["id"] for item in cli("log", "--json").json["items"] if item["undoable"])
    assert f"reverie undo {undoable}" in stopped.err
    check(cli("undo", undoable), "Undone")
    check(cli("backup", str(home / "copy")), "checked.")
    check(cli("doctor"), "ok    daemon")
    check(cli("logs"), "ready")
    assert cli("logs", "--json").json["lines"]
    check(cli("check"), "all checksums match")
    check(cli("down"), "The daemon has stopped")
    check(cli("restore", str(home / "copy")), "forgot or purged after the backup may be back", "Next: reverie up")
    assert cli("up", "--json").json["started"] is True
    assert cli("down", "--json").json["stopped"] is True
    assert cli("down", "--json").json == {"stopped": False}
    assert "reverie import" not in check(cli("up"), "Memories are files in").out, "a session is imported already"
    check(cli("config", "set", "memory.dataDir", str(home / "elsewhere")), "at its next start")
    check(cli("down"), "The daemon has stopped")
    check(cli("up"), "is not there: nothing is synced. Next: reverie sync status")
    check(cli("sync", "now", "--accept-folder"), "written")
    check(cli("down"), "The daemon has stopped")


def test_a_redone_deletion_is_undone_by_a_plain_undo(cli: Cli, home: Path) -> None:
    """An undo restores what a redo deleted again; the next one undoes the operation before the deletion."""
    check(cli("up"))
    file = home / "r" / "root" / "default" / "facts" / "user.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("- My editor is Helix\n")
    check(cli("sync", "now"))
    check(cli("forget", "facts/user.md"))
    undone = check(cli("undo", "-y"), "Undone: document.delete")
    check(cli("undo", undone.out.split()[-1], "-y"))
    assert not file.exists()
    check(cli("undo", "-y"), "Undone: document.delete")
    assert "Helix" in file.read_text()
    check(cli("undo", "-y"), "Undone: files.edited")
    assert not file.exists()


def make_backup(cli: Cli, copy: Path) -> None:
    """Add a memory, write its file, stop the daemon, and back up the store."""
    check(cli("up"), "The daemon is running")
    check(cli("remember", "Name: Ann"))
    check(cli("sync", "now"))
    check(cli("down"), "The daemon has stopped")
    check(cli("backup", str(copy)), "checked.")


def test_a_backup_on_a_new_machine(cli: Cli, home: Path) -> None:
    """On a machine without a store and a folder, the daemon writes all files by itself."""
    make_backup(cli, home / "copy")
    (home / "r").rename(home / "old")
    done = check(cli("restore", str(home / "copy")), "Next: reverie up")
    assert "--accept-folder" not in done.out
    check(cli("up"), "The daemon is running")
    check(cli("sync", "now"))
    check(cli("sync", "status"), "ok")
    old, new = home / "old" / "root" / "default", home / "r" / "root" / "default"
    assert "Ann" in "".join(path.read_text() for path in old.rglob("*.md"))
    assert {path.relative_to(new): path.read_text() for path in new.rglob("*.md")} == {
        path.relative_to(old): path.read_text() for path in old.rglob("*.md")
    }


def test_a_backup_beside_a_disk_that_is_not_mounted(cli: Cli, home: Path) -> None:
    """A missing folder may come back, so nothing is written until `sync now --accept-folder`, which restore names."""
    make_backup(cli, home / "copy")
    folder = home / "r" / "root" / "default"
    folder.rename(home / "disk")
    check(cli("restore", str(home / "copy")), f"{folder} is missing", "reverie sync now --accept-folder")
    check(cli("up"), "The daemon is running")
    stopped = cli("sync", "now")
    assert (stopped.code, "reverie sync now --accept-folder" in stopped.err) == (4, True)
    assert not folder.exists()
    check(cli("sync", "now", "--accept-folder"))
    assert "Ann" in "".join(path.read_text() for path in folder.rglob("*.md"))


def test_following_the_log(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """`logs -f` prints what is appended until it is interrupted."""
    assert "run `reverie up`" in cli("logs").err
    log = daemon_client.log_file()
    log.parent.mkdir(parents=True)
    log.write_text("one\ntwo\n")
    news = ["three\n"]

    def sleep(_: float) -> None:
        if not news:
            raise KeyboardInterrupt
        with log.open("a") as file:
            file.write(news.pop())

    monkeypatch.setattr(time, "sleep", sleep)
    done = cli("logs", "-f", "-n", "1")
    assert (done.code, done.out) == (130, "two\nthree\n")


def test_log_of_a_service(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the daemon is a service that runs, or has no log file, `logs` runs journalctl."""
    unit = home / ".config" / "systemd" / "user" / "reverie.service"
    unit.parent.mkdir(parents=True)
    unit.touch()
    (home / "bin").mkdir()
    journal = home / "bin" / "journalctl"
    journal.write_text('#!/bin/sh\necho "$@"\nexit 7\n')
    journal.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    done = cli("logs", "-f", "-n", "9")
    assert (done.code, done.out) == (7, "--user --unit reverie --lines 9 --follow\n")

    # A file that is there is of a daemon that `up` started, unless the service runs now.
    daemon_client.log_file().parent.mkdir(parents=True)
    daemon_client.log_file().write_text("earlier\n")
    assert cli("logs").out == "earlier\n"
    systemctl = home / "bin" / "systemctl"
    systemctl.write_text("#!/bin/sh\necho active\n")
    systemctl.chmod(0o755)
    assert cli("logs").out == "--user --unit reverie --lines 50\n"


def test_a_daemon_that_cannot_start(cli: Cli, home: Path) -> None:
    """`up` prints the last line of the daemon's log, and rotates a large log first."""
    log = daemon_client.log_file()
    log.parent.mkdir(parents=True)
    log.write_bytes(b"x" * (daemon.LOG_MAX_BYTES + 1))
    (home / "r" / "config.toml").write_text("[nonsense]\n")
    (home / "r" / "data").write_text("a file where a folder belongs")
    done = cli("up")
    assert done.code != 0
    assert "next: " in done.err
    assert log.with_name("daemon.log.1").exists() or "nonsense" in done.err


def test_start_and_stop_time_out(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that never answers is killed; one that does not stop is an error."""
    layout = Layout.current()
    monkeypatch.setattr(daemon, "START_MAX_S", 0.1)
    monkeypatch.setattr(daemon, "STOP_MAX_S", 0.1)
    spawned = subprocess.Popen(["sleep", "60"])
    monkeypatch.setattr(daemon, "_spawn", lambda *_: spawned.pid)
    with Client(layout.socket) as client:
        with pytest.raises(StorageFailed, match="did not answer within"):
            daemon.start_daemon(client, home / "log", os.environ)
        spawned.wait()
        stubborn = subprocess.Popen(["sh", "-c", "trap '' TERM; echo up; sleep 60"], stdout=-1)
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        with pytest.raises(StorageFailed, match="has not begun to stop"):
            daemon.stop_daemon(stubborn.pid)
        stubborn.kill()
        assert stubborn.wait() != 0
        stubborn.stdout.close()
    assert not daemon.is_alive(2**22 + 1)


@pytest.mark.usefixtures("home")
def test_down_waits_as_long_as_work_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that stops is waited for beyond the limit, and what it waits for is said."""
    monkeypatch.setattr(daemon, "STOP_MAX_S", 2.0)
    monkeypatch.setattr(daemon, "STOP_SAID_S", 0.1)
    data_dir = Layout.current().data_dir
    data_dir.mkdir(parents=True, exist_ok=True)
    note = StopNote(data_dir)
    # Its note goes a moment before the process does.
    ends = f"sleep 2.5; rm {data_dir}/{NAME}; sleep 0.3; exit 0"
    working = subprocess.Popen(["sh", "-c", f"trap '{ends}' TERM; echo up; sleep 60 & wait"], stdout=-1)
    assert working.stdout is not None
    working.stdout.readline()
    note.say("2 jobs (dream, import)")
    daemon.stop_daemon(working.pid)
    working.wait()
    working.stdout.close()
    assert "Waiting for 2 jobs (dream, import)" in capsys.readouterr().err
    assert StopNote.read(data_dir) == ""


@pytest.mark.usefixtures("home")
def test_a_daemon_that_hangs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands do not wait for a daemon whose process was stopped; they name it, and what wakes or ends it."""
    monkeypatch.setattr(daemon_client, "HEALTH_S", 0.5)
    check(cli("up"), "is running")
    pid = int((Layout.current().data_dir / "daemon.lock").read_text())
    os.kill(pid, signal.SIGSTOP)
    try:
        for words in (["status"], ["down"], ["doctor"], ["up"]):
            done = cli(*words)
            assert done.code == 1
            assert f"the daemon (process {pid}) has not answered" in done.out + done.err
            assert f"kill -CONT {pid}" in done.out + done.err
            assert "60 s" not in done.out + done.err
    finally:
        os.kill(pid, signal.SIGCONT)
    check(cli("status"), "ok")
    check(cli("down"), "has stopped")


def test_up_waits_while_the_store_is_checked() -> None:
    """A start that takes longer than a call's patience, for the check after an unclean stop, is not an error."""
    answers: list[object] = [Starting("opening"), Starting("opening"), "health"]

    def health() -> object:
        answer = answers.pop(0)
        if isinstance(answer, Starting):
            raise answer
        return answer

    client = cast("Client", SimpleNamespace(health=health))
    started = daemon.start_daemon(client, Path("unused"), {})
    assert str(started.health) == "health"
    assert (started.is_new, answers) == (False, [])


def test_the_demo(cli: Cli) -> None:
    """The demo prints all seven pages on the sample, and removes its folder."""
    done = check(
        cli("demo"),
        "sample session",
        "before",
        "after",
        "Working state",
        "facts/tidetable/preferences.md",
        "Measured on",
    )
    search = done.out.partition("5. Search the memories")[2].partition("6. The files")[0]
    assert "always run `make check`" in search
    [home] = {word.rstrip(".") for word in done.out.split() if "reverie-demo-" in word and word.endswith(".")}
    assert not Path(home).exists()


def test_demo_keep(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--keep leaves a running daemon, --json says where, and the user's newest session alone is imported."""
    own = home / ".claude" / "projects" / "p" / f"{SESSION}.jsonl"
    own.parent.mkdir(parents=True)
    own.write_bytes(sample())
    second = sample().replace(SESSION.encode(), b"00000000-0000-4000-8000-000000000001")
    own.with_name("00000000-0000-4000-8000-000000000001.jsonl").write_bytes(second)
    result = cli("demo", "--keep", "--json").json
    assert result["kept"] is True
    assert result["memories"]
    kept = Path(result["home"])
    monkeypatch.setenv("REVERIE_HOME", str(kept))
    assert len(cli("threads", "--json").json["items"]) == 1
    check(cli("memories"), "preferences")
    check(cli("down"), "has stopped")
    shutil.rmtree(kept)


def test_demo_of_a_session_without_messages(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session without messages is refused, and the folder is removed."""
    own = home / "tmp"  # other tests may make folders of demos in the system's own
    own.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(own))
    empty = home / "a.jsonl"
    empty.write_bytes(orjson.dumps({"type": "summary", "summary": "x", "leafUuid": "u"}) + b"\n")
    done = cli("demo", str(empty))
    assert done.code == 1
    assert "has no messages" in done.err
    assert list(own.iterdir()) == []


def test_a_demo_on_a_terminal_waits(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal the folder stays until Enter, so that the user can open the files."""
    prompts: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)

    def enter(prompt: str) -> str:
        prompts.append(prompt)
        return ""

    monkeypatch.setattr("builtins.input", enter)
    assert cli("demo").code == 0
    assert "press Enter" in prompts[0]
