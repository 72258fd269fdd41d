"""The check names every damaged or missing record, in a child process that a damaged file may crash."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import lmdb
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lmdb import Transaction

from reverie.errors import Damaged, StorageFailed
from reverie.store import RULES, Kind, Writer, seal
from reverie.store.check import FILE, RECORDS, SOUND, CheckReport, ConsistencyCheck, check, main, run_check
from reverie.store.checksums import checksum_key, header_key, root_key
from reverie.store.codec import encode_record, seal_own
from reverie.store.guard import needs_check
from reverie.store.keys import encode_key, kind_prefix, space_prefix
from support.soak import count
from support.stores import MASKING, SPACE, noise, opened, put, raw, raw_key, write

SPACE_BYTES = space_prefix(SPACE)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with every sort of record: replaced, deleted, purged, long, appended; one operation is in a blob."""

    def body(w: Writer) -> None:
        for number in range(1, 6):
            w.put(Kind.MEMORY, (f"m{number}",), {"n": number})
            w.append(Kind.ENTRY, ("t",), {"n": number})
            w.put(Kind.NOTE, ("t", f"n{number}"), {"n": number})
            w.event("x", {"n": number})
        w.put(Kind.DOCUMENT, ("long.md",), {"text": noise(100_000)})
        w.put(Kind.CURSOR, ("c",), {"n": 1})

    path = tmp_path_factory.mktemp("original") / "store"
    with opened(path) as store:
        write(store, body, idempotency=("k", "h"))
        put(store, Kind.MEMORY, ("m1",), {"n": 11})
        write(store, lambda w: (w.delete(Kind.MEMORY, ("m5",)), w.purge(Kind.NOTE, ("t",), 2)))
        write(store, lambda w: [w.put(Kind.DREAM, (sha256(b"%d" % n).hexdigest(),), {}) for n in range(4000)])
        put(store, Kind.MEMORY, ("other",), {"n": 1}, space="other")
    return path


@pytest.fixture
def filled(original: Path, path: Path) -> Path:
    """A copy of that store, to damage."""
    return shutil.copytree(original, path)


def _flip(txn: Transaction[bytes], key: bytes, at: int) -> None:
    data = bytearray(txn.get(key) or b"")
    data[at] ^= 1
    txn.put(key, data)


def _check(path: Path, *expected: tuple[str, str, str]) -> CheckReport:
    """Assert that the problems are those expected: kind, key, and a part of the text of each."""
    report = check(path, offline=True)
    found = [(problem.kind, problem.key) for problem in report.problems]
    assert found == [(kind, key) for kind, key, _ in expected], report.problems
    for problem, (_, _, what) in zip(report.problems, expected, strict=True):
        assert what in problem.what
    assert report.ok == (not expected)
    return report


def test_a_sound_store_has_no_problems(filled: Path) -> None:
    report = _check(filled)
    assert (report.counts["memory"], report.counts["dream"], report.counts["entry"]) == (5, 4000, 5)
    assert report.status == SOUND
    assert run_check(filled, offline=True) == run_check(filled) == report


def _gone(*keys: bytes) -> Callable[[Transaction[bytes]], None]:
    def damage(txn: Transaction[bytes]) -> None:
        for key in keys:
            assert txn.delete(key)

    return damage


def _bad(key: bytes, at: int) -> Callable[[Transaction[bytes]], None]:
    return lambda txn: _flip(txn, key, at)


def _put(key: bytes, operation: int, value: dict[str, Any]) -> Callable[[Transaction[bytes]], None]:
    def damage(txn: Transaction[bytes]) -> None:
        txn.put(key, encode_record(key, operation, 0, seal(value, MASKING).data))

    return damage


