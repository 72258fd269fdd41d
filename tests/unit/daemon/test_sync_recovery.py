"""Recovery of saves in the swap folder: nothing is lost, and one failure blocks nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from reverie import syscalls
from reverie.errors import StorageFailed
from reverie.redact import Redactor
from reverie.store import Store
from reverie.sync import displaced
from reverie.sync.displaced import SwapName
from reverie.usecases import documents
from reverie.usecases.by import By
from reverie.usecases.conflicts import open_conflicts
from reveried.sync.service import SyncService
from support.stores import AT
from support.sync_without_daemon import NOW_MS, sync_service

NOTE = "notes/a.md"
TEXT = "# T\n\n" + "".join(f"- line {number} of the file\n" for number in range(6))
HOUR_MS = 3_600_000


class Place:
    """A store, a folder, and the sync services that use them one after another."""

    def __init__(self, home: Path, store: Store) -> None:
        self.root = home / "root" / "default"
        self.note = self.root / NOTE
        self.note.parent.mkdir(parents=True)
        self.store = store
        self.now_ms = NOW_MS

    def keeper(self) -> SyncService:
        """Return a new sync service on the place's store and folder, as after a restart."""
        return sync_service(self.store, self.root.parent, now_ms=lambda: self.now_ms)

    def agent_writes(self, text: str, path: str = NOTE) -> None:
        """Write a document to the store alone."""
        put = documents.put.write(By("default", "agent", new_id=lambda _: "mem_x"), path, text)
        self.store.commit([put], at=AT)

    async def settle(self, keeper: SyncService) -> None:
        """Sync until all pending work is done."""
        for _ in range(4):
            await keeper.sync("default", None, whole=True)
            self.now_ms += HOUR_MS


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        yield Place(tmp_path, store)


class Opened:
    """An editor that opens a file just before an exchange, and saves into the old file later."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self._file: Any = None
        real = syscalls.exchange

        def exchange(*given: Any) -> Any:
            if self._file is None:
                self._file = path.open("r+b")
            return real(*given)

        monkeypatch.setattr(syscalls, "exchange", exchange)

    def write(self, data: bytes) -> None:
        self._file.seek(0)
        self._file.write(data)
        self._file.truncate()
        self._file.flush()

    def close(self) -> None:
        self._file.close()


@pytest.mark.parametrize("closes", ["before the crash", "long after it"])
def test_a_recovered_late_write_deletes_nothing_newer(
    place: Place, monkeypatch: pytest.MonkeyPatch, closes: str
) -> None:
    """A late write recovered after a crash keeps lines that a second editor saved meanwhile."""

    async def run() -> None:
        first = place.keeper()
        place.note.write_text(TEXT, encoding="utf-8")
        await first.sync("default", None, whole=True)
        place.now_ms += HOUR_MS
        editor = Opened(monkeypatch, place.note)
        place.agent_writes(TEXT + "- the agent's line\n")
        await first.sync("default", {NOTE})
        place.note.write_text(TEXT + "- the agent's line\n- the second editor's line\n", encoding="utf-8")
        await first.sync("default", {NOTE})
        await first.save_baselines("default")
        editor.write((TEXT + "- the first editor's line\n").encode())
        if closes == "before the crash":
            editor.close()

        second = place.keeper()
        await second.sync("default", None, whole=True)
        if closes == "long after it":
            editor.close()
        await place.settle(second)

        lines = place.note.read_text(encoding="utf-8").splitlines()
        assert {"- the agent's line", "- the second editor's line", "- the first editor's line"} <= set(lines)
        await second.close()

    asyncio.run(run())


def test_a_failed_recovery_is_retried_by_the_next_scan(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """If recovering a file from the swap folder fails with an I/O error, the next scan tries again."""

    async def run() -> None:
        first = place.keeper()
        place.note.write_text(TEXT, encoding="utf-8")
        await first.sync("default", None, whole=True)
        await first.save_baselines("default")
        await first.close()
        ours, theirs = sha256(b"x").hexdigest(), sha256(b"y").hexdigest()
        swap = place.root / ".reverie" / "swap"
        swap.mkdir(exist_ok=True)
        (swap / str(SwapName.create(NOTE, ours, theirs))).write_text(TEXT + "- words\n", encoding="utf-8")

        second, real, asked = place.keeper(), displaced.read_all, []

        def whole(handle: int) -> bytes | None:
            asked.append(handle)
            if len(asked) == 1:
                raise OSError(5, "Input/output error")
            return real(handle)

        monkeypatch.setattr(displaced, "read_all", whole)
        with pytest.raises(StorageFailed):
            await second.sync("default", None, whole=True)
        await place.settle(second)
        assert place.note.read_text(encoding="utf-8") == TEXT + "- words\n"
        await second.close()

    asyncio.run(run())


def test_a_late_write_that_is_no_text_blocks_no_other_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A late write that is no UTF-8 goes to a conflict copy, and other files are still synced."""
    long = f"notes/{'n' * 225}.md"

    async def run() -> None:
        keeper = place.keeper()
        (place.root / long).write_text(TEXT, encoding="utf-8")
        await keeper.sync("default", None, whole=True)
        editor = Opened(monkeypatch, place.root / long)
        place.agent_writes(TEXT + "- the agent's line\n", long)
        await keeper.sync("default", {long})
        editor.write("na\u00efve\n".encode("latin-1"))
        editor.close()
        place.now_ms += HOUR_MS
        place.note.write_text("- other words\n", encoding="utf-8")
        await place.settle(keeper)

        copies = [path for path in place.note.parent.iterdir() if ".sync-conflict-" in path.name]
        assert [path.read_bytes() for path in copies] == ["na\u00efve\n".encode("latin-1")]
        assert {each.path for each in await keeper.documents("default")} == {NOTE, long}
        await keeper.close()

    asyncio.run(run())


