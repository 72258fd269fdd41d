"""Backup and restore: a store copied to one file and back, the copy checked before it counts."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.errors import Conflict, Damaged, DiskFull, NotFound, StorageFailed, ValidationError
from reverie.private_folder import make_private
from reverie.store.check import CheckReport, run_check
from reverie.store.env import NO_ROOM
from reverie.store.guard import DRAFT, StoreLock, remove_draft, sync_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reverie.store.store import Store

_NO_LINKS = frozenset((errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK))
_NOT_THERE = frozenset(
    (
        errno.EACCES,
        errno.EINVAL,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENAMETOOLONG,
        errno.ENOENT,
        errno.ENOTDIR,
        errno.EPERM,
        errno.EROFS,
    )
)
_OTHER_PATH_HINT = "name a new file in a folder that the daemon may write to"
_BACKUP_HINT = "name a file that `reverie backup FILE` wrote"
_SHOWN_CHARS = 200  # characters of a path in an error


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup made or restored: its file or folder, its size, and how many records of each kind the check found."""

    path: Path
    byte_count: int
    counts: dict[str, int]


def backup(store: Store, to: Path, *, draft_suffix: str) -> Backup:
    """Copy an open store, compacted and checked, to the file `to`. Writers go on meanwhile.

    The draft is a new file beside `to`, its name made with `draft_suffix` (random, so that no other process can prepare
    a link under that name). No existing file is written to, followed or replaced.
    Raises Conflict where `to` exists, NotFound without its folder, ValidationError where no file can be made under
    that name, DiskFull, StorageFailed, and Damaged where the copy does not pass the check (`to` is not made then).
    """
    with _new_file(to, draft_suffix) as (draft, fd):
        store.copy_to(fd)
        os.fsync(fd)
        report = _checked(draft, "the copy", hint="`reverie check` lists the damaged records")
    return Backup(to, to.stat().st_size, report.counts)


def refuse_target(to: Path) -> None:
    """Raise unless a backup can be made at `to`, before anything is copied.

    Raises Conflict where `to` exists, NotFound without its folder, ValidationError for an impossible name.
    """
    with _refusals(to):
        if not to.parent.is_dir():
            raise NotFound(f"{to.parent} is not a folder", hint="make it first, or name another")
        if os.path.lexists(to):
            raise FileExistsError(errno.EEXIST, "exists")
        if len(os.fsencode(to.name)) > os.pathconf(to.parent, "PC_NAME_MAX"):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))


def move_backup(source: Path, to: Path, *, draft_suffix: str) -> None:
    """Move a checked backup to the new file `to`, also on another file system; remove `source`, be it moved or not.

    Raises as `backup` does, with no file made at `to`.
    """
    try:
        with (
            _new_file(to, draft_suffix) as (_, fd),
            os.fdopen(fd, "wb", closefd=False) as target,
            source.open("rb") as copied,
        ):
            shutil.copyfileobj(copied, target)
            target.flush()
            os.fsync(fd)
    finally:
        source.unlink(missing_ok=True)


@contextmanager
def _new_file(to: Path, draft_suffix: str) -> Iterator[tuple[Path, int]]:
    """Yield the path and a handle of a draft beside `to`, which is at `to` after the block. Raises as `backup`."""
    refuse_target(to)
    with _refusals(to):
        draft = to.with_name(f".reverie-{draft_suffix}.part")
        fd = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            yield draft, fd
            _publish(draft, to)
        finally:
            os.close(fd)
            draft.unlink(missing_ok=True)
        sync_folder(to.parent)


