"""The consistency check: a walk over a whole store that lists everything that is wrong with it.

Reads verify what they return; this also finds what no read would meet: a collection that is never read, a blob without
uses, a record that no operation accounts for. It collects in one pass over all keys what each record says about others
(checksums, use counts, operations), and compares afterwards. It continues after damage, so that one run names all of
it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import lmdb

from reverie.compression import verified_bodies
from reverie.errors import Damaged
from reverie.store.checksums import CollectionChecksum, collection_kind, collection_prefix
from reverie.store.codec import (
    EDIT,
    HASH_BYTES,
    IN_BLOB,
    TOMBSTONE,
    RawRecord,
    decode_record,
    record_json,
    record_operation,
    verified_sealed,
)
from reverie.store.keys import (
    decode_key,
    encode_number,
    key_text,
    kind_prefix,
    last_number,
    prefix_end,
    record_key,
    record_name,
    space_prefix,
    split_key,
)
from reverie.store.kinds import RULES, SYSTEM_SPACE, Kind
from reverie.store.memory_records import ArchivesCursor
from reverie.store.migrations import Header
from reverie.store.transactions import ReadTransaction

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBLEMS_MAX = 10_000  # problems reported; with more, the store is to be restored and not mended
_BATCH = 512  # records whose bodies are verified in one call: with one call each the check takes twice as long
_TELLING = frozenset((Kind.CHECKSUM, Kind.ROOT, Kind.BLOB, Kind.OPERATION, Kind.ARCHIVE, Kind.VERSION))
"""Kinds whose records say something about others."""
_LOGGED = frozenset(kind for kind, rule in RULES.items() if not rule.bookkeeping and not rule.sequence)
"""Kinds whose changes operations list."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One inconsistency: the kind and key of the record or collection, and a sentence about it."""

    kind: str
    space: str
    key: str
    what: str

    def as_json(self) -> dict[str, str]:
        """Return the problem as it is printed with `--json`."""
        return asdict(self)


class _RecordKey(NamedTuple):
    """The whole key of a record, and its parts."""

    raw: bytes
    space: bytes
    kind: Kind
    rest: bytes


class _Sequence:
    """The numbers of one sequence in the order of the walk: first, last and those between that are missing."""

    __slots__ = ("first", "gaps", "last")

    def __init__(self) -> None:
        self.first = 0
        self.last = 0
        self.gaps: list[int] = []

    def add(self, seq: int) -> None:
        """Add the next number of the sequence, and record the numbers that are missing before it."""
        if self.last and seq != self.last + 1:
            self.gaps += range(self.last + 1, min(seq, self.last + 1 + PROBLEMS_MAX - len(self.gaps)))
        self.first = self.first or seq
        self.last = seq


