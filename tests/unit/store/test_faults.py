"""Errors of LMDB and the disk become errors of reverie.errors that say what to do."""

from __future__ import annotations

import errno
import resource
from pathlib import Path

import lmdb
import pytest

from reverie.errors import Busy, Damaged, DiskFull, ReverieError, StorageFailed
from reverie.store import Kind, Store, env
from reverie.store.commit import GroupCommit
from reverie.store.env import Environment, commit_error, translated_error
from support.stores import SPACE, put


def _failed(number: int) -> lmdb.Error:
    error = lmdb.Error("x")
    error.__dict__["code"] = number
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (lmdb.CorruptedError("x"), Damaged),
        (lmdb.PageNotFoundError("x"), Damaged),
        (lmdb.InvalidError("x"), Damaged),
        (lmdb.ReadersFullError("x"), Busy),
        (lmdb.PanicError("x"), StorageFailed),
        (_failed(errno.EIO), StorageFailed),
    ],
)
def test_a_failed_read_is_translated(error: lmdb.Error, kind: type[ReverieError]) -> None:
    translated = translated_error(error, "reading")
    assert type(translated) is kind
    assert translated.hint


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (lmdb.DiskError("x"), DiskFull),
        (_failed(errno.EDQUOT), DiskFull),
        (_failed(errno.EFBIG), DiskFull),
        (_failed(errno.EIO), StorageFailed),
        (lmdb.CorruptedError("x"), Damaged),
        (lmdb.ReadersFullError("x"), Busy),
    ],
)
def test_a_failed_commit_is_translated(store: Store, error: lmdb.Error, kind: type[ReverieError]) -> None:
    assert type(commit_error(error, store.path)) is kind


def test_an_io_error_on_a_full_disk_is_a_full_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """An I/O error of LMDB is reported as DiskFull if the disk or the file size limit has no room."""
    failed = _failed(errno.EIO)
    monkeypatch.setattr(env, "_ROOM_BYTES", 1 << 62)
    assert type(commit_error(failed, store.path)) is DiskFull
    monkeypatch.undo()
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1 << 19, 1 << 20))
    assert type(commit_error(failed, store.path)) is DiskFull


class _Failing:
    """A transaction whose commit fails."""

    def __init__(self, error: lmdb.Error, inner: lmdb.Transaction[bytes]) -> None:
        self._error = error
        self._inner = inner

    def commit(self) -> None:
        self._inner.abort()
        raise self._error


def _failing(store: Store, monkeypatch: pytest.MonkeyPatch, error: lmdb.Error) -> None:
    flush = store._flush
    monkeypatch.setattr(store, "_flush", lambda txn: flush(_Failing(error, txn)))  # type: ignore[arg-type] # a fault


def test_after_a_failed_flush_nothing_more_is_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    _failing(store, monkeypatch, _failed(errno.EIO))
    with pytest.raises(StorageFailed, match="did not take"):
        put(store, Kind.MEMORY, ("m",), {"n": 2})
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(StorageFailed, match="did not take"):
            put(store, Kind.MEMORY, ("m",), {"n": 3})
    with store.reader(SPACE) as reader:
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 1}
    store.close()
    from reverie.store import needs_check

    assert needs_check(store.path)


def test_after_a_full_disk_the_next_write_works(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    _failing(store, monkeypatch, lmdb.DiskError("x"))
    with pytest.raises(DiskFull):
        put(store, Kind.MEMORY, ("m",), {"n": 2})
    monkeypatch.undo()
    assert put(store, Kind.MEMORY, ("m",), {"n": 3}) == 2


def test_a_commit_that_fills_the_map_is_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    flush = store._flush
    failed: list[int] = []

    def once(txn: lmdb.Transaction[bytes]) -> None:
        if not failed:
            failed.append(1)
            flush(_Failing(lmdb.MapFullError("x"), txn))  # type: ignore[arg-type] # a fault
        flush(txn)

    monkeypatch.setattr(store, "_flush", once)
    assert put(store, Kind.MEMORY, ("m",), {"n": 1}) == 1


def test_a_transaction_that_cannot_begin_is_translated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise lmdb.PanicError("x")

    monkeypatch.setattr(Environment, "begin", failing)
    with pytest.raises(StorageFailed):
        put(store, Kind.MEMORY, ("m",), {"n": 1})


def test_a_copy_that_fails_leaves_the_store_unchanged(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compaction and a copy for a backup that find no room are refused, and leave nothing behind."""
    put(store, Kind.MEMORY, ("m",), {"n": 1})

    def no_room(*_: object) -> None:
        raise _failed(errno.ENOSPC)

    monkeypatch.setattr(env, "_write_in_order", no_room)
    with pytest.raises(DiskFull):
        store.compact()
    with (tmp_path / "x").open("wb") as file, pytest.raises(DiskFull):
        store.copy_to(file.fileno())
    assert put(store, Kind.MEMORY, ("m",), {"n": 2}) == 2
    assert not list(store.path.glob("*.part"))


def test_a_bad_page_during_a_commit_is_damage(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> None:
        raise lmdb.CorruptedError("bad page")

    monkeypatch.setattr(GroupCommit, "seal", failing)
    with pytest.raises(Damaged, match="committing"):
        put(store, Kind.MEMORY, ("m",), {"n": 1})
    monkeypatch.undo()
    assert put(store, Kind.MEMORY, ("m",), {"n": 1}) == 1