M2, M5, E2, E5 = (
    raw_key(kind, key)
    for kind, key in (
        (Kind.MEMORY, ("m2",)),
        (Kind.MEMORY, ("m5",)),
        (Kind.ENTRY, ("t", 2)),
        (Kind.ENTRY, ("t", 5)),
    )
)
OPERATION = raw_key(Kind.OPERATION, (2,))
MEMORIES = kind_prefix(SPACE_BYTES, Kind.MEMORY)
VERSION = kind_prefix(SPACE_BYTES, Kind.VERSION) + raw_key(Kind.MEMORY, ("m1",))[len(SPACE_BYTES) :]


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (
            _gone(M2),
            [
                ("memory", "", "collection: 4 records counted, 3 found"),
                ("memory", "m2", "operation 1 wrote it last, found is nothing"),
            ],
        ),
        (_bad(M2, -1), [("memory", "m2", "is damaged")]),
        (
            _bad(M2, 3),
            [("memory", "m2", "is damaged"), ("memory", "", "collection")],
        ),
        (_gone(E2), [("entry", "t", "collection"), ("entry", "t/2", "missing from its sequence")]),
        (_gone(E5), [("entry", "t", "collection"), ("entry", "t/5", "missing from its sequence")]),
        (
            _gone(OPERATION),
            [
                ("operation", "", "collection"),
                ("operation", "2", "missing from its sequence"),
                ("memory", "m1", "operation 1 wrote it last, found is what operation 2 wrote"),
            ],
        ),
        (_gone(VERSION + encode_key((1,))), [("version", "of memory", "collection: 3 records counted, 2 found")]),
        (_gone(root_key(SPACE_BYTES)), [("root", "", "does not fit its checksums"), ("header", "", "spaces counted")]),
        (_gone(header_key()), [("header", "", "header is missing"), ("header", "", "was acknowledged")]),
        (_bad(header_key(), 55), [("header", "", "is damaged"), ("header", "", "was acknowledged")]),
        (
            _gone(checksum_key(SPACE_BYTES, MEMORIES)),
            [("memory", "", "its checksum is missing"), ("root", "", "does not fit its checksums")],
        ),
        (
            _put(M5, 1, {"n": 5}),
            [
                ("memory", "", "collection"),
                ("memory", "m5", "an operation deleted it, found is what operation 1 wrote"),
            ],
        ),
        (
            _put(raw_key(Kind.MEMORY, ("odd",)), 9, {}),
            [("memory", "", "collection"), ("memory", "odd", "no operation lists this record")],
        ),
        (_put(SPACE_BYTES + b"\xee\x02a\x00", 0, {}), [("238", "a", "kind 238 is not known")]),
        (_put(b"\xff\xff", 0, {}), [("unknown", "ffff", "cannot be read")]),
    ],
)
def test_each_missing_or_damaged_record_is_named(
    filled: Path, damage: Callable[[Transaction[bytes]], None], expected: list[tuple[str, str, str]]
) -> None:
    with raw(filled) as txn:
        damage(txn)
    assert _check(filled, *expected).status == RECORDS


def test_each_missing_entry_of_a_lost_thread_is_named(filled: Path) -> None:
    with raw(filled) as txn:
        for number in range(1, 6):
            txn.delete(raw_key(Kind.ENTRY, ("t", number)))
    missing = [("entry", f"t/{number}", "missing from its sequence") for number in range(1, 6)]
    _check(filled, ("entry", "t", "5 records counted, 0 found"), *missing)


def _blob_keys(path: Path) -> tuple[bytes, bytes]:
    """Return the keys of the document's blob: its use count, and its body."""
    prefix = kind_prefix(SPACE_BYTES, Kind.BLOB)
    with raw(path) as txn:
        cursor = txn.cursor()
        assert cursor.set_range(prefix)
        body = next(key for key, data in cursor.iternext() if key.startswith(prefix) and 70_000 < len(data) < 100_000)
    return body[:-2] + encode_key((0,)), body


def test_blobs_are_compared_with_their_use_counts(filled: Path) -> None:
    uses, body = _blob_keys(filled)
    name = body[len(SPACE_BYTES) + 2 : -3].decode()
    with raw(filled) as txn:
        record = txn.get(body) or b""
        txn.delete(body)
    _check(filled, ("blob", "", "collection"), ("blob", f"{name}/1", "the body that 1 records need is missing"))
    with raw(filled) as txn:
        txn.put(body, record)
        txn.put(uses, encode_record(uses, 0, 0, seal_own({"uses": 7}).data))
    _check(filled, ("blob", "", "collection"), ("blob", f"{name}/1", "1 records need this body, 7 are counted"))
    with raw(filled) as txn:
        txn.put(body, encode_record(body, 0, 0, seal({"text": "another"}, MASKING).data))
    problems = check(filled, offline=True).problems
    assert any("not the one it is named after" in problem.what for problem in problems)


