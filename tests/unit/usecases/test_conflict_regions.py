"""Tests of resolving a conflict with the store's words: each region is found for certain, or the resolve is refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from reverie.errors import Conflict
from reverie.store import Kind, Store, Writer
from reverie.usecases import conflicts
from reverie.usecases.by import By
from reverie.usecases.put import NewText, put_texts
from support.stores import AT, opened, write

PATH, BESIDE = "facts/user.md", "facts/user.sync-conflict-20261121-093000-abc123.md"
TEXT = "- Role: pilot\n- Name: Ada\n- Role: pilot\n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(tmp_path / "store") as made:
        yield made


def settled(store: Store, *regions: dict[str, Any], keep: Literal["store", "both"] = "store") -> str:
    """Open a conflict with these regions, resolve it, and return the text of the document."""
    ids = count(1)
    by = By("default", "x", "person", lambda kind: f"{kind}_{next(ids)}")
    held = {"id": "cnf_1", "path": PATH, "copy": BESIDE, "text": "other", "regions": list(regions), "openedAt": AT}

    def noted(writer: Writer) -> None:
        texts: dict[str, NewText | None] = {PATH: NewText(TEXT)}
        put_texts(writer, texts, by)
        writer.put(Kind.CONFLICT, ("cnf_1",), {**held, "operation": writer.number})

    write(store, noted)
    write(store, lambda writer: conflicts.resolve(writer, by, "cnf_1", keep=keep))
    with store.reader("default") as reader:
        found = reader.get(Kind.DOCUMENT, (PATH,))
    return str(found and found["content"])


def test_a_place_that_is_known_is_taken(store: Store) -> None:
    """A stored offset is used, even where the words occur twice, and for a region without words."""
    last = {"file": "- Role: pilot\n", "store": "- Role: cook\n", "at": TEXT.rindex("- Role")}
    none = {"file": "", "store": "- Dog: Rex\n", "at": TEXT.index("- Name")}

    assert settled(store, none, last) == "- Role: pilot\n- Dog: Rex\n- Name: Ada\n- Role: cook\n"


@pytest.mark.parametrize("region", [{}, {"at": None}, {"at": 3}])
def test_words_that_are_there_once_say_where_they_are(store: Store, region: dict[str, Any]) -> None:
    """Without a usable offset a region is found by its words, if they occur once."""
    region = {"file": "- Name: Ada\n", "store": "- Name: Eva\n", **region}

    assert settled(store, region, keep="both") == TEXT.replace("Ada\n", "Ada\n- Name: Eva\n")


@pytest.mark.parametrize("words", ["", "- Role: pilot\n", "- Cat: Tom\n"])
@pytest.mark.parametrize("region", [{}, {"at": None}, {"at": 1_000}])
def test_a_place_that_is_not_certain_is_refused(store: Store, words: str, region: dict[str, Any]) -> None:
    """A region whose words occur twice or not at all, or are empty, is refused; the hint names `--content`."""
    with pytest.raises(Conflict, match="not known for certain") as refused:
        settled(store, {"file": words, "store": "- Dog: Rex\n", **region})

    assert "reverie sync resolve ID --content FILE" in str(refused.value.hint)
