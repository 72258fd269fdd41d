"""Saved search indexes: they answer as an index that is built now, and one that does not fit the store is not used."""

from __future__ import annotations

import itertools
import random
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from reverie.models import MemoryType
from reverie.store import Kind, MemoryRecord, Reader, Store, Writer
from reverie.usecases.recall import MemoryIndex, Recall
from reverie.usecases.saved_index import SavedIndex
from support.soak import count
from support.stores import AT, SPACE, opened, write

WORDS = ("parser", "lexer", "tests", "retry", "config", "src/parse.py", "deployment")
QUERIES = (*WORDS, "deploy parser", "conf", "who are you")


def memory(number: int, content: str, kind: MemoryType = MemoryType.FACT, tags: tuple[str, ...] = ()) -> MemoryRecord:
    return MemoryRecord(
        id=f"mem_{number:03}",
        type=kind,
        content=content,
        tags=tags,
        document="facts/a.md",
        created_at=AT,
        updated_at=AT,
    )


def put(store: Store, *records: MemoryRecord, deleted: tuple[int, ...] = ()) -> None:
    """Write and delete memories in one operation."""

    def body(writer: Writer) -> None:
        for record in records:
            writer.save(record, (record.id,))
        for number in deleted:
            writer.delete(Kind.MEMORY, (f"mem_{number:03}",))

    write(store, body)


def at_once(store: Store, recall: Recall, query: str) -> Any:
    """Return the result of `recall_at_once`: what is found without waiting, or None."""
    with store.reader(SPACE) as reader:
        return recall.recall_at_once(reader, query, limit=5)


def found(recall: Recall, query: str, *, limit: int = 10, **options: Any) -> list[Any]:
    """Return the best memories for a query, however weakly they are related to it."""
    return recall.recall(SPACE, query, min_score=0, limit=limit, **options).hits


def answers(recall: Recall) -> list[Any]:
    """Return the results of all test queries, searched plainly and filtered, and lists of memories."""
    plain = [found(recall, query, limit=5) for query in QUERIES]
    within = [found(recall, query, types={MemoryType.SKILL}, tags=["one"]) for query in QUERIES]
    listed = [
        recall.listed(SPACE, lambda _, record: record.content, types=types, tags=tags, after="mem_002", limit=4)
        for types in (None, {MemoryType.FACT}, {MemoryType.FACT, MemoryType.SKILL})
        for tags in (None, ["one"])
    ]
    return [plain, within, listed]


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """A function that returns how often an index was built from all memories."""
    builds: list[MemoryIndex] = []
    build = MemoryIndex._build

    def counted(index: MemoryIndex, reader: Reader) -> None:
        builds.append(index)
        build(index, reader)

    monkeypatch.setattr(MemoryIndex, "_build", counted)
    return lambda: len(builds)


@pytest.mark.parametrize("seed", range(count(4, 400)))
def test_a_saved_index_answers_like_one_built_now(tmp_path: Path, seed: int) -> None:
    """Writes, deletions, saves and restarts in any order change no answer."""
    pick = random.Random(seed)
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        recall = Recall(store, folder)
        for _ in range(30):
            match pick.randrange(8):
                case 0:
                    recall.save(SPACE)
                case 1:
                    recall = Recall(store, folder)  # as after a kill: what was not saved is caught up
                case 2:
                    recall.forget(SPACE)
                case 3:
                    put(store, deleted=tuple(pick.sample(range(12), 3)))
                case _:
                    records = [
                        memory(
                            pick.randrange(12),
                            " ".join(pick.choices(WORDS, k=4)),
                            pick.choice((MemoryType.FACT, MemoryType.SKILL)),
                            tuple(pick.sample(("one", "two"), pick.randrange(3))),
                        )
                        for _ in range(pick.randrange(1, 4))
                    ]
                    put(store, *{record.id: record for record in records}.values())
            if pick.randrange(3) == 0:
                recall.catch_up(SPACE)
        assert answers(recall) == answers(Recall(store))


def test_the_next_process_goes_on_from_the_files(tmp_path: Path, built: Callable[[], int]) -> None:
    """A saved index is not built again; later changes are applied to it."""
    with opened(tmp_path / "store") as store:
        put(store, *(memory(number, f"parser {WORDS[number % 7]}") for number in range(50)))
        put(store, memory(50, "xylophone"), memory(51, "zebra"))
        recall = Recall(store, tmp_path / "search")
        found(recall, "parser")
        recall.save(SPACE)
        put(store, memory(50, "lexer"), memory(70, "quagga"), deleted=(51,))
        again = Recall(store, tmp_path / "search")
        assert [hit.memory.id for hit in found(again, "quagga")] == ["mem_070"]
        assert found(again, "zebra") == []
        assert found(again, "xylophone") == []
        assert built() == 1
        assert answers(again) == answers(Recall(store))


