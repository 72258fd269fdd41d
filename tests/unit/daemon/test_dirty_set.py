"""The dirty set: filled from the store by several threads, and not cleared too early."""

from __future__ import annotations

import threading
from pathlib import Path

from reverie.ids import new_id
from reverie.store import Done, Store
from reverie.usecases import documents
from reverie.usecases.by import By
from reverie.usecases.projections import Listing
from reveried.sync.state import DirtySet
from support.stores import AT, opened

SPACE = "default"


def put(store: Store, path: str, text: str) -> int:
    """Commit one write of an agent; return its operation."""
    write = documents.put.write(By(SPACE, "agent", new_id=lambda kind: new_id(kind, 0, bytes(10))), path, text)
    (done,) = store.commit([write], at=AT)
    assert isinstance(done, Done)
    assert done.operation is not None
    return done.operation


def test_a_document_is_dirty_until_it_is_handled(tmp_path: Path) -> None:
    """A document is dirty until it is handled; a write during a pass keeps it dirty."""
    with opened(tmp_path) as store:
        shows: dict[str, int] = {}
        dirty = DirtySet(Listing(), shows.get)
        put(store, "a.md", "one\n")
        with store.reader(SPACE) as reader:
            seen = dirty.catch_up(reader)
        assert dirty.paths == {"a.md"}
        put(store, "a.md", "two\n")
        with store.reader(SPACE) as reader:
            dirty.catch_up(reader)
        dirty.clear({"a.md"}, seen, {})
        assert dirty.paths == {"a.md"}
        dirty.clear({"a.md"}, seen + 1, {})
        assert dirty.paths == set()


def test_a_document_that_the_disk_shows_is_not_dirty(tmp_path: Path) -> None:
    """A document is not dirty if the disk shows its newest operation."""
    with opened(tmp_path) as store:
        shows: dict[str, int] = {}
        dirty = DirtySet(Listing(), shows.get)
        shows["a.md"] = put(store, "a.md", "one\n")
        put(store, "b.md", "one\n")
        with store.reader(SPACE) as reader:
            dirty.catch_up(reader)
        assert dirty.paths == {"b.md"}


def test_an_older_snapshot_changes_nothing(tmp_path: Path) -> None:
    """A thread with an older snapshot changes nothing."""
    with opened(tmp_path) as store:
        shows: dict[str, int] = {}
        dirty = DirtySet(listing := Listing(), shows.get)
        put(store, "a.md", "one\n")
        with store.reader(SPACE) as old:
            newest = put(store, "a.md", "two\n")
            seen: list[int] = []

            def follow() -> None:
                with store.reader(SPACE) as reader:
                    seen.append(dirty.catch_up(reader))

            thread = threading.Thread(target=follow)
            thread.start()
            thread.join()
            assert seen == [newest]
            assert dirty.catch_up(old) < newest
        assert listing.documents["a.md"].operation == newest
        assert dirty.paths == {"a.md"}
