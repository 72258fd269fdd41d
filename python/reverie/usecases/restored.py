"""Backups: the list of those made, and the baselines of files after one is restored."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from msgspec import structs

from reverie.store import BackupEntry, BackupsCursor, DocumentRecord, Reader, Writer
from reverie.sync.plan import Baseline, sha256
from reverie.usecases.by import By, writes
from reverie.usecases.sync import baselines

_KEPT = 1_000  # the newest backups; many more are made by a script, which removes the old ones


def listed(reader: Reader) -> list[BackupEntry]:
    """Return the backups that were made, oldest first; some may be gone. `reader` is of the system space."""
    return (reader.load(BackupsCursor, BackupsCursor.KEY) or BackupsCursor()).backups


@writes("backup.made")
def add(to: Writer, _: By, entry: BackupEntry) -> None:
    """Add a backup to the list."""
    others = [backup for backup in listed(to) if backup.path != entry.path]
    cursor = to.load(BackupsCursor, BackupsCursor.KEY) or BackupsCursor()
    to.save(structs.replace(cursor, backups=[*others, entry][-_KEPT:]), BackupsCursor.KEY)


@dataclasses.dataclass(frozen=True, slots=True)
class RestoredBaselines:
    """The baselines to save in a restored store, and the files that a person saved after the backup."""

    changed: tuple[Baseline, ...]
    saved_since: tuple[str, ...]


def plan_baselines(reader: Reader, before: Mapping[str, Baseline]) -> RestoredBaselines:
    """Return baselines by which files that sync wrote after the backup are known as its own writes.

    `reader` is of the restored store, `before` has the `unrecorded_baselines` of the store that it replaced, which
    the files agree with. Without this a file that the daemon wrote after the backup is taken for a person's save: a
    memory that was remembered or forgotten since then would be remembered or forgotten again. Of each path:

    | in the replaced store              | what follows                                                          |
    |------------------------------------|-----------------------------------------------------------------------|
    | a person saved it after the backup | nothing: their text is merged, as any save is                         |
    | a file as sync wrote or handled it | it is known as our write: the restored text replaces it, or removes it |
    | no file, but there was at the time | the document is written: its file was not deleted from this store     |
    """
    last = reader.operation()
    restored = baselines(reader)
    saved_since, changed = [], []
    for path, old in before.items():
        if old.saved is not None and (old.saved.operation is None or old.saved.operation > last):
            saved_since.append(path)
            continue
        own = (old.intended | {old.sha256}) - {""}
        baseline = restored.get(path, Baseline(path, "", 0))
        if own - baseline.intended - {baseline.sha256}:
            changed.append(dataclasses.replace(baseline, intended=baseline.intended | own))
    for path, baseline in restored.items():
        if baseline.sha256 and (path not in before or not before[path].sha256):
            document = reader.load(DocumentRecord, (path,))
            if document is not None:
                intended = frozenset({sha256(document.content.encode())})
                intended |= before[path].intended if path in before else frozenset()
                changed.append(Baseline(path, "", 0, intended=intended))
    return RestoredBaselines(tuple(changed), tuple(sorted(saved_since)))