def test_a_long_operation_without_its_body_is_named(filled: Path) -> None:
    prefix = kind_prefix(SPACE_BYTES, Kind.BLOB)
    _, document = _blob_keys(filled)
    with raw(filled) as txn:
        cursor = txn.cursor()
        assert cursor.set_range(prefix)
        keys = [key for key, data in cursor.iternext() if key.startswith(prefix) and len(data) > 1000]
        (body,) = set(keys) - {document}
        txn.delete(body)
    problems = check(filled, offline=True).problems
    assert ("operation", "4") in {(problem.kind, problem.key) for problem in problems}


def test_records_that_contradict_themselves_are_named(filled: Path) -> None:
    """The check reports a version under another operation, and an operation under another number."""
    with raw(filled) as txn:
        where = VERSION + encode_key((1,))
        txn.put(where, encode_record(where, 9, 0, seal({}, MASKING).data))
        txn.put(OPERATION, encode_record(OPERATION, 2, 0, seal({"seq": 9, "changes": []}, MASKING).data))
    whats = [problem.what for problem in check(filled, offline=True).problems]
    assert any("under another operation" in what for what in whats)
    assert any("not the one it is stored under" in what for what in whats)


def test_a_store_behind_its_rollback_guard_is_named(filled: Path) -> None:
    old = (filled / "data.mdb").read_bytes()
    with opened(filled) as store:
        put(store, Kind.MEMORY, ("new",), {})
    (filled / "data.mdb").write_bytes(old)
    _check(filled, ("header", "", "commit 6 was acknowledged"))


def test_an_empty_store_is_sound(path: Path) -> None:
    """The check accepts a store without records and an empty file, as a process killed at creation leaves them."""
    path.mkdir()
    with raw(path) as txn:
        assert txn.stat()["entries"] == 0
    assert check(path, offline=True).ok
    (path / "data.mdb").write_bytes(b"")
    assert check(path, offline=True).ok
    opened(path).close()


def test_a_bad_page_is_found_without_lmdb(filled: Path) -> None:
    data = bytearray((filled / "data.mdb").read_bytes())
    newer = max((0, 4096), key=lambda meta: data[meta + 144 : meta + 152][::-1])
    root = int.from_bytes(data[newer + 128 : newer + 136], "little") * 4096
    data[root : root + 4096] = bytes(4096)
    (filled / "data.mdb").write_bytes(data)
    report = run_check(filled)
    assert not report.ok
    assert report.status == FILE
    assert any(problem.kind == "page" for problem in report.problems)


@pytest.mark.parametrize("at", [44, 92, 4096 + 44, 4096 + 92])
def test_wrong_flags_of_a_meta_page_are_found_before_opening(filled: Path, at: int) -> None:
    """Wrong flags in a meta page are reported by the check that runs before the store is opened."""
    assert not needs_check(filled)
    with (filled / "data.mdb").open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x04]))
    assert needs_check(filled)
    report = run_check(filled, offline=True)
    assert report.status == FILE
    assert any(problem.kind == "page" and "flags" in problem.what for problem in report.problems)


def test_a_file_that_is_no_store_is_a_finding(filled: Path) -> None:
    (filled / "data.mdb").write_bytes(b"x" * 8192)
    report = run_check(filled)
    assert {problem.kind for problem in report.problems} == {"page", "store"}
    assert report.status == FILE


def test_a_crash_is_a_finding(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the check's child dies of SIGBUS, that is reported, and the pages are read without LMDB."""
    dying = f"import os, sys; '--pages-only' in sys.argv or os.kill(os.getpid(), {int(signal.SIGBUS)});"
    code = f"{dying} from reverie.store.check import main; sys.exit(main(sys.argv[5:]))"
    script = filled.parent / "python"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" a b c d "$3" "$4" $5 $6\n')
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))
    report = run_check(filled, offline=True)
    assert (report.ok, report.crashed, report.status) == (False, "SIGBUS", FILE)
    assert [problem.kind for problem in report.problems] == ["store"]
    assert report.as_json()["crashed"] == "SIGBUS"


