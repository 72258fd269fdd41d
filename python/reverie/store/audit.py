"""Walks a whole store and says everything that is wrong with it."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import lmdb

from reverie.errors import Damaged
from reverie.store.codec import EXTERNAL, GONE, HASH_BYTES, Record, arrived, open_record, unbind
from reverie.store.collection_checksum import Tally, collection, kind_of
from reverie.store.header import Header
from reverie.store.keys import (
    decode,
    kind_prefix,
    name,
    number,
    prefix_end,
    record_key,
    show,
    space_prefix,
    split,
)
from reverie.store.schema import RULES, SYSTEM_SPACE, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PROBLEMS_MAX", "Audit", "Problem"]

PROBLEMS_MAX = 10_000  # reported; a store with more is past naming them one by one


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: the kind and key of the record or collection concerned, and what is wrong with it."""

    kind: str
    space: str
    key: str
    what: str

    def as_json(self) -> dict[str, str]:
        """The form reported."""
        return asdict(self)


class _Place(NamedTuple):
    """Where a record stands: its whole key, and that key's parts."""

    raw: bytes
    space: bytes
    kind: Kind
    rest: bytes


class _Sequence:
    """The numbers of one sequence, as they come by."""

    __slots__ = ("first", "gaps", "last")

    def __init__(self) -> None:
        self.first = 0
        self.last = 0
        self.gaps: list[int] = []

    def take(self, seq: int) -> None:
        """The next number found, greater than those before."""
        if self.last and seq != self.last + 1:
            self.gaps += range(self.last + 1, min(seq, self.last + 1 + PROBLEMS_MAX - len(self.gaps)))
        self.first = self.first or seq
        self.last = seq


