"""Changes of blocks leave everything else as it was, and can be undone."""

from __future__ import annotations

import random

import pytest

from reverie import _native
from reverie.apply import Add, Applied, Change, Delete, Edit, Update, apply_changes, apply_edits
from reverie.blocks import BlockKind, parse
from reverie.errors import ValidationError
from support.soak import count
from support.version_cases import history_sets

SETS = history_sets()
MEMORIES = {BlockKind.BULLET, BlockKind.SECTION}
DOCUMENT = b"# T\n\n> Summary: s\n\n## A\n- one\n- two\n  more\n\n## B\n\ntext\n"


def held(document: bytes) -> list[tuple[str, int, int]]:
    """An id for each memory of a document: its number."""
    memories = [block for block in parse(document) if block.kind in MEMORIES]
    return [(str(number), block.start, block.end) for number, block in enumerate(memories)]


def check(document: bytes, *changes: Change) -> Applied:
    """What changes do, after it was undone."""
    applied = apply_changes(document, held(document), changes)

    assert apply_edits(document, applied.edits) == applied.document
    assert apply_edits(applied.document, applied.inverse) == document
    return applied


def after(document: bytes | str, *changes: Change) -> str:
    """The document after changes."""
    return check(document.encode() if isinstance(document, str) else document, *changes).document.decode()


def refusal(document: bytes, *changes: Change) -> tuple[str, list[str]]:
    """The reason and the names of a refusal."""
    with pytest.raises(ValidationError) as refused:
        apply_changes(document, held(document), changes)

    assert refused.value.hint
    return refused.value.details["reason"], refused.value.details["names"]


def test_edits_are_minimal() -> None:
    """An update touches the letters that differ, a deletion its block, and the same text nothing."""
    applied = check(DOCUMENT, Update("0", "- none"), Delete("1"))
    assert applied.edits == (Edit(26, "", "n"), Edit(30, "- two\n  more\n", ""))
    assert check(DOCUMENT, Update("0", "\n- one\n\n")).edits == ()
    assert check(DOCUMENT).document == DOCUMENT


def test_new_blocks_stand_where_they_are_told() -> None:
    """Behind a block, under a heading, or last; those of one place in the order of the changes."""
    text = DOCUMENT.decode()

    assert after(text, Add("- x", after="0"), Add("- y\n", after="0")) == text.replace("one\n", "one\n- x\n- y\n")
    assert after(text, Add("- x", under="A")) == text.replace("more\n", "more\n- x\n")
    assert after(text, Add("- x", under="B")) == f"{text}\n- x\n"
    assert after(text, Add("- x", under="T")) == text.replace("s\n", "s\n\n- x\n", 1)
    assert after(text, Add("- x")) == f"{text}\n- x\n"
    assert after("- a\n\n\n", Add("- x")) == "- a\n- x\n\n\n"
    assert after("## A\n\n## B\n", Add("- x", under="A")) == "## A\n- x\n\n## B\n"
    assert after("## A\n## B\n", Add("- x", under="A")) == "## A\n- x\n\n## B\n"
    assert after("", Add("- x")) == "- x\n"
    assert after("\ufeff", Add("- x")) == "\ufeff- x\n"
    assert after("# Episodes\n", Add("## X\n- Date: 1")) == "# Episodes\n\n## X\n- Date: 1\n"
    assert after("## X\n- Date: 1\n", Add("## Y\n- Date: 2")) == "## X\n- Date: 1\n\n## Y\n- Date: 2\n"


def test_a_place_may_change_too() -> None:
    """What is added behind a block that is deleted stands in its place; behind one that is updated, behind it."""
    assert after("- a\n- b\n- c\n", Add("- x", after="1"), Delete("1")) == "- a\n- x\n- c\n"
    assert after("- a\n- b", Add("- x", after="1"), Update("1", "- b b")) == "- a\n- b b\n- x"
    assert after("- a\n- b\n", Add("- x", after="0"), Update("1", "- y b")) == "- a\n- x\n- y b\n"


def test_the_document_keeps_its_style() -> None:
    """Line endings, byte order mark, marks of items, indentation and the missing newline at the end."""
    assert (
        after("\ufeff# T\r\n\r\n* a\r\n", Update("0", "- b\n  c"), Add("- d"))
        == "\ufeff# T\r\n\r\n* b\r\n  c\r\n* d\r\n"
    )
    assert after(" + a\n   b\n", Update("0", "- c\n\n  d")) == " + c\n\n   d\n"
    assert after("- a\r- b", Add("- c"), Delete("0")) == "- b\r- c"
    assert after("- a\n- b\r\n", Update("1", "- x\n  y")) == "- a\n- x\r\n  y\r\n"
    assert after("- a", Update("0", "- b\n")) == "- b"
    assert after("- a  \n\n", Update("0", "- b")) == "- b\n\n"


def test_blocks_that_were_parted_stay_apart() -> None:
    """A deletion does not let a paragraph run into what stands above, nor does an addition."""
    assert after("text\n- a\n> quote\n", Delete("0")) == "text\n\n> quote\n"
    assert after("- a\n- b\n> quote\n", Delete("1")) == "- a\n\n> quote\n"
    assert after("- a\n- b\n> quote\n", Delete("0"), Delete("1")) == "> quote\n"
    assert after("- a\n> quote\n", Add("- x", after="0")) == "- a\n- x\n\n> quote\n"


