"""The list of the backups that were made, by which a purge names those that still have what it removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie.store import SYSTEM_SPACE, BackupEntry, BackupsCursor, Write

if TYPE_CHECKING:
    from reverie.store import Reader, Writer

__all__ = ["known", "made"]

_KEPT = 1_000  # the newest backups; many more are made by a script, which removes the old ones


def known(reader: Reader) -> list[BackupEntry]:
    """Return the backups that were made, oldest first; some may be gone. `reader` is of the system space."""
    return (reader.load(BackupsCursor, BackupsCursor.KEY) or BackupsCursor()).backups


def made(entry: BackupEntry) -> Write[None]:
    """Return the write that adds a backup to the list."""

    def body(writer: Writer) -> None:
        others = [backup for backup in known(writer) if backup.path != entry.path]
        cursor = writer.load(BackupsCursor, BackupsCursor.KEY) or BackupsCursor()
        writer.save(replace(cursor, backups=[*others, entry][-_KEPT:]), BackupsCursor.KEY)

    return Write(space=SYSTEM_SPACE, who="backup", why="backup.made", body=body)