class Audit:
    """Everything found in one walk of one transaction; `problems` and `counts` (records by kind) are the result."""

    def __init__(self, txn: lmdb.Transaction[bytes]) -> None:
        self._txn = txn
        self.problems: list[Problem] = []
        self.counts: Counter[str] = Counter()
        self.commits = 0  # as the header says
        self._found: dict[bytes, Tally] = defaultdict(Tally)  # by collection prefix
        self._claimed: dict[bytes, Tally] = {}  # the tallies stored, by collection prefix
        self._roots: dict[bytes, Tally] = {}  # by space
        self._sequences: dict[bytes, _Sequence] = defaultdict(_Sequence)
        self._uses: Counter[tuple[bytes, str]] = Counter()  # of blobs, by space and address
        self._held: dict[tuple[bytes, str], int] = {}  # what the store says of them
        self._bodies: set[tuple[bytes, str]] = set()
        self._damaged: set[bytes] = set()  # named already
        self._live: dict[bytes, int] = {}  # the operation that wrote each current record
        self._told: dict[bytes, int | None] = {}  # the operation that last wrote it, by the operations themselves

    def run(self) -> None:
        """Walks, then compares."""
        for raw, data in self._everything():
            try:
                self._record(raw, data)
            except Damaged as error:
                self._damaged.add(raw)
                self._problem(raw, error.message)
        self._compare_tallies()
        self._compare_roots()
        self._compare_sequences()
        self._compare_blobs()
        self._compare_operations()

    def _problem(self, raw: bytes, what: str) -> None:
        if len(self.problems) >= PROBLEMS_MAX:
            return
        try:
            space, kind, rest = split(raw)
        except Damaged:
            self.problems.append(Problem("unknown", "", raw.hex(), what))
            return
        word = kind.value if isinstance(kind, Kind) else str(kind)
        self.problems.append(Problem(word, space, show(kind, rest).partition(" ")[2], what))

    def _everything(self) -> Iterator[tuple[bytes, bytes]]:
        """Every key and record in order. Where the tree cannot be followed, goes on behind the kind it broke in."""
        start = b""
        while True:
            last = start
            try:
                for raw, data in self._from(start):
                    last = raw
                    yield raw, data
            except (lmdb.Error, Damaged) as error:
                self._problem(last or b"\0", f"the tree cannot be followed after this key: {error}")
                following = _behind(last if last != start else self._reached(start))
                if following <= start:
                    return
                start = following
            else:
                return

    def _reached(self, start: bytes) -> bytes:
        """The first key from `start` on, where the tree still leads there; else `start`."""
        try:
            cursor = self._txn.cursor()
            found = cursor.set_range(start) if start else cursor.first()
            return max(start, cursor.key()) if found else start
        except lmdb.Error:
            return start

    def _from(self, start: bytes) -> Iterator[tuple[bytes, bytes]]:
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

    def _record(self, raw: bytes, data: bytes) -> None:
        name_, kind, rest = split(raw)
        space = space_prefix(name_)
        if not isinstance(kind, Kind):
            raise Damaged(f"kind {kind} is not known to this version", hint="use a newer version")
        self.counts[kind.value] += 1
        if kind not in (Kind.TALLY, Kind.ROOT, Kind.HEADER):
            self._count(space, kind, rest, data)
        record = unbind(raw, data)
        if record.form == EXTERNAL:
            self._uses[space, record.address] += 1
            value: dict[str, Any] = {}
        elif record.form == GONE:
            value = {}
        elif kind is Kind.BLOB and rest.endswith(number(1)):
            arrived(record.data)
            value = {}
        else:
            value = open_record(raw, record)
        self._note(_Place(raw, space, kind, rest), record, value)

    def _count(self, space: bytes, kind: Kind, rest: bytes, data: bytes) -> None:
        prefix = collection(space, kind, rest)
        self._found[prefix].add(data[:HASH_BYTES])
        if RULES[kind].sequence:
            parts = decode(rest)
            if not parts or not isinstance(parts[-1], int):
                raise Damaged("a key of a sequence ends in no number", hint="restore a backup")
            self._sequences[prefix].take(parts[-1])

    def _note(self, place: _Place, record: Record, value: dict[str, Any]) -> None:
        """What a record that is sound says about others."""
        raw, space, kind, rest = place
        match kind:
            case Kind.TALLY:
                self._claimed[space + rest] = Tally.from_json(value)
            case Kind.ROOT:
                self._roots[space] = Tally.from_json(value)
            case Kind.BLOB:
                self._blob(space, rest, record, value)
            case Kind.OPERATION:
                self._operation(space, record, self._external(raw, space, record) or value)
            case Kind.VERSION:
                if decode(rest[1:])[-1] != record.operation:
                    raise Damaged("a version stands under another operation than the one that wrote it")
            case _:
                if not RULES[kind].bookkeeping and not RULES[kind].sequence:
                    self._live[raw] = record.operation

    def _external(self, raw: bytes, space: bytes, record: Record) -> dict[str, Any] | None:
        """The value of an operation that lists so much that it is kept as a blob."""
        if record.form != EXTERNAL:
            return None
        key = record_key(space, Kind.BLOB, (record.address, 1))
        data = self._txn.get(key)
        if data is None:
            raise Damaged(f"the body of {name(raw)} is missing")
        return open_record(key, unbind(key, data))

    def _blob(self, space: bytes, rest: bytes, record: Record, value: dict[str, Any]) -> None:
        address, part = decode(rest)
        if part == 0:
            self._held[space, str(address)] = int(value["uses"])
            return
        if record.address != address:
            raise Damaged("a blob's content is not the one it is named after")
        self._bodies.add((space, str(address)))

    def _operation(self, space: bytes, record: Record, value: dict[str, Any]) -> None:
        for change in value["changes"]:
            kind, key = Kind(change["kind"]), tuple(change["key"])
            if "after" in change:
                self._told[record_key(space, kind, key)] = change["after"]
        if record.operation != value["seq"]:
            raise Damaged("an operation's number is not the one it is stored under")

    def _compare_tallies(self) -> None:
        for prefix in sorted({*self._found, *self._claimed}):
            found, claimed = self._found.get(prefix, Tally()), self._claimed.get(prefix)
            if claimed is None:
                self._problem(prefix, f"collection: its tally is missing; {found.count} records found")
            elif not found.holds(claimed):
                self._problem(prefix, f"collection: {claimed.count} records counted, {found.count} found")

    def _compare_roots(self) -> None:
        spaces: dict[bytes, Tally] = defaultdict(Tally)
        for prefix in self._claimed:
            space = prefix[: prefix.index(0) + 1]
            data = self._txn.get(kind_prefix(space, Kind.TALLY) + prefix[len(space) :])
            spaces[space].add((data or b"")[:HASH_BYTES])
        for space in sorted({*spaces, *self._roots}):
            root = self._roots.get(space)
            if root is None or not spaces[space].holds(root):
                self._problem(kind_prefix(space, Kind.ROOT), "the space's root does not fit its tallies")
        self._compare_header()

    def _compare_header(self) -> None:
        where = kind_prefix(space_prefix(SYSTEM_SPACE), Kind.HEADER)
        if where in self._damaged:
            return
        found = Header.read(self._txn)
        if found is None:
            # A process killed while it made the store leaves one without a single record: that is sound.
            if self.counts or self.problems:
                self._problem(where, "the store's header is missing")
            return
        header, _ = found
        self.commits = header.commits
        total = Tally()
        for space in self._roots:
            total.add((self._txn.get(kind_prefix(space, Kind.ROOT)) or b"")[:HASH_BYTES])
        if not total.holds(header.spaces):
            self._problem(where, f"{header.spaces.count} spaces counted, {total.count} found")

    def _compare_sequences(self) -> None:
        for prefix, claimed in self._claimed.items():
            space = prefix[: prefix.index(0) + 1]
            if not RULES[kind_of(space, prefix)].sequence:
                continue
            found = self._sequences.get(prefix) or _Sequence()
            lost = list(found.gaps)
            if claimed.count:
                first = claimed.last - claimed.count + 1
                lost += range(first, found.first) if found.last else range(first, claimed.last + 1)
                lost += range(found.last + 1, claimed.last + 1) if found.last else ()
            for seq in lost[:PROBLEMS_MAX]:
                self._problem(prefix + number(seq), "missing from its sequence")

    def _compare_blobs(self) -> None:
        for space, address in sorted({*self._uses, *self._held, *self._bodies}):
            where = record_key(space, Kind.BLOB, (address, 1))
            needed, held = self._uses[space, address], self._held.get((space, address))
            if (space, address) not in self._bodies:
                self._problem(where, f"the body that {needed} records need is missing")
            if needed != held:
                self._problem(where, f"{needed} records need this body, {held} are counted")

    def _compare_operations(self) -> None:
        for raw, told in self._told.items():
            found = self._live.get(raw)
            if found != told and raw not in self._damaged:
                self._problem(raw, _mismatch(told, found))
        for raw in self._live:
            if raw not in self._told:
                self._problem(raw, "no operation tells of this record")


def _mismatch(told: int | None, found: int | None) -> str:
    expected = "an operation deleted it" if told is None else f"operation {told} wrote it last"
    return f"{expected}, found is {'nothing' if found is None else f'what operation {found} wrote'}"


def _behind(key: bytes) -> bytes:
    """Where the next kind of the same space begins, or what follows the space; empty where there is no telling."""
    end = key.find(0)
    if end < 0 or len(key) < end + 2:
        return b""
    if key[end + 1] < 0xFF:
        return key[: end + 1] + bytes((key[end + 1] + 1,))
    return prefix_end(key[: end + 1])
