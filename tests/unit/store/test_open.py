"""Opening a store: one process, private files, durable flags, and no step back behind acknowledged commits."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest

from reverie.errors import Busy, Conflict, Damaged, ReverieError, StorageFailed
from reverie.store import Kind, Store, StoreLock, needs_check
from reverie.store.checksums import header_key
from reverie.store.env import READERS_MAX, Environment, lmdb_options
from reverie.store.guard import RollbackGuard, RollbackGuardFile
from reverie.store.migrations import MIGRATIONS, m001_first_form
from support.stores import AT, MASKING, SPACE, opened, put, raw, write


def test_the_sync_flags_of_lmdb(store: Store) -> None:
    """LMDB is opened with all flags that make commits durable."""
    assert store._env._env.flags() == {
        "subdir": True,
        "readonly": False,
        "metasync": True,
        "sync": True,
        "map_async": False,
        "readahead": True,
        "writemap": False,
        "meminit": True,
        "lock": True,
    }
    assert store._env._env.lib_version()[:2] == (0, 9)
    assert lmdb_options(1)["lib_version"] == 0


def test_files_are_private(store: Store) -> None:
    put(store, Kind.MEMORY, ("m",), {})
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o700
    names = {file.name: stat.S_IMODE(file.stat().st_mode) for file in store.path.iterdir()}
    assert names == dict.fromkeys(("data.mdb", "lock.mdb", "store.lock", "anchor"), 0o600)


def test_a_folder_with_a_wider_mode_is_narrowed(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with opened(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_the_folders_are_flushed_when_the_file_is_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a store is created its folder and the folder above are flushed; when it is opened again they are not."""
    flushed: list[Path] = []
    monkeypatch.setattr("reverie.store.env.sync_folder", flushed.append)
    opened(path).close()
    assert flushed == [path, path.parent]
    opened(path).close()
    assert len(flushed) == 2


def test_a_second_opener_is_refused(store: Store) -> None:
    with pytest.raises(Conflict, match=f"in use by process {os.getpid()}") as caught:
        opened(store.path)
    assert caught.value.details["pid"] == os.getpid()
    assert str(os.getpid()) in (caught.value.hint or "")
    assert StoreLock.is_held(store.path)
    store.close()
    assert not StoreLock.is_held(store.path)
    opened(store.path).close()


def test_another_process_is_refused_too(store: Store) -> None:
    code = "import sys, pathlib; from reverie.store import StoreLock; StoreLock.take(pathlib.Path(sys.argv[1]))"
    done = subprocess.run([sys.executable, "-c", code, store.path], capture_output=True, text=True, check=False)
    assert f"in use by process {os.getpid()}" in done.stderr


def test_a_lock_taken_before_is_used_and_released(path: Path) -> None:
    lock = StoreLock.take(path)
    store = opened(path, lock=lock)
    with pytest.raises(Conflict):
        StoreLock.take(path)
    store.close()
    with StoreLock.take(path) as again:
        again.release()
    assert not StoreLock.is_held(path.parent / "nowhere")


def test_needs_check_with_the_lock_taken(path: Path) -> None:
    store = opened(path)
    store._env.close()
    store._lock.release()
    with StoreLock.take(path):
        assert needs_check(path, locked=True)
        assert not needs_check(path)
    store._guard.close()


def test_drafts_of_an_unfinished_compaction_are_removed(path: Path) -> None:
    path.mkdir()
    (path / "compacted.part").write_bytes(b"half")
    opened(path).close()
    assert not list(path.glob("*.part"))