def test_an_index_that_does_not_fit_is_built_again(tmp_path: Path, built: Callable[[], int]) -> None:
    """An index of another store, of a store set back to a backup, or of another version is built again."""
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        put(store, memory(1, "parser"))
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    with opened(tmp_path / "store") as store:
        put(store, memory(2, "lexer"))
        recall = Recall(store, folder)
        found(recall, "lexer")
        recall.save(SPACE)
    with opened(tmp_path / "backup") as store:
        recall = Recall(store, folder)
        assert found(recall, "lexer") == []
        for number in range(3, 6):
            put(store, memory(number, "deployment"))
        recall = Recall(store, folder)
        assert found(recall, "lexer") == []
        assert len(found(recall, "deployment")) == 3
        assert built() == 3


def test_damaged_files_give_no_wrong_answer(tmp_path: Path) -> None:
    """With a changed, cut or missing index file every search gives the right results."""
    folder = tmp_path / "search"
    pick = random.Random(5)
    with opened(tmp_path / "store") as store:
        put(store, *(memory(number, " ".join(pick.choices(WORDS, k=5))) for number in range(60)))
        right = answers(Recall(store))
        for turn in range(count(40, 2_000)):
            recall = Recall(store, folder)
            recall.catch_up(SPACE)
            recall.forget(SPACE)
            path = pick.choice(files(folder))
            data = bytearray(path.read_bytes())
            data[pick.randrange(len(data))] ^= 1 << pick.randrange(8)
            if turn % 4 == 0:
                data = data[: pick.randrange(len(data))]
            path.write_bytes(data)
            if turn % 10 == 0:
                path.unlink()
            assert answers(Recall(store, folder)) == right
            path.unlink(missing_ok=True)


def test_a_file_damaged_while_it_is_open_is_noticed(tmp_path: Path) -> None:
    """A segment damaged while it is open is noticed when one of its lists is read."""
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        put(store, *(memory(number, f"parser number{number}") for number in range(60)))
        recall = Recall(store, folder)
        recall.catch_up(SPACE)
        recall.save(SPACE)
        recall.recall(SPACE, "parser", limit=5)
        assert at_once(store, recall, "parser") is not None
        for path in folder.rglob("*.segment"):
            with path.open("r+b") as file:
                file.truncate(20)
        assert at_once(store, recall, "parser") is not None  # its list is in memory
        assert at_once(store, recall, "number7") is None
        assert answers(recall) == answers(Recall(store))


def test_a_write_is_found_at_once_while_the_index_is_saved(tmp_path: Path) -> None:
    """While another thread saves and merges, every written memory is found at once and no deleted one."""
    stop = threading.Event()
    with opened(tmp_path / "store") as store:
        recall = Recall(store, tmp_path / "search")

        def save() -> None:
            for turn in itertools.count():
                if stop.is_set():
                    return
                (recall.forget if turn % 3 == 0 else recall.save)(SPACE)

        with ThreadPoolExecutor(1) as pool:
            saving = pool.submit(save)
            try:
                for number in range(count(40, 2_000)):
                    put(store, memory(number % 50, f"parser {WORDS[number % 7]}"), deleted=((number - 5) % 50,))
                    ids = {hit.memory.id for hit in found(recall, "parser", limit=100, token_budget=9_999)}
                    assert ids == {f"mem_{there % 50:03}" for there in range(max(0, number - 4), number + 1)}
            finally:
                stop.set()
            saving.result()
        assert answers(Recall(store, tmp_path / "search")) == answers(Recall(store))


def test_a_rewritten_index_has_no_word_of_a_deleted_memory(tmp_path: Path) -> None:
    """After `rewrite` no index file has a word of a deleted memory, also of an index saved by another process."""
    folder = tmp_path / "search"
    with opened(tmp_path / "store") as store:
        put(store, memory(1, "xylophone"), memory(2, "parser"))
        recall = Recall(store, folder)
        recall.catch_up(SPACE)
        recall.save(SPACE)
        assert any(b"xylophon" in path.read_bytes() for path in files(folder))
        put(store, deleted=(1,))
        Recall(store, folder).forget(SPACE)
        assert not any(b"xylophon" in path.read_bytes() for path in files(folder))
        assert [hit.memory.id for hit in found(Recall(store, folder), "parser")] == ["mem_002"]


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    """Recall works if the index cannot be saved, and the save raises an error."""
    (tmp_path / "search").write_text("not a folder")
    with opened(tmp_path / "store") as store:
        put(store, memory(1, "parser"))
        recall = Recall(store, tmp_path / "search")
        assert len(found(recall, "parser")) == 1
        with pytest.raises(OSError, match="search"):
            recall.save(SPACE)
        assert len(found(recall, "parser")) == 1


def test_the_version_is_raised_with_the_analysis(tmp_path: Path) -> None:
    """If this digest of an index file changes, raise `recall.VERSION` or the file format's version."""
    index = SavedIndex(tmp_path)
    with opened(tmp_path / "store") as store:
        content = "The parser's maxTokens are read from src/parse.py; größe, 数据库连接, 9cc68c8d01aa, queries planned"
        put(store, memory(1, content, MemoryType.SKILL, ("Deploy",)))
        recall = Recall(store, tmp_path / "search")
        recall.catch_up(SPACE)
        recall.save(SPACE)
    assert index.open(lambda _: None) is None
    [segment] = (tmp_path / "search").rglob("*.segment")
    assert segment.read_bytes()[-32:].hex() == "7a9431098d0c71d7247b4d010de4d830e5aed2919fe0604d8a841d02c9a4e971"
