"""Three texts become one: what goes together, what is a conflict, and what a conflict says."""

from __future__ import annotations

import pytest

from reverie.errors import ValidationError
from reverie.merge import Conflict, Merged, Part, merge3

LIST = "# Facts\n\n- one\n- two\n- three\n"


def clean(base: str, ours: str, theirs: str) -> str:
    """The merged text of what goes together."""
    merged = merge3(base, ours, theirs)
    assert merged.clean, merged.conflicts
    return merged.text


def test_changes_apart_are_both_made() -> None:
    """An edit here and an edit there."""
    base = "- a\n- b\n- c\n- d\n"

    assert clean(base, "- A\n- b\n- c\n- d\n", "- a\n- b\n- c\n- D\n") == "- A\n- b\n- c\n- D\n"


def test_edits_beside_each_other_are_both_made() -> None:
    """An edited item does not stand in the way of its neighbour, whether that is edited, removed or follows new."""
    ours = LIST.replace("one", "1")

    assert clean(LIST, ours, LIST.replace("two", "2")) == "# Facts\n\n- 1\n- 2\n- three\n"
    assert clean(LIST, ours, LIST.replace("- two\n", "")) == "# Facts\n\n- 1\n- three\n"
    assert clean(LIST, ours, LIST.replace("- one\n", "- one\n- new\n")) == "# Facts\n\n- 1\n- new\n- two\n- three\n"
    assert clean(LIST, ours, LIST.replace("- one\n", "- new\n- one\n")) == "# Facts\n\n- new\n- 1\n- two\n- three\n"


def test_both_appended() -> None:
    """Items that both sides appended are kept, ours first."""
    assert clean(LIST, LIST + "- ours\n", LIST + "- theirs\n") == LIST + "- ours\n- theirs\n"


def test_the_same_change_is_made_once() -> None:
    """An item that both sides appended stands once, whatever else they appended."""
    assert clean(LIST, LIST + "- x\n", LIST + "- x\n") == LIST + "- x\n"
    assert clean(LIST, LIST + "- x\n- a\n", LIST + "- x\n- b\n") == LIST + "- x\n- a\n- b\n"
    assert clean(LIST, LIST + "- a\n- x\n", LIST + "- b\n- x\n") == LIST + "- a\n- x\n- b\n"
    assert clean(LIST, LIST.replace("- two\n", ""), LIST.replace("- two\n", "")) == "# Facts\n\n- one\n- three\n"


def test_sections_that_both_appended_stay_whole() -> None:
    """Neither section is inside the other, and a blank line parts them."""
    ours, theirs = "\n## Ours\n\n- a\n", "\n## Theirs\n\n- b\n"

    assert clean(LIST, LIST + ours, LIST + theirs) == LIST + ours + theirs


def test_a_section_that_both_began_has_the_items_of_both() -> None:
    """The same new heading stands once, with what both sides put under it."""
    ours, theirs = LIST + "\n## New\n\n- a\n", LIST + "\n## New\n\n- b\n\n## Other\n\n- c\n"

    assert clean(LIST, ours, theirs) == LIST + "\n## New\n\n- a\n- b\n\n## Other\n\n- c\n"


def test_what_continues_a_block_stays_with_it() -> None:
    """A second line of the last item, an item more, and a new section: in this order, whoever wrote which."""
    line, item, section = "  more of three\n", "- four\n", "\n## New\n\n- five\n"

    assert clean(LIST, LIST + item, LIST + line) == LIST + line + item
    assert clean(LIST, LIST + section, LIST + item) == LIST + item + section
    assert clean(LIST, LIST + section, LIST + line) == LIST + line + section


def test_paragraphs_that_both_appended_stay_apart() -> None:
    """A blank line parts what a blank line parted on either side."""
    assert clean("A.\n", "A.\n\nOurs.\n", "A.\n\nTheirs.\n") == "A.\n\nOurs.\n\nTheirs.\n"
    assert clean("A.\n\nZ.\n", "A.\n\nOurs.\n\nZ.\n", "A.\n\nTheirs.\n\nZ.\n") == "A.\n\nOurs.\n\nTheirs.\n\nZ.\n"


