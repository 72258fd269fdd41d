"""Write access to one space: what the body of a write may do, and the operation and events that follow from it."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from reverie.errors import ValidationError
from reverie.store.codec import Sealed, decode_record, from_ms, seal, sealed_text, tombstone
from reverie.store.keys import decode_key, encode_key, encode_number, kind_prefix, record_key, versions_prefix
from reverie.store.kinds import EVENTS_MAX, RULES, THREAD_KINDS, Key, Kind, Rule
from reverie.store.reader import Reader
from reverie.store.records import (
    ChangeRecord,
    EventRecord,
    IdempotencyRecord,
    OperationRecord,
    StoredRecord,
    decoded,
    same_record,
    seal_record,
    seal_records,
    unknown_fields,
)
from reverie.store.versions import keep_version, prune, rebase_version, rewrite_record, shorten_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.models import Json
    from reverie.store.checksums import VerifiedCollections
    from reverie.store.codec import RawRecord, Redactor
    from reverie.store.transactions import WriteTransaction
    from reverie.store.versions import Rules, Step


class _Change:
    """The change of one key by one write: its versions before and after, None for an absent record."""

    __slots__ = ("after", "before", "key")

    def __init__(self, key: Key, before: int | None, after: int | None) -> None:
        self.key = key
        self.before = before
        self.after = after


class Writer(Reader):
    """A Reader that sees the write's own changes, and methods to change the space. Valid inside the body of a Write.

    Every method raises as Reader's do, and ValidationError for what may not be written.
    """

    transaction: WriteTransaction

    def __init__(
        self, transaction: WriteTransaction, space: str, verified: VerifiedCollections, redactor: Redactor
    ) -> None:
        super().__init__(transaction, space, verified)
        self._redactor = redactor
        self._changes: dict[tuple[Kind, bytes], _Change] = {}
        self._appended: dict[tuple[Kind, Key], tuple[int, int]] = {}
        self._replaced: list[ChangeRecord] = []
        self._purged: list[ChangeRecord] = []
        self._events: list[tuple[str, dict[str, Any]]] = []
        self._last_event: int | None = None  # before this write; read with the first event
        self.number = self.operation() + 1  # of the operation that this write makes, if it changes anything

    @property
    def at(self) -> str:
        """The time of the commit that this write is part of."""
        return from_ms(self.transaction.at_ms)

    @property
    def changed(self) -> bool:
        """True if this write has changed something that makes an operation of it."""
        return bool(self._listed())

    def put(self, kind: Kind, key: Key, value: dict[str, Any]) -> bool:
        """Write `value`, redacted, under `key`; return False where the same JSON is there: nothing changes then.

        A kind with a hashed key repeats its first part in the value; it is added where it is missing.
        """
        field = RULES[kind].field
        if field is not None and field not in value:
            value = {**value, field: key[0]}
        return self.put_sealed(kind, key, seal(value, self._redactor))

    def save(self, record: StoredRecord, key: Key) -> bool:
        """Write a typed record, redacted, under `key`; return False where an equal one is there: nothing changes then.

        Where the type keeps unknown fields, those of the stored record are copied into the new one.
        """
        kind = record.KIND
        self._require_put(kind)
        raw = record_key(self.transaction.space, kind, key)
        old = self.transaction.find(raw)
        if old is None or not record.KEEPS_UNKNOWN_FIELDS:
            return self._put(kind, key, raw, old, seal_record(record, self._redactor))
        stored = self.transaction.body(raw, old)
        # The same fields in another order, or with a default left out, are no change: an older version wrote them so,
        # and an operation that lists records whose content is as it was would be wrong.
        if same_record(record, stored):
            return False
        value = {**record.as_json(), **unknown_fields(type(record), orjson.loads(stored))}
        sealed = seal(value, self._redactor)
        if sealed.redacted and same_record(decoded(type(record), b"", sealed.body), stored):
            return False
        return self._put(kind, key, raw, old, sealed)

    def redacted(self, value: Json) -> Json:
        """Return a JSON value as it would be stored: without its secrets."""
        return self._redactor.taken(value)[0]

    def save_redacted(self, record: StoredRecord, key: Key) -> bool:
        """Write a record whose texts are redacted, such as an archive: another pass would change what was hashed."""
        return self.put_sealed(record.KIND, key, sealed_text(orjson.dumps(record.as_json())))

    def append_record(self, record: StoredRecord, prefix: Key) -> int:
        """Add a typed record, redacted, to the end of a sequence; return its number, dense from 1."""
        return self.append_many(record.KIND, prefix, (seal(record.as_json(), self._redactor),))[0]

    def put_sealed(self, kind: Kind, key: Key, sealed: Sealed) -> bool:
        """Write a value that was redacted and encoded before, as `put` does."""
        self._require_put(kind)
        raw = record_key(self.transaction.space, kind, key)
        return self._put(kind, key, raw, self.transaction.find(raw), sealed)

    def _require_put(self, kind: Kind) -> None:
        """Raise ValidationError for a kind that is written by the store alone, or only appended to."""
        if self._writable(kind).sequence:
            raise ValidationError(f"a {kind} is appended, never put", hint="use append")

    def _put(self, kind: Kind, key: Key, raw: bytes, old: RawRecord | None, sealed: Sealed) -> bool:
        """Write a value in place of `old`, the record under the encoded key `raw`; return False where it is equal."""
        rule = RULES[kind]
        if rule.field is not None:
            _repeats(kind, rule.field, key, sealed)
        if old is not None and (old.address == sealed.address or self.transaction.body(raw, old) == sealed.body):
            return False  # the same text may be packed otherwise by another version of zstd, or not at all
        operation = 0 if rule.bookkeeping else self.number
        if old is not None:
            self._supersede(kind, raw, old, sealed)
        elif rule.versioned:
            self._forget_tombstone(kind, raw)
        if old is None and not rule.bookkeeping:
            # A record that damage has removed must not be replaced without a word: its history would begin anew.
            self._absent(kind, key)
        self.transaction.put(kind, raw, operation, sealed, old)
        self._changed(kind, key, raw, old, operation)
        return True

    def append(self, kind: Kind, prefix: Key, value: dict[str, Any] | Sealed) -> int:
        """Add a record to the end of a sequence; return its number, dense from 1."""
        sealed = value if isinstance(value, Sealed) else seal(value, self._redactor)
        return self.append_many(kind, prefix, (sealed,))[0]

    def append_many(self, kind: Kind, prefix: Key, values: Iterable[Sealed]) -> tuple[int, int]:
        """Add sealed records to the end of a sequence; return the first and last number (last < first: none)."""
        rule = self._writable(kind)
        if not rule.sequence or len(prefix) != rule.scope:
            raise ValidationError(f"a {kind} is not appended to {prefix!r}", hint="see store/FORMAT.md")
        return self._append(kind, prefix, list(values))

    def _append(self, kind: Kind, prefix: Key, values: Sequence[Sealed]) -> tuple[int, int]:
        """Add records to a sequence, note their numbers for the operation, and return the first and last number."""
        whole = kind_prefix(self.transaction.space, kind) + encode_key(prefix)
        operation = 0 if RULES[kind].bookkeeping else self.number
        first, last = self.transaction.append(kind, whole, operation, values)
        if operation and values:
            begun, _ = self._appended.get((kind, prefix), (first, last))
            self._appended[kind, prefix] = (begun, last)
        return first, last

    def replace(self, kind: Kind, prefix: Key, seq: int, sealed: Sealed) -> None:
        """Write another value in place of a record of a sequence; the one before is kept nowhere.

        The operation lists it as appended once more, so that what reads the log reads the record again.
        """
        self._writable(kind)
        raw = record_key(self.transaction.space, kind, (*prefix, seq))
        old = self.transaction.find(raw)
        if old is None:
            raise ValidationError(f"there is no {kind} {seq}", hint="append it")
        self.transaction.release_blob(old)
        self.transaction.put(kind, raw, self.number, sealed, old)
        self._replaced.append(ChangeRecord(kind=kind, key=list(prefix), first=seq, last=seq))

    def delete(self, kind: Kind, key: Key) -> bool:
        """Delete the record under `key`, keeping its versions; return False where nothing was there."""
        rule = self._writable(kind)
        if rule.sequence:
            raise ValidationError(f"a {kind} is never deleted by itself", hint="purge the whole sequence")
        raw = record_key(self.transaction.space, kind, key)
        old = self.transaction.find(raw)
        if old is None:
            self._absent(kind, key)
            return False
        self._supersede(kind, raw, old, None)
        self.transaction.remove(kind, raw, old)
        change = self._changed(kind, key, raw, old, None)
        if rule.versioned and change.before is not None:
            # A record that this same write made has no version to come after, so it needs no tombstone.
            self.transaction.put(Kind.VERSION, self._version_key(raw, self.number), self.number, tombstone(), None)
        return True

    def event(self, type_: str, data: dict[str, Any]) -> int:
        """Add an event to this operation (an announcement without content); return the event's number."""
        if len(self._events) >= EVENTS_MAX:
            raise ValidationError(f"one write announces at most {EVENTS_MAX} events", hint="split the write")
        self._last_event = self.last_seq(Kind.EVENT) if self._last_event is None else self._last_event
        self._events.append((type_, data))
        return self._last_event + len(self._events)

    def purge(self, kind: Kind, prefix: Key, limit: int) -> int:
        """Remove at most `limit` records under `prefix` for good, with every version; return how many. Call it until 0.

        A record that was deleted counts as one for as long as versions of it are kept; the operation names it by what
        its key has, the hash where the key is hashed. Sequences are removed from their beginning, so they stay dense.
        """
        rule = self._writable(kind)
        taken = [raw for raw, _ in islice(self._walk(kind, prefix, None, reverse=False), limit)]
        if taken and not rule.bookkeeping:
            self._purged += self._purge_changes(kind, prefix, taken)
        for raw in taken:
            self._erase(kind, raw)
        if not rule.versioned:
            return len(taken)
        # Deleted records have no current record to find them by, but their versions would keep their content.
        deleted = self._deleted(kind, prefix, limit - len(taken))
        start = len(self.transaction.space) + 1
        self._purged += [_purged(kind, decode_key(raw[start:])) for raw in deleted]
        for raw in deleted:
            self._erase(kind, raw)
        return len(taken) + len(deleted)

    def purge_thread(self, thread: str, limit: int = 1000) -> int:
        """Remove at most `limit` records of a thread in this write, with their versions; return how many.

        Also records that were deleted before, of which only versions are left. Call it until it returns less.

        What was derived only from the thread and is kept elsewhere (memories, archives) is for the caller to delete.
        The bytes leave the file at the next `Store.compact`.
        """
        purged = 0
        for kind in THREAD_KINDS:
            purged += self.purge(kind, (thread,), limit - purged)
            if purged >= limit:
                break
        return purged

    def rewrite(self, kind: Kind, key: Key, change: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
        """Change the content of a record and of all its versions, as if it had always been so; return how many changed.

        For words that must be nowhere any more: `change` gets the JSON of each version and returns it without them.
        Operations, times and deletions stay as they are, and no operation is made of it: the caller notes what it did.
        Edits are made anew, so that none of them has the words. The bytes leave the file when it is compacted. Of the
        store's own kinds this is for the log: operations have names of documents, events these and tags of memories.
        """
        if kind not in {Kind.EVENT, Kind.OPERATION}:
            self._writable(kind)
        return rewrite_record(self.transaction, kind, key, change, self._redactor)

    def shorten_versions(self, after: str) -> str | None:
        """Convert some whole versions of older releases to edits; return the next step's `after`, None at the end.

        Begin with an empty text; None after the last step. Reads the same before and after; no operation.
        """
        return shorten_versions(self.transaction, after)

    def prune(self, rules: Rules, cursor: str | None = None) -> Step:
        """Remove records that are due by the rules, in small steps; return how many, and the next step's cursor."""
        return prune(self.transaction, rules, cursor)

    def purge_answers(self, holds: Callable[[Json], bool], after: bytes | None, limit: int) -> bytes | None:
        """Empty the stored idempotency answers for which `holds` is true; return where to continue, None at the end.

        At most `limit` answers are looked at. The key stays, so that a repeated request is refused and not run again.
        """
        prefix = kind_prefix(self.transaction.space, Kind.IDEMPOTENCY)
        looked_at = list(islice(self._records(prefix, after, reverse=False), limit))
        for raw, data in looked_at:
            answer = self.transaction.load(IdempotencyRecord, raw, data)
            if holds(answer.value):
                old = decode_record(raw, data)
                self.transaction.release_blob(old)
                purged = msgspec.structs.replace(answer, value=None, purged=True)
                self.transaction.put(Kind.IDEMPOTENCY, raw, 0, seal_record(purged, self._redactor), old)
        return looked_at[-1][0] if len(looked_at) == limit else None

    def _deleted(self, kind: Kind, prefix: Key, limit: int) -> list[bytes]:
        """Return the encoded keys of at most `limit` deleted records under `prefix` that still have versions."""
        space = self.transaction.space
        versions = versions_prefix(space, kind_prefix(space, kind) + encode_key(prefix, hashed=RULES[kind].hashed))
        self._verified.require(self.transaction, versions[: len(space) + 2])
        raw_keys: dict[bytes, None] = {}
        for version_raw, _ in self._records(versions, None, reverse=False):
            # The key of a version is that of its record, without the space, and the operation as the last part.
            rest = version_raw[len(space) + 1 :]
            raw = space + rest[: len(rest) - len(encode_number(decode_key(rest[1:])[-1]))]
            if len(raw_keys) >= limit and raw not in raw_keys:
                break
            if self.transaction.find(raw) is None:
                raw_keys[raw] = None
        return list(raw_keys)

    def _purge_changes(self, kind: Kind, prefix: Key, taken: list[bytes]) -> list[ChangeRecord]:
        """Return the changes that the operation lists for records that are about to be purged."""
        keys = [self._key(kind, raw, None) for raw in taken]
        if RULES[kind].sequence:
            first, last = int(keys[0][-1]), int(keys[-1][-1])
            return [ChangeRecord(kind=kind, key=list(prefix), first=first, last=last, purged=True)]
        return [_purged(kind, key) for key in keys]

    def _erase(self, kind: Kind, raw: bytes) -> None:
        """Remove a record with all its versions and blobs."""
        if RULES[kind].versioned:
            for version_raw, version in list(self._versions(kind, raw)):
                self.transaction.release_blob(version)
                self.transaction.remove(Kind.VERSION, version_raw, version)
        old = self.transaction.find(raw)
        if old is not None:
            self.transaction.release_blob(old)
            self.transaction.remove(kind, raw, old)

    def _writable(self, kind: Kind) -> Rule:
        """Return the rule of a kind that callers may write. Raises ValidationError for the store's own kinds."""
        rule = RULES[kind]
        if rule.internal:
            raise ValidationError(f"a {kind} is written by the store alone", hint="see store/FORMAT.md")
        return rule

    def _version_key(self, raw: bytes, operation: int) -> bytes:
        return versions_prefix(self.transaction.space, raw) + encode_key((operation,))

    def _supersede(self, kind: Kind, raw: bytes, old: RawRecord, new: Sealed | None) -> None:
        """Keep the version that `new` or a deletion replaces, or release its blob.

        A version that this same write made is not kept: it was never visible, and both would have the same operation
        number.
        """
        if not RULES[kind].versioned:
            self.transaction.release_blob(old)
        elif old.operation != self.number:
            keep_version(self.transaction, raw, old, new, self.number)
        else:
            rebase_version(self.transaction, raw, old, new, self.number)
            self.transaction.release_blob(old)

    def _forget_tombstone(self, kind: Kind, raw: bytes) -> None:
        """Remove the tombstone of a record that one write deletes and puts again: its history shows no deletion."""
        if (kind, raw) in self._changes:
            version_raw = self._version_key(raw, self.number)
            deletion = self.transaction.find(version_raw)
            if deletion is not None:
                self.transaction.remove(Kind.VERSION, version_raw, deletion)

    def _changed(self, kind: Kind, key: Key, raw: bytes, old: RawRecord | None, after: int | None) -> _Change:
        """Note the change of a key: of several in this write `before` is the first one's, `after` the last one's."""
        change = self._changes.get((kind, raw))
        if change is None:
            change = self._changes[kind, raw] = _Change(key, None if old is None else old.operation, after)
        change.after = after
        return change

    def finish(self, *, who: str, why: str, parent: int | None) -> int | None:
        """Store the operation, if there is one, and the events; return the operation's number. Called by the store."""
        changes = self._listed()
        operation = None
        at = self.at
        first = self.last_seq(Kind.EVENT) + 1
        if changes:
            record = OperationRecord(
                seq=self.number,
                who=who,
                why=why,
                at=at,
                parent=self.number - 1 if parent is None else parent,
                changes=changes,
                events=[first, first + len(self._events) - 1] if self._events else None,
            )
            operation = self._write_operation(record)
        events = [
            EventRecord(seq=seq, type=type_, at=at, operation=operation, data=data)
            for seq, (type_, data) in enumerate(self._events, first)
        ]
        if events:
            self._append(Kind.EVENT, (), seal_records(events, self._redactor))
        return operation

    def _write_operation(self, record: OperationRecord) -> int:
        """Store the operation; return its number. Raises ValidationError where the redactor changed one of its keys.

        Keys on disk are not redacted, so an id or path that looks like a secret would get there. And an operation whose
        keys were redacted could not be undone.
        """
        value = record.as_json()
        sealed = seal(value, self._redactor)
        if sealed.redacted and sealed.json()["changes"] != value["changes"]:
            raise ValidationError(
                "an id or a path of this write looks like a secret, and keys are not redacted",
                hint="use another id or path",
            )
        prefix = kind_prefix(self.transaction.space, Kind.OPERATION)
        return self.transaction.append(Kind.OPERATION, prefix, self.number, [sealed])[0]

    def _listed(self) -> list[ChangeRecord]:
        """Return the changes as an operation lists them: changed keys, then appended runs, then purges.

        Left out are bookkeeping kinds, and records that this write both made and deleted.
        """
        listed = [
            ChangeRecord(kind=kind, key=list(change.key), before=change.before, after=change.after)
            for (kind, _), change in self._changes.items()
            if not RULES[kind].bookkeeping and not (change.before is None and change.after is None)
        ]
        listed += [
            ChangeRecord(kind=kind, key=list(prefix), first=first, last=last)
            for (kind, prefix), (first, last) in self._appended.items()
        ]
        return listed + self._replaced + self._purged


def _purged(kind: Kind, key: Key) -> ChangeRecord:
    return ChangeRecord(kind=kind, key=list(key), purged=True)


def _repeats(kind: Kind, field: str, key: Key, sealed: Sealed) -> None:
    """Raise ValidationError unless the record's value has, unredacted, the key part that the key has hashed."""
    if sealed.body.startswith(orjson.dumps({field: key[0]})[:-1] + b","):  # it is the first field of most records
        return
    if sealed.json().get(field) != key[0]:
        raise ValidationError(
            f"the {field} of a {kind} must be in its value as it is in its key, and contain no secret",
            hint=f"put {field!r} into the value; rename what looks like a secret",
        )
