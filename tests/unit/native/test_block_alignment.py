"""Tests of block alignment: which blocks keep their ids across edits of a document."""

from __future__ import annotations

from collections import Counter

import pytest

from reverie.errors import ValidationError
from reverie.markdown_blocks import align
from support.document_cases import Piece, history
from support.soak import count


def matched_indices(old: list[str], new: list[str]) -> list[int | None]:
    """Return for each new text the index of the old one that it continues."""
    found = align([(str(index), text) for index, text in enumerate(old)], new)
    return [None if id_ is None else int(id_) for id_ in found.old_ids]


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
