"""The sync service: an error of one file blocks no other one."""

from __future__ import annotations

import asyncio
import errno
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest

from reverie import _native
from reverie.errors import Conflict, DiskFull, Forbidden, ReverieError, StorageFailed, ValidationError
from reverie.ids import new_id
from reverie.redact import Redactor, Span
from reverie.store import Done, Kind, RedactionRecord, Store, Write, Writer
from reverie.sync.root import SPACE_FILE, Root
from reverie.sync.swap import write_file
from reverie.usecases import documents
from reverie.usecases.by import By
from reverie.usecases.consolidation import save_archive
from reverie.usecases.sync import PART_PATHS
from reveried.sync import projections
from reveried.sync.folder import Folder
from reveried.sync.service import SyncService
from reveried.sync.state import CommitResult, ScanResult, WriteResult
from support.daemon_folder import rename_over
from support.stores import AT
from support.sync_without_daemon import NOW_MS, submit_to, sync_service

NAMES = [f"facts/{name}.md" for name in "abcdefgh"]


class FailingWriter:
    """A Writer whose writes of the record with one key fail."""

    def __init__(self, writer: Writer, path: str, error: Exception) -> None:
        self._writer = writer
        self._path = path
        self._error = error

    def put(self, kind: Kind, key: tuple[str, ...], value: Any) -> Any:
        if key == (self._path,):
            raise self._error
        return self._writer.put(kind, key, value)

    def save(self, record: Any, key: tuple[str, ...]) -> Any:
        if key == (self._path,):
            raise self._error
        return self._writer.save(record, key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


def failing_submit(store: Store, path: str, error: Exception) -> Callable[..., Any]:
    """Return a submit function that commits at once, and fails for the document at one path."""
    commit = submit_to(store)

    async def submit(write: Write[Any], *, bulk: bool = False) -> Done[Any]:
        del bulk
        body = write.body
        failing: Write[Any] = Write(
            write.space, write.who, write.why, lambda writer: body(cast("Writer", FailingWriter(writer, path, error)))
        )
        done: Done[Any] = await commit(failing)
        return done

    return submit


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store", redactor=Redactor()) as opened:
        yield opened


@pytest.mark.parametrize("error", [ValidationError("no"), KeyError("a defect")])
def test_a_failing_file_blocks_no_other_one(tmp_path: Path, store: Store, error: Exception) -> None:
    """A failing file is in the status and retried; the others are stored."""
    root = tmp_path / "root"
    for name in NAMES:
        (root / "default" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "default" / name).write_text(f"# {name}\n", encoding="utf-8")

    async def run() -> None:
        sick = sync_service(store, root, failing_submit(store, "facts/c.md", error))
        outcome = await sick.sync("default", None, whole=True)
        assert outcome.adopted == len(NAMES) - 1
        status = sick.status("default")
        assert [refusal.path for refusal in status.refused] == ["facts/c.md"]
        assert status.refused[0].reason == getattr(error, "code", ReverieError.code)
        assert status.state == "ok"
        sick.folder("default")._submit = submit_to(store)
        outcome = await sick.sync("default", set())
        assert outcome.adopted == 1
        assert sick.status("default").refused == []
        await sick.close()

    asyncio.run(run())


def test_a_stale_part_leaves_the_others_done(tmp_path: Path, store: Store) -> None:
    """A document that changes during the pass is scanned again; what was committed beside it is recorded at once."""
    root = tmp_path / "root"
    names = [f"facts/{number:03}.md" for number in range(2 * PART_PATHS)]
    (root / "default" / "facts").mkdir(parents=True)
    for name in names:
        text = "- password: kq7Xv2LmZ9rTb4Wc\n" if name in {names[0], names[-1]} else "- a line\n"
        (root / "default" / name).write_text(f"# {name}\n\n{text}", encoding="utf-8")
    committed: list[set[str]] = []

    class Watched(Folder):
        def write(self, scanned: ScanResult, result: CommitResult) -> WriteResult:
            committed.append(set(result.operations))
            if len(committed) == 1:
                self._submit = submit_to(store)
            return super().write(scanned, result)

    async def run() -> None:
        submit = failing_submit(store, names[-1], Conflict("it changed", stale=True))
        sync = sync_service(store, root, submit)
        sync.folder("default").__class__ = Watched
        outcome = await sync.sync("default", None, whole=True)
        assert outcome.adopted == len(names)
        assert sync.status("default").refused == []
        await sync.close()

    asyncio.run(run())
    assert committed[:2] == [set(names[:PART_PATHS]), set(names[PART_PATHS:])]
    with store.reader("default") as reader:
        places = {place.key for _, record in reader.records(RedactionRecord) for place in record.places}
    assert places == {names[0], names[-1]}


class _Panicking(Redactor):
    """A redactor whose core has a defect that one text meets."""

    def spans(self, text: str) -> list[Span]:
        if "BREAKS" in text:
            _native.panic_with(text)
        return super().spans(text)


def test_a_file_that_the_core_cannot_compute_stops_no_other_one(tmp_path: Path, store: Store) -> None:
    """It alone is not taken, the status names it until it is changed or gone, and the folder is synced as ever."""
    root = tmp_path / "root"
    folder = root / "default"
    (folder / "facts").mkdir(parents=True)
    for name in NAMES:
        text = "BREAKS" if name in NAMES[:2] else "holds"
        (folder / name).write_text(f"# {name}\n\n- One line {text}\n", encoding="utf-8")

    def refused(sick: SyncService) -> list[tuple[str, str]]:
        status = sick.status("default")
        assert status.state == "ok"
        return [(refusal.path, refusal.reason) for refusal in status.refused]

    async def run() -> None:
        sick = sync_service(store, root)
        sick.folder("default")._redactor = _Panicking()
        outcome = await sick.sync("default", None, whole=True)
        assert outcome.adopted == len(NAMES) - 2
        assert refused(sick) == [(name, "core_failed") for name in NAMES[:2]]
        assert all("reverie logs" in (one.hint or "") for one in sick.status("default").refused)
        (folder / NAMES[3]).write_text("# d\n\n- Another line\n", encoding="utf-8")
        assert (await sick.sync("default", {NAMES[3]})).adopted == 1
        (folder / NAMES[0]).write_text("# a\n\n- One line\n", encoding="utf-8")
        assert (await sick.sync("default", {NAMES[0]})).adopted == 1
        assert refused(sick) == [(NAMES[1], "core_failed")]
        (folder / NAMES[1]).unlink()
        await sick.sync("default", {NAMES[1]})
        assert refused(sick) == []
        await sick.close()

    asyncio.run(run())


def test_a_full_disk_fails_the_whole_scan(tmp_path: Path, store: Store) -> None:
    """A full disk fails the whole scan, and is no error of the file."""
    root = tmp_path / "root"
    (root / "default").mkdir(parents=True)
    (root / "default" / "a.md").write_text("# A\n", encoding="utf-8")

    async def run() -> None:
        sick = sync_service(store, root, failing_submit(store, "a.md", DiskFull("full", hint="make room")))
        with pytest.raises(DiskFull):
            await sick.sync("default", None, whole=True)
        assert sick.status("default").refused == []
        await sick.close()

    asyncio.run(run())


def test_baselines_are_saved_only_after_a_flush(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are flushed before their baselines are saved; without a flush nothing is saved."""
    by = By("default", "agent", new_id=lambda kind: new_id(kind, 0, bytes(10)))
    store.commit([documents.put.write(by, "facts/a.md", "- Tea: green\n")], at=AT)

    def recorded() -> list[Any]:
        with store.reader("default") as reader:
            return [record["known"]["operation"] for _, record in reader.scan(Kind.BASELINE)]

    def fails(_: Root) -> None:
        raise StorageFailed("the disk is failing", hint="look at it")

    async def run() -> None:
        kept = sync_service(store, tmp_path / "root")
        await kept.sync("default", None, whole=True)
        with monkeypatch.context() as patch:
            patch.setattr(Root, "flush", fails)
            with pytest.raises(StorageFailed):
                await kept.save_baselines("default")
        assert recorded() == []
        [refusal] = kept.status("default").refused
        assert (refusal.path, refusal.reason, refusal.hint) == (".", "storage_failed", "look at it")
        await kept.save_baselines("default")
        assert recorded() == [1]
        assert kept.status("default").refused == []
        await kept.close()

    asyncio.run(run())


def test_a_failed_projection_is_in_the_status_and_blocks_no_other_one(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A projection that cannot be written is in the status until it is written."""
    folder = tmp_path / "root" / "default"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("# A\n", encoding="utf-8")
    placed = write_file

    def locked(root: Root, path: str, *args: Any, **kwargs: Any) -> Any:
        if path.startswith("memory/"):
            raise Forbidden("it cannot be changed", hint="look at its owner and mode")
        return placed(root, path, *args, **kwargs)

    async def run() -> None:
        kept = sync_service(store, tmp_path / "root")
        await kept.sync("default", None, whole=True)
        with monkeypatch.context() as patch:
            patch.setattr(projections, "write_file", locked)
            failed = await kept.update_projections("default")
        assert isinstance(failed, Forbidden)
        assert (folder / "MEMORY-INDEX.json").exists()
        [refusal] = kept.status("default").refused
        assert (refusal.path, refusal.reason) == ("memory/long-term-memory.json", "forbidden")
        assert await kept.update_projections("default") is None
        assert (folder / "memory/long-term-memory.json").exists()
        assert kept.status("default").refused == []
        await kept.close()

    asyncio.run(run())


def test_an_archive_is_written_before_the_index_that_names_it(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between two files leaves no index that names an archive which is not there."""
    archive = Write("default", "x", "x", lambda to: save_archive(to, b"{}", kind="dream", ref="", entries=1, at=AT))
    by = By("default", "agent", new_id=lambda kind: new_id(kind, 0, bytes(10)))
    store.commit([documents.put.write(by, "facts/a.md", "- Tea: green\n"), archive], at=AT)
    paths: list[str] = []

    def noted(root: Root, path: str, *args: Any, **kwargs: Any) -> Any:
        paths.append(path)
        return write_file(root, path, *args, **kwargs)

    monkeypatch.setattr(projections, "write_file", noted)

    async def run() -> None:
        kept = sync_service(store, tmp_path / "root")
        await kept.sync("default", None, whole=True)
        assert await kept.update_projections("default") is None
        await kept.close()

    asyncio.run(run())
    assert paths[0].startswith("archives/")
    assert "MEMORY-INDEX.json" in paths[1:]


@pytest.mark.parametrize("writes", [1, 24, 60])
def test_an_old_text_that_is_noticed_alone_waits_for_a_full_scan(tmp_path: Path, store: Store, writes: int) -> None:
    """One file of an older folder may be noticed before the others: its text waits, however many writes old it is."""
    texts = ["# A\n\n" + "".join(f"- Line {number}: a fact\n" for number in range(1 + n)) for n in range(1 + writes)]
    saved = tmp_path / "root" / "default" / "facts" / "a.md"
    shown: list[str] = []  # the file's text after each write

    async def run() -> None:
        service = sync_service(store, tmp_path / "root")
        numbers = count()
        by = By("default", "agent", new_id=lambda kind: new_id(kind, next(numbers), bytes(10)))
        for text in texts:
            store.commit([documents.put.write(by, "facts/a.md", text)], at=AT)
            await service.sync("default", None, whole=True)
            shown.append(saved.read_text())
        folder = service.folder("default")

        rename_over(saved, shown[0])
        assert folder.scan_and_plan({"facts/a.md"}).plan.waiting == ("facts/a.md",)

        rename_over(saved, shown[-1] + "- Tea: green\n")
        assert folder.scan_and_plan({"facts/a.md"}).plan.waiting == ()
        await service.close()

    asyncio.run(run())


def test_a_purge_waits_for_files_replaced_until_then(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that agents replace meanwhile never had its words: else it would wait for as long as they write."""
    clock, ids = [NOW_MS], count()
    by = By("default", "agent", new_id=lambda kind: new_id(kind, 1, bytes([next(ids)]) * 10))
    service = sync_service(store, tmp_path / "root", now_ms=lambda: clock[0])

    async def write() -> None:
        store.commit([documents.put.write(by, "facts/a.md", f"# A\n\n- Line {clock[0]}: a fact\n")], at=AT)
        await service.sync("default", None, whole=True)

    async def sleep(seconds: float) -> None:
        clock[0] += int(1000 * seconds) + 500
        await write()

    async def run() -> None:
        await write()
        clock[0] += 1
        await write()
        replaced = service.folder("default").displaced
        monkeypatch.setattr(asyncio, "sleep", sleep)
        await service.settle_displaced("default")
        assert replaced
        assert service.folder("default").displaced.isdisjoint(replaced)
        assert clock[0] - NOW_MS < 2_000 * service._config.sync.grace_seconds
        await service.close()

    asyncio.run(run())


@pytest.mark.parametrize("died", ["before the store was told", "before the folder was marked", "while it was written"])
def test_accepting_a_folder_survives_a_crash_at_any_step(tmp_path: Path, store: Store, died: str) -> None:
    """After a crash at any step of accepting another folder, no file that is missing there counts as deleted."""
    root = tmp_path / "root"
    for name in NAMES:
        (root / "default" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "default" / name).write_text(f"- Note: {name}\n", encoding="utf-8")
    good = submit_to(store)

    async def agree() -> None:
        first = sync_service(store, root, good)
        await first.sync("default", None, whole=True)
        await first.close()

    async def die() -> None:
        submit = (
            failing_submit(store, NAMES[0], StorageFailed("no", hint="no"))
            if died.startswith("before the st")
            else good
        )
        sick = sync_service(store, root, submit)
        with suppress(StorageFailed):
            await sick.accept_folder("default")
            if died == "while it was written":
                folder = sick.folder("default")
                looked = folder.scan_and_plan(None)
                plan = looked.plan
                looked.plan = replace(plan, writes=plan.writes[:3], baselines=plan.baselines[:3])
                folder.write(looked, CommitResult())
                await sick.save_baselines("default")
        sick.folder("default").close()

    async def run() -> None:
        await agree()
        shutil.rmtree(root / "default")
        await die()
        after = sync_service(store, root, good)
        if died == "before the store was told":
            with pytest.raises(Conflict):
                await after.sync("default", None, whole=True)
            await after.accept_folder("default")
        outcome = await after.sync("default", None, whole=True)
        assert (outcome.deleted, outcome.adopted, outcome.conflicts) == (0, 0, 0)
        assert {name: (root / "default" / name).read_text() for name in NAMES} == {
            name: f"- Note: {name}\n" for name in NAMES
        }
        assert (root / "default" / SPACE_FILE).exists()
        await after.close()

    asyncio.run(run())


def test_a_failing_folder_keeps_no_other_one_open(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in closing one space's folder does not prevent closing the others."""
    flushed: list[str] = []
    closed: list[str] = []
    flush, close = Root.flush, Root.close

    def closes(root: Root) -> None:
        closed.append(root.space)
        close(root)

    def fails(root: Root) -> None:
        flushed.append(root.space)
        if root.space == "default":
            raise OSError(errno.EMFILE, "too many open files")
        flush(root)

    async def run() -> None:
        kept = sync_service(store, tmp_path / "root")
        for space in ("default", "other"):
            (tmp_path / "root" / space).mkdir(parents=True)
            (tmp_path / "root" / space / "a.md").write_text("# A\n", encoding="utf-8")
            await kept.sync(space, None, whole=True)
        monkeypatch.setattr(Root, "close", closes)
        monkeypatch.setattr(Root, "flush", fails)
        await kept.close()
        assert flushed == ["default", "other"]
        assert closed == ["default", "other"]

    asyncio.run(run())


class Slow:
    """A step of a folder that blocks its thread until it is released."""

    def __init__(self) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()
        self.inside = self.most = 0

    def __call__(self, *_: Any, **__: Any) -> tuple[ScanResult, WriteResult]:
        self.inside += 1
        self.most = max(self.most, self.inside)
        self.began.set()
        self.goes_on.wait(60)
        self.inside -= 1
        return ScanResult(), WriteResult()


def test_a_cancelled_caller_keeps_its_lock_until_its_scan_has_ended(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cancelled caller keeps its lock until its scan has ended."""
    slow = Slow()
    monkeypatch.setattr(Folder, "_scan_and_write", slow)

    async def run() -> None:
        kept = sync_service(store, tmp_path / "root")
        first = asyncio.create_task(kept.sync("default", None, whole=True))
        await asyncio.to_thread(slow.began.wait, 60)
        first.cancel()
        second = asyncio.create_task(kept.sync("default", None, whole=True))
        await asyncio.wait({first, second}, timeout=0.05)
        assert not first.done()
        first.cancel()
        slow.goes_on.set()
        with pytest.raises(asyncio.CancelledError):
            await first
        await second
        assert slow.most == 1
        await kept.close()

    asyncio.run(run())


@pytest.mark.parametrize("ends", [True, False])
def test_close_waits_a_limited_time_for_a_scan(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    """`close` waits a limited time for a scan, and closes only folders without one."""
    slow, closed = Slow(), []
    monkeypatch.setattr("reveried.sync.service.SHUTDOWN_MAX_S", 60.0 if ends else 0.05)
    monkeypatch.setattr(Folder, "close", lambda folder: closed.append((folder.space, slow.inside)))

    async def run() -> None:
        kept = sync_service(store, tmp_path / "root")
        await kept.sync("other", None, whole=True)
        monkeypatch.setattr(Folder, "_scan_and_write", slow)
        kept.start(["default"])
        await asyncio.to_thread(slow.began.wait, 60)
        closing = asyncio.create_task(kept.close())
        if ends:
            await asyncio.wait({closing}, timeout=0.05)
            assert not closing.done()
            slow.goes_on.set()
        await closing
        slow.goes_on.set()

    asyncio.run(run())

    assert sorted(closed) == ([("default", 0), ("other", 0)] if ends else [("other", 1)])
