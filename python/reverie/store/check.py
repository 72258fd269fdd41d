"""The check of a store, run in a child process, so that a damaged file can crash only that process.

`python -m reverie.store.check PATH [--json] [--offline]` exits with 0 for a sound store; 1 where records are damaged or
missing (the store can be opened and names each that is asked for); 3 where the file is damaged and must not be opened.
"""

from __future__ import annotations

import argparse
import errno
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import lmdb
import orjson
from lmdb import verify

from reverie.compression import verified_bodies
from reverie.errors import Damaged, ReverieError, StorageFailed
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
from reverie.store.env import MAP_BYTES, lmdb_options
from reverie.store.guard import RollbackGuardFile, StoreLock, truncated_at, wrong_flags
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
    from collections.abc import Iterator, Sequence

SOUND, RECORDS, FILE = 0, 1, 3  # exit statuses; argparse uses 2 for a wrong command line
_STATUSES = (SOUND, RECORDS, FILE)
_FILE_KINDS = ("page", "store")  # kinds of problem that make a file unsafe to open
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)
# LMDB asserts, or follows a wild page number in its map: a crash is what damage looks like.
_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check. `crashed` names the signal that LMDB crashed with when it read the file, or is None."""

    ok: bool
    problems: tuple[Problem, ...]
    counts: dict[str, int]
    crashed: str | None = None

    @property
    def status(self) -> int:
        """SOUND, RECORDS (the store can be opened; reads name what is damaged) or FILE (it should not be opened)."""
        if self.ok:
            return SOUND
        return FILE if any(problem.kind in _FILE_KINDS for problem in self.problems) else RECORDS

    def as_json(self) -> dict[str, Any]:
        """Return the check's report as it is printed with `--json`."""
        return {
            "ok": self.ok,
            "problems": [problem.as_json() for problem in self.problems],
            "counts": self.counts,
            "crashed": self.crashed,
        }


def run_check(path: Path, *, offline: bool = False, timeout_s: float = 3600) -> CheckReport:
    """Check the store in folder `path`, or the backup file `path`, in a child process, and return the report.

    `offline`: the caller has the store's lock and has not opened it, so that the pages can be checked as well.
    A child that crashed is a finding, not an error. Raises StorageFailed where no check could be made.
    """
    command = [sys.executable, "-m", "reverie.store.check", str(path), "--json"]
    if offline:
        command.append("--offline")
    done = _child(command, timeout_s)
    if -done.returncode in _CRASHES:
        pages = _child([*command, "--pages-only"], timeout_s)
        # The pages are checked without LMDB, so this run can say what it was that LMDB crashed on.
        problems = _report(pages.stdout).problems if pages.returncode in _STATUSES else ()
        word = signal.Signals(-done.returncode).name
        crash = Problem("store", "", str(path.name), f"LMDB crashed with {word} when reading the file")
        return CheckReport(ok=False, problems=(*problems, crash), counts={}, crashed=word)
    # Python exits with 1 (RECORDS) after an exception too: only a report on standard output tells the two apart.
    if done.returncode not in _STATUSES or not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        raise StorageFailed(
            f"the check of {path} ended with {done.returncode}: {lines[-1] if lines else 'it printed nothing'}",
            hint=f"run `{' '.join(command)}`",
        )
    return _report(done.stdout)


def _child(command: Sequence[str], timeout_s: float) -> subprocess.CompletedProcess[bytes]:
    """Run the check in a child process and return what it printed. Raises StorageFailed after `timeout_s`."""
    try:
        return subprocess.run(command, capture_output=True, timeout=timeout_s, check=False)  # noqa: S603 - our own module
    except subprocess.TimeoutExpired as error:
        raise StorageFailed(f"the check took more than {timeout_s} s", hint="check it by hand") from error


def _report(printed: bytes) -> CheckReport:
    value = orjson.loads(printed)
    problems = tuple(Problem(**problem) for problem in value["problems"])
    return CheckReport(value["ok"], problems, value["counts"], value["crashed"])


def check(path: Path, *, offline: bool, pages_only: bool = False) -> CheckReport:
    """Return the report of a check in this process, which a damaged file may crash; `run_check` is the safe way."""
    file = path if path.is_file() else path / "data.mdb"
    if path.is_dir() and file.stat().st_size == 0 and RollbackGuardFile.read(path) is None:
        return CheckReport(ok=True, problems=(), counts={})  # made, and nothing written yet
    problems = _pages(path) if offline or path.is_file() else []
    counts: dict[str, int] = {}
    if not pages_only:
        try:
            counts = _records(path, offline, problems)
        except (lmdb.Error, ReverieError) as error:
            problems.append(Problem("store", "", path.name, f"cannot be read: {error}"))
    return CheckReport(not problems, tuple(problems), counts)


def _pages(path: Path) -> list[Problem]:
    """Return the damage of the file's pages, read without LMDB; only valid while no process writes to it."""
    data = path if path.is_file() else path / "data.mdb"
    try:
        messages = [*_structure(path), *wrong_flags(data)]
    except (verify.VerifyError, OSError) as error:
        messages = [str(error)]
    truncated = truncated_at(data) if messages else None
    if truncated is not None:
        # First, because it is the cause of all others.
        messages.insert(0, f"the file is truncated: it has {truncated[0]:,} of {truncated[1]:,} bytes")
    return [Problem("page", "", path.name, what) for what in messages]


def _structure(path: Path) -> list[str]:
    """Return what lmdb's verifier, written in Python, finds wrong with the pages."""
    messages: list[str] = verify.verify(str(path))  # type: ignore[no-untyped-call] # lmdb ships no types for this module
    return messages


