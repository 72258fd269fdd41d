"""Writes one space: what a write's body may do, and the operation and events that follow from it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from reverie.errors import ValidationError
from reverie.store.codec import Record, Redactor, Sealed, seal, tombstone
from reverie.store.keys import decode, encode, kind_prefix, number, record_key
from reverie.store.reader import Reader, versions_prefix
from reverie.store.records import StoredRecord, same_record, unknown_fields
from reverie.store.schema import EVENTS_MAX, RULES, Key, Kind, Rule
from reverie.store.timestamps import from_ms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.store.integrity import Trust
    from reverie.store.write_txn import Draft

__all__ = ["Writer"]


class _Change:
    """What one write did to one key: the versions before and after; None where nothing is there."""

    __slots__ = ("after", "before", "key")

    def __init__(self, key: Key, before: int | None, after: int | None) -> None:
        self.key = key
        self.before = before
        self.after = after


class Writer(Reader):
    """A Reader of the space as this write leaves it, with the means to change it. Valid inside the body of a Write.

    Every method raises as Reader's do, and ValidationError for what may not be written.
    """

    lookup: Draft

    def __init__(self, draft: Draft, space: str, trust: Trust, redactor: Redactor) -> None:
        super().__init__(draft, space, trust)
        self._redactor = redactor
        self._changes: dict[tuple[Kind, bytes], _Change] = {}
        self._appended: dict[tuple[Kind, Key], tuple[int, int]] = {}
        self._purged: list[dict[str, Any]] = []
        self._events: list[tuple[str, dict[str, Any]]] = []
        self.number = self.operation() + 1  # of the operation that this write becomes, if it changes anything

    @property
    def at(self) -> str:
        """The time of this commit."""
        return from_ms(self.lookup.at_ms)

    @property
    def changed(self) -> bool:
        """Whether this write has changed anything so far that makes it an operation."""
        return bool(self._listed())

    def put(self, kind: Kind, key: Key, value: dict[str, Any]) -> bool:
        """Write `value`, redacted, under `key`. False where it is there already, word for word: nothing changes then.

        A kind with a hashed key repeats its first part in the value: it is filled in where it is missing.
        """
        field = RULES[kind].field
        if field is not None and field not in value:
            value = {**value, field: key[0]}
        return self.put_sealed(kind, key, seal(value, self._redactor))

    def save(self, record: StoredRecord, key: Key) -> bool:
        """Write a typed record, redacted, under `key`. False where an equal record is there already: nothing changes.

        Where the type keeps unknown fields, those of the stored record are copied into the new one.
        """
        value = record.as_json()
        stored = None
        if record.KEEPS_UNKNOWN_FIELDS:
            stored = self.get(record.KIND, key)
            if stored is not None:
                value |= unknown_fields(type(record), stored)
        sealed = seal(value, self._redactor)
        # The same fields in another order, or with a default left out, are no change: an older version wrote them so,
        # and an operation that lists records whose words are as they were would be wrong.
        if stored is not None and same_record(type(record), orjson.dumps(stored), sealed.body):
            return False
        return self.put_sealed(record.KIND, key, sealed)

    def append_record(self, record: StoredRecord, prefix: Key) -> int:
        """Add a typed record, redacted, to the end of a sequence; return its number, dense from 1."""
        return self.append_many(record.KIND, prefix, (seal(record.as_json(), self._redactor),))[0]

    def put_sealed(self, kind: Kind, key: Key, sealed: Sealed) -> bool:
        """As `put`, for a value that was sealed elsewhere."""
        rule = self._writable(kind)
        if rule.sequence:
            raise ValidationError(f"a {kind} is appended, never put", hint="use append")
        if rule.field is not None:
            _repeats(kind, rule.field, key, sealed)
        raw = record_key(self.lookup.space, kind, key)
        old = self.lookup.find(raw)
        if old is not None and old.address == sealed.address:
            return False
        operation = 0 if rule.bookkeeping else self.number
        if old is not None:
            self._supersede(kind, raw, old)
        elif rule.versioned:
            self._forget_tombstone(kind, raw)
        if old is None and not rule.bookkeeping:
            self._absent(kind, key)
        self.lookup.put(kind, raw, operation, sealed, old)
        self._changed(kind, key, raw, old, operation)
        return True

    def append(self, kind: Kind, prefix: Key, value: dict[str, Any] | Sealed) -> int:
        """Write one more record of a sequence; the number that it was given, dense from 1."""
        sealed = value if isinstance(value, Sealed) else seal(value, self._redactor)
        return self.append_many(kind, prefix, (sealed,))[0]

    def append_many(self, kind: Kind, prefix: Key, values: Iterable[Sealed]) -> tuple[int, int]:
        """Write many records at the end of a sequence; the first and the last number given (last < first: none)."""
        rule = self._writable(kind)
        if not rule.sequence or len(prefix) != rule.scope:
            raise ValidationError(f"a {kind} is not appended to {prefix!r}", hint="see store/FORMAT.md")
        return self._extend(kind, prefix, list(values))

    def _extend(self, kind: Kind, prefix: Key, values: Sequence[Sealed]) -> tuple[int, int]:
        whole = kind_prefix(self.lookup.space, kind) + encode(prefix)
        operation = 0 if RULES[kind].bookkeeping else self.number
        first, last = self.lookup.extend(kind, whole, operation, values)
        if operation and values:
            begun, _ = self._appended.get((kind, prefix), (first, last))
            self._appended[kind, prefix] = (begun, last)
        return first, last

    def delete(self, kind: Kind, key: Key) -> bool:
        """Take away what is under `key`; its versions stay. False where nothing was there."""
        rule = self._writable(kind)
        if rule.sequence:
            raise ValidationError(f"a {kind} is never deleted by itself", hint="purge the whole sequence")
        raw = record_key(self.lookup.space, kind, key)
        old = self.lookup.find(raw)
        if old is None:
            self._absent(kind, key)
            return False
        self._supersede(kind, raw, old)
        self.lookup.remove(kind, raw, old)
        change = self._changed(kind, key, raw, old, None)
        if rule.versioned and change.before is not None:
            self.lookup.put(Kind.VERSION, self._version_key(raw, self.number), self.number, tombstone(), None)
        return True

    def event(self, type_: str, data: dict[str, Any]) -> int:
        """Announce something, without its content; the number that the event will have."""
        if len(self._events) >= EVENTS_MAX:
            raise ValidationError(f"one write announces at most {EVENTS_MAX} events", hint="split the write")
        self._events.append((type_, data))
        return self.last_seq(Kind.EVENT) + len(self._events)

    def purge(self, kind: Kind, prefix: Key, limit: int) -> int:
        """Take away at most `limit` records under `prefix`, every version of them included; how many went.

        A record that was deleted counts as one for as long as versions of it are kept, and is told by what its key
        holds: the hash, where the key is hashed. Sequences are taken from their beginning. Call again until 0. What is
        purged cannot be brought back.
        """
        rule = self._writable(kind)
        taken = [raw for raw, _ in islice(self._walk(kind, prefix, None, reverse=False), limit)]
        if taken and not rule.bookkeeping:
            self._purged += self._told(kind, prefix, taken)
        for raw in taken:
            self._erase(kind, raw)
        if not rule.versioned:
            return len(taken)
        gone = self._deleted(kind, prefix, limit - len(taken))
        start = len(self.lookup.space) + 1
        self._purged += [_purged(kind, decode(raw[start:])) for raw in gone]
        for raw in gone:
            self._erase(kind, raw)
        return len(taken) + len(gone)

    def _deleted(self, kind: Kind, prefix: Key, limit: int) -> list[bytes]:
        """Whole keys of at most `limit` records under `prefix` that are only left as versions."""
        space = self.lookup.space
        of = versions_prefix(space, kind_prefix(space, kind) + encode(prefix, hashed=RULES[kind].hashed))
        self._trust.require(self.lookup, space, of[: len(space) + 2])
        found: dict[bytes, None] = {}
        for where, _ in self._records(of, None, reverse=False):
            rest = where[len(space) + 1 :]
            raw = space + rest[: len(rest) - len(number(decode(rest[1:])[-1]))]
            if len(found) >= limit and raw not in found:
                break
            if self.lookup.find(raw) is None:
                found[raw] = None
        return list(found)

    def _told(self, kind: Kind, prefix: Key, taken: list[bytes]) -> list[dict[str, Any]]:
        """What the operation says of records that are about to be purged."""
        keys = [self._key(kind, raw, None) for raw in taken]
        if RULES[kind].sequence:
            return [
                {"kind": kind.value, "key": list(prefix), "first": keys[0][-1], "last": keys[-1][-1], "purged": True}
            ]
        return [_purged(kind, key) for key in keys]

    def _erase(self, kind: Kind, raw: bytes) -> None:
        if RULES[kind].versioned:
            for where, version in list(self._versions(kind, raw)):
                self.lookup.let_go(version)
                self.lookup.remove(Kind.VERSION, where, version)
        old = self.lookup.find(raw)
        if old is not None:
            self.lookup.let_go(old)
            self.lookup.remove(kind, raw, old)

    def _writable(self, kind: Kind) -> Rule:
        rule = RULES[kind]
        if rule.internal:
            raise ValidationError(f"a {kind} is written by the store alone", hint="see store/FORMAT.md")
        return rule

    def _version_key(self, raw: bytes, operation: int) -> bytes:
        return versions_prefix(self.lookup.space, raw) + encode((operation,))

    def _supersede(self, kind: Kind, raw: bytes, old: Record) -> None:
        """Keep the version that is about to be replaced, or let go of what it held."""
        if RULES[kind].versioned and old.operation != self.number:
            self.lookup.copy(Kind.VERSION, self._version_key(raw, old.operation), old)
        else:
            self.lookup.let_go(old)

    def _forget_tombstone(self, kind: Kind, raw: bytes) -> None:
        """A record deleted and put again in one write was not deleted, as far as its history tells."""
        if (kind, raw) in self._changes:
            where = self._version_key(raw, self.number)
            grave = self.lookup.find(where)
            if grave is not None:
                self.lookup.remove(Kind.VERSION, where, grave)

    def _changed(self, kind: Kind, key: Key, raw: bytes, old: Record | None, after: int | None) -> _Change:
        change = self._changes.get((kind, raw))
        if change is None:
            change = self._changes[kind, raw] = _Change(key, None if old is None else old.operation, after)
        change.after = after
        return change

    def finish(self, *, who: str, why: str, parent: int | None) -> int | None:
        """Write the operation, if there is one, and the events; the operation's number. Called by the store."""
        changes = self._listed()
        operation = None
        first = self.last_seq(Kind.EVENT) + 1
        if changes:
            value = {
                "seq": self.number,
                "who": who,
                "why": why,
                "at": self.at,
                "parent": self.number - 1 if parent is None else parent,
                "changes": changes,
                "events": [first, first + len(self._events) - 1] if self._events else None,
            }
            operation = self._write_operation(value)
        events = [
            seal({"seq": seq, "type": type_, "at": self.at, "operation": operation, "data": data}, self._redactor)
            for seq, (type_, data) in enumerate(self._events, first)
        ]
        if events:
            self._extend(Kind.EVENT, (), events)
        return operation

    def _write_operation(self, value: dict[str, Any]) -> int:
        sealed = seal(value, self._redactor)
        if sealed.json()["changes"] != value["changes"]:
            raise ValidationError(
                "an id or a path of this write looks like a secret, and keys are not redacted",
                hint="use another id or path",
            )
        prefix = kind_prefix(self.lookup.space, Kind.OPERATION)
        return self.lookup.extend(Kind.OPERATION, prefix, self.number, [sealed])[0]

    def _listed(self) -> list[dict[str, Any]]:
        """The changes as an operation lists them: keys by kind, then runs of appended numbers, then purges."""
        listed: list[dict[str, Any]] = [
            {"kind": kind.value, "key": list(change.key), "before": change.before, "after": change.after}
            for (kind, _), change in self._changes.items()
            if not RULES[kind].bookkeeping and not (change.before is None and change.after is None)
        ]
        listed += [
            {"kind": kind.value, "key": list(prefix), "first": first, "last": last}
            for (kind, prefix), (first, last) in self._appended.items()
        ]
        return listed + self._purged


def _purged(kind: Kind, key: Key) -> dict[str, Any]:
    return {"kind": kind.value, "key": list(key), "before": None, "after": None, "purged": True}


def _repeats(kind: Kind, field: str, key: Key, sealed: Sealed) -> None:
    """Raises ValidationError unless the value repeats, unredacted, the key part that is stored hashed."""
    if sealed.json().get(field) != key[0]:
        raise ValidationError(
            f"the {field} of a {kind} must stand in its value as it is in its key, and hold no secret",
            hint=f"put {field!r} into the value; rename what looks like a secret",
        )