def test_edits_of_one_line_that_are_apart_are_both_made() -> None:
    """Words are merged where an untouched word lies between."""
    base = "- deploys run on Tuesday and are watched by Ana\n"
    merged = clean(base, base.replace("Tuesday", "Friday"), base.replace("Ana", "Ben"))

    assert merged == "- deploys run on Friday and are watched by Ben\n"


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("- deploys run on Friday\n", "- deploys run on Monday\n"),
        ("- deploys run on Tuesday night\n", "- deploys run on Monday\n"),
        ("- deploys run on Friday\n", ""),
        ("- all of it was said anew\n", "- deploys run on Monday\n"),
    ],
    ids=["same word", "word beside", "edited and removed", "said anew"],
)
def test_what_does_not_go_together_is_a_conflict(ours: str, theirs: str) -> None:
    """The text has our side, the conflict all three."""
    base = "- deploys run on Tuesday\n"
    head, tail = "# T\n\n- first\n", "- last\n"
    merged = merge3(head + base + tail, head + ours + tail, head + theirs + tail)
    span = (len(head), len(head) + len(ours))

    assert merged.text == head + ours + tail
    assert merged.conflicts == (
        Conflict(Part(base, 3, 4), Part(ours, 3, 4), Part(theirs, 3, 3 + bool(theirs)), (3, 4), span),
    )
    assert not merged.clean


def test_an_edit_inside_a_removed_block_is_a_conflict() -> None:
    """A line added to an item that the other side removed is not left behind on another item."""
    base = "- keep\n- old item\n  its second line\n- last\n"
    for theirs in (base.replace("  its second line\n", "  its second line\n  a third\n"), base.replace("old", "odd")):
        merged = merge3(base, "- keep\n- last\n", theirs)

        assert merged.text == "- keep\n- last\n"
        assert [conflict.ours.text for conflict in merged.conflicts] == [""]


def test_where_a_conflict_stands_is_counted_in_characters() -> None:
    """Lines and characters of the merged text, whatever the characters are."""
    merged = merge3("é\nä one\nß\n", "é\nä two\nß\n", "é\nä three\nß\n")
    (conflict,) = merged.conflicts
    start, end = conflict.span

    assert merged.text[start:end] == conflict.ours.text == "ä two\n"
    assert conflict.lines == (1, 2)


def test_line_endings_are_those_of_the_side_that_changed_them() -> None:
    """A side that made CRLF of every line does not stand in the way of an edit, and the edit gets CRLF."""
    crlf = LIST.replace("\n", "\r\n")

    assert clean(LIST, crlf, LIST + "- four\n") == (LIST + "- four\n").replace("\n", "\r\n")
    assert clean(LIST, LIST + "- four\n", crlf) == (LIST + "- four\n").replace("\n", "\r\n")
    assert clean(crlf, LIST, crlf + "- four\r\n") == LIST + "- four\n"
    assert clean(crlf, crlf.replace("one", "1"), crlf + "- four\r\n") == (crlf + "- four\r\n").replace("one", "1")


def test_the_last_newline_is_that_of_the_side_that_changed_it() -> None:
    """Without one, an appended line still is a line of its own."""
    assert clean("a\nb", "a\nb\nours", "a\nb\ntheirs") == "a\nb\nours\ntheirs"
    assert clean("a\nb", "a\nb\n", "A\nb") == "A\nb\n"
    assert clean("a\nx\nb\n", "a\nx\nb", "A\nx\nb\n") == "A\nx\nb"
    assert clean("", "ours\n", "theirs") == "ours\ntheirs\n"


def test_a_byte_order_mark_is_no_part_of_a_line() -> None:
    """The side that added or removed it decides, and the first line merges as any other."""
    assert clean("a\nx\n", "\ufeffa\nx\n", "A\nx\n") == "\ufeffA\nx\n"
    assert clean("\ufeffa\nx\n", "a\nx\n", "\ufeffa\nx\ny\n") == "a\nx\ny\n"


def test_code_is_merged_by_lines_alone() -> None:
    """Inside a fence neither words are mixed nor lines read as blocks."""
    base = "```\nrun the first job with care\n```\n"
    merged = merge3(base, base.replace("first", "last"), base.replace("care", "force"))

    assert len(merged.conflicts) == 1
    assert clean(base, base.replace("run", "# a\nrun"), base.replace("run", "- b\nrun")) == base.replace(
        "run", "# a\n- b\nrun"
    )


def test_near_conflicts_are_one() -> None:
    """Conflicts that a line or two part are one to their reader."""
    base = "- a one\n- same\n- b one\n"
    merged = merge3(base, base.replace("one", "two"), base.replace("one", "three"))

    assert [(conflict.base.start, conflict.base.end) for conflict in merged.conflicts] == [(0, 3)]


def test_half_of_a_character_is_refused() -> None:
    """What cannot be written as UTF-8 is not merged."""
    with pytest.raises(ValidationError):
        merge3("a", "\ud800", "b")


def test_nothing_merges_to_nothing() -> None:
    """Empty texts."""
    assert merge3("", "", "") == Merged("")
    assert clean("a\n", "", "a\n") == ""
