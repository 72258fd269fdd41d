"""Backup and restore: one checked file, restored to an equal store; nothing existing is overwritten."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reverie.errors import Busy, Conflict, Damaged, DiskFull, NotFound, ReverieError, StorageFailed, ValidationError
from reverie.store import Kind, Store, StoreLock, Writer, env, needs_check, seal
from reverie.store.backup import backup, restore
from reverie.store.check import run_check
from support.stores import MASKING, SECRET, SPACE, noise, opened, put, raw, raw_key, write


def _content(store: Store) -> list[object]:
    with store.reader(SPACE) as reader:
        return [list(reader.scan(kind)) for kind in (Kind.MEMORY, Kind.DOCUMENT, Kind.OPERATION, Kind.EVENT)]


@pytest.fixture
def backed_up(store: Store) -> Store:
    for number in range(20):
        put(store, Kind.MEMORY, ("m",), {"n": number})
    put(store, Kind.DOCUMENT, ("a",), {"text": noise(100_000)})
    return store


def test_a_restored_backup_has_the_same_content(backed_up: Store, tmp_path: Path) -> None:
    done = backup(backed_up, tmp_path / "backup", draft_suffix="d")
    assert done.counts["version"] == 19
    assert done.byte_count == (tmp_path / "backup").stat().st_size < (backed_up.path / "data.mdb").stat().st_size
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir() if "part" in file.name] == []
    before = _content(backed_up)
    put(backed_up, Kind.MEMORY, ("m",), {"n": "later"})
    restore(tmp_path / "backup", tmp_path / "again")
    with opened(tmp_path / "again") as again:
        assert _content(again) == before
        put(again, Kind.MEMORY, ("m",), {"n": "on"})


def test_restore_copies_an_existing_store_aside(backed_up: Store, tmp_path: Path) -> None:
    backup(backed_up, tmp_path / "backup", draft_suffix="d")
    before = _content(backed_up)
    put(backed_up, Kind.MEMORY, ("m",), {"n": "later"})
    later = _content(backed_up)
    with pytest.raises(Conflict, match="in use"):
        restore(tmp_path / "backup", backed_up.path, aside=tmp_path / "aside")
    backed_up.close()
    with pytest.raises(Conflict, match="there is a store"):
        restore(tmp_path / "backup", backed_up.path)
    with pytest.raises(Conflict, match="there is a store"):
        restore(tmp_path / "backup", backed_up.path, aside=tmp_path)
    restore(tmp_path / "backup", backed_up.path, aside=tmp_path / "aside")
    assert needs_check(backed_up.path)
    for path, content in ((backed_up.path, before), (tmp_path / "aside", later)):
        with opened(path) as store:
            assert _content(store) == content


def test_nothing_is_overwritten(backed_up: Store, tmp_path: Path) -> None:
    (tmp_path / "backup").write_bytes(b"mine")
    with pytest.raises(Conflict, match="exists"):
        backup(backed_up, tmp_path / "backup", draft_suffix="d")
    assert (tmp_path / "backup").read_bytes() == b"mine"
    with pytest.raises(NotFound):
        restore(tmp_path / "nothing", tmp_path / "again")


def test_existing_files_and_links_are_not_written_to(backed_up: Store, tmp_path: Path) -> None:
    """A backup changes no existing file at its draft's name, and follows no link at its own or its draft's name."""
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / ".reverie-d.part").symlink_to(tmp_path / "mine")
    (tmp_path / ".backup.part").write_bytes(b"mine too")
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(Conflict):
        backup(backed_up, tmp_path / "backup", draft_suffix="d")
    with pytest.raises(Conflict):
        backup(backed_up, tmp_path / "link", draft_suffix="e")
    backup(backed_up, tmp_path / "backup", draft_suffix="e")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert (tmp_path / ".backup.part").read_bytes() == b"mine too"
    assert not (tmp_path / "nothing").exists()
    assert not (tmp_path / ".reverie-e.part").exists()


def test_without_hard_links_nothing_is_overwritten_either(
    backed_up: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system without hard links a backup does not overwrite a file made at its path meanwhile."""

    def unsupported(_: Path, to: Path, **__: object) -> None:
        if to.name == "mine":
            to.write_bytes(b"mine")  # made by somebody else in the last moment
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", unsupported)
    with pytest.raises(Conflict, match="exists"):
        backup(backed_up, tmp_path / "mine", draft_suffix="d")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    backup(backed_up, tmp_path / "backup", draft_suffix="d")
    assert stat.S_IMODE((tmp_path / "backup").stat().st_mode) == 0o600
    assert run_check(tmp_path / "backup").ok
    assert sorted(file.name for file in tmp_path.iterdir()) == ["backup", "mine", "store"]


