"""The index of the parts of long documents: it agrees with the store after any change of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie.documents.items import Wording
from reverie.documents.parts import PART_ITEMS_MAX
from reverie.models import Candidate, MemoryType
from reverie.redact import Redactor
from reverie.store import Done, Failed, Store, Write, Writer
from reverie.usecases import documents, memories, parts, undo
from reverie.usecases.by import Author, By
from reverie.usecases.parts import PartIndex, part_index
from reverie.usecases.put import NewText, put_texts
from support.stores import AT, opened

FIRST, SECOND, THIRD = "facts/project.md", "facts/project-2.md", "facts/project-3.md"
SPACE = "default"


def full_text(name: str) -> str:
    """Return a document that is full."""
    return f"# {name}\n\n" + "".join(f"- {name} fact {number}\n" for number in range(PART_ITEMS_MAX))


class Space:
    """A store, and the calls that change its documents."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._ids = count(1)

    def run(self, write: Write[Any]) -> Any:
        """Return the value of a write."""
        (outcome,) = self.store.commit([write], at=AT)
        assert isinstance(outcome, Done), outcome
        return outcome.value

    def by(self, who: str, author: Author) -> By:
        """Return whose write it is."""
        return By(SPACE, who, author, lambda kind: f"{kind}_{next(self._ids)}")

    def remember(self, content: str, document: str | None = None) -> memories.RememberedMemory:
        """Remember a fact."""
        candidate = Candidate(type=MemoryType.FACT, content=content, tags=(), subject="project", project="")
        write = memories.remember.write(self.by("agent", "agent"), candidate, document)
        remembered: memories.RememberedMemory = self.run(write)
        return remembered

    def put(self, path: str, text: str) -> None:
        """Write a whole document."""
        self.run(documents.put.write(self.by("ada", "person"), path, text))

    def check(self, path: str, *contents: str) -> None:
        """Assert that the kept index names the same open part as a new one, and all parts that may have these lines."""
        with self.store.reader(SPACE) as reader:
            kept, fresh = part_index(reader), PartIndex()
            assert kept.with_room(reader, path) == fresh.with_room(reader, path)
            for content in contents:
                words = Wording(content)
                # A kept one may name a part that had the line once; its text is looked at then.
                assert set(fresh.with_line(reader, path, words)) <= set(kept.with_line(reader, path, words))
            kept.keep(reader)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[Space]:
    """Yield an empty store."""
    with opened(tmp_path / "store") as store:
        yield Space(store)


def test_a_repeated_memory_is_found_in_an_older_part(space: Space) -> None:
    space.put(FIRST, full_text("first"))
    added = space.remember("the harbour opens at six")
    assert added.document == SECOND
    for content, document in (("first fact 7", FIRST), ("the harbour opens at six", SECOND)):
        again = space.remember(content)
        assert (again.existed, again.document) == (True, document)
    space.check(FIRST, "first fact 7", "the harbour opens at six", "first fact 8")


@pytest.mark.parametrize(
    ("said", "copies", "other"),
    [
        ("The API runs on 8080", ["the api runs on 8080.", "The  API runs on\t8080 !"], "The API runs on 8081"),
        ("\u7528 Redis\uff0c\u4e0d\u7528\u5b83\u3002", ["\u7528Redis \u4e0d\u7528\u5b83"], "\u7528 Redis"),
        ("Start it with `-B`", ["start it with `-B`."], "Start it with `-b`"),
    ],
)
def test_near_copies_are_one_memory(space: Space, said: str, copies: list[str], other: str) -> None:
    """Case, blanks and the full stop make no other memory, nor full-width marks in Chinese; another option does."""
    added = space.remember(said)
    assert [space.remember(copy).id for copy in copies] == [added.id] * len(copies)
    assert not space.remember(other).existed


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\n", "\n\n"])
def test_a_memory_with_any_line_separator_is_found_again(space: Space, mark: str) -> None:
    """A memory with any line separator is found in the index kept by its write, and in a new one made of the text."""
    added = space.remember(f"the harbour{mark}opens at six")
    assert space.remember(f"the harbour{mark}opens at six").id == added.id
    space.put("facts/user.md", "# User\n\n- likes tea\n")
    with space.store.reader(SPACE) as reader:
        part_index(reader)
    assert space.remember(f"the harbour{mark}opens at six").id == added.id


