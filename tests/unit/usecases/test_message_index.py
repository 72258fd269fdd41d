"""The message index: kept up step by step it answers as one that is built now, whatever happened in between."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from reverie.store import DocumentRecord, Kind, Store, Writer
from reverie.text_index import Filter
from reverie.usecases import message_index
from reverie.usecases.message_search import MessageSearch, within
from support.stores import AT, SPACE, append, delete, opened, write

WORDS = ("parser", "lexer", "retry", "oslo", "ferry", "config", "deploy")
QUERIES = ("where is the parser?", "oslo ferry", "deploy the config", "retry")
FOREVER = float("inf")


def put_document(store: Store, path: str, text: str | None) -> None:
    """Write a document, or delete it."""

    def body(writer: Writer) -> None:
        if text is None:
            writer.delete(Kind.DOCUMENT, (path,))
            return
        record = DocumentRecord(path=path, content=text, sha256="", size=len(text), version=1, updated_at=AT)
        writer.save(record, (path,))

    write(store, body)


def answers(found: MessageSearch) -> list[Any]:
    """Return what a search answers to every question, messages and sections."""
    assert found.catch_up(SPACE, FOREVER)
    everything = Filter(any_of=[["is:message", "is:document"]])
    return [
        [
            found.messages(SPACE, query, 20, within(kind="message")),
            found.sections(SPACE, query, 20, within(kind="document")),
            found.messages(SPACE, query, 5, everything),
        ]
        for query in QUERIES
    ]


def test_a_thread_and_a_document_of_the_same_name_are_both_found(tmp_path: Path) -> None:
    """Deleting one of the two leaves the other, also when the index is built again."""
    with opened(tmp_path) as store:
        found = MessageSearch(store)
        put_document(store, "notes.md", "# Ferry\n\nThe ferry to oslo.\n")
        append(store, "notes.md", "the lexer of oslo")

        def both(found: MessageSearch) -> tuple[list[str], list[str]]:
            assert found.catch_up(SPACE, FOREVER)
            messages = found.messages(SPACE, "oslo", 9, within(kind="message"))
            sections = found.sections(SPACE, "oslo", 9, within(kind="document"))
            return [hit.id for hit in messages], [hit.id for hit in sections]

        assert both(found) == both(MessageSearch(store)) == (["notes.md/1"], ["/notes.md/1"])
        put_document(store, "notes.md", "The ferry to oslo and back.\n")
        assert both(found) == (["notes.md/1"], ["/notes.md/1"])
        delete(store, "notes.md")
        assert both(found) == ([], ["/notes.md/1"])


@pytest.mark.parametrize("seed", range(6))
def test_kept_up_is_as_built_now(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Appends, deletions, documents, saves and restarts in any order, with steps of three entries."""
    monkeypatch.setattr(message_index, "STEP_ENTRIES", 3)
    monkeypatch.setattr(message_index, "STEP_OPERATIONS", 2)
    monkeypatch.setattr(message_index, "BUFFER_MAX", 5)
    pick = random.Random(seed)

    def sentence() -> str:
        return " ".join(pick.choices(WORDS, k=pick.randint(1, 6))) + pick.choice(("", "?", "."))

    with opened(tmp_path / "store") as store:
        found = MessageSearch(store, tmp_path / "search")
        names = [f"thr_{number}" for number in range(4)]
        there: set[str] = set()
        for _ in range(40):
            thread = pick.choice(names)
            match pick.randrange(8):
                case 0 if thread in there:
                    delete(store, thread)
                    there.discard(thread)
                case 1:
                    put_document(store, "a.md", f"# One\n{sentence()}\n\n# Two\n{sentence()}\n")
                case 2:
                    found.catch_up(SPACE, 0)
                case 3:
                    found.catch_up(SPACE, FOREVER)
                    found.save(SPACE)
                case 4:
                    found = MessageSearch(store, tmp_path / "search")
                case _:
                    append(store, thread, *(sentence() for _ in range(pick.randint(1, 7))))
                    there.add(thread)
        assert answers(found) == answers(MessageSearch(store))


