"""`reverie backup`, `restore` and `check` on a real store, with a daemon and without."""

from __future__ import annotations

import select
import socket
from pathlib import Path

from reverie.redact import Redactor
from reverie.store import Kind, Store, Write, Writer
from reveried.cli.daemon import socket_file
from reveried.process_lock import DAEMON_LOCK, ProcessLock
from support.cli import Cli, Routes
from support.fake_daemon import Answer, FakeDaemon, Request

AT = "2026-11-21T09:30:00.000Z"


def write_threads(store: Path, *names: str) -> None:
    """Write a thread of each name into a store."""

    def body(writer: Writer) -> None:
        for name in names:
            writer.put(Kind.THREAD, (name,), {"id": name})

    opened = Store.open(store, redactor=Redactor())
    opened.commit([Write(space="default", who="owner", why="test", body=body)], at=AT)
    opened.close()


def threads(store: Path) -> list[str]:
    """Return the ids of the threads in a store."""
    opened = Store.open(store, redactor=Redactor())
    with opened.reader("default") as reader:
        ids = [str(value["id"]) for _, value in reader.scan(Kind.THREAD)]
    opened.close()
    return ids


def test_backup_and_restore(cli: Cli, home: Path, tmp_path: Path) -> None:
    """Restoring brings back the threads of the backup; the store before it is kept beside."""
    store, copy = home / "data" / "store", tmp_path / "b"
    assert "nothing is stored yet" in cli("backup", str(copy)).err
    assert "Nothing is stored yet" in cli("check").out
    assert cli("check", "--json").json["ok"] is True
    write_threads(store, "one")
    assert "checked." in cli("backup", str(copy)).out
    assert cli("backup", str(copy)).code == 4
    assert cli("backup", str(tmp_path / "c"), "--json").json["size"] == (tmp_path / "c").stat().st_size
    write_threads(store, "two")
    done = cli("restore", str(copy))
    assert (done.code, done.err) == (0, "")
    assert "The old store is in " in done.out
    assert threads(store) == ["one"]
    assert cli("restore", str(copy)).code == 0, "within the same second too"
    asides = list((home / "data").glob("store-before-*"))
    assert [(aside / "data.mdb").exists() for aside in asides] == [True, True]
    assert cli("restore", str(tmp_path / "nothing")).code == 1


def test_what_is_no_backup_is_not_restored(cli: Cli, home: Path, tmp_path: Path) -> None:
    """A folder, a text file and a cut-off backup are refused with the command that writes a backup as the hint."""
    store, copy = home / "data" / "store", tmp_path / "b"
    write_threads(store, "one")
    assert cli("backup", str(copy)).code == 0
    copy.write_bytes(copy.read_bytes()[: copy.stat().st_size // 2])
    (tmp_path / "notes.md").write_text("text " * 1000)
    for path, reason in (
        (tmp_path, "is a folder"),
        (tmp_path / "notes.md", "is not a Reverie backup, or is cut off"),
        (copy, "is not a Reverie backup, or is cut off"),
    ):
        hint = "name a file that `reverie backup FILE` wrote"
        refused = cli("restore", str(path))
        assert (refused.code, refused.err) == (1, f"reverie restore: {path} {reason}\nnext: {hint}\n")
    assert threads(store) == ["one"]


def test_restore_without_a_store(cli: Cli, home: Path, tmp_path: Path) -> None:
    """A backup can be restored into a home without a store."""
    write_threads(home / "data" / "store", "one")
    cli("backup", str(tmp_path / "b"))
    (home / "data").rename(tmp_path / "old")
    done = cli("restore", str(tmp_path / "b"), "--json")
    assert done.json["aside"] is None
    assert threads(home / "data" / "store") == ["one"]


def test_check(cli: Cli, home: Path) -> None:
    """A sound store exits with 0; of a damaged one the problem is printed, and the exit code is 1."""
    store = home / "data" / "store"
    write_threads(store, "one")
    assert "all checksums match" in cli("check").out
    assert cli("check", "--json").json["ok"] is True
    data = (store / "data.mdb").read_bytes()
    assert b'"one"' in data
    (store / "data.mdb").write_bytes(data.replace(b'"one"', b'"eno"'))
    done = cli("check")
    assert done.code == 1
    assert "problem" in done.out
    assert "reverie restore" in done.out


def test_restore_beside_a_running_daemon(cli: Cli, home: Path, tmp_path: Path) -> None:
    """Restore is refused while the daemon has the store open, and names what stops it: of a service the socket too."""
    lock = ProcessLock(home / "data" / DAEMON_LOCK)
    done = cli("restore", str(tmp_path / "b"))
    assert done.code == 4
    assert "reverie down" in done.err
    socket_file().parent.mkdir(parents=True)
    socket_file().touch()
    assert "systemctl --user stop reverie.socket reverie.service" in cli("restore", str(tmp_path / "b")).err
    lock.release()


def test_the_socket_of_a_service_starts_no_daemon(cli: Cli, home: Path, tmp_path: Path) -> None:
    """`down` and `restore` do not connect to a socket at which systemd listens: that would start the daemon."""
    write_threads(home / "data" / "store", "one")
    assert cli("backup", str(tmp_path / "b")).code == 0
    (home / "run").mkdir()
    (home / "data" / DAEMON_LOCK).touch()
    with socket.socket(socket.AF_UNIX) as systemd:
        systemd.bind(str(home / "run" / "reverie.sock"))
        systemd.listen()
        assert cli("down", "--json").json == {"stopped": False}
        assert cli("restore", str(tmp_path / "b")).code == 0
        assert select.select([systemd], [], [], 0) == ([], [], [])


def test_backup_beside_a_running_daemon(
    cli: Cli, daemon: FakeDaemon, routes: Routes, home: Path, tmp_path: Path
) -> None:
    """The daemon copies its own store into the backup folder; the command moves the copy, or says why it cannot."""

    def copy(request: Request) -> dict[str, object]:
        path = Path(request.json["path"])
        assert path.parent == home / "data" / "backups"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"a copy")
        return {"path": str(path), "size": 2048, "counts": {"thread": 2}}

    routes["POST /v1/backups"] = copy
    assert "2.0 KiB, 2 records, checked." in cli("backup", str(tmp_path / "a" / ".." / "b")).out
    assert (tmp_path / "b").read_bytes() == b"a copy"
    assert cli("backup", str(tmp_path / "b")).code == 4
    assert cli("backup", str(tmp_path / "none" / "b")).code == 1
    assert list((home / "data" / "backups").iterdir()) == []
    assert [request.path for request in daemon.requests].count("/v1/backups") == 1

    def interrupted(request: Request) -> Answer:
        copy(request)
        return Answer(hang_up=True)

    routes["POST /v1/backups"] = interrupted
    assert cli("backup", str(tmp_path / "c")).code != 0
    assert list((home / "data" / "backups").iterdir()) == []
