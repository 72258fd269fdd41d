"""Properties of block alignment, changes and patches over any text that Hypothesis generates."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import _native
from reverie.errors import ValidationError
from reverie.markdown_blocks import align, parse
from reverie.text_patch import patch
from support.document_cases import Change, add, apply, delete, under, update
from support.soak import count as campaign

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PIECES = st.lists(
    st.sampled_from(
        ["- a", "* b", "## B", "# T", "\n", "\r\n", "\r", "  ", "```", "- Date: 1", "> Summary: x", "---", "é", "text"]
    ),
    max_size=20,
).map("".join)
law = settings(max_examples=campaign(120, 10_000), deadline=None)


@law
@given(st.lists(TEXT, max_size=8), st.lists(TEXT, max_size=8))
def test_every_id_is_kept_once_or_dropped(old: list[str], new: list[str]) -> None:
    """An alignment keeps or deletes every old id exactly once; an unchanged document keeps all ids in order."""
    blocks = [(str(index), text) for index, text in enumerate(old)]
    aligned = align(blocks, new)

    assert len(aligned.old_ids) == len(new)
    assert sorted([*filter(None, aligned.old_ids), *aligned.deleted_ids], key=int) == [id_ for id_, _ in blocks]
    assert align(blocks, old).old_ids == tuple(id_ for id_, _ in blocks)


@law
@given(PIECES, st.lists(st.tuples(st.integers(0, 20), PIECES, st.integers(0, 4)), max_size=4))
def test_changes_can_be_undone(document: str, plan: list[tuple[int, str, int]]) -> None:
    """Block changes have the stated result and an inverse that restores every byte, or are refused as a whole."""
    data = document.encode()
    old = [(str(number), block.start, block.end) for number, block in enumerate(parse(data))]
    changes: list[Change] = [
        (add(text), add(text, after=str(at)), under("B", text), update(str(at), text), delete(str(at)))[kind]
        for at, text, kind in plan
    ]
    ids = {id_ for id_, *_ in old}
    unknown = [str(at) for at, _, kind in plan if kind in {1, 3, 4} and str(at) not in ids]
    if unknown:
        with pytest.raises(ValidationError) as refused:
            apply(data, old, changes)
        assert refused.value.details["reason"] == "unknown_id"
        assert refused.value.details["names"] == list(dict.fromkeys(unknown))
        return
    try:
        applied = apply(data, old, changes)
    except ValidationError as other:
        reasons = {"changed_twice", "unknown_heading", "not_one_block", "breaks_out"}
        assert other.details["reason"] in reasons  # noqa: PT017  # either outcome is right
        return
    assert _native.apply_edits(data, applied.edits) == applied.document
    assert _native.apply_edits(applied.document, applied.inverse) == data


@law
@given(st.text("ab\n", max_size=12), st.lists(st.tuples(st.text("ab\n", max_size=3), TEXT), max_size=12))
def test_patches_equal_plain_search_and_replace(text: str, patches: list[tuple[str, str]]) -> None:
    """Patches equal a plain replacement where each old text occurs once and none overlap; else they are refused."""
    places = [[at for at in range(len(text)) if old and text.startswith(old, at)] for old, _ in patches]
    if any(len(offsets) != 1 for offsets in places):
        with pytest.raises(ValidationError):
            patch(text, patches)
        return
    order = sorted((offsets[0], *pair) for offsets, pair in zip(places, patches, strict=True))
    if any(at + len(old) > after for (at, old, _), (after, *_) in pairwise(order)):
        with pytest.raises(ValidationError) as refused:
            patch(text, patches)
        assert refused.value.details["reason"] == "overlap"
        return
    expected, end = "", 0
    for at, old, new in order:
        expected += text[end:at] + new
        end = at + len(old)
    assert patch(text, patches) == (expected + text[end:], len(patches))