def test_one_copy_of_lmdb_is_loaded() -> None:
    """Only one copy of the LMDB library is loaded in the process: locks of two copies would not exclude each other."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        pytest.skip("needs /proc to see what is loaded")
    assert len({line.split()[-1] for line in maps.read_text().splitlines() if "lmdb" in line.split()[-1]}) == 1


def test_a_failed_open_releases_the_lock(path: Path) -> None:
    path.mkdir()
    (path / "data.mdb").write_bytes(b"not a store" * 1000)
    for _ in range(2):
        with pytest.raises(Damaged, match="not a store"):
            opened(path)


def test_a_map_that_cannot_be_made_is_damage_or_a_lack_of_addresses(path: Path) -> None:
    """A store file of impossible size is Damaged; too little address space for its map is StorageFailed."""
    opened(path).close()
    data = bytearray((path / "data.mdb").read_bytes())
    for page in (0, 4096):
        data[page + 141] ^= 2  # of the last page's number in both meta pages, which LMDB maps by
    (path / "data.mdb").write_bytes(data)
    with pytest.raises(Damaged, match="ends where no map can"):
        opened(path)
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, limits[1]))
    try:
        with pytest.raises(StorageFailed, match="no room for a map"):
            opened(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


def test_a_folder_that_cannot_hold_a_store_is_named(path: Path) -> None:
    path.mkdir()
    (path / "data.mdb").mkdir()
    with pytest.raises(StorageFailed, match="cannot open"):
        opened(path)


def test_a_forked_process_cannot_use_the_store(store: Store) -> None:
    child = os.fork()
    if child == 0:
        try:
            with store.reader(SPACE):
                os._exit(1)
        except StorageFailed:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_the_number_of_readers_is_bounded(path: Path) -> None:
    path.mkdir()
    environment = Environment(path)
    with pytest.raises(Busy, match="too many reads"):
        _nested(environment, READERS_MAX + 10)
    with environment.read() as txn:
        assert txn.stat()["entries"] == 0
    environment.close()


def _nested(environment: Environment, depth: int) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        for opened_before in range(depth):
            try:
                stack.enter_context(environment.read())
            except Busy:
                assert opened_before == READERS_MAX
                raise


def test_the_slot_of_a_killed_reader_is_cleared(path: Path) -> None:
    """After a reading process was killed, opening the store clears its reader slot."""
    opened(path).close()
    code = (
        "import lmdb, os, sys; from reverie.store.env import options\n"
        "env = lmdb.open(sys.argv[1], **options(1 << 30)); txn = env.begin(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, path], check=False)
    with lmdb.open(str(path), **lmdb_options(1 << 30)) as env:  # type: ignore[arg-type]
        assert env.reader_check() <= 1
    with opened(path) as store:
        assert store._env.stale_readers == 0


def test_needs_check_after_an_unclean_stop(path: Path) -> None:
    assert not needs_check(path)
    store = opened(path)
    put(store, Kind.MEMORY, ("m",), {})
    assert not needs_check(path), "a living process has it"
    store.close()
    assert not needs_check(path)
    store = opened(path)
    store._lock.release()
    assert needs_check(path), "this is what is left when the process is killed"
    (path / "anchor").write_bytes(b"?")
    assert needs_check(path)
    (path / "anchor").unlink()
    assert needs_check(path)
    store._env.close()
    store._guard.close()


def _old(path: Path) -> Path:
    """Make a store with three commits; return a copy of it from before the last one."""
    with opened(path) as store:
        for number in range(2):
            put(store, Kind.MEMORY, ("m",), {"n": number})
    copy = path.with_name("copy")
    shutil.copytree(path, copy)
    with opened(path) as store:
        put(store, Kind.MEMORY, ("m",), {"n": 2})
    return copy


def _back(path: Path, copy: Path) -> None:
    shutil.copyfile(copy / "data.mdb", path / "data.mdb")


def _gone(path: Path, _: Path) -> None:
    (path / "data.mdb").unlink()


def _headless(path: Path, _: Path) -> None:
    with raw(path) as txn:
        txn.delete(header_key())


def _other(path: Path, copy: Path) -> None:
    """Replace a store by one with as many commits, of which the last is another."""
    with opened(copy) as store:
        put(store, Kind.MEMORY, ("m",), {"n": "other"})
    _back(path, copy)


@pytest.mark.parametrize("damage", [_back, _gone, _headless, _other])
def test_a_store_that_went_back_is_refused(path: Path, damage: Callable[[Path, Path], None]) -> None:
    """A store behind its rollback guard is refused as Damaged, each time it is opened."""
    damage(path, _old(path))
    for _ in range(2):
        with pytest.raises(Damaged, match="commit 3 was acknowledged") as caught:
            opened(path)
        assert "anchor" in (caught.value.hint or "")


def test_a_damaged_newer_meta_page_is_noticed(path: Path) -> None:
    """If the newer meta page of the store's file is damaged, opening it is refused as Damaged."""
    _old(path)
    data = bytearray((path / "data.mdb").read_bytes())
    newer = max((0, 1), key=lambda page: int.from_bytes(data[page * 4096 + 144 : page * 4096 + 152], "little"))
    data[newer * 4096 + 144 : newer * 4096 + 152] = bytes(8)
    (path / "data.mdb").write_bytes(data)
    with pytest.raises(Damaged, match="gone back to commit 2"):
        opened(path)