def test_unknown_ids_are_refused_as_a_whole() -> None:
    """All of them are named, whichever change names them."""
    changes = (Update("0", "- x"), Update("x", "- x"), Delete("y"), Add("- x", after="z"), Delete("x"))

    assert refusal(DOCUMENT, *changes) == ("unknown_id", ["x", "y", "z"])
    assert refusal(DOCUMENT, Update("0", "- x"), Delete("0"), Delete("1"), Delete("1")) == ("changed_twice", ["0", "1"])
    assert refusal(DOCUMENT, Add("- x", under="A"), Add("- x", under="C")) == ("unknown_heading", ["C"])


@pytest.mark.parametrize("text", ["", " \n\n", "- a\n- b", "- a\n\ntext", "text", "## H\n- Date: 1", "- a\n# T"])
def test_an_item_stays_one_item(text: str) -> None:
    """Its new text is one item, or the change is refused by its number."""
    assert refusal(DOCUMENT, Delete("0"), Update("1", text)) == ("not_one_block", ["1"])


@pytest.mark.parametrize("text", ["", " \n\n", "- a\n- b", "text\n\n- a", "- a\n# T"])
def test_a_new_block_is_one_block(text: str) -> None:
    """Not nothing, and not several."""
    assert refusal(DOCUMENT, Delete("0"), Add(text)) == ("not_one_block", ["1"])


def test_a_text_does_not_swallow_what_follows() -> None:
    """What it opens it must close."""
    assert refusal(b"- a\n- b\n", Add("```\ncode", after="0")) == ("breaks_out", ["0"])
    assert refusal(b"- a\n - b\n\n  text\n", Delete("1")) == ("breaks_out", ["0"])
    assert after("- a\n- b\n", Add("```\ncode\n```", after="0")) == "- a\n\n```\ncode\n```\n\n- b\n"


def test_spans_must_be_those_of_blocks() -> None:
    """Ids are different, spans are blocks of this document and apart, and all that are wrong are named."""
    for blocks, reason, names in (
        ([("x", 0, 4), ("x", 4, 8)], "duplicate_id", ["x"]),
        ([("x", 0, 4), ("y", 0, 4), ("z", 1, 4), ("v", 4, 5), ("w", 8, 4)], "not_a_block", ["y", "z", "v", "w"]),
    ):
        with pytest.raises(ValidationError) as refused:
            apply_changes(b"- a\n- b\n", blocks, [])
        assert refused.value.details["reason"] == reason
        assert refused.value.details["names"] == names


def test_one_id_may_hold_many_blocks() -> None:
    """A whole file can be one memory."""
    document = b"---\nname: x\n---\n\ntext\n"
    applied = apply_changes(document, [("x", 0, len(document))], [Update("x", "---\nname: y\n---\n\ntext\n\n- more\n")])

    assert applied.document == b"---\nname: y\n---\n\ntext\n\n- more\n"
    assert apply_edits(applied.document, applied.inverse) == document


def test_words_and_encodings_are_checked() -> None:
    """What is not UTF-8 is refused with its offset."""
    with pytest.raises(ValidationError) as refused:
        apply_changes(b"- \xff", [], [])
    assert refused.value.details["offset"] == 2
    with pytest.raises(ValidationError) as refused:
        apply_edits(b"- \xff", [])
    assert refused.value.details["offset"] == 2


def test_changes_have_five_words() -> None:
    """The native core refuses another one by its name."""
    with pytest.raises(ValidationError) as refused:
        _native.apply_changes(b"", [], [("rename", "x", "y")])
    assert refused.value.details["reason"] == "unknown_change"
    assert refused.value.details["names"] == ["rename"]


def test_edits_must_find_their_text() -> None:
    """Edits of another text, out of order or out of bounds are refused by their numbers."""
    edits = [Edit(0, "a", "x"), Edit(0, "a", "y"), Edit(1, "z", ""), Edit(2, "é", ""), Edit(99, "", "")]
    with pytest.raises(ValidationError) as refused:
        apply_edits("abé".encode(), edits)

    assert refused.value.details["reason"] == "stale_edit"
    assert refused.value.details["names"] == ["1", "2", "4"]
    assert apply_edits("abé".encode(), [edits[0], edits[3]]) == b"xb"


@pytest.mark.parametrize("documents", SETS, ids=["generated", "recorded"][: len(SETS)])
def test_files_change_only_where_the_changes_are(documents: list[tuple[str, ...]]) -> None:
    """Random changes of the items of edited documents are taken; other items keep their bytes and their order."""
    pick = random.Random(3)
    total = 0
    for _ in range(count(2000, 20_000)):
        document = pick.choice(pick.choice(documents)).encode()
        spans = held(document)
        chosen = pick.sample(spans, min(len(spans), pick.randint(0, 6)))
        changes: list[Change] = [
            pick.choice((Delete(id_), Update(id_, "- an\n\n  update #t"), Add("- more", after=id_)))
            for id_, start, _ in chosen
            if not document[start:].startswith(b"##")
        ]
        applied = check(document, *changes)
        changed = {change.id for change in changes if not isinstance(change, Add)}
        left = iter(held(applied.document))
        for id_, start, end in spans:
            if id_ not in changed:
                assert any(document[start:end] == applied.document[there:stop] for _, there, stop in left)
        total += len(changes)

    assert total > 1000
