"""Copies a store to one file and back, each time checked before it counts."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.errors import Conflict, Damaged, NotFound
from reverie.store.anchor import sync_folder
from reverie.store.check import run_check
from reverie.store.lock import StoreLock

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store.check import CheckReport
    from reverie.store.store import Store

__all__ = ["Backup", "backup", "restore"]


@dataclass(frozen=True, slots=True)
class Backup:
    """What was copied, and what the check of the copy counted."""

    path: Path
    byte_count: int
    counts: dict[str, int]


def backup(store: Store, to: Path) -> Backup:
    """A compacting copy of an open store in the file `to`, checked. Writers go on meanwhile.

    Raises Conflict where `to` exists, Damaged where the copy does not pass the check (`to` is not made then).
    """
    if to.exists():
        raise Conflict(f"{to} exists", hint="name another file, or remove that one first")
    draft = to.with_name(f".{to.name}.part")
    fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        try:
            store.copy_to(fd)
            os.fsync(fd)
        finally:
            os.close(fd)
        report = _sound(draft)
        draft.rename(to)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(to.parent)
    return Backup(to, to.stat().st_size, report.counts)


def restore(source: Path, store: Path, *, aside: Path | None = None) -> Backup:
    """Makes the folder `store` hold what the backup `source` holds.

    A store that is there is moved to the folder `aside`, whole. Raises NotFound without a backup, Damaged where the
    backup does not pass the check, Conflict where a store is there and no `aside` is given, or is in use.
    """
    if not source.is_file():
        raise NotFound(f"there is no backup at {source}", hint="name the file that `reverie backup` wrote")
    report = _sound(source)
    with StoreLock.take(store):
        data = store / "data.mdb"
        if data.exists():
            _set_aside(store, aside)
        draft = store / "restored.part"
        shutil.copyfile(source, draft)
        draft.chmod(0o600)
        _sync_file(draft)
        # One rename changes the store from the old to the new. Until the anchor is gone too, a store older than its
        # anchor is refused, so that a crash between the two cannot pass for a restore that was finished.
        draft.rename(data)
        (store / "lock.mdb").unlink(missing_ok=True)
        (store / "anchor").unlink(missing_ok=True)
        sync_folder(store)
    return Backup(store, data.stat().st_size, report.counts)


def _sound(path: Path) -> CheckReport:
    report = run_check(path)
    if not report.ok:
        first = report.problems[0]
        raise Damaged(
            f"{path.name} does not pass the check: {first.kind} {first.key}: {first.what}",
            hint=f"python -m reverie.store.check {path}",
        )
    return report


def _set_aside(store: Path, aside: Path | None) -> None:
    if aside is None or aside.exists():
        where = "a folder that is not there yet" if aside is not None else "a folder"
        raise Conflict(f"there is a store in {store}", hint=f"name {where} that the old one is moved to")
    aside.mkdir(mode=0o700, parents=True)
    for name in ("data.mdb", "anchor"):
        if (store / name).exists():
            shutil.copyfile(store / name, aside / name)
            (aside / name).chmod(0o600)
            _sync_file(aside / name)
    sync_folder(aside)
    sync_folder(aside.parent)


def _sync_file(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