def test_a_store_ahead_of_its_rollback_guard_opens(path: Path) -> None:
    """A store that is one commit ahead of its rollback guard opens, with the newer record."""
    copy = _old(path)
    shutil.copyfile(copy / "anchor", path / "anchor")
    with opened(path) as store, store.reader(SPACE) as reader:
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 2}


def test_without_the_guard_a_rolled_back_store_opens(path: Path) -> None:
    _back(path, _old(path))
    (path / "anchor").unlink()
    with opened(path) as store, store.reader(SPACE) as reader:
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 1}


def test_an_unwritable_guard_stops_writes_except_on_a_full_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(number: int) -> Callable[..., None]:
        def write_(*_: object, **__: object) -> None:
            raise OSError(number, "no")

        return write_

    monkeypatch.setattr(RollbackGuardFile, "write", failing(28))
    put(store, Kind.MEMORY, ("m",), {"n": 1})
    put(store, Kind.MEMORY, ("m",), {"n": 2})
    monkeypatch.setattr(RollbackGuardFile, "write", failing(5))
    put(store, Kind.MEMORY, ("m",), {"n": 3})
    with pytest.raises(StorageFailed, match="rollback guard"):
        put(store, Kind.MEMORY, ("m",), {"n": 4})
    assert store.failed is not None
    with pytest.raises(StorageFailed, match="rollback guard"):
        store.compact()


def test_a_damaged_guard_is_not_read() -> None:
    anchor = RollbackGuard(7, "ab" * 16, closed=True)
    data = anchor.to_bytes()
    assert RollbackGuard.from_bytes(data) == anchor
    assert len(data) == 256
    for at in (0, 20, 100, 238, 239, 254):
        assert RollbackGuard.from_bytes(data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]) is None
    assert RollbackGuard.from_bytes(data[:-1]) is None


def m999_later(txn: lmdb.Transaction[bytes]) -> None:
    txn.put(b"later", b"")


def test_migrations_run_once_in_order(path: Path) -> None:
    opened(path).close()
    for _ in range(2):
        store = opened(path, migrations=(*MIGRATIONS, m999_later))
        assert store._header.applied == [*(step.__name__ for step in MIGRATIONS), "m999_later"]
        store.close()
    with pytest.raises(StorageFailed, match=r"newer version of reverie .*m999_later") as caught:
        opened(path)
    assert caught.value.hint


def m999_failing(txn: lmdb.Transaction[bytes]) -> None:
    txn.put(b"half", b"")
    raise ValueError("no")


def test_a_failed_migration_changes_nothing(path: Path) -> None:
    with opened(path) as store:
        put(store, Kind.MEMORY, ("m",), {"n": 1})
    with pytest.raises(ValueError, match="no"):
        opened(path, migrations=(*MIGRATIONS, m999_failing))
    with opened(path) as store, store.reader(SPACE) as reader:
        assert reader.get(Kind.MEMORY, ("m",)) == {"n": 1}
    with raw(path) as txn:
        assert txn.get(b"half") is None


def test_records_without_a_header_are_refused(path: Path) -> None:
    path.mkdir()
    with raw(path) as txn:
        txn.put(b"x", b"y")
    with pytest.raises(StorageFailed, match="no header"):
        opened(path)
    assert m001_first_form.__name__ == MIGRATIONS[0].__name__


def test_another_format_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.store.migrations.FORMAT", 2)
    opened(path).close()
    monkeypatch.undo()
    with pytest.raises(Damaged, match="form 2"):
        opened(path)


def test_a_reopened_store_has_the_same_content(path: Path) -> None:
    with opened(path) as store:
        put(store, Kind.MEMORY, ("m",), {"n": 1})
        commits = store.commits
    with opened(path) as store:
        assert store.commits == commits
        assert store.commit([], at=AT) == []
        assert Store.open.__doc__
        with store.reader(SPACE) as reader:
            assert reader.operation() == 1
        assert write(store, lambda w: w.operation()).value == 1
    assert isinstance(MASKING.taken("x"), tuple)
    assert issubclass(Damaged, ReverieError)