def test_a_check_that_cannot_be_made_is_an_error(path: Path) -> None:
    with pytest.raises(StorageFailed, match="ended with 2"):
        run_check(path)
    opened(path).close()
    with pytest.raises(StorageFailed, match="took more than"):
        run_check(path, timeout_s=0.001)


def test_the_command_line(filled: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main([str(filled), "--json"]) == SOUND
    assert orjson.loads(capfdbinary.readouterr().out)["ok"] is True
    assert main([str(filled)]) == SOUND
    assert b"all sound" in capfdbinary.readouterr().out
    with opened(filled):
        assert run_check(filled).ok, "beside the process that has it open"
    with raw(filled) as txn:
        _flip(txn, M2, -1)
    assert main([str(filled), "--offline"]) == RECORDS
    assert b"memory m2 in default: memory m2 of space default is damaged" in capfdbinary.readouterr().out


class _Broken:
    """A transaction whose tree cannot be followed beyond some keys."""

    def __init__(self, txn: Transaction[bytes], bad: Callable[[bytes], bool]) -> None:
        self._txn = txn
        self._bad = bad

    def get(self, key: bytes) -> bytes | None:
        return self._txn.get(key)

    def cursor(self) -> Any:
        inner, bad = self._txn.cursor(), self._bad

        class Cursor:
            def __getattr__(self, name: str) -> Any:
                return getattr(inner, name)

            @staticmethod
            def iternext(**_: bool) -> Any:
                for key, data in inner.iternext():
                    if bad(key):
                        raise lmdb.CorruptedError("bad page")
                    yield key, data

        return Cursor()


@pytest.mark.parametrize("kind", [Kind.ENTRY, Kind.MEMORY, Kind.HEADER])
def test_the_walk_continues_after_a_broken_part_of_the_tree(filled: Path, kind: Kind) -> None:
    with opened(filled) as store, store.reader(SPACE) as reader:
        prefix = kind_prefix(SPACE_BYTES, kind)
        audit = ConsistencyCheck(_Broken(reader.transaction.txn, lambda key: key.startswith(prefix)))  # type: ignore[arg-type] # stands in for damage
        audit.run()
        assert audit.counts[Kind.DREAM] == 4000
        if kind is not Kind.HEADER:
            assert any("cannot be followed" in problem.what for problem in audit.problems)


@given(st.sampled_from(sorted(rule.code for rule in RULES.values())), st.binary(max_size=12), st.binary(max_size=60))
@settings(
    max_examples=count(100, 20_000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_no_record_ends_the_check(tmp_path: Path, code: int, rest: bytes, data: bytes) -> None:
    """Random bytes as keys and records are reported as problems and never raise."""
    path = tmp_path / "any"
    if not path.exists():
        opened(path).close()
    key = SPACE_BYTES + bytes((code,)) + rest
    with raw(path) as txn:
        if txn.get(key) is None:
            txn.put(key, data)
    report = check(path, offline=True)
    assert report.status == RECORDS
    assert report.problems
    shutil.rmtree(path)


def test_a_tree_without_a_readable_root_is_named(filled: Path) -> None:
    with opened(filled) as store, store.reader(SPACE) as reader:
        audit = ConsistencyCheck(_Broken(reader.transaction.txn, lambda _: True))  # type: ignore[arg-type] # stands in for damage
        audit.run()
    assert "cannot be followed" in audit.problems[0].what


def test_the_list_of_problems_is_bounded(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.store.check.PROBLEMS_MAX", 3)
    with raw(filled) as txn:
        for number in range(20):
            txn.delete(raw_key(Kind.DREAM, (sha256(b"%d" % number).hexdigest(),)))
    assert len(check(filled, offline=True).problems) == 3


def test_an_unreadable_store_is_a_finding_not_an_error(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: object) -> None:
        raise Damaged("no")

    monkeypatch.setattr(ConsistencyCheck, "run", failing)
    assert check(filled, offline=True).problems[0].what == "cannot be read: no"
