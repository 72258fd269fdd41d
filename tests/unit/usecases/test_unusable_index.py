"""Saved indexes whose files cannot be used any more, while they are open: a purge, and the next save."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reverie.models import MemoryType
from reverie.store import DocumentRecord, Kind, MemoryRecord, Store, Writer
from reverie.usecases.message_search import MessageSearch, within
from reverie.usecases.recall import Recall
from support.stores import AT, SPACE, opened, write

FOREVER = float("inf")


def put(store: Store, number: int, text: str | None) -> None:
    """Write a memory and a document of the same text, or delete both."""
    identity, path = f"mem_{number:03}", f"{number}.md"

    def body(writer: Writer) -> None:
        if text is None:
            writer.delete(Kind.MEMORY, (identity,))
            writer.delete(Kind.DOCUMENT, (path,))
            return
        memory = MemoryRecord(
            id=identity, type=MemoryType.FACT, content=text, tags=(), document=path, created_at=AT, updated_at=AT
        )
        writer.save(memory, (identity,))
        document = DocumentRecord(path=path, content=text, sha256="", size=len(text), version=1, updated_at=AT)
        writer.save(document, (path,))

    write(store, body)


def searched(index: Recall | MessageSearch, query: str) -> int:
    """Bring an index up to date; return how many memories or sections it finds."""
    if isinstance(index, Recall):
        return len(index.recall(SPACE, query, min_score=0, limit=10).hits)
    assert index.catch_up(SPACE, FOREVER)
    return len(index.sections(SPACE, query, 10, within(kind="document")))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.parent.rglob("search/**/*") if path.is_file())


@pytest.mark.parametrize("found", [Recall, MessageSearch])
@pytest.mark.parametrize("how", ["damaged", "gone", "another file"])
def test_a_purge_that_meets_unusable_files_deletes_them(
    tmp_path: Path, how: str, found: type[Recall | MessageSearch]
) -> None:
    """A purge deletes an index whose files are damaged or gone, and the next search uses a newly built index."""
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        put(store, 1, "the xylophone")
        put(store, 2, "the parser")
        index = found(store, folder)
        assert searched(index, "xylophone") == 1
        index.save(SPACE)
        for path in files(folder):
            data = path.read_bytes()
            path.write_bytes(bytes(byte ^ (number % 3 == 0) for number, byte in enumerate(data)))
        if how != "damaged":
            shutil.rmtree(folder)
        if how == "another file":
            folder.write_text("mine")
        put(store, 1, None)
        index.forget(SPACE)
        assert not any(b"xylophon" in path.read_bytes() for path in files(folder))
        assert searched(index, "xylophone") == 0
        assert searched(index, "parser") == 1


@pytest.mark.parametrize("found", [Recall, MessageSearch])
def test_a_folder_that_a_person_deleted_is_saved_again(tmp_path: Path, found: type[Recall | MessageSearch]) -> None:
    """If a person deletes the index's folder, the index is built again and saved as one segment."""
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        index = found(store, folder)
        for number in range(2):
            put(store, number, "the parser")
            assert searched(index, "parser") == number + 1
            index.save(SPACE)
            shutil.rmtree(folder, ignore_errors=number == 1)
        index.save(SPACE)
        assert searched(index, "parser") == 2
        index.save(SPACE)
        assert searched(found(store, folder), "parser") == 2
        assert sum(path.suffix == ".segment" for path in files(folder)) == 1
