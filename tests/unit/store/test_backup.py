"""A backup is one sound file, and comes back as the store that it was."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from reverie.errors import Busy, Conflict, Damaged, NotFound
from reverie.store import Kind, Store, StoreLock, env, needs_check
from reverie.store.backup import backup, restore
from support.stores import SECRET, SPACE, opened, put, raw, raw_key, write

if TYPE_CHECKING:
    from pathlib import Path


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
    done = backup(kept, tmp_path / "backup")
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
    backup(kept, tmp_path / "backup")
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
        backup(kept, tmp_path / "backup")
    assert (tmp_path / "backup").read_bytes() == b"mine"
    with pytest.raises(NotFound):
        restore(tmp_path / "nothing", tmp_path / "again")


def test_a_copy_that_is_not_sound_does_not_count(kept: Store, tmp_path: Path) -> None:
    backup(kept, tmp_path / "good")
    kept.close()
    with raw(kept.path) as txn:
        txn.delete(raw_key(Kind.MEMORY, ("m",)))
    with opened(kept.path) as store, pytest.raises(Damaged, match="does not pass the check"):
        backup(store, tmp_path / "bad")
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
    monkeypatch.setattr(env, "_GROW_WAIT_S", 0.05)
    with kept.reader(SPACE) as reader:
        with pytest.raises(Busy):
            kept.compact()
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 19}