def _publish(draft: Path, to: Path) -> None:
    """Link the checked draft to its final name. Raises FileExistsError where that name is in use.

    A hard link, because a rename would replace a file that was made there meanwhile.
    """
    try:
        os.link(draft, to, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A file system without links, such as a memory stick's: create the name exclusively, then replace our own
        # empty file.
        os.close(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        draft.rename(to)


@contextmanager
def _refusals(to: Path) -> Iterator[None]:
    """Turn OSError and ValueError of the with-body about the file `to` into errors of `reverie.errors`."""
    try:
        yield
    except FileExistsError as error:
        raise Conflict(f"{to} exists", hint="name another file, or remove that one first") from error
    except ValueError as error:  # a NUL, or what no file system can encode
        raise ValidationError(
            "the path of the backup is not one: " + str(error), hint=_OTHER_PATH_HINT, field="path"
        ) from error
    except OSError as error:
        why = error.strerror or str(error)
        if error.errno in NO_ROOM:
            raise DiskFull(f"there is no room for the backup: {why}", hint="free some space") from error
        if error.errno in _NOT_THERE:
            shown = str(to) if len(str(to)) <= _SHOWN_CHARS else str(to)[:_SHOWN_CHARS] + "…"
            raise ValidationError(
                f"no file can be made at {shown}: {why}", hint=_OTHER_PATH_HINT, field="path"
            ) from error
        raise StorageFailed(f"the backup cannot be written: {why}", hint="look at the disk") from error


def restore(
    source: Path, store: Path, *, aside: Path | None = None, prepare: Callable[[Path], None] | None = None
) -> Backup:
    """Restore the backup `source` into the folder `store`.

    A store that is there is copied to the folder `aside` first. `prepare` is called with the folder of the new store
    before it replaces the old one: what it commits and the backup are there together, or neither is.
    Raises NotFound without a backup, Damaged where the backup does not pass the check, Conflict where a store is there
    and no `aside` is given, or is in use, and what `prepare` raises.
    """
    if source.is_dir():
        raise NotFound(f"{source} is a folder", hint=_BACKUP_HINT)
    if not source.is_file():
        raise NotFound(f"there is no backup at {source}", hint=_BACKUP_HINT)
    report = _checked(source, str(source), hint=_BACKUP_HINT)
    with StoreLock.take(store):
        data = store / "data.mdb"
        if data.exists():
            _set_aside(store, aside)
        remove_draft(store)
        draft = store / DRAFT
        make_private(draft)
        try:
            shutil.copyfile(source, draft / "data.mdb")
            (draft / "data.mdb").chmod(0o600)
            if prepare is not None:
                prepare(draft)
            _sync_file(draft / "data.mdb")
        except BaseException:
            remove_draft(store)
            raise
        # One rename replaces the old store by the new. The old one's rollback guard goes first: it would refuse the new
        # store, and who restores again after a crash between the two would not know what sync had written.
        (store / "lock.mdb").unlink(missing_ok=True)
        (store / "anchor").unlink(missing_ok=True)
        sync_folder(store)
        (draft / "data.mdb").rename(data)
        remove_draft(store)
        sync_folder(store)
    return Backup(store, data.stat().st_size, report.counts)


def _checked(path: Path, name: str, *, hint: str) -> CheckReport:
    """Check a backup file, and return the report. Raises Damaged, which calls the file `name`, for a problem."""
    report = run_check(path)
    if report.ok:
        return report
    if not report.counts:  # not even its first pages can be read
        raise Damaged(f"{name} is not a Reverie backup, or is cut off", hint=hint)
    first = report.problems[0]
    raise Damaged(f"{name} does not pass the check: {first.kind} {first.key}: {first.what}", hint=hint)


def _set_aside(store: Path, aside: Path | None) -> None:
    """Copy a store and its rollback guard into the new folder `aside`, flushed. Raises Conflict unless it is new."""
    if aside is None or aside.exists():
        where = "a folder that is not there yet" if aside is not None else "a folder"
        raise Conflict(f"there is a store in {store}", hint=f"name {where} that the old one is moved to")
    make_private(aside)
    for name in ("data.mdb", "anchor"):
        if (store / name).exists():
            shutil.copyfile(store / name, aside / name)
            (aside / name).chmod(0o600)
            _sync_file(aside / name)
    sync_folder(aside)
    sync_folder(aside.parent)


def _sync_file(path: Path) -> None:
    """Flush a file's content, so that a rename after it cannot come first on disk."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