def _records(path: Path, offline: bool, problems: list[Problem]) -> dict[str, int]:  # noqa: FBT001 - passed through
    """Check every record, add to `problems`, and return the number of records by kind."""
    # Read before the snapshot is taken: a daemon that goes on writing may commit, and write the guard, during the walk.
    guard = RollbackGuardFile.read(path) if path.is_dir() else None
    settings: dict[str, Any] = {**lmdb_options(MAP_BYTES, readonly=True), "subdir": path.is_dir(), "lock": not offline}
    with lmdb.open(str(path), **settings) as env, env.begin() as txn:
        walk = ConsistencyCheck(txn)
        try:
            walk.run()
        finally:
            problems += walk.problems  # those found before an error count too
    if guard is not None and walk.commits < guard.commits:
        what = f"the store is at commit {walk.commits}; commit {guard.commits} was acknowledged"
        problems.append(Problem("header", SYSTEM_SPACE, "", what))
    return {kind.value: count for kind, count in walk.counts.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m reverie.store.check", description="Check a store.")
    parser.add_argument("path", type=Path, help="the folder of a store, or a backup file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--offline", action="store_true", help="the caller has the store's lock")
    parser.add_argument("--pages-only", action="store_true", help="check the file's pages without opening it")
    chosen = parser.parse_args(arguments)
    path: Path = chosen.path
    if not (path.is_file() or (path / "data.mdb").exists()):
        parser.error(f"there is no store at {path}")
    if chosen.offline or path.is_file() or StoreLock.is_held(path):
        report = check(path, offline=chosen.offline or path.is_file(), pages_only=chosen.pages_only)
    else:
        with _locked(path):
            report = check(path, offline=True, pages_only=chosen.pages_only)
    if chosen.json:
        sys.stdout.buffer.write(orjson.dumps(report.as_json()) + b"\n")
    else:
        sys.stdout.write(_text(report))
    return report.status


@contextmanager
def _locked(store: Path) -> Iterator[None]:
    """Lock the store for the duration of a check, so that no process opens it; in a read-only folder without a lock.

    Neither can a daemon of this user open a store in a folder that is read-only.
    """
    try:
        lock = StoreLock.take(store)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
        yield
        return
    with lock:
        yield


def _text(report: CheckReport) -> str:
    lines = [f"{problem.kind} {problem.key} in {problem.space}: {problem.what}" for problem in report.problems]
    total = sum(report.counts.values())
    verdict = f"{total} records, all sound" if report.ok else f"{total} records, {len(lines)} problems"
    return "\n".join([*lines, verdict, ""])


PROBLEMS_MAX = 10_000  # problems reported; with more, the store is to be restored and not mended
_BATCH = 512  # records whose bodies are verified in one call: with one call each the check takes twice as long
_TELLING = frozenset((Kind.CHECKSUM, Kind.ROOT, Kind.BLOB, Kind.OPERATION, Kind.ARCHIVE, Kind.VERSION))
"""Kinds whose records say something about others."""
_COVERING = frozenset((Kind.CHECKSUM, Kind.ROOT, Kind.HEADER))
"""Kinds that cover others, and are in no collection themselves."""
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


class _Collection(NamedTuple):
    """The collection that a walk is in: what its keys begin with, its encoded space, and what was found of it."""

    prefix: bytes
    space: bytes
    kind: Kind
    found: CollectionChecksum
    sequence: _Sequence | None


class ConsistencyCheck:
    """One walk over one transaction. `problems` and `counts` (records by kind) are the result of `run`."""

    def __init__(self, txn: lmdb.Transaction[bytes]) -> None:
        self._txn = txn
        self.problems: list[Problem] = []
        self.counts: Counter[Kind] = Counter()
        self.commits = 0  # of the header
        self._collection: _Collection | None = None  # of the last record
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
        collection = self._collection
        if collection is None or not raw.startswith(collection.prefix):
            collection = self._collection = self._collection_of(raw)
        kind = collection.kind
        self.counts[kind] += 1
        if self._edits and not _same_record(raw, self._edits[-1]):
            self._make_texts()
        if kind not in _COVERING:  # damaged or not: damage is not absence
            collection.found.add(data[:HASH_BYTES])
            if collection.sequence is not None:
                collection.sequence.add(last_number(raw[len(collection.prefix) :]))
        if sound and kind not in _TELLING:
            if kind in _LOGGED:
                self._written_by[raw] = record_operation(data)
            return
        record = decode_record(raw, data)
        value: dict[str, Any] = {}
        if record.form == IN_BLOB:
            self._uses[collection.space, record.address] += 1
        elif record.form == EDIT:
            self._edits.append((collection.space, raw, record))
        elif kind is Kind.BLOB and raw.endswith(encode_number(1)):
            verified_sealed(record.data)
        elif record.form != TOMBSTONE:
            value = record_json(raw, record)
        self._note(raw, collection.space, kind, record, value)

    def _collection_of(self, raw: bytes) -> _Collection:
        """Return the collection of a record, whose records follow each other. Raises Damaged for an unreadable key."""
        name, kind, rest = split_key(raw)
        if not isinstance(kind, Kind):
            raise Damaged(f"kind {kind} is not known to this version", hint="use a newer version")
        space = space_prefix(name)
        prefix = collection_prefix(space, kind, rest)
        if kind in _COVERING:
            return _Collection(prefix, space, kind, CollectionChecksum(), None)
        return _Collection(
            prefix, space, kind, self._found[prefix], self._sequences[prefix] if RULES[kind].sequence else None
        )

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

    def _note(self, raw: bytes, space: bytes, kind: Kind, record: RawRecord, value: dict[str, Any]) -> None:
        """Collect what a sound record says about other records: checksums, blob uses, operations."""
        rest = raw[len(space) + 1 :]
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


if __name__ == "__main__":
    sys.exit(main())
