"""Commands for the store's files: backup, restore, check, compact."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from reverie import wire
from reverie.errors import Conflict, DaemonNotRunning, NotFound, ReverieError
from reveried.cli import daemon_client
from reveried.cli.command import Answer, Argument, Ended
from reveried.cli.daemon import socket_file
from reveried.cli.output import counted, say, size, spinner

if TYPE_CHECKING:
    from reverie.places import Layout
    from reverie.store import BackupEntry, Store
    from reverie.sync.plan import Baseline

SHOWN_FILES = 5  # of those that a person saved after the backup


def backup(file: Annotated[Path, Argument("FILE", "Path of the copy; must not exist yet.")]) -> Answer:
    """Write a compact, checked copy of the store; works with and without the daemon.

    Example: reverie backup reverie.backup
    """
    target = Path(os.path.abspath(file))  # noqa: PTH100 - the daemon has another cwd; symlinks are not resolved
    with spinner("Copying"):
        try:
            byte_count, counts = _backup_by_daemon(target)
        except DaemonNotRunning:
            byte_count, counts = _backup_without_daemon(target)
    yield wire.BackupMade(path=str(target), size=byte_count, counts=counts)
    say(f"{target}: {size(byte_count)}, {counted(sum(counts.values()), 'record')}, checked.")


def restore(file: Annotated[Path, Argument("FILE", "A copy made by `reverie backup`.")]) -> Answer:
    """Replace the store by a backup and keep the old one beside it; the daemon must not run.

    Example: reverie restore reverie.backup
    """
    from reverie.store.backup import restore as restore_store

    store = daemon_client.layout().store_dir
    _refuse_running_daemon()
    # A restore that was killed leaves such a folder, and is repeated within the second.
    aside = store.with_name(f"store-before-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}")
    with spinner("Checking and restoring"):
        before = _replaced(store)
        saved_since: list[str] = []

        def follow(draft: Path) -> None:
            saved_since.extend(_follow(draft, before, file))

        restored = restore_store(file, store, aside=aside, prepare=follow)
    kept = str(aside) if aside.exists() else None
    data_dir = daemon_client.valid_settings()[0].memory.data_dir
    missing = missing_folders(store, daemon_client.layout(), data_dir, first=kept is None)
    yield {
        "path": str(store),
        "size": restored.byte_count,
        "counts": restored.counts,
        "aside": kept,
        "missing": [str(folder) for folder in missing],
        "savedSince": saved_since,
    }
    say(f"Restored {file}: {counted(sum(restored.counts.values()), 'record')}, checked.")
    if kept is not None:
        say(f"The old store is in {kept}; delete it when you no longer need it.")
    say("What you forgot or purged after the backup may be back: reverie memories shows what is remembered.")
    if saved_since:
        saved = counted(len(saved_since), "file")
        say(f"{saved} that you saved after the backup will be read as your edits: {_shown(saved_since)}")
    for folder in missing:
        say(f"{folder} is missing, or is another folder than the one written before. Bring it back, or after")
        say("`reverie up` write all files there, which deletes nothing: reverie sync now --accept-folder")
    say("Next: " + ("systemctl --user start reverie.socket" if socket_file().exists() else "reverie up"))


def compact() -> Answer:
    """Rewrite the store's file without the space that deleted records have left; works without the daemon too.

    Example: reverie compact
    """
    with spinner("Rewriting the store"):
        try:
            with daemon_client.client() as client:
                answer = client.compact()
        except DaemonNotRunning:
            answer = _compact_without_daemon()
    yield answer
    say(f"The store has {size(answer.size)}, {size(max(0, answer.freed_bytes))} less than before.")


def _compact_without_daemon() -> wire.Compacted:
    with _opened_store() as store:
        freed = store.compact()
    return wire.Compacted(freed_bytes=freed, size=(store.path / "data.mdb").stat().st_size)


def check() -> Answer:
    """Read every record of the store and list the damaged ones.

    Example: reverie check
    """
    from reverie.store.check import run_check

    store = daemon_client.layout().store_dir
    if not (store / "data.mdb").exists():
        yield {"ok": True, "counts": {}, "problems": []}
        say("Nothing is stored yet.")
        return
    with spinner("Reading every record"):
        report = run_check(store)
    yield Ended(report.as_json(), 0 if report.ok else 1)
    for problem in report.problems:
        say(f"{problem.kind} {problem.key}: {problem.what}")
    found = f", {counted(len(report.problems), 'problem')}. To return to a backup: reverie restore FILE"
    read = f"{counted(sum(report.counts.values()), 'record')} read"
    say(read + (found if report.problems else "; all checksums match."))


def _backup_by_daemon(target: Path) -> tuple[int, dict[str, Any]]:
    """Back up the daemon's store; return the size of the copy in bytes and its records by kind.

    The daemon writes below its backup folder only. The copy is moved from there to `target` by this process, with the
    rights of the person who runs it.
    """
    from reverie.store.backup import move_backup, refuse_target

    suffix = secrets.token_hex(16)
    with daemon_client.client() as client:
        client.health()  # without a daemon the copy is made in another way
        refuse_target(target)
        draft = daemon_client.valid_settings()[0].backup.folder / f".reverie-backup-{suffix}"
        try:
            answer = client.backup(str(draft), moved_to=str(target))
            move_backup(draft, target, draft_suffix=suffix)
        finally:  # what the daemon ends later, the next backup removes
            with suppress(OSError):
                draft.unlink()
    return answer.size, answer.counts


def _backup_without_daemon(target: Path) -> tuple[int, dict[str, Any]]:
    """Back up the store directly; return the size of the copy in bytes and its records by kind."""
    from reverie.store import SYSTEM_SPACE, BackupEntry
    from reverie.store.backup import backup as backup_store
    from reverie.usecases import restored as use_restored
    from reverie.usecases.by import By
    from reveried.clock import text_of

    with _opened_store() as store:
        copy = backup_store(store, target, draft_suffix=secrets.token_hex(16))
        at = text_of(datetime.now(UTC))
        store.commit([use_restored.add.write(By(SYSTEM_SPACE, "backup"), BackupEntry(str(target), at))], at=at)
    return copy.byte_count, dict(copy.counts)


def _opened_store() -> Store:
    """Open the store directly. Raises NotFound where there is none, Conflict where another process has it open."""
    from reverie.redact import Redactor
    from reverie.store import Store

    folder = daemon_client.layout().store_dir
    if not (folder / "data.mdb").exists():
        raise NotFound("nothing is stored yet", hint="reverie import claude-code ~/.claude/projects")
    return Store.open(folder, redactor=Redactor(forgets=True))


def _refuse_running_daemon() -> None:
    if daemon_client.running() is not None:
        # The socket of a service would start it again at the next call of an agent.
        stop = "systemctl --user stop reverie.socket reverie.service" if socket_file().exists() else "reverie down"
        raise Conflict("the daemon is running and has the store open", hint=f"run `{stop}`, then restore again")


class _Replaced(NamedTuple):
    """What a store knew that a restored one replaces: its id, the baselines of each space, the backups made of it."""

    store_id: str
    baselines: dict[str, dict[str, Baseline]]
    backups: list[BackupEntry]


def _replaced(store: Path) -> _Replaced:
    """Return what a store knows; nothing without a store, or of one that is damaged."""
    from reverie.redact import Redactor
    from reverie.store import IdentityRecord, Store
    from reverie.store.check import run_check
    from reverie.store.kinds import SYSTEM_SPACE
    from reverie.usecases import restored as use_restored
    from reverie.usecases import sync
    from reveried.stored import spaces_of

    # Checked by another process first: reading a file that is cut off ends the process that reads it.
    if not (store / "data.mdb").exists() or not run_check(store).ok:
        return _Replaced("", {}, [])
    try:
        with Store.open(store, redactor=Redactor(forgets=True)) as opened:
            baselines = {}
            for space in spaces_of(opened):
                with opened.reader(space) as reader:
                    baselines[space] = sync.unrecorded_baselines(reader)
            with opened.reader(SYSTEM_SPACE) as reader:
                identity = reader.load(IdentityRecord, IdentityRecord.KEY)
                backups = use_restored.listed(reader)
    except ReverieError:  # what it says about the folder cannot be relied on: each file is compared as a person's save
        return _Replaced("", {}, [])
    return _Replaced(identity.id if identity is not None else "", baselines, backups)


def _follow(store: Path, before: _Replaced, backup_file: Path) -> list[str]:
    """Let the folders follow a restored store, and list its backups; return the files that people saved afterwards.

    `before` is of the store that it replaces. One with another id had other folders, and its backups are not of this.
    """
    from reverie.redact import Redactor
    from reverie.store import BackupEntry, IdentityRecord, Store
    from reverie.store.kinds import SYSTEM_SPACE
    from reverie.usecases import restored as use_restored
    from reverie.usecases import sync
    from reverie.usecases.by import By
    from reveried.clock import text_of

    saved_since: list[str] = []
    with Store.open(store, redactor=Redactor(forgets=True)) as opened:
        with opened.reader(SYSTEM_SPACE) as reader:
            identity = reader.load(IdentityRecord, IdentityRecord.KEY)
        is_same = identity is not None and identity.id == before.store_id
        at = text_of(datetime.now(UTC))
        # A backup is made before it is listed, so none lists itself, nor those that came after it.
        backups = before.backups if is_same else []
        restored = os.path.abspath(backup_file)  # noqa: PTH100 - as `backup` lists it
        if restored not in {entry.path for entry in backups}:
            backups = [*backups, BackupEntry(restored, at)]
        by = By(SYSTEM_SPACE, "backup")
        opened.commit([use_restored.add.write(by, entry) for entry in backups], at=at)
        for space, baselines in before.baselines.items() if is_same else ():
            with opened.reader(space) as reader:
                plan = use_restored.plan_baselines(reader, baselines)
            opened.commit([sync.save_baselines.write(By(space, "sync"), plan.changed, ())], at=at)
            saved_since += plan.saved_since
    return saved_since


def _shown(paths: list[str]) -> str:
    more = len(paths) - SHOWN_FILES
    return ", ".join(paths[:SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")


def missing_folders(store: Path, layout: Layout, data_dir: Path, *, first: bool) -> list[Path]:
    """Return the synced folders below `data_dir` that a restored store knows and that are missing or have no mark.

    On a machine without a store before (`first`) and without the default folder, no folder can come back: the spaces'
    baselines are dropped, so that the daemon writes all files there, and no folder counts as missing.
    Raises what `Store.open` raises.
    """
    from reverie.redact import Redactor
    from reverie.store import Store
    from reverie.sync.root import SPACE_FILE
    from reverie.usecases import sync
    from reverie.usecases.by import By
    from reveried.clock import text_of
    from reveried.stored import spaces_of

    with Store.open(store, redactor=Redactor(forgets=True)) as opened:
        synced = [space for space in spaces_of(opened) if _has_baselines(opened, space)]
        missing = {space: data_dir / space for space in synced if not (data_dir / space / SPACE_FILE).exists()}
        if first and data_dir == layout.root and not os.path.lexists(data_dir):
            at = text_of(datetime.now(UTC))
            opened.commit([sync.reset_baselines.write(By(space, "sync")) for space in missing], at=at)
            return []
    return list(missing.values())


def _has_baselines(store: Store, space: str) -> bool:
    from reverie.usecases import sync

    with store.reader(space) as reader:
        return any(baseline.sha256 for baseline in sync.baselines(reader).values())
