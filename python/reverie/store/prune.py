"""Removal of records older than the retention rules, in small steps, and of a whole thread with every version of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from reverie.store.codec import TOMBSTONE, RawRecord, decode_record
from reverie.store.keys import backward, encode_number, forward, kind_prefix, versions_prefix
from reverie.store.kinds import RULES, Kind
from reverie.store.versions import successor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store.transactions import WriteTransaction
    from reverie.store.writer import Writer

STEP_RECORDS = 500  # records looked at in one write, so that it stays well under 20 ms and agents do not wait
_DAY_MS = 24 * 60 * 60 * 1000

# The thread's own record is last, so that a purge that was interrupted is found and finished.
THREAD_KINDS = (
    *(kind for kind, rule in RULES.items() if rule.parts[:1] == ("thread",) and kind is not Kind.THREAD),
    Kind.THREAD,
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The days after which records are removed. Messages, operations and current records never are."""

    version_days: int = 365  # counted from the moment a version was superseded
    event_days: int = 90
    key_days: int = 7  # idempotency keys
    job_days: int = 7  # since the job last changed


@dataclass(frozen=True, slots=True)
class Step:
    """The records removed by one step, and the cursor of the next step; None after the last one."""

    removed: int
    cursor: str | None


def expired(at_ms: int, now_ms: int, days: int) -> bool:
    """Return True if something that happened at `at_ms` lies at least `days` back."""
    return at_ms <= now_ms - days * _DAY_MS


def superseded(version: RawRecord, successor: RawRecord | None, now_ms: int, days: int) -> bool:
    """Return True if a version may be removed: it was superseded, or is a deletion, at least `days` ago.

    The age of the successor counts and not the version's own: a text that was current for two years until yesterday can
    be put back for another year.
    """
    if successor is None:
        return version.form == TOMBSTONE and expired(version.at_ms, now_ms, days)
    return expired(successor.at_ms, now_ms, days)


def prune(writer: Writer, rules: Rules, cursor: str | None = None) -> Step:
    """Remove the records that are due among at most STEP_RECORDS; return how many, and the next step's cursor.

    Begin without a cursor, pass each step the cursor of the last, stop when it is None. Bookkeeping: no operation.
    A cursor is the number of a stage and the hex of the last key looked at: `3:0264…`.
    """
    stages = _stages(rules, writer.transaction.at_ms)
    index, _, after = (cursor or "0:").partition(":")
    kind, due = stages[int(index)]
    transaction = writer.transaction
    prefix = kind_prefix(transaction.space, kind)
    looked_at = list(islice(forward(transaction.txn, prefix, bytes.fromhex(after) or None), STEP_RECORDS))
    # A sequence stays dense: only its beginning is removed, even where a clock that jumped has put old times behind.
    choose = takewhile if RULES[kind].sequence else filter
    removed = list(choose(lambda item: due(transaction, *item), _decoded(looked_at)))
    if kind is Kind.VERSION:
        removed = _oldest(transaction, removed)
    for raw, record in removed:
        transaction.release_blob(record)
        transaction.remove(kind, raw, record)
    done = len(looked_at) < STEP_RECORDS or (RULES[kind].sequence and len(removed) < len(looked_at))
    if not done:
        return Step(len(removed), f"{index}:{looked_at[-1][0].hex()}")
    following = int(index) + 1
    return Step(len(removed), f"{following}:" if following < len(stages) else None)


def _oldest(transaction: WriteTransaction, versions: list[tuple[bytes, RawRecord]]) -> list[tuple[bytes, RawRecord]]:
    """Return the versions among these of which no older version is kept, so that no gap arises in a history.

    An older version may be an edit of a newer one. It is due later than that only where a clock was set back.
    """
    oldest: list[tuple[bytes, RawRecord]] = []
    for raw, version in versions:
        prefix = raw[: len(raw) - len(encode_number(version.operation))]
        before = next(backward(transaction.txn, prefix, raw), None)
        if before is None or (oldest and before[0] == oldest[-1][0]):
            oldest.append((raw, version))
    return oldest


def _decoded(items: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, RawRecord]]:
    return ((raw, decode_record(raw, data)) for raw, data in items)


def _stages(rules: Rules, now_ms: int) -> list[tuple[Kind, Callable[[WriteTransaction, bytes, RawRecord], bool]]]:
    """Return the kinds of record to prune, in order, each with the function that says if a record is due."""

    def older(days: int) -> Callable[[WriteTransaction, bytes, RawRecord], bool]:
        return lambda _transaction, _raw, record: expired(record.at_ms, now_ms, days)

    def replaced(transaction: WriteTransaction, raw: bytes, record: RawRecord) -> bool:
        following = successor(transaction, raw)
        return superseded(record, None if following is None else following[1], now_ms, rules.version_days)

    def failed_dream(transaction: WriteTransaction, raw: bytes, record: RawRecord) -> bool:
        return (
            expired(record.at_ms, now_ms, rules.job_days) and transaction.open(raw, record).get("failure") is not None
        )

    def of_no_memory(transaction: WriteTransaction, raw: bytes, _record: RawRecord) -> bool:
        memory = kind_prefix(transaction.space, Kind.MEMORY) + raw[len(kind_prefix(transaction.space, Kind.ACCESS)) :]
        versions = versions_prefix(transaction.space, memory)
        return transaction.data(memory) is None and next(forward(transaction.txn, versions, None), None) is None

    return [
        (Kind.EVENT, older(rules.event_days)),
        (Kind.IDEMPOTENCY, older(rules.key_days)),
        (Kind.JOB, older(rules.job_days)),
        (Kind.VERSION, replaced),
        (Kind.DREAM, failed_dream),
        (Kind.ACCESS, of_no_memory),  # after the versions: with the last of them the memory cannot be restored
    ]


def purge_thread(writer: Writer, thread: str, limit: int = 1000) -> int:
    """Remove at most `limit` records of a thread in this write, with their versions; return how many.

    Also records that were deleted before, of which only versions are left. Call it until the THREAD record is gone, or
    it returns 0.

    What was derived only from the thread and is kept elsewhere (memories, archives) is for the caller to delete.
    The bytes leave the file at the next `Store.compact`.
    """
    purged = 0
    for kind in THREAD_KINDS:
        purged += writer.purge(kind, (thread,), limit - purged)
        if purged >= limit:
            break
    return purged
