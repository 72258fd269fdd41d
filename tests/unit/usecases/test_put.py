"""The index names a document by what it holds, also after a person's save that left the `> Summary:` line alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie.documents.header import refresh_header
from reverie.store import DocumentRecord, Store, Writer
from reverie.usecases.by import By
from reverie.usecases.put import NewText, put_texts
from support.stores import SPACE, opened, write

PATH = "facts/project.md"
BULLETS = "# Project\n\n- Staging server: alpha.example\n- Formatter: ruff format\n- Editor: vim\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Yield an empty store."""
    with opened(tmp_path / "store") as store:
        yield store


@pytest.fixture
def put(store: Store) -> Callable[..., None]:
    """Return a function that writes texts as an author."""
    numbers = count(1)

    def put_as(author: Any, texts: dict[str, str | None]) -> None:
        def body(writer: Writer) -> list[str]:
            given = {path: None if text is None else NewText(text) for path, text in texts.items()}
            return put_texts(writer, given, By("", "", author, lambda kind: f"{kind}_{next(numbers)}"))

        write(store, body, who=author)

    return put_as


def summary(store: Store, path: str = PATH) -> str:
    """Return the summary of a stored document."""
    with store.reader(SPACE) as reader:
        record = reader.load(DocumentRecord, (path,))
    assert record is not None
    return record.summary


def made(summary: str | None = None) -> str:
    """Return the document as an agent or an engine writes it."""
    return refresh_header(PATH, BULLETS, day="2026-11-21", summary=summary)


@pytest.mark.parametrize("author", ["engine", "agent"])
def test_a_deleted_line_leaves_the_index(author: str, store: Store, put: Callable[..., None]) -> None:
    """The sentence follows each save of a person who leaves the engine's line alone; the text stays as it is saved."""
    text = made()
    put(author, {PATH: text})
    assert summary(store) == "Editor: vim"
    without = text.replace("- Editor: vim\n", "")
    put("person", {PATH: without})
    assert summary(store) == "Formatter: ruff format"
    put("person", {PATH: without + "- Shell: fish\n"})
    assert summary(store) == "Shell: fish"
    with store.reader(SPACE) as reader:
        record = reader.load(DocumentRecord, (PATH,))
    assert record is not None
    assert "> Summary: Editor: vim\n" in record.content
    put("person", {PATH: text})
    assert summary(store) == "Editor: vim"


def test_an_edited_line_is_in_the_index(store: Store, put: Callable[..., None]) -> None:
    """The new words are in the summary, and the old ones are not."""
    text = refresh_header(PATH, "- the staging server is alpha.example\n", day="2026-11-21")
    put("engine", {PATH: text})
    assert "alpha.example" in summary(store)
    put("person", {PATH: text.replace("- the staging server is alpha.example", "- the staging server is beta.example")})
    assert "alpha.example" not in summary(store)
    assert "beta.example" in summary(store)


def test_a_line_of_a_person_stays(store: Store, put: Callable[..., None]) -> None:
    """A summary that a person wrote is served whatever the memories are; one that a save changes is the new one."""
    text = made().replace("> Summary: Editor: vim", "> Summary: how we format and deploy")
    put("person", {PATH: text})
    put("person", {PATH: text.replace("- Formatter: ruff format\n", "")})
    assert summary(store) == "how we format and deploy"
    put("person", {PATH: made()})
    put("person", {PATH: made().replace("> Summary: Editor: vim", "> Summary: my ruff notes, Editor: vim")})
    assert summary(store) == "my ruff notes, Editor: vim"


def test_a_summary_of_an_agent_names_nothing_that_is_gone(store: Store, put: Callable[..., None]) -> None:
    """A model's own summary stays until a save takes out what it names; then a sentence replaces it."""
    text = made("how to format with ruff and where to deploy")
    put("agent", {PATH: text})
    put("person", {PATH: text.replace("vim", "helix")})
    assert summary(store) == "how to format with ruff and where to deploy"
    put("person", {PATH: text.replace("- Formatter: ruff format\n", "")})
    assert summary(store) == "Editor: vim"
    put("agent", {"notes/plan.md": "# Plan\n\n> Summary: move to the blue cluster\n\nWe move to the blue cluster.\n"})
    put("person", {"notes/plan.md": "# Plan\n\n> Summary: move to the blue cluster\n\nWe stay.\n"})
    assert summary(store, "notes/plan.md") == "Plan"


def test_renamed_and_restored(store: Store, put: Callable[..., None]) -> None:
    """A renamed file, and an earlier text that comes back, have the summary that they had."""
    text = made()
    put("engine", {PATH: text})
    without = text.replace("- Editor: vim\n", "")
    put("person", {PATH: without})
    put("agent", {PATH: refresh_header(PATH, without + "- Shell: fish\n", day="2026-11-22")})
    assert summary(store) == "Shell: fish"
    put("person", {PATH: without})
    assert summary(store) == "Formatter: ruff format"
    put("person", {PATH: None, "facts/team.md": without})
    assert summary(store, "facts/team.md") == "Formatter: ruff format"
