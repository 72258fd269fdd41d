"""Tests of changes to blocks: everything else stays unchanged, and they can be undone."""

from __future__ import annotations

import random

import pytest

from reverie import _native
from reverie.errors import ValidationError
from reverie.markdown_blocks import BlockKind, parse
from support.document_cases import Applied, Change, Edit, add, apply, delete, history_sets, under, update
from support.soak import count

SETS = history_sets()
MEMORIES = {BlockKind.BULLET, BlockKind.SECTION}
DOCUMENT = b"# T\n\n> Summary: s\n\n## A\n- one\n- two\n  more\n\n## B\n\ntext\n"


def memory_spans(document: bytes) -> list[tuple[str, int, int]]:
    """Return (number, start, end) of each memory block of a document."""
    memories = [block for block in parse(document) if block.kind in MEMORIES]
    return [(str(number), block.start, block.end) for number, block in enumerate(memories)]


def apply_and_undo(document: bytes, *changes: Change) -> Applied:
    """Apply changes, verify that the inverse restores the document, and return the result."""
    applied = apply(document, memory_spans(document), changes)

    assert _native.apply_edits(document, applied.edits) == applied.document
    assert _native.apply_edits(applied.document, applied.inverse) == document
    return applied


def changed(document: bytes | str, *changes: Change) -> str:
    """Return the document after changes."""
    return apply_and_undo(document.encode() if isinstance(document, str) else document, *changes).document.decode()


def rejection(document: bytes, *changes: Change) -> tuple[str, list[str]]:
    """Return the reason and the names of the ValidationError that changes raise."""
    with pytest.raises(ValidationError) as refused:
        apply(document, memory_spans(document), changes)

    assert refused.value.hint
    return refused.value.details["reason"], refused.value.details["names"]


def test_edits_are_minimal() -> None:
    """An update edits only the characters that differ, a deletion its block, and an equal text nothing."""
    applied = apply_and_undo(DOCUMENT, update("0", "- none"), delete("1"))
    assert applied.edits == [(26, "", "n"), (30, "- two\n  more\n", "")]
    assert apply_and_undo(DOCUMENT, update("0", "\n- one\n\n")).edits == []
    assert apply_and_undo(DOCUMENT).document == DOCUMENT


def test_blocks_are_added_at_their_positions() -> None:
    """Blocks are added after a block, in a section or last; those of one position in the order of the changes."""
    text = DOCUMENT.decode()

    assert changed(text, add("- x", after="0"), add("- y\n", after="0")) == text.replace("one\n", "one\n- x\n- y\n")
    assert changed(text, under("A", "- x")) == text.replace("more\n", "more\n- x\n")
    assert changed(text, under("B", "- x")) == f"{text}\n- x\n"
    assert changed(text, under("T", "- x")) == text.replace("s\n", "s\n\n- x\n", 1)
    assert changed(text, add("- x")) == f"{text}\n- x\n"
    assert changed("- a\n\n\n", add("- x")) == "- a\n- x\n\n\n"
    assert changed("## A\n\n## B\n", under("A", "- x")) == "## A\n- x\n\n## B\n"
    assert changed("## A\n## B\n", under("A", "- x")) == "## A\n- x\n\n## B\n"
    assert changed("", add("- x")) == "- x\n"
    assert changed("\ufeff", add("- x")) == "\ufeff- x\n"
    assert changed("# Episodes\n", add("## X\n- Date: 1")) == "# Episodes\n\n## X\n- Date: 1\n"
    assert changed("## X\n- Date: 1\n", add("## Y\n- Date: 2")) == "## X\n- Date: 1\n\n## Y\n- Date: 2\n"


def test_the_anchor_of_an_addition_may_change() -> None:
    """A block added after a deleted block takes its position; after an updated one it follows that."""
    assert changed("- a\n- b\n- c\n", add("- x", after="1"), delete("1")) == "- a\n- x\n- c\n"
    assert changed("- a\n- b", add("- x", after="1"), update("1", "- b b")) == "- a\n- b b\n- x"
    assert changed("- a\n- b\n", add("- x", after="0"), update("1", "- y b")) == "- a\n- x\n- y b\n"


def test_the_document_keeps_its_style() -> None:
    """Line endings, byte order mark, list markers, indentation and a missing final newline stay."""
    assert (
        changed("\ufeff# T\r\n\r\n* a\r\n", update("0", "- b\n  c"), add("- d"))
        == "\ufeff# T\r\n\r\n* b\r\n  c\r\n* d\r\n"
    )
    assert changed(" + a\n   b\n", update("0", "- c\n\n  d")) == " + c\n\n   d\n"
    assert changed("- a\r- b", add("- c"), delete("0")) == "- b\r- c"
    assert changed("- a\n- b\r\n", update("1", "- x\n  y")) == "- a\n- x\r\n  y\r\n"
    assert changed("- a", update("0", "- b\n")) == "- b"
    assert changed("- a  \n\n", update("0", "- b")) == "- b\n\n"


def test_paragraphs_stay_separated() -> None:
    """Neither a deletion nor an addition joins two paragraphs."""
    assert changed("text\n- a\n> quote\n", delete("0")) == "text\n\n> quote\n"
    assert changed("- a\n- b\n> quote\n", delete("1")) == "- a\n\n> quote\n"
    assert changed("- a\n- b\n> quote\n", delete("0"), delete("1")) == "> quote\n"
    assert changed("- a\n> quote\n", add("- x", after="0")) == "- a\n- x\n\n> quote\n"


