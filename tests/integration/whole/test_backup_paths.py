"""Paths of backups over the API: below the backup folder, unless the person chooses another."""

from __future__ import annotations

import os
from pathlib import Path

from reverie.store.check import run_check
from support.cli import reverie
from support.daemon import Daemon, check_refused, running_daemon


def test_a_backup_stays_below_its_folder(daemon: Daemon, tmp_path: Path) -> None:
    """A path elsewhere, by `..` or by a link too, is forbidden and not written; the hint names the setting."""
    folder = daemon.home / "data" / "backups"
    folder.mkdir(exist_ok=True)
    (folder / "link").symlink_to(tmp_path)
    outside = (tmp_path / "x", folder / "link" / "x", folder / ".." / "x", daemon.folder / "x.md")
    for path in outside:
        answer = daemon.ask("POST", "/v1/backups", {"path": str(path)})
        check_refused(answer, 403, "forbidden")
        assert "`backup.folder`" in answer.json()["details"]["hint"]
        assert not path.exists()


def test_a_backup_removes_what_interrupted_ones_left(daemon: Daemon) -> None:
    """Drafts older than a day go, the daemon's and those of `reverie backup`; newer ones and other files stay."""
    folder = daemon.home / "data" / "backups"
    folder.mkdir(exist_ok=True)
    left = [f".reverie-backup-{'0a' * 16}", f".reverie-{'0b' * 16}.part"]
    others = ["mine", ".reverie-mine", f".reverie-backup-{'0c' * 16}"]
    for name in (*left, *others):
        (folder / name).write_text("a copy")
    for name in (*left, *others[:2]):
        os.utime(folder / name, (0, 0))
    assert daemon.ask("POST", "/v1/backups", {"path": str(folder / "new")}).status == 200
    names = {file.name for file in folder.iterdir()}
    assert names.isdisjoint(left)
    assert names.issuperset([*others, "new"])
    for name in (*others, "new"):
        (folder / name).unlink()


def test_a_person_may_choose_another_backup_folder(tmp_path: Path) -> None:
    """`backup.folder` names another folder, and `/` allows any; the command line needs neither."""
    with running_daemon(REVERIE_BACKUP_FOLDER=str(tmp_path / "mine")) as daemon:
        made = daemon.ask("POST", "/v1/backups", {"path": str(tmp_path / "mine" / "a")})
        assert made.status == 200, made.body
        check_refused(daemon.ask("POST", "/v1/backups", {"path": str(tmp_path / "a")}), 403, "forbidden")
        assert reverie(daemon.env, "backup", str(tmp_path / "b")).code == 0
        assert run_check(tmp_path / "b").ok
        assert [file.name for file in (tmp_path / "mine").iterdir()] == ["a"]
    with running_daemon(REVERIE_BACKUP_FOLDER="/") as daemon:
        assert daemon.ask("POST", "/v1/backups", {"path": str(tmp_path / "c")}).status == 200


def test_a_backup_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    """A file where its parent should be is no unexpected error."""
    (tmp_path / "file").write_text("mine")
    with running_daemon(REVERIE_BACKUP_FOLDER=str(tmp_path / "file" / "mine")) as daemon:
        answer = daemon.ask("POST", "/v1/backups", {"path": str(tmp_path / "file" / "mine" / "a")})
        check_refused(answer, 500, "storage_failed")
        assert str(tmp_path / "file") in answer.json()["message"]


def test_a_backup_under_an_odd_name_is_refused(tmp_path: Path) -> None:
    """A too long name, a NUL and a path below a file are client errors."""
    with running_daemon(REVERIE_BACKUP_FOLDER="/") as daemon:
        for path in (str(tmp_path / ("x" * 300)), str(tmp_path / "a\0b"), str(tmp_path / "a\0b" / "c"), "/proc/1/x"):
            check_refused(daemon.ask("POST", "/v1/backups", {"path": path}), 400, "validation_error")
    assert list(tmp_path.iterdir()) == []
