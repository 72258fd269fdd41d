"""Numbered steps that bring an older store to the form this version reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from reverie.errors import StorageFailed

if TYPE_CHECKING:
    import lmdb

__all__ = ["MIGRATIONS", "Migration", "apply_missing", "m001_first_form"]

Migration: TypeAlias = Callable[["lmdb.Transaction[bytes]"], None]


def m001_first_form(txn: lmdb.Transaction[bytes]) -> None:
    """The first form on disk: an empty store. Raises StorageFailed where something is there that has no header."""
    if txn.stat()["entries"] != 0:
        raise StorageFailed("the store has records and no header", hint="`reverie restore` from a backup")


MIGRATIONS: tuple[Migration, ...] = (m001_first_form,)


def apply_missing(txn: lmdb.Transaction[bytes], applied: list[str], migrations: tuple[Migration, ...]) -> list[str]:
    """Runs, in order and in `txn`, the steps whose names are not in `applied`; the names that have now been applied.

    Raises StorageFailed for a store that a newer version has written.
    """
    names = [step.__name__ for step in migrations]
    if applied != names[: len(applied)]:
        newest = applied[-1] if applied else "none"
        raise StorageFailed(
            f"the store was written by a newer version of reverie (its last migration is {newest})",
            hint="install that version, or restore a backup made by this one",
        )
    for step in migrations[len(applied) :]:
        step(txn)
    return names