def test_of_two_backups_to_one_file_one_is_made(backed_up: Store, tmp_path: Path) -> None:
    def outcome(suffix: str) -> bool:
        try:
            return backup(backed_up, tmp_path / "backup", draft_suffix=suffix).byte_count > 0
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
def test_an_impossible_path_is_refused(
    backed_up: Store, tmp_path: Path, to: str, error: type[ReverieError] | None
) -> None:
    if error is None:
        assert backup(backed_up, tmp_path / to, draft_suffix="d").path.exists()
        return
    with pytest.raises(error) as caught:
        backup(backed_up, tmp_path / to, draft_suffix="d")
    assert caught.value.hint
    assert [file.name for file in tmp_path.iterdir()] == ["store"]


@pytest.mark.parametrize(
    ("number", "error"), [(errno.ENOSPC, DiskFull), (errno.EIO, StorageFailed), (errno.EPERM, None)]
)
def test_errors_of_the_file_system_are_translated(
    backed_up: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, error: type[ReverieError] | None
) -> None:
    """If the backup's hard link fails, the backup is renamed instead or its own error raised; no draft is left."""

    def link(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", link)
    if error is None:
        backup(backed_up, tmp_path / "backup", draft_suffix="d")
        assert run_check(tmp_path / "backup").ok
    else:
        with pytest.raises(error):
            backup(backed_up, tmp_path / "backup", draft_suffix="d")
        assert not (tmp_path / "backup").exists()
    assert not (tmp_path / ".reverie-d.part").exists()


def test_a_copy_that_fails_the_check_is_removed(backed_up: Store, tmp_path: Path) -> None:
    backup(backed_up, tmp_path / "good", draft_suffix="d")
    backed_up.close()
    with raw(backed_up.path) as txn:
        txn.delete(raw_key(Kind.MEMORY, ("m",)))
    with opened(backed_up.path) as store, pytest.raises(Damaged, match="does not pass the check"):
        backup(store, tmp_path / "bad", draft_suffix="d")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["good", "store"]
    data = bytearray((tmp_path / "good").read_bytes())
    at = data.index(b'{"n":19}')
    data[at + 5] ^= 1
    (tmp_path / "good").write_bytes(data)
    with pytest.raises(Damaged, match="does not pass the check"):
        restore(tmp_path / "good", tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_compacting_removes_purged_bytes_from_the_file(backed_up: Store) -> None:
    values = [seal({"text": noise(1000, number)}, MASKING) for number in range(200)]
    words = values[0].data
    write(backed_up, lambda w: w.append_many(Kind.ENTRY, ("t",), values))
    write(backed_up, lambda w: w.purge(Kind.ENTRY, ("t",), 1000))
    assert words in (backed_up.path / "data.mdb").read_bytes()
    before = _content(backed_up)
    assert backed_up.compact() > 100_000
    assert words not in (backed_up.path / "data.mdb").read_bytes()
    assert _content(backed_up) == before
    put(backed_up, Kind.MEMORY, ("m",), {"n": "on"})
    assert sorted(file.name for file in backed_up.path.iterdir()) == ["anchor", "data.mdb", "lock.mdb", "store.lock"]
    backed_up.close()
    with opened(backed_up.path) as store:
        assert _content(store) != before
    assert not StoreLock.is_held(backed_up.path)
    assert SECRET.encode() not in words


def test_a_compaction_without_room_leaves_no_draft(backed_up: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk is full while the store is compacted, the half copy is removed and the store is unchanged."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    before = _content(backed_up)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises((DiskFull, OSError)):
            backed_up.compact()
    assert not list(backed_up.path.glob("*.part"))
    assert _content(backed_up) == before


def test_compacting_waits_for_readers(backed_up: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "_GROW_WAIT_S", 0.05)
    with backed_up.reader(SPACE) as reader:
        with pytest.raises(Busy):
            backed_up.compact()
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 19}


def test_a_backup_has_full_pages(store: Store, tmp_path: Path) -> None:
    """A backup of a store with half empty pages is over a quarter smaller, and restores to equal content."""

    def body(writer: Writer) -> None:
        writer.put(Kind.SCHEDULE, ("last",), {"n": 1})
        for number in range(1500):
            writer.put(Kind.MEMORY, (f"m{number:04}",), {"text": noise(200, number)})

    write(store, body)
    before = _content(store)
    made = backup(store, tmp_path / "copy", draft_suffix="d")
    assert made.path.stat().st_size < 0.75 * (store.path / "data.mdb").stat().st_size
    assert list(store.path.glob("*.part")) == []
    with opened(restore(tmp_path / "copy", tmp_path / "again").path) as copy:
        assert _content(copy) == before
