"""`reverie backup`, `restore` and `check` on a real store, with a daemon and without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reverie.redact import Redactor
from reverie.store import Kind, Store, Write

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store import Writer
    from support.cli import Cli, Routes
    from support.fake_daemon import FakeDaemon

AT = "2026-11-21T09:30:00.000Z"


def stored(store: Path, *names: str) -> None:
    """A store that holds a thread of each name."""

    def body(writer: Writer) -> None:
        for name in names:
            writer.put(Kind.THREAD, (name,), {"id": name})

    opened = Store.open(store, redactor=Redactor())
    opened.commit([Write(space="default", who="owner", why="test", body=body)], at=AT)
    opened.close()


def threads(store: Path) -> list[str]:
    """The threads that a store holds."""
    opened = Store.open(store, redactor=Redactor())
    with opened.reader("default") as reader:
        found = [str(value["id"]) for _, value in reader.scan(Kind.THREAD)]
    opened.close()
    return found


def test_there_and_back(cli: Cli, home: Path, tmp_path: Path) -> None:
    """A backup brings back what was there; what was there since is kept beside it."""
    store, copy = home / "data" / "store", tmp_path / "b"
    assert "nothing is stored yet" in cli("backup", str(copy)).err
    assert "Nothing is stored yet" in cli("check").out
    assert cli("check", "--json").json["ok"] is True
    stored(store, "one")
    assert "checked." in cli("backup", str(copy)).out
    assert cli("backup", str(copy)).code == 4
    assert cli("backup", str(tmp_path / "c"), "--json").json["size"] == (tmp_path / "c").stat().st_size
    stored(store, "two")
    done = cli("restore", str(copy))
    assert (done.code, done.err) == (0, "")
    assert "What was there before is in " in done.out
    assert threads(store) == ["one"]
    [aside] = (home / "data").glob("store-before-*")
    assert (aside / "data.mdb").exists()
    assert cli("restore", str(tmp_path / "nothing")).code == 1


def test_restore_where_nothing_was(cli: Cli, home: Path, tmp_path: Path) -> None:
    """A backup can be brought to a new home."""
    stored(home / "data" / "store", "one")
    cli("backup", str(tmp_path / "b"))
    (home / "data").rename(tmp_path / "old")
    done = cli("restore", str(tmp_path / "b"), "--json")
    assert done.json["aside"] is None
    assert threads(home / "data" / "store") == ["one"]


def test_check(cli: Cli, home: Path) -> None:
    """A sound store is said to be so; a damaged one is named and ends with 1."""
    store = home / "data" / "store"
    stored(store, "one")
    assert "every one is what was written" in cli("check").out
    assert cli("check", "--json").json["ok"] is True
    data = (store / "data.mdb").read_bytes()
    assert b'"one"' in data
    (store / "data.mdb").write_bytes(data.replace(b'"one"', b'"eno"'))
    done = cli("check")
    assert done.code == 1
    assert "problem" in done.out
    assert "reverie restore" in done.out


@pytest.mark.usefixtures("daemon")
def test_restore_beside_a_running_daemon(cli: Cli, tmp_path: Path) -> None:
    """The daemon has the store open: it must be stopped first."""
    done = cli("restore", str(tmp_path / "b"))
    assert done.code == 4
    assert "reverie down" in done.err


def test_backup_beside_a_running_daemon(cli: Cli, daemon: FakeDaemon, routes: Routes, tmp_path: Path) -> None:
    """The daemon copies its own store, at a path that does not depend on where it runs."""
    routes["POST /v1/backups"] = {"path": "x", "size": 2048, "counts": {"thread": 2}}
    assert "2.0 KiB, 2 records, checked." in cli("backup", str(tmp_path / "a" / ".." / "b")).out
    assert daemon.seen[-1].json == {"path": str(tmp_path / "b")}