def test_a_saved_index_is_used_and_not_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a restart only what came since is read."""
    with opened(tmp_path / "store") as store:
        append(store, "thr_a", "the parser is slow", "which parser?")
        found = MessageSearch(store, tmp_path / "search")
        before = answers(found)
        found.save(SPACE)
        monkeypatch.setattr(message_index.MessageIndex, "_begin", None)
        again = MessageSearch(store, tmp_path / "search")
        assert answers(again) == before
        append(store, "thr_b", "the lexer is fast")
        assert [hit.id for hit in search_all(again, "lexer")] == ["thr_b/1"]


def test_the_segments_of_a_build_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A save with `merge=False` leaves a build's segments apart; the next plain save merges them into one."""
    monkeypatch.setattr(message_index, "STEP_ENTRIES", 2)
    monkeypatch.setattr(message_index, "BUFFER_MAX", 2)
    with opened(tmp_path / "store") as store:
        append(store, "thr_a", *(f"the parser number {number}" for number in range(9)))
        found = MessageSearch(store, tmp_path / "search")
        right = answers(found)
        found.save(SPACE, merge=False)
        assert len(list((tmp_path / "search").rglob("*.segment"))) > 2
        again = MessageSearch(store, tmp_path / "search")
        assert answers(again) == right
        assert again.has_many_segments(SPACE)
        again.save(SPACE)
        assert len(list((tmp_path / "search").rglob("*.segment"))) == 1
        assert not again.has_many_segments(SPACE)
        assert answers(again) == right


def test_a_damaged_segment_is_noticed_by_the_search_that_reads_it(tmp_path: Path) -> None:
    """The index is built again, and the search answers."""
    with opened(tmp_path / "store") as store:
        append(store, "thr_a", "the parser is slow", "which parser?")
        found = MessageSearch(store, tmp_path / "search")
        right = answers(found)
        found.save(SPACE)
        (segment,) = (tmp_path / "search").glob("*-messages/*.segment")
        segment.write_bytes(segment.read_bytes()[:16])
        assert answers(found) == right


def test_a_rewrite_leaves_no_word_of_a_deleted_thread(tmp_path: Path) -> None:
    """A deletion leaves the words in the segment, a rewrite does not; those of other threads stay."""
    with opened(tmp_path / "store") as store:
        append(store, "thr_a", "the xylophone is mine")
        append(store, "thr_b", "the trombone is yours")
        found = MessageSearch(store, tmp_path / "search")
        assert found.catch_up(SPACE, FOREVER)
        found.save(SPACE)
        delete(store, "thr_a")
        assert b"xylophon" in words_on_disk(tmp_path)
        found.forget(SPACE)
        assert b"xylophon" not in words_on_disk(tmp_path)
        assert b"trombon" in words_on_disk(tmp_path)
        assert [hit.id for hit in search_all(found, "trombone xylophone")] == ["thr_b/1"]


def test_a_build_in_steps_can_be_searched_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages that the first steps have read are found, and those appended during the build are found at its end."""
    monkeypatch.setattr(message_index, "STEP_ENTRIES", 1)
    with opened(tmp_path / "store") as store:
        for number in range(5):
            append(store, f"thr_{number}", f"the parser number {number}")
        found = MessageSearch(store, tmp_path / "search")
        assert not found.catch_up(SPACE, 0)
        assert 1 <= len(search_all(found, "parser")) < 5
        found.save(SPACE)  # does nothing yet
        assert list((tmp_path / "search").glob("*-messages/manifest.json")) == []
        append(store, "thr_1", "one more parser")
        assert found.catch_up(SPACE, FOREVER)
        assert len(search_all(found, "parser")) == 6


def search_all(found: MessageSearch, query: str) -> list[Any]:
    """Return the messages that are found."""
    found.catch_up(SPACE, 0)
    return found.messages(SPACE, query, 20, within(kind="message"))


def words_on_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in (folder / "search").rglob("*") if path.is_file())
