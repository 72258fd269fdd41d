"""The header: the store's own record, with its format, the migrations applied, its commits and the checksum of spaces.

Also what happens to it when a store is opened: it is compared with the rollback guard, then missing migrations run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from reverie.errors import Damaged, StorageFailed
from reverie.store.checksums import CollectionChecksum, header_key
from reverie.store.codec import HASH_BYTES, decode_record, encode_record, record_json, seal_own
from reverie.store.env import translated_errors
from reverie.store.kinds import FORMAT

if TYPE_CHECKING:
    import lmdb

    from reverie.store.env import Environment
    from reverie.store.guard import RollbackGuard

Migration: TypeAlias = Callable[["lmdb.Transaction[bytes]"], None]


@dataclass(slots=True)
class Header:
    """The header's values. `spaces` is the checksum over the roots of all spaces."""

    applied: list[str] = field(default_factory=list)  # names of the migrations, in order
    commits: int = 0
    spaces: CollectionChecksum = field(default_factory=CollectionChecksum)

    @classmethod
    def read(cls, txn: lmdb.Transaction[bytes]) -> tuple[Header, str] | None:
        """Return the header and its checksum in hex, or None where the store has none. Raises Damaged."""
        key = header_key()
        with translated_errors("reading the store's header"):
            data = txn.get(key)
        if data is None:
            return None
        record = decode_record(key, data)
        value = record_json(key, record)
        if value.get("format") != FORMAT:
            raise Damaged(f"the store's form {value.get('format')} is not {FORMAT}", hint="use a newer version")
        header = cls(value["applied"].split(), value["commits"], CollectionChecksum.from_json(value))
        return header, record.checksum.hex()

    def copy(self) -> Header:
        """Return an independent copy of this header."""
        return Header(list(self.applied), self.commits, self.spaces.copy())

    def write(self, txn: lmdb.Transaction[bytes], at_ms: int) -> str:
        """Store the header; return its checksum in hex."""
        key = header_key()
        value: dict[str, Any] = {
            "format": FORMAT,
            "applied": " ".join(self.applied),
            "commits": self.commits,
            **self.spaces.as_json(),
        }
        record = encode_record(key, 0, at_ms, seal_own(value).data)
        txn.put(key, record)
        return record[:HASH_BYTES].hex()


def m001_first_form(txn: lmdb.Transaction[bytes]) -> None:
    """Begin an empty store. Raises StorageFailed where there are records and no header.

    The name of this function is stored in every header, so it stays.
    """
    if txn.stat()["entries"] != 0:
        raise StorageFailed("the store has records and no header", hint="`reverie restore` from a backup")


def m002_packed_records(txn: lmdb.Transaction[bytes]) -> None:
    """Allow packed records and edits (FORMAT.md, sections 2 and 3), which older versions cannot read.

    Records in the older forms are read as they are. `versions.shorten_versions` makes edits of
    the versions among them while the store is in use, so that opening a large store takes no longer than before.
    """


def m003_briefs_and_doubts(txn: lmdb.Transaction[bytes]) -> None:
    """Allow what older versions cannot read or drop: records 38 and 39; the fields `byModel`, `modelTokens`, `doubt`.

    None of them has to be there, so that nothing is rewritten.
    """


def m004_redactions(txn: lmdb.Transaction[bytes]) -> None:
    """Allow records of what was redacted, which older versions do not know and would not purge."""


def m005_begun_runs(txn: lmdb.Transaction[bytes]) -> None:
    """Allow the field `begun` of a schedule, without which a run that ends the daemon is begun again and again."""


def m006_dream_fallbacks(txn: lmdb.Transaction[bytes]) -> None:
    """Allow the field `fallback` of a dream, which older versions would drop."""


def m007_corrections_and_owners(txn: lmdb.Transaction[bytes]) -> None:
    """Allow the fields `replaced` of forgotten statements, without which more would be held, and `owner` of threads."""


def m008_owners_of_schedules(txn: lmdb.Transaction[bytes]) -> None:
    """Allow the field `owner` of a schedule, without which its agent could not change it any more."""


MIGRATIONS: tuple[Migration, ...] = (
    m001_first_form,
    m002_packed_records,
    m003_briefs_and_doubts,
    m004_redactions,
    m005_begun_runs,
    m006_dream_fallbacks,
    m007_corrections_and_owners,
    m008_owners_of_schedules,
)
"""Every migration in the order in which they run, stored by name once applied.

Each change of what is stored has one, also where older records are read as they are: an older version of Reverie would
lose what it does not know, and refuses a store with a migration that it does not know.
"""


def opened_header(
    env: Environment, guard: RollbackGuard | None, migrations: tuple[Migration, ...]
) -> tuple[Header, str]:
    """Return the header of a store that is being opened, after the migrations that it lacked, and its checksum.

    `guard` is what the rollback guard's file says, None where there is none to rely on. Raises Damaged where the store
    has gone back behind it, StorageFailed for a store that a newer version has written.
    """
    with env.read() as txn:
        stored = Header.read(txn)
    # Compare before anything is written: a migration would make the header of an old copy look new.
    if stored is None and guard is not None and guard.commits:
        raise _rolled_back(0, guard)
    header, checksum = stored or (Header(), "")
    if stored is not None:
        _require_not_rolled_back(header, checksum, guard)
    names = [step.__name__ for step in migrations]
    if header.applied == names:
        return header, checksum
    txn = env.begin()
    try:
        header.applied = _apply_missing(txn, header.applied, migrations)
        checksum = header.write(txn, 0)
        txn.commit()
    except BaseException:
        txn.abort()
        raise
    return header, checksum


def _apply_missing(txn: lmdb.Transaction[bytes], applied: list[str], migrations: tuple[Migration, ...]) -> list[str]:
    """Run the migrations whose names are not in `applied`, in order; return the names of all that are applied now.

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


def _require_not_rolled_back(header: Header, checksum: str, guard: RollbackGuard | None) -> None:
    """Raise Damaged where the store is older than its rollback guard.

    At the same number of commits the checksums must agree too: another store, or another branch of this one's history
    from a backup, may have as many. A store ahead of the guard is normal: a commit is flushed before the guard is
    written, and a loss of power may undo writes of the guard, which are not flushed.
    """
    if guard is not None and (
        header.commits < guard.commits or (header.commits == guard.commits and checksum != guard.header)
    ):
        raise _rolled_back(header.commits, guard)


def _rolled_back(commits: int, guard: RollbackGuard) -> Damaged:
    return Damaged(
        f"the store has gone back to commit {commits}; commit {guard.commits} was acknowledged",
        hint="`reverie restore` from a backup; or remove the file `anchor` beside it to go on with what is there",
    )
