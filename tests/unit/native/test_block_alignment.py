"""Tests of block alignment: which blocks keep their ids across edits of a document."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise

import pytest

from reverie.errors import ValidationError
from reverie.markdown_blocks import align, parse
from support.edit_history import Piece, history
from support.soak import count
from support.version_cases import history_sets

SETS = history_sets()


def matched_indices(old: list[str], new: list[str]) -> list[int | None]:
    """Return for each new text the index of the old one that it continues."""
    found = align([(str(index), text) for index, text in enumerate(old)], new)
    return [None if id_ is None else int(id_) for id_ in found.old_ids]


def block_texts(document: str) -> list[str]:
    """Return the blocks of a document as texts."""
    data = document.encode()
    return [data[block.start : block.end].decode() for block in parse(data)]


def test_blocks_may_be_bytes_or_text() -> None:
    """Blocks may be given as bytes or as strings; deleted ids are in the old order."""
    found = align([("x", b"- a\n"), ("y", "- é\n"), ("z", b"- q\n")], ["- é\n", b"- a\n"])

    assert found.old_ids == ("y", "x")
    assert found.deleted_ids == ("z",)
    assert align([], []) == align([], ())


def test_ids_must_be_different() -> None:
    """Duplicate ids raise a ValidationError that names all of them."""
    with pytest.raises(ValidationError) as refused:
        align([("x", "a"), ("y", "b"), ("x", "c"), ("y", "d")], [])

    assert refused.value.details["reason"] == "duplicate_id"
    assert refused.value.details["names"] == ["x", "y"]
    assert refused.value.hint


def test_a_block_keeps_its_id_in_another_file() -> None:
    """The blocks of several documents are aligned as one list, so that moves between them are found."""
    user, project = ["# User\n", "- likes tea\n", "- lives in Bonn\n"], ["# Project\n", "- uses rust\n"]

    assert matched_indices([*user, *project], [*user[:2], *project, "- lives in Köln, not Bonn\n"]) == [0, 1, 3, 4, 2]


def test_a_replacement_gets_a_new_id() -> None:
    """A block that shares only common words with the old one is not an edit of it."""
    old = "- The build of the server is started by hand and takes an hour in the night\n"
    new = "- Letters to the customers are in German and go by post\n"

    assert matched_indices(["# T\n", old, "- end\n"], ["# T\n", new, "- end\n"]) == [0, None, 2]


def count_survivors(old: list[Piece], new: list[Piece]) -> Counter[str]:
    """Count the surviving blocks that kept their id, those that did not, and duplicate ids."""
    found = matched_indices([block.text for block in old], [block.text for block in new])
    ids = [index for index in found if index is not None]
    surviving = [(block, index) for block, index in zip(new, found, strict=True) if block.origin is not None]
    kept = sum(index == block.origin for block, index in surviving)
    return Counter(surviving=len(surviving), kept=kept, twice=len(ids) - len(set(ids)))


def test_ids_survive_generated_histories() -> None:
    """Of the blocks that survive editing, moving, splitting, copying and deleting, 98 % keep their id."""
    total: Counter[str] = Counter()
    for seed in range(count(800, 20_000)):
        for old, new in history(seed):
            total += count_survivors(old, new)

    assert total["twice"] == 0
    assert total["surviving"] > 100_000
    assert total["kept"] / total["surviving"] >= 0.98


@pytest.mark.parametrize("documents", SETS, ids=["generated", "recorded"][: len(SETS)])
def test_unchanged_blocks_keep_their_ids(documents: list[tuple[str, ...]]) -> None:
    """A block whose text occurs once in the old and once in the new version keeps its id."""
    unchanged = 0
    for document in documents:
        versions = [block_texts(version) for version in document]
        for old, new in pairwise(versions):
            found = matched_indices(old, new)
            times = Counter(old), Counter(new)
            for at, text in enumerate(new):
                if times[0][text] == times[1][text] == 1:
                    assert found[at] == old.index(text)
                    unchanged += 1

    assert unchanged > 8_000


@pytest.mark.parametrize("documents", SETS, ids=["generated", "recorded"][: len(SETS)])
def test_repeated_blocks_keep_their_ids(documents: list[tuple[str, ...]]) -> None:
    """Repeated blocks (rules, blank lines) keep their ids where a line diff keeps them in place."""
    kept = total = 0
    for document in documents:
        versions = [block_texts(version) for version in document]
        for old, new in pairwise(versions):
            found = matched_indices(old, new)
            for run in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
                kept += sum(found[run.b + step] == run.a + step for step in range(run.size))
                total += run.size

    assert kept / total > 0.99