class ConsistencyCheck:
    """One walk over one transaction. `problems` and `counts` (records by kind) are the result of `run`."""

    def __init__(self, txn: lmdb.Transaction[bytes]) -> None:
        self._txn = txn
        self.problems: list[Problem] = []
        self.counts: Counter[Kind] = Counter()
        self.commits = 0  # of the header
        self._heads: dict[bytes, tuple[bytes, Kind]] = {}  # space and kind, by the first bytes of a key
        self._found: dict[bytes, CollectionChecksum] = defaultdict(CollectionChecksum)  # of the records, by collection
        self._stored: dict[bytes, CollectionChecksum] = {}  # those stored, by collection prefix
        self._roots: dict[bytes, CollectionChecksum] = {}  # by space
        self._sequences: dict[bytes, _Sequence] = defaultdict(_Sequence)
        self._uses: Counter[tuple[bytes, str]] = Counter()  # references to blobs, by space and address
        self._stored_uses: dict[tuple[bytes, str], int] = {}  # the use counts stored
        self._bodies: set[tuple[bytes, str]] = set()  # the blobs whose body is there
        self._edits: list[tuple[bytes, bytes, RawRecord]] = []  # versions that are edits: space, key, record
        self._damaged: set[bytes] = set()  # keys of records that are reported already
        self._written_by: dict[bytes, int] = {}  # the operation in each current record
        self._logged: dict[bytes, int | None] = {}  # the operation that last wrote it by the log, None: deleted

    def run(self) -> None:
        """Walk over every record, then compare what they say about each other."""
        records = self._all_records()
        while batch := list(islice(records, _BATCH)):
            for (raw, data), body in zip(batch, verified_bodies(batch), strict=True):
                try:
                    self._record(raw, data, sound=body is not None)
                except Damaged as error:
                    self._damaged.add(raw)
                    self._problem(raw, error.message)
        self._make_texts()
        self._compare_checksums()
        self._compare_roots()
        self._compare_sequences()
        self._compare_blobs()
        self._compare_operations()

    def _problem(self, raw: bytes, what: str) -> None:
        """Add a problem with the record or collection under `raw`."""
        if len(self.problems) >= PROBLEMS_MAX:
            return
        try:
            space, kind, rest = split_key(raw)
        except Damaged:
            self.problems.append(Problem("unknown", "", raw.hex(), what))
            return
        word = kind.value if isinstance(kind, Kind) else str(kind)
        self.problems.append(Problem(word, space, key_text(kind, rest).partition(" ")[2], what))

    def _all_records(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every key and record in order. Where the tree is broken, go on with the kind after the broken one.

        Keys of one kind are neighbours, mostly on the same pages: the next kind is the nearest place where the tree may
        be whole again. The walk ends where even that leads no further.
        """
        start = b""
        while True:
            last = start
            try:
                for raw, data in self._from(start):
                    last = raw
                    yield raw, data
            except (lmdb.Error, Damaged) as error:
                self._problem(last or b"\0", f"the tree cannot be followed after this key: {error}")
                following = _next_kind(last if last != start else self._reached(start))
                if following <= start:
                    return
                start = following
            else:
                return

    def _reached(self, start: bytes) -> bytes:
        """Return the first key from `start` on, if LMDB can still find it in a damaged tree; else `start`."""
        try:
            cursor = self._txn.cursor()
            has_key = cursor.set_range(start) if start else cursor.first()
            return max(start, cursor.key()) if has_key else start
        except lmdb.Error:
            return start

    def _from(self, start: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yield keys and records from `start` on; report a record that a lookup by its key does not find."""
        cursor = self._txn.cursor()
        if not cursor.set_range(start) if start else not cursor.first():
            return
        previous = b""
        for raw, data in cursor.iternext(keys=True, values=True):
            if raw <= previous or raw < start:
                raise Damaged("keys are out of order", hint="restore a backup")
            previous = raw
            if self._txn.get(raw) != data:
                self._problem(raw, "a lookup does not find this record")
            yield raw, data

    def _record(self, raw: bytes, data: bytes, *, sound: bool) -> None:
        """Verify one record, and collect what it says about other records. Raises Damaged.

        `sound`: it has its body, and both are verified.
        """
        space, kind, rest = self._split(raw)
        self.counts[kind] += 1
        if self._edits and not _same_record(raw, self._edits[-1]):
            self._make_texts()
        if kind not in (Kind.CHECKSUM, Kind.ROOT, Kind.HEADER):
            self._count(_RecordKey(raw, space, kind, rest), data)
        if sound and kind not in _TELLING:
            if kind in _LOGGED:
                self._written_by[raw] = record_operation(data)
            return
        record = decode_record(raw, data)
        if record.form == IN_BLOB:
            self._uses[space, record.address] += 1
            value: dict[str, Any] = {}
        elif record.form in {TOMBSTONE, EDIT}:
            value = {}
            if record.form == EDIT:
                self._edits.append((space, raw, record))
        elif kind is Kind.BLOB and rest.endswith(encode_number(1)):
            verified_sealed(record.data)
            value = {}
        else:
            value = record_json(raw, record)
        self._note(_RecordKey(raw, space, kind, rest), record, value)

    def _split(self, raw: bytes) -> tuple[bytes, Kind, bytes]:
        """Return the encoded space, kind and rest of a key. Raises Damaged for a key or kind that cannot be read."""
        head = raw[: raw.find(0) + 2]
        known = self._heads.get(head)
        if known is None:
            name, kind, _ = split_key(raw)
            if not isinstance(kind, Kind):
                raise Damaged(f"kind {kind} is not known to this version", hint="use a newer version")
            known = self._heads[head] = space_prefix(name), kind
        return *known, raw[len(head) :]

    def _make_texts(self) -> None:
        """Rebuild the versions of one record that are stored as edits, and report those that cannot be rebuilt."""
        if not self._edits:
            return
        transaction = ReadTransaction(self._txn, self._edits[0][0])
        for _, raw, record in reversed(self._edits):
            try:
                transaction.body(raw, record)
            except Damaged as error:
                self._damaged.add(raw)
                self._problem(raw, error.message)
        self._edits.clear()

    def _count(self, key: _RecordKey, data: bytes) -> None:
        """Include a record in the checksum of its collection, damaged or not: damage is not absence."""
        raw, space, kind, rest = key
        prefix = collection_prefix(space, kind, rest)
        self._found[prefix].add(data[:HASH_BYTES])
        if RULES[kind].sequence:
            self._sequences[prefix].add(last_number(raw[len(prefix) :]))

    def _note(self, key: _RecordKey, record: RawRecord, value: dict[str, Any]) -> None:
        """Collect what a sound record says about other records: checksums, blob uses, operations."""
        raw, space, kind, rest = key
        match kind:
            case Kind.CHECKSUM:
                self._stored[space + rest] = CollectionChecksum.from_json(value)
            case Kind.ROOT:
                self._roots[space] = CollectionChecksum.from_json(value)
            case Kind.BLOB:
                self._blob(space, rest, record, value)
            case Kind.OPERATION:
                self._operation(space, record, self._from_blob(raw, space, record) or value)
            case Kind.ARCHIVE:
                self._written_by[raw] = record.operation
                self._archive(space, str(decode_key(rest)[0]), (self._from_blob(raw, space, record) or value)["body"])
            case Kind.VERSION:
                if decode_key(rest[1:])[-1] != record.operation:
                    raise Damaged("a version is stored under another operation than the one that wrote it")
            case _:
                if kind in _LOGGED:
                    self._written_by[raw] = record.operation

    def _from_blob(self, raw: bytes, space: bytes, record: RawRecord) -> dict[str, Any] | None:
        """Return the JSON of a record that is stored in a blob for its size; None if it is not in one."""
        if record.form != IN_BLOB:
            return None
        key = record_key(space, Kind.BLOB, (record.address, 1))
        data = self._txn.get(key)
        if data is None:
            raise Damaged(f"the body of {record_name(raw)} is missing")
        return record_json(key, decode_record(key, data))

    def _archive(self, space: bytes, address: str, body: str) -> None:
        """Raise Damaged for an archive that is not what its name says.

        Earlier releases redacted some again after naming them: a store counts once the daemon has renamed those.
        """
        if sha256(body.encode()).hexdigest() == address:
            return
        key = record_key(space, Kind.CURSOR, ArchivesCursor.KEY)
        data = self._txn.get(key)
        if data is not None and record_json(key, decode_record(key, data)).get("named"):
            raise Damaged("an archive's content is not what its name says")

    def _blob(self, space: bytes, rest: bytes, record: RawRecord, value: dict[str, Any]) -> None:
        """Collect a blob's use count (part 0) or body (part 1). Raises Damaged for a body under another address."""
        address, part = decode_key(rest)
        if part == 0:
            self._stored_uses[space, str(address)] = int(value["uses"])
            return
        if record.address != address:
            raise Damaged("a blob's content is not the one it is named after")
        self._bodies.add((space, str(address)))

    def _operation(self, space: bytes, record: RawRecord, value: dict[str, Any]) -> None:
        """Collect which records an operation wrote or deleted; later operations overwrite the earlier ones."""
        for change in value["changes"]:
            kind, key = Kind(change["kind"]), tuple(change["key"])
            if "after" in change:
                self._logged[record_key(space, kind, key)] = change["after"]
        if record.operation != value["seq"]:
            raise Damaged("an operation's number is not the one it is stored under")

    def _compare_checksums(self) -> None:
        for prefix in sorted({*self._found, *self._stored}):
            actual, stored = self._found.get(prefix, CollectionChecksum()), self._stored.get(prefix)
            if stored is None:
                self._problem(prefix, f"collection: its checksum is missing; {actual.count} records found")
            elif not actual.same_records(stored):
                self._problem(prefix, f"collection: {stored.count} records counted, {actual.count} found")

    def _compare_roots(self) -> None:
        """Compare the stored checksums of each space with its root, then the roots with the header."""
        spaces: dict[bytes, CollectionChecksum] = defaultdict(CollectionChecksum)
        for prefix in self._stored:
            space = prefix[: prefix.index(0) + 1]
            data = self._txn.get(kind_prefix(space, Kind.CHECKSUM) + prefix[len(space) :])
            spaces[space].add((data or b"")[:HASH_BYTES])
        for space in sorted({*spaces, *self._roots}):
            root = self._roots.get(space)
            if root is None or not spaces[space].same_records(root):
                self._problem(kind_prefix(space, Kind.ROOT), "the space's root does not fit its checksums")
        self._compare_header()

    def _compare_header(self) -> None:
        """Compare the roots of all spaces with the header."""
        key = kind_prefix(space_prefix(SYSTEM_SPACE), Kind.HEADER)
        if key in self._damaged:
            return
        stored = Header.read(self._txn)
        if stored is None:
            # A process killed while it made the store leaves one without a single record: that is sound.
            if self.counts or self.problems:
                self._problem(key, "the store's header is missing")
            return
        header, _ = stored
        self.commits = header.commits
        total = CollectionChecksum()
        for space in self._roots:
            total.add((self._txn.get(kind_prefix(space, Kind.ROOT)) or b"")[:HASH_BYTES])
        if not total.same_records(header.spaces):
            self._problem(key, f"{header.spaces.count} spaces counted, {total.count} found")

    def _compare_sequences(self) -> None:
        """Report each number that is missing from a sequence: at its beginning, between, at its end."""
        for prefix, checksum in self._stored.items():
            space = prefix[: prefix.index(0) + 1]
            if not RULES[collection_kind(space, prefix)].sequence:
                continue
            sequence = self._sequences.get(prefix) or _Sequence()
            missing = list(sequence.gaps)
            if checksum.count:
                first = checksum.last - checksum.count + 1
                missing += range(first, sequence.first) if sequence.last else range(first, checksum.last + 1)
                missing += range(sequence.last + 1, checksum.last + 1) if sequence.last else ()
            for seq in missing[:PROBLEMS_MAX]:
                self._problem(prefix + encode_number(seq), "missing from its sequence")

    def _compare_blobs(self) -> None:
        """Compare the references to each blob with its use count, and report bodies that are missing."""
        for space, address in sorted({*self._uses, *self._stored_uses, *self._bodies}):
            key = record_key(space, Kind.BLOB, (address, 1))
            needed, counted = self._uses[space, address], self._stored_uses.get((space, address))
            if (space, address) not in self._bodies:
                self._problem(key, f"the body that {needed} records need is missing")
            if needed != counted:
                self._problem(key, f"{needed} records need this body, {counted} are counted")

    def _compare_operations(self) -> None:
        """Compare the operation in each current record with the one that the log says wrote it last."""
        for raw, logged in self._logged.items():
            written = self._written_by.get(raw)
            if written != logged and raw not in self._damaged:
                self._problem(raw, _mismatch(logged, written))
        for raw in self._written_by:
            if raw not in self._logged:
                self._problem(raw, "no operation lists this record")


def _same_record(raw: bytes, edit: tuple[bytes, bytes, RawRecord]) -> bool:
    """Return True if a key is that of a version of the record that an edit is a version of."""
    _, edit_raw, record = edit
    return raw.startswith(edit_raw[: len(edit_raw) - len(encode_number(record.operation))])


def _mismatch(logged: int | None, found: int | None) -> str:
    """Return the text of a problem: the expected state of a record by its operations, and the stored one."""
    expected = "an operation deleted it" if logged is None else f"operation {logged} wrote it last"
    return f"{expected}, found is {'nothing' if found is None else f'what operation {found} wrote'}"


def _next_kind(key: bytes) -> bytes:
    """Return the first key after the kind that `key` belongs to; b"" if `key` cannot be read."""
    end = key.find(0)
    if end < 0 or len(key) < end + 2:
        return b""
    if key[end + 1] < 0xFF:
        return key[: end + 1] + bytes((key[end + 1] + 1,))
    return prefix_end(key[: end + 1])
