"""Superseded versions of records: kept as edits of the version after them, with a whole text every so often.

The current record is whole, and an edit leads from each version back to the one before, so that the newest texts are
the quickest to read and the oldest versions can be removed first. Example, the versions that operations 3, 5 and 8
wrote: 8 is the current record, 5 is an edit of 8, 3 an edit of 5. A version is kept whole where it is followed by a
deletion, where `EDITS_MAX` older edits are based on each other before it, or where these have more bytes than it has:
so a text is at most `EDITS_MAX` edits away from a whole one, and reading them costs at most as much as reading two.

Retention rules, which remove them in small steps, are here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import orjson

from reverie.store.codec import (
    EDIT,
    TOMBSTONE,
    EditHead,
    RawRecord,
    Sealed,
    decode_record,
    edit_head,
    seal,
    sealed_edit,
    sealed_text,
)
from reverie.store.keys import backward, decode_key, encode_number, forward, kind_prefix, record_key, versions_prefix
from reverie.store.kinds import BLOB_BYTES_MIN, RULES, Key, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store.codec import Redactor
    from reverie.store.transactions import WriteTransaction

EDITS_MAX = 64  # edits between two whole texts; applying one takes some 20 µs
_STEP_VERSIONS = 25  # looked at in one write, so that it stays well under 20 ms


@dataclass(frozen=True, slots=True)
class _Text:
    """The JSON text of a version, and the operation that wrote it."""

    operation: int
    body: bytes


def keep_version(transaction: WriteTransaction, raw: bytes, old: RawRecord, new: Sealed | None, number: int) -> None:
    """Store `old`, the version of `raw` before `new`, as an edit of `new`; `number` is the operation of `new`.

    Without `new` the record is deleted, and the version is kept whole.
    """
    version_raw = versions_prefix(transaction.space, raw) + encode_number(old.operation)
    base = None if new is None else _Text(number, new.body)
    edit = None if base is None else _edit(transaction, version_raw, raw, old, base)
    if edit is None:
        transaction.copy(Kind.VERSION, version_raw, old)
    else:
        transaction.rewrite(Kind.VERSION, version_raw, old, edit)
        transaction.release_blob(old)


def rebase_version(transaction: WriteTransaction, raw: bytes, old: RawRecord, new: Sealed | None, number: int) -> None:
    """Make the newest version an edit of `new`, or whole: `old`, its base under `raw`, is about to be replaced.

    For a record that one write puts twice, or puts and deletes: its first text is kept nowhere.
    """
    item = next(backward(transaction.txn, versions_prefix(transaction.space, raw), None), None)
    if item is None:
        return
    version_raw, version = item[0], decode_record(*item)
    if version.form != EDIT or edit_head(version.data).base != old.operation:
        return
    text = transaction.body(version_raw, version)
    _store(transaction, version_raw, version, text, None if new is None else _Text(number, new.body))


def _edit(
    transaction: WriteTransaction, version_raw: bytes, raw: bytes, version: RawRecord, base: _Text
) -> Sealed | None:
    """Return a whole version, which is under `raw` now, as an edit of `base`; None where it is to stay whole."""
    whole = len(transaction.sealed_bytes(raw, version))
    return _edit_of(transaction, version_raw, transaction.body(raw, version), whole, base)


def _edit_of(transaction: WriteTransaction, version_raw: bytes, text: bytes, whole: int, base: _Text) -> Sealed | None:
    """Return `text` as an edit of `base`; None where it is shorter as a whole, in `whole` bytes, or due to be one."""
    before = _edit_before(transaction, version_raw)
    if before is not None and (before.number + 1 >= EDITS_MAX or before.size >= whole):
        return None
    edit = sealed_edit(text, base.body, base.operation, before)
    return edit if edit is not None and len(edit.data) < min(whole, BLOB_BYTES_MIN) else None


def _edit_before(transaction: WriteTransaction, version_raw: bytes) -> EditHead | None:
    """Return the head of the edit whose base is the version under `version_raw`, or None if there is none."""
    operation = decode_key(version_raw[len(transaction.space) + 2 :])[-1]
    prefix = version_raw[: len(version_raw) - len(encode_number(operation))]
    item = next(backward(transaction.txn, prefix, version_raw), None)
    if item is None:
        return None
    record = decode_record(*item)
    head = edit_head(record.data) if record.form == EDIT else None
    return head if head is not None and head.base == operation else None


def _store(
    transaction: WriteTransaction, version_raw: bytes, version: RawRecord, text: bytes, base: _Text | None
) -> None:
    """Rewrite a version whose text is `text` in its shorter form: whole, or as an edit of `base`."""
    whole = sealed_text(text)
    edit = None if base is None else _edit_of(transaction, version_raw, text, len(whole.data), base)
    transaction.rewrite(Kind.VERSION, version_raw, version, edit or whole)
    transaction.release_blob(version)


def shorten_versions(transaction: WriteTransaction, after: str = "") -> str | None:
    """Convert some whole versions of older releases to edits; return the cursor of the next step, None at the end.

    Begin without a cursor; None after the last step. Every step leaves a store that reads the same as before, so the
    work may end after any of them, and may be done again. Bookkeeping: no operation.
    """
    prefix = kind_prefix(transaction.space, Kind.VERSION)
    records = list(islice(forward(transaction.txn, prefix, bytes.fromhex(after) or None), _STEP_VERSIONS))
    for version_raw, data in records:
        version = decode_record(version_raw, data)
        if version.form in {EDIT, TOMBSTONE}:
            continue
        base = successor(transaction, version_raw)
        if base is None or base[1].form == TOMBSTONE:
            continue
        text = _Text(base[1].operation, transaction.body(*base))
        edit = _edit(transaction, version_raw, version_raw, version, text)
        if edit is not None:
            transaction.rewrite(Kind.VERSION, version_raw, version, edit)
            transaction.release_blob(version)
    return records[-1][0].hex() if len(records) == _STEP_VERSIONS else None


def successor(transaction: WriteTransaction, version_raw: bytes) -> tuple[bytes, RawRecord] | None:
    """Return the successor of a version with its key: the next version, else the current record, else None."""
    operation = decode_key(version_raw[len(transaction.space) + 2 :])[-1]
    prefix = version_raw[: len(version_raw) - len(encode_number(operation))]
    following = next(forward(transaction.txn, prefix, version_raw), None)
    if following is not None:
        return following[0], decode_record(*following)
    raw = transaction.space + prefix[len(transaction.space) + 1 :]
    current = transaction.find(raw)
    return None if current is None else (raw, current)


def rewrite_record(
    transaction: WriteTransaction,
    kind: Kind,
    key: Key,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    redactor: Redactor,
) -> int:
    """Change the text of a record and of all its versions, as `Writer.rewrite`; return how many changed."""
    raw = record_key(transaction.space, kind, key)
    current = transaction.find(raw)
    keys: list[bytes] = []
    if RULES[kind].versioned:
        keys = [
            version_key for version_key, _ in forward(transaction.txn, versions_prefix(transaction.space, raw), None)
        ]
    keys += [] if current is None else [raw]
    changed = 0
    # Oldest first: what a version is made of, the newer texts, is then still there as it was.
    for index, version_raw in enumerate(keys):
        version = transaction.find(version_raw)
        if version is None or version.form == TOMBSTONE:
            continue
        before = transaction.body(version_raw, version)
        after = _changed(before, change, redactor)
        changed += after != before
        base = None if index + 1 == len(keys) else _changed_base(transaction, keys[index + 1], change, redactor)
        if version_raw == raw:
            if after != before:
                transaction.rewrite(kind, raw, version, sealed_text(after))
                transaction.release_blob(version)
        elif after != before or (base is not None and base[1]):
            _store(transaction, version_raw, version, after, None if base is None else base[0])
    return changed


def _changed(text: bytes, change: Callable[[dict[str, Any]], dict[str, Any]], redactor: Redactor) -> bytes:
    """Return a JSON text after a change; the same bytes where nothing in it changes."""
    value = orjson.loads(text)
    after = change(orjson.loads(text))
    return text if after == value else seal(after, redactor).body


def _changed_base(
    transaction: WriteTransaction,
    raw: bytes,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    redactor: Redactor,
) -> tuple[_Text, bool] | None:
    """Return the text that `change` makes of the record `raw`, and True if it differs; None if it is deleted."""
    record = transaction.find(raw)
    if record is None or record.form == TOMBSTONE:
        return None
    before = transaction.body(raw, record)
    after = _changed(before, change, redactor)
    return _Text(record.operation, after), after != before


STEP_RECORDS = 500  # records looked at in one write, so that it stays well under 20 ms and agents do not wait
_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Rules:
    """The days after which records are removed. Messages, operations and current records never are."""

    version_days: int = 365  # counted from the moment a version was superseded
    event_days: int = 90
    key_days: int = 7  # idempotency keys
    failure_days: int = 7  # dreams that failed


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


def prune(transaction: WriteTransaction, rules: Rules, cursor: str | None = None) -> Step:
    """Remove the records that are due among at most STEP_RECORDS; return how many, and the next step's cursor.

    Begin without a cursor, pass each step the cursor of the last, stop when it is None. Bookkeeping: no operation.
    A cursor is the number of a stage and the hex of the last key looked at: `3:0264…`.
    """
    stages = _stages(rules, transaction.at_ms)
    index, _, after = (cursor or "0:").partition(":")
    kind, due = stages[int(index)]
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
            expired(record.at_ms, now_ms, rules.failure_days)
            and transaction.open(raw, record).get("failure") is not None
        )

    def of_no_memory(transaction: WriteTransaction, raw: bytes, _record: RawRecord) -> bool:
        memory = kind_prefix(transaction.space, Kind.MEMORY) + raw[len(kind_prefix(transaction.space, Kind.ACCESS)) :]
        versions = versions_prefix(transaction.space, memory)
        return transaction.data(memory) is None and next(forward(transaction.txn, versions, None), None) is None

    return [
        (Kind.EVENT, older(rules.event_days)),
        (Kind.IDEMPOTENCY, older(rules.key_days)),
        (Kind.VERSION, replaced),
        (Kind.DREAM, failed_dream),
        (Kind.ACCESS, of_no_memory),  # after the versions: with the last of them the memory cannot be restored
    ]