def test_unknown_ids_are_rejected_together() -> None:
    """All unknown ids are named in one error, whichever changes name them."""
    changes = (update("0", "- x"), update("x", "- x"), delete("y"), add("- x", after="z"), delete("x"))

    assert rejection(DOCUMENT, *changes) == ("unknown_id", ["x", "y", "z"])
    assert rejection(DOCUMENT, update("0", "- x"), delete("0"), delete("1"), delete("1")) == (
        "changed_twice",
        ["0", "1"],
    )
    assert rejection(DOCUMENT, under("A", "- x"), under("C", "- x")) == ("unknown_heading", ["C"])


@pytest.mark.parametrize("text", ["", " \n\n", "- a\n- b", "- a\n\ntext", "text", "## H\n- Date: 1", "- a\n# T"])
def test_an_item_stays_one_item(text: str) -> None:
    """The new text of a list item must be one item, else the change is rejected by its index."""
    assert rejection(DOCUMENT, delete("0"), update("1", text)) == ("not_one_block", ["1"])


@pytest.mark.parametrize("text", ["", " \n\n", "- a\n- b", "text\n\n- a", "- a\n# T"])
def test_a_new_block_is_one_block(text: str) -> None:
    """The text of an added block must be exactly one block."""
    assert rejection(DOCUMENT, delete("0"), add(text)) == ("not_one_block", ["1"])


def test_a_text_must_not_change_following_blocks() -> None:
    """A change is refused if it changes the blocks around it: an open code fence, or a deletion."""
    assert rejection(b"- a\n- b\n", add("```\ncode", after="0")) == ("breaks_out", ["0"])
    assert rejection(b"- a\n - b\n\n  text\n", delete("1")) == ("breaks_out", ["0"])
    assert changed("- a\n- b\n", add("```\ncode\n```", after="0")) == "- a\n\n```\ncode\n```\n\n- b\n"


def test_spans_must_be_those_of_blocks() -> None:
    """Ids must be unique and spans must be blocks that do not overlap; all wrong ones are named."""
    for blocks, reason, names in (
        ([("x", 0, 4), ("x", 4, 8)], "duplicate_id", ["x"]),
        ([("x", 0, 4), ("y", 0, 4), ("z", 1, 4), ("v", 4, 5), ("w", 8, 4)], "not_a_block", ["y", "z", "v", "w"]),
    ):
        with pytest.raises(ValidationError) as refused:
            apply(b"- a\n- b\n", blocks, [])
        assert refused.value.details["reason"] == reason
        assert refused.value.details["names"] == names


def test_one_id_may_span_several_blocks() -> None:
    """An id may cover several blocks, up to the whole file."""
    document = b"---\nname: x\n---\n\ntext\n"
    applied = apply(document, [("x", 0, len(document))], [update("x", "---\nname: y\n---\n\ntext\n\n- more\n")])

    assert applied.document == b"---\nname: y\n---\n\ntext\n\n- more\n"
    assert _native.apply_edits(applied.document, applied.inverse) == document


def test_encodings_are_checked() -> None:
    """A document that is not UTF-8 is rejected with the offset."""
    with pytest.raises(ValidationError) as refused:
        apply(b"- \xff", [], [])
    assert refused.value.details["offset"] == 2
    with pytest.raises(ValidationError) as refused:
        _native.apply_edits(b"- \xff", [])
    assert refused.value.details["offset"] == 2


def test_unknown_kinds_of_changes_are_rejected() -> None:
    """The native core rejects a kind of change that does not exist."""
    with pytest.raises(ValidationError) as refused:
        _native.apply_changes(b"", [], [("rename", "x", "y")])
    assert refused.value.details["reason"] == "unknown_change"
    assert refused.value.details["names"] == ["rename"]


def test_edits_must_find_their_text() -> None:
    """Edits of another text, unordered ones or ones out of bounds are rejected by their index."""
    edits: list[Edit] = [(0, "a", "x"), (0, "a", "y"), (1, "z", ""), (2, "é", ""), (99, "", "")]
    with pytest.raises(ValidationError) as refused:
        _native.apply_edits("abé".encode(), edits)

    assert refused.value.details["reason"] == "stale_edit"
    assert refused.value.details["names"] == ["1", "2", "4"]
    assert _native.apply_edits("abé".encode(), [edits[0], edits[3]]) == b"xb"


@pytest.mark.parametrize("documents", SETS, ids=["generated", "recorded"][: len(SETS)])
def test_random_changes_affect_only_their_blocks(documents: list[tuple[str, ...]]) -> None:
    """Random changes are applied, and all other items keep their bytes and order."""
    pick = random.Random(3)
    total = 0
    for _ in range(count(2000, 20_000)):
        document = pick.choice(pick.choice(documents)).encode()
        spans = memory_spans(document)
        chosen = pick.sample(spans, min(len(spans), pick.randint(0, 6)))
        changes = [
            pick.choice((delete(id_), update(id_, "- an\n\n  update #t"), add("- more", after=id_)))
            for id_, start, _ in chosen
            if not document[start:].startswith(b"##")
        ]
        applied = apply_and_undo(document, *changes)
        changed = {change[1] for change in changes if not change[0].startswith("add")}
        left = iter(memory_spans(applied.document))
        for id_, start, end in spans:
            if id_ not in changed:
                assert any(document[start:end] == applied.document[there:stop] for _, there, stop in left)
        total += len(changes)

    assert total > 1000