def test_a_deletion_below_a_refused_folder_stays(place: Place) -> None:
    """A document deleted while its folder is a link stays deleted when the folder is back."""

    async def run() -> None:
        keeper = place.keeper()
        place.agent_writes(TEXT)
        place.agent_writes(TEXT, "notes/b.md")
        await keeper.sync("default", None, whole=True)
        away = place.root.parent / "away"
        place.note.parent.rename(away)
        place.note.parent.symlink_to(away)
        await keeper.sync("default", None, whole=True)
        place.store.commit([documents.delete.write(By("default", "agent"), NOTE)], at=AT)
        await place.settle(keeper)
        place.note.parent.unlink()
        away.rename(place.note.parent)
        await place.settle(keeper)

        assert {each.path for each in await keeper.documents("default")} == {"notes/b.md"}
        assert not place.note.exists()
        await keeper.close()

    asyncio.run(run())


@pytest.mark.parametrize("restart", [True, False])
def test_a_stopped_folder_deletes_nothing_on_an_agents_read(place: Place, *, restart: bool) -> None:
    """A folder stopped by the mass-deletion guard deletes no document, also after a restart."""
    names = [f"notes/n{number:02}.md" for number in range(12)]

    async def run() -> None:
        keeper = place.keeper()
        for name in names:
            place.agent_writes(f"# {name}\n", name)
        await keeper.sync("default", None, whole=True)
        await keeper.save_baselines("default")
        for name in names[:10]:
            (place.root / name).unlink()
        await keeper.sync("default", None, whole=True)
        assert keeper.status("default").state == "stopped"
        (place.root / names[10]).unlink()
        if restart:
            keeper = place.keeper()

        for _ in range(3):
            await keeper.read_saves("default", {names[0], names[10]})
            place.now_ms += HOUR_MS
        assert {each.path for each in await keeper.documents("default")} == set(names)
        await keeper.sync("default", None, whole=True)
        status = keeper.status("default")
        assert (status.state, status.missing) == ("stopped", names[:11])
        await keeper.close()

    asyncio.run(run())


def test_a_copy_that_is_moved_after_a_crash_is_there_once(place: Place) -> None:
    """A conflict copy moved with its folder right after a crash is not written a second time.

    The copy is not written again where it was.
    """
    place.note.write_text(TEXT)
    asyncio.run(place.settle(place.keeper()))
    place.agent_writes(TEXT.replace("line 3", "line three"))
    place.note.write_text(TEXT.replace("line 3", "third line"))
    opened = asyncio.run(place.keeper().sync("default", None, whole=True))
    assert opened.conflicts == 1
    place.note.parent.rename(place.root / "moved")
    moved = {path.relative_to(place.root).as_posix() for path in (place.root / "moved").iterdir()}
    assert len(moved) == 2

    keeper = place.keeper()  # the baselines of the copy's write were never saved
    asyncio.run(keeper.sync("default", moved))
    asyncio.run(place.settle(keeper))

    assert {path.relative_to(place.root).as_posix() for path in place.root.rglob("*.md")} == moved
    with place.store.reader("default") as reader:
        [conflict] = open_conflicts(reader)
    assert {conflict.path, conflict.copy} == moved
