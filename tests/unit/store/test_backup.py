"""A backup is one sound file, and comes back as the store that it was."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from reverie.errors import Busy, Conflict, Damaged, DiskFull, NotFound, StorageFailed, ValidationError
from reverie.store import Kind, Store, StoreLock, lmdb_env, needs_check
from reverie.store.backup import backup, restore
from reverie.store.check import run_check
from support.stores import SECRET, SPACE, opened, put, raw, raw_key, write

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.errors import ReverieError


def _content(store: Store) -> list[object]:
    with store.reader(SPACE) as reader:
        return [list(reader.scan(kind)) for kind in (Kind.MEMORY, Kind.DOCUMENT, Kind.OPERATION, Kind.EVENT)]


@pytest.fixture
def kept(store: Store) -> Store:
    for number in range(20):
        put(store, Kind.MEMORY, ("m",), {"n": number})
    put(store, Kind.DOCUMENT, ("a",), {"text": "x" * 100_000})
    return store


def test_what_was_backed_up_comes_back(kept: Store, tmp_path: Path) -> None:
    done = backup(kept, tmp_path / "backup", draft_suffix="d")
    assert done.counts["version"] == 19
    assert done.byte_count == (tmp_path / "backup").stat().st_size < (kept.path / "data.mdb").stat().st_size
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir() if "part" in file.name] == []
    before = _content(kept)
    put(kept, Kind.MEMORY, ("m",), {"n": "later"})
    restore(tmp_path / "backup", tmp_path / "again")
    with opened(tmp_path / "again") as again:
        assert _content(again) == before
        put(again, Kind.MEMORY, ("m",), {"n": "on"})


def test_a_store_in_the_way_is_moved_aside_whole(kept: Store, tmp_path: Path) -> None:
    backup(kept, tmp_path / "backup", draft_suffix="d")
    before = _content(kept)
    put(kept, Kind.MEMORY, ("m",), {"n": "later"})
    later = _content(kept)
    with pytest.raises(Conflict, match="in use"):
        restore(tmp_path / "backup", kept.path, aside=tmp_path / "aside")
    kept.close()
    with pytest.raises(Conflict, match="there is a store"):
        restore(tmp_path / "backup", kept.path)
    with pytest.raises(Conflict, match="there is a store"):
        restore(tmp_path / "backup", kept.path, aside=tmp_path)
    restore(tmp_path / "backup", kept.path, aside=tmp_path / "aside")
    assert needs_check(kept.path)
    for path, content in ((kept.path, before), (tmp_path / "aside", later)):
        with opened(path) as store:
            assert _content(store) == content


def test_nothing_is_overwritten(kept: Store, tmp_path: Path) -> None:
    (tmp_path / "backup").write_bytes(b"mine")
    with pytest.raises(Conflict, match="exists"):
        backup(kept, tmp_path / "backup", draft_suffix="d")
    assert (tmp_path / "backup").read_bytes() == b"mine"
    with pytest.raises(NotFound):
        restore(tmp_path / "nothing", tmp_path / "again")


def test_no_other_file_is_written_to(kept: Store, tmp_path: Path) -> None:
    """Neither what stands where the draft would, nor what a link there or at the end leads to."""
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / ".reverie-d.part").symlink_to(tmp_path / "mine")
    (tmp_path / ".backup.part").write_bytes(b"mine too")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(Conflict):
        backup(kept, tmp_path / "backup", draft_suffix="d")
    with pytest.raises(Conflict):
        backup(kept, tmp_path / "link", draft_suffix="e")
    backup(kept, tmp_path / "backup", draft_suffix="e")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert (tmp_path / ".backup.part").read_bytes() == b"mine too"
    assert not (tmp_path / "nothing").exists()
    assert not (tmp_path / ".reverie-e.part").exists()


def test_of_two_backups_to_one_file_one_is_made(kept: Store, tmp_path: Path) -> None:
    def outcome(suffix: str) -> bool:
        try:
            return backup(kept, tmp_path / "backup", draft_suffix=suffix).byte_count > 0
        except Conflict:
            return False

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(outcome, "abcd")) == [False, False, False, True]
    assert run_check(tmp_path / "backup").ok
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup", "store"]


@pytest.mark.parametrize(
    ("to", "error"),
    [
        ("x" * 300, ValidationError),
        ("x" * 250 + ".mdb", None),
        ("a\0b", ValidationError),
        ("\ud800", ValidationError),
        ("/proc/1/x", ValidationError),
        ("y" * 300 + "/x", ValidationError),
        ("no/x", NotFound),
        ("store/data.mdb/x", NotFound),
    ],
)
def test_a_name_that_cannot_be_is_refused(
    kept: Store, tmp_path: Path, to: str, error: type[ReverieError] | None
) -> None:
    if error is None:
        assert backup(kept, tmp_path / to, draft_suffix="d").path.exists()
        return
    with pytest.raises(error) as caught:
        backup(kept, tmp_path / to, draft_suffix="d")
    assert caught.value.hint
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize(
    ("number", "error"), [(errno.ENOSPC, DiskFull), (errno.EIO, StorageFailed), (errno.EPERM, None)]
)
def test_what_the_disk_says_is_told(
    kept: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[ReverieError] | None
) -> None:
    """A file system without links gets its backup all the same, and nothing is replaced there either."""

    def link(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    if error is None:
        backup(kept, tmp_path / "backup", draft_suffix="d")
        assert run_check(tmp_path / "backup").ok
    else:
        with pytest.raises(error):
            backup(kept, tmp_path / "backup", draft_suffix="d")
        assert not (tmp_path / "backup").exists()
    assert not (tmp_path / ".reverie-d.part").exists()


def test_a_copy_that_is_not_sound_does_not_count(kept: Store, tmp_path: Path) -> None:
    backup(kept, tmp_path / "good", draft_suffix="d")
    kept.close()
    with raw(kept.path) as txn:
        txn.delete(raw_key(Kind.MEMORY, ("m",)))
    with opened(kept.path) as store, pytest.raises(Damaged, match="does not pass the check"):
        backup(store, tmp_path / "bad", draft_suffix="d")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["good", "store"]
    data = bytearray((tmp_path / "good").read_bytes())
    at = data.index(b'{"n":19}')
    data[at + 5] ^= 1
    (tmp_path / "good").write_bytes(data)
    with pytest.raises(Damaged, match="does not pass the check"):
        restore(tmp_path / "good", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_compacting_takes_purged_bytes_out_of_the_file(kept: Store) -> None:
    words = "something to forget " * 50
    write(kept, lambda w: [w.append(Kind.ENTRY, ("t",), {"text": words}) for _ in range(200)])
    write(kept, lambda w: w.purge(Kind.ENTRY, ("t",), 1000))
    assert words.encode() in (kept.path / "data.mdb").read_bytes()
    before = _content(kept)
    assert kept.compact() > 100_000
    assert words.encode() not in (kept.path / "data.mdb").read_bytes()
    assert _content(kept) == before
    put(kept, Kind.MEMORY, ("m",), {"n": "on"})
    assert sorted(file.name for file in kept.path.iterdir()) == ["anchor", "data.mdb", "lock.mdb", "store.lock"]
    kept.close()
    with opened(kept.path) as store:
        assert _content(store) != before
    assert not StoreLock.is_held(kept.path)
    assert SECRET not in words


def test_compacting_waits_for_readers(kept: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lmdb_env, "_GROW_WAIT_S", 0.05)
    with kept.reader(SPACE) as reader:
        with pytest.raises(Busy):
            kept.compact()
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 19}
