"""A removal that is in the store stays one, though the daemon was killed before it reached the file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie.redact import Redactor
from reverie.store import DocumentRecord, Done, MemoryRecord, PendingPurge, Store, Write
from reverie.usecases import documents, memories, purge_steps, purge_targets
from reverie.usecases.by import By
from reverie.usecases.undo import undo
from reveried.sync.service import SyncService
from support.stores import AT
from support.sync_without_daemon import NOW_MS, sync_service

PATH, MOVED = "facts/garden.md", "facts/shed.md"
KEPT, GONE = "- The ladder hangs behind the door\n", "- The mower needs unleaded petrol\n"


class Place:
    """A store and a folder, and the operation and the memory of the line to be removed."""

    def __init__(self, home: Path, store: Store, *, alone: bool) -> None:
        self.store, self.folder = store, home / "root" / "default"
        self.folder.mkdir(parents=True)
        ids = count()
        self.by = By("default", "agent", new_id=lambda kind: f"{kind}_{next(ids)}")
        self.now_ms = NOW_MS
        if not alone:
            self.commit(self.put(f"# Garden\n\n{KEPT}"))
        self.text = f"# Garden\n\n{'' if alone else KEPT}{GONE}"
        self.operation = self.commit(self.put(self.text))
        with store.reader("default") as reader:
            (self.memory,) = [str(key[0]) for key, memory in reader.records(MemoryRecord) if memory.content in GONE]

    def put(self, text: str) -> Write[Any]:
        return documents.put.write(self.by, PATH, text)

    def commit(self, *writes: Write[Any]) -> int:
        done = [self.store.commit([write], at=AT)[0] for write in writes]
        assert all(isinstance(each, Done) for each in done), done
        return getattr(done[-1], "operation", None) or 0

    def service(self) -> SyncService:
        """Return a new sync service, as after a restart."""
        return sync_service(self.store, self.folder.parent, now_ms=lambda: self.now_ms)

    def texts(self) -> dict[str, str]:
        """Return the texts of all documents, which the files must have too."""
        with self.store.reader("default") as reader:
            stored = {str(key[0]): document.content for key, document in reader.records(DocumentRecord)}
        files = {str(file.relative_to(self.folder)): file.read_text("utf-8") for file in self.folder.rglob("facts/*")}
        assert files == stored
        return stored


def forget(place: Place) -> None:
    place.commit(memories.forget.write(place.by, place.memory))


def purge(place: Place) -> None:
    """Commit the whole purge, as a daemon that was killed in it does before its first full scan."""
    target = PendingPurge(kind="memory", key=place.memory)
    with place.store.reader("default") as reader:
        sources = purge_targets.sources(reader, target)
    forget(place)
    place.commit(purge_steps.remove_blocks.write(place.by, sources))
    with place.store.reader("default") as reader:
        found = purge_targets.findings(reader, sources)
    place.commit(*purge_steps.rewrites(place.by, found, sources), *purge_steps.erase(place.by, sources))


def undone(place: Place) -> None:
    place.commit(undo.write(place.by, place.operation, Redactor()))


def rewrite(place: Place) -> None:
    place.commit(place.put(place.text.replace(GONE, "- The scythe is sharp\n")))


def forget_and_remember(place: Place) -> None:
    forget(place)
    place.commit(place.put("# Garden\n\n- The scythe is sharp\n"))


@pytest.mark.parametrize("recorded", [True, False], ids=["recorded", "unrecorded"])
@pytest.mark.parametrize("alone", [True, False], ids=["last", "line"])
@pytest.mark.parametrize("remove", [forget, purge, undone, rewrite, forget_and_remember])
def test_a_removed_line_does_not_come_back(
    tmp_path: Path, remove: Callable[[Place], None], *, alone: bool, recorded: bool
) -> None:
    """The file that still has the line is no person's text, whether its baseline was saved or not."""

    async def run() -> None:
        with Store.open(tmp_path / "store", redactor=Redactor()) as store:
            place = Place(tmp_path, store, alone=alone)
            before = place.service()
            await before.sync("default", None, whole=True)
            if recorded:
                await before.save_baselines("default")
            assert GONE in place.texts()[PATH]
            remove(place)

            after = place.service()
            await after.sync("default", None, whole=True)

            assert not any(GONE in text for text in place.texts().values())

    asyncio.run(run())


def test_a_moved_document_is_not_doubled(tmp_path: Path) -> None:
    """The file at the old path is removed, and no new one."""

    async def run() -> None:
        with Store.open(tmp_path / "store", redactor=Redactor()) as store:
            place = Place(tmp_path, store, alone=True)
            await place.service().sync("default", None, whole=True)
            place.commit(documents.move.write(place.by, PATH, MOVED))

            await place.service().sync("default", None, whole=True)

            assert place.texts().keys() == {MOVED}
            assert GONE in place.texts()[MOVED]

    asyncio.run(run())


def test_a_removed_file_may_be_put_back(tmp_path: Path) -> None:
    """A person who copies the very file back, out of a backup, has a new one: also right after a restart."""

    async def run() -> None:
        with Store.open(tmp_path / "store", redactor=Redactor()) as store:
            place = Place(tmp_path, store, alone=True)
            service = place.service()
            await service.sync("default", None, whole=True)
            forget(place)
            await service.sync("default", None, whole=True)
            assert not place.texts()
            await service.save_baselines("default")
            (place.folder / PATH).write_text(place.text, encoding="utf-8")

            await place.service().sync("default", None, whole=True)

            assert place.texts() == {PATH: place.text}

    asyncio.run(run())