def test_a_part_that_fills_up_is_followed_by_the_next(space: Space) -> None:
    space.put(FIRST, full_text("first"))
    space.put(SECOND, full_text("second").replace("- second fact 0\n", ""))
    assert [space.remember(f"new {number}").document for number in range(3)] == [SECOND, THIRD, THIRD]
    space.check(FIRST, "new 0", "new 1", "new 2")
    assert space.remember("new 1").existed


def _forget(space: Space) -> None:
    found = space.remember("first fact 3")
    space.run(memories.forget.write(space.by("ada", "person"), found.id))


def _undo_a_deletion(space: Space) -> None:
    space.run(documents.delete.write(space.by("ada", "person"), FIRST))
    with space.store.reader(SPACE) as reader:
        number = reader.operation()
    space.remember("written between", "facts/user.md")
    space.run(undo.undo.write(space.by("ada", "person"), number, Redactor()))


CHANGES: dict[str, Callable[[Space], object]] = {
    "a person takes lines out of the first part": lambda space: space.put(FIRST, "# Project\n\n- one\n"),
    "a person writes a whole new text": lambda space: space.put(SECOND, full_text("other")),
    "a person makes another part by hand": lambda space: space.put(THIRD, full_text("third")),
    "a person makes the part after the next": lambda space: space.put("facts/project-4.md", full_text("fourth")),
    "a person deletes a part": lambda space: space.run(documents.delete.write(space.by("ada", "person"), SECOND)),
    "a part becomes a document of another kind": lambda space: space.put(
        SECOND, "---\nname: deploys\nmetadata:\n  type: project\n---\nfirst fact 7\n"
    ),
    "a memory is forgotten": _forget,
    "a deletion is undone": _undo_a_deletion,
    "another document is written": lambda space: space.remember("of the person", "facts/user.md"),
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_index_follows_every_change_of_documents(space: Space, change: str) -> None:
    space.put(FIRST, full_text("first"))
    space.remember("the harbour opens at six")
    CHANGES[change](space)
    contents = ("one", "other fact 7", "third fact 7", "first fact 7", "first fact 3", "the harbour opens at six")
    for path in (FIRST, SECOND, "facts/user.md"):
        space.check(path, *contents)
    space.remember("something new")
    for path in (FIRST, SECOND, "facts/user.md"):
        space.check(path, *contents, "something new")


def test_a_write_that_fails_leaves_no_index_behind(space: Space) -> None:
    """After a failed write its text is not found as a memory, and the memories of before still are."""
    space.put(FIRST, full_text("first"))
    space.remember("the harbour opens at six")

    def body(writer: Writer) -> None:
        text = "# Project\n\n- the crane is broken\n"
        put_texts(writer, {SECOND: NewText(text)}, space.by("", "agent"))
        raise RuntimeError("something else failed")

    (outcome,) = space.store.commit([Write(SPACE, "agent", "test", body)], at=AT)
    assert isinstance(outcome, Failed)
    assert not space.remember("the crane is broken").existed
    assert space.remember("the harbour opens at six").existed
    space.check(FIRST, "the crane is broken", "the harbour opens at six")


def test_of_each_document_the_newest_lines_alone_are_kept(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each document only the newest lines are cached, and over all documents no more lines than the limit."""
    known = parts._KnownDocuments()
    monkeypatch.setattr(parts, "_read", known)
    monkeypatch.setattr(parts, "_LINES_MAX", 100)
    for number in range(50):
        space.put(FIRST, f"# First\n\n- the harbour opens at {number}\n")
        with space.store.reader(SPACE) as reader:
            assert PartIndex().with_line(reader, FIRST, Wording(f"the harbour opens at {number}")) == [FIRST]
    assert [path for _, path in known._documents] == [FIRST]
    for number in range(50):
        path = f"facts/harbour{number}x.md"
        space.put(path, f"# Harbour\n\n- opens at {number}\n")
        with space.store.reader(SPACE) as reader:
            assert PartIndex().with_line(reader, path, Wording(f"opens at {number}")) == [path]
        assert known._lines == sum(len(one.lines) + 1 for one in known._documents.values()) <= 100


def test_a_memory_goes_into_the_file_as_a_person_spells_it(space: Space) -> None:
    """facts/project.md would be one file with facts/Project.md on other systems, and would not be read beside it."""
    space.put("facts/Project.md", "# Project\n\n- The crane is red\n")
    assert space.remember("the harbour opens at six").document == "facts/Project.md"
    assert space.remember("the crane is red").existed
