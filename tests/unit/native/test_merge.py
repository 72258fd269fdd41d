"""Tests of the three-way merge: what merges, what conflicts, and what a conflict reports."""

from __future__ import annotations

import pytest

from reverie.errors import ValidationError
from reverie.merge import Conflict, Merged, Part, merge3

LIST = "# Facts\n\n- one\n- two\n- three\n"


def merge(base: str, ours: str, theirs: str) -> str:
    """Return the merged text, which must have no conflict."""
    merged = merge3(base, ours, theirs)
    assert merged.clean, merged.conflicts
    return merged.text


def test_distant_changes_merge() -> None:
    """Edits of different lines are both applied."""
    base = "- a\n- b\n- c\n- d\n"

    assert merge(base, "- A\n- b\n- c\n- d\n", "- a\n- b\n- c\n- D\n") == "- A\n- b\n- c\n- D\n"


def test_adjacent_edits_merge() -> None:
    """Edits of adjacent items merge: edits and removals of the neighbour, and items added beside it."""
    ours = LIST.replace("one", "1")

    assert merge(LIST, ours, LIST.replace("two", "2")) == "# Facts\n\n- 1\n- 2\n- three\n"
    assert merge(LIST, ours, LIST.replace("- two\n", "")) == "# Facts\n\n- 1\n- three\n"
    assert merge(LIST, ours, LIST.replace("- one\n", "- one\n- new\n")) == "# Facts\n\n- 1\n- new\n- two\n- three\n"
    assert merge(LIST, ours, LIST.replace("- one\n", "- new\n- one\n")) == "# Facts\n\n- new\n- 1\n- two\n- three\n"


def test_both_appended() -> None:
    """Items that both sides appended are both kept, ours first."""
    assert merge(LIST, LIST + "- ours\n", LIST + "- theirs\n") == LIST + "- ours\n- theirs\n"


def test_equal_additions_merge_once() -> None:
    """An item that both sides appended is in the result once, whatever else they appended."""
    assert merge(LIST, LIST + "- x\n", LIST + "- x\n") == LIST + "- x\n"
    assert merge(LIST, LIST + "- x\n- a\n", LIST + "- x\n- b\n") == LIST + "- x\n- a\n- b\n"
    assert merge(LIST, LIST + "- a\n- x\n", LIST + "- b\n- x\n") == LIST + "- a\n- x\n- b\n"
    assert merge(LIST, LIST.replace("- two\n", ""), LIST.replace("- two\n", "")) == "# Facts\n\n- one\n- three\n"


def test_an_addition_of_both_sides_at_different_places_comes_out_once() -> None:
    """A paragraph that both sides add, under different headings, is once in the result, with what follows it."""
    base = "# A\n\nfirst of all\n\n# B\n\nsecond of all\n"
    ours = base.replace("# B", "The daemon keeps its socket in the runtime folder.\n\n# B")
    more = "The daemon keeps its socket in the runtime folder.\n\nIts log is in the state folder.\n"
    theirs = base + "\n" + more

    for one, other in ((ours, theirs), (theirs, ours)):
        merged = merge3(base, one, other)
        assert merged.clean
        assert merged.text.count("keeps its socket") == 1
        assert merged.text.rstrip().endswith(more.rstrip())


def test_short_lines_that_both_sides_added_stay_at_both_places() -> None:
    """A short line that both sides add at different places, such as `- done`, stays at both."""
    base = "# A\n\n- build it all\n\n# B\n\n- ship it all\n"
    merged = merge3(base, base.replace("build it all\n", "build it all\n- done\n"), base + "- done\n")

    assert merged.clean
    assert merged.text.count("- done") == 2


def test_two_versions_of_an_added_section_conflict() -> None:
    """Two versions of one section, added by both sides at near places, conflict and are in the result once."""
    base = "# A\n\nfirst of all\n\nlast of all\n"
    section = "\n## How to switch it off\n\nOpen the configuration file of your shell.\n\n{}\n"
    ours = base.replace("\nlast", section.format("Run it.") + "\nlast")
    theirs = base.replace("first of all\n", "first of everything\n" + section.format("Set it."))
    merged = merge3(base, ours, theirs)

    assert merged.text.count("Open the configuration file") == 1
    assert len(merged.conflicts) == 1


def test_sections_that_both_appended_stay_whole() -> None:
    """Two appended sections stay separate, with a blank line between them."""
    ours, theirs = "\n## Ours\n\n- a\n", "\n## Theirs\n\n- b\n"

    assert merge(LIST, LIST + ours, LIST + theirs) == LIST + ours + theirs


def test_new_sections_of_equal_heading_merge() -> None:
    """A heading that both sides added is in the result once, with the items of both."""
    ours, theirs = LIST + "\n## New\n\n- a\n", LIST + "\n## New\n\n- b\n\n## Other\n\n- c\n"

    assert merge(LIST, ours, theirs) == LIST + "\n## New\n\n- a\n- b\n\n## Other\n\n- c\n"


def test_continuation_lines_stay_with_their_block() -> None:
    """A second line of the last item, a new item and a new section are output in this order."""
    line, item, section = "  more of three\n", "- four\n", "\n## New\n\n- five\n"

    assert merge(LIST, LIST + item, LIST + line) == LIST + line + item
    assert merge(LIST, LIST + section, LIST + item) == LIST + item + section
    assert merge(LIST, LIST + section, LIST + line) == LIST + line + section


def test_appended_paragraphs_stay_separate() -> None:
    """Appended paragraphs are separated by a blank line, if either side has one."""
    assert merge("A.\n", "A.\n\nOurs.\n", "A.\n\nTheirs.\n") == "A.\n\nOurs.\n\nTheirs.\n"
    assert merge("A.\n\nZ.\n", "A.\n\nOurs.\n\nZ.\n", "A.\n\nTheirs.\n\nZ.\n") == "A.\n\nOurs.\n\nTheirs.\n\nZ.\n"


def test_separate_edits_of_one_line_merge() -> None:
    """Two edits of a line merge if an unchanged word lies between them."""
    base = "- deploys run on Tuesday and are watched by Ana\n"
    merged = merge(base, base.replace("Tuesday", "Friday"), base.replace("Ana", "Ben"))

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
def test_incompatible_changes_conflict(ours: str, theirs: str) -> None:
    """In a conflict the text has our version, and the reported conflict has base, ours and theirs."""
    base = "- deploys run on Tuesday\n"
    head, tail = "# T\n\n- first\n", "- last\n"
    merged = merge3(head + base + tail, head + ours + tail, head + theirs + tail)
    span = (len(head), len(head) + len(ours))

    assert merged.text == head + ours + tail
    assert merged.conflicts == (
        Conflict(Part(base, 3, 4), Part(ours, 3, 4), Part(theirs, 3, 3 + bool(theirs)), (3, 4), span),
    )
    assert not merged.clean


def test_an_edit_inside_a_removed_block_conflicts() -> None:
    """An edit inside an item that the other side removed is a conflict, and the text is without the item."""
    base = "- keep\n- old item\n  its second line\n- last\n"
    for theirs in (base.replace("  its second line\n", "  its second line\n  a third\n"), base.replace("old", "odd")):
        merged = merge3(base, "- keep\n- last\n", theirs)

        assert merged.text == "- keep\n- last\n"
        assert [conflict.ours.text for conflict in merged.conflicts] == [""]


def test_conflict_positions_are_in_characters() -> None:
    """Positions count lines and characters of the merged text, not bytes."""
    merged = merge3("é\nä one\nß\n", "é\nä two\nß\n", "é\nä three\nß\n")
    (conflict,) = merged.conflicts
    start, end = conflict.span

    assert merged.text[start:end] == conflict.ours.text == "ä two\n"
    assert conflict.lines == (1, 2)


def test_line_endings_merge() -> None:
    """A side that converted all lines to CRLF does not conflict with an edit, which gets CRLF too."""
    crlf = LIST.replace("\n", "\r\n")

    assert merge(LIST, crlf, LIST + "- four\n") == (LIST + "- four\n").replace("\n", "\r\n")
    assert merge(LIST, LIST + "- four\n", crlf) == (LIST + "- four\n").replace("\n", "\r\n")
    assert merge(crlf, LIST, crlf + "- four\r\n") == LIST + "- four\n"
    assert merge(crlf, crlf.replace("one", "1"), crlf + "- four\r\n") == (crlf + "- four\r\n").replace("one", "1")


def test_the_final_newline_merges() -> None:
    """Without a final newline, an appended line is still a line of its own."""
    assert merge("a\nb", "a\nb\nours", "a\nb\ntheirs") == "a\nb\nours\ntheirs"
    assert merge("a\nb", "a\nb\n", "A\nb") == "A\nb\n"
    assert merge("a\nx\nb\n", "a\nx\nb", "A\nx\nb\n") == "A\nx\nb"
    assert merge("", "ours\n", "theirs") == "ours\ntheirs\n"


def test_a_byte_order_mark_merges() -> None:
    """The side that added or removed the byte order mark wins, and the first line merges like any other."""
    assert merge("a\nx\n", "\ufeffa\nx\n", "A\nx\n") == "\ufeffA\nx\n"
    assert merge("\ufeffa\nx\n", "a\nx\n", "\ufeffa\nx\ny\n") == "a\nx\ny\n"


def test_code_is_merged_by_lines() -> None:
    """Inside a fence words are not merged, and lines are not parsed as blocks."""
    base = "```\nrun the first job with care\n```\n"
    merged = merge3(base, base.replace("first", "last"), base.replace("care", "force"))

    assert len(merged.conflicts) == 1
    assert merge(base, base.replace("run", "# a\nrun"), base.replace("run", "- b\nrun")) == base.replace(
        "run", "# a\n- b\nrun"
    )


def test_near_conflicts_are_joined() -> None:
    """Conflicts with only a line or two between them are reported as one."""
    base = "- a one\n- same\n- b one\n"
    merged = merge3(base, base.replace("one", "two"), base.replace("one", "three"))

    assert [(conflict.base.start, conflict.base.end) for conflict in merged.conflicts] == [(0, 3)]


def test_unpaired_surrogates_are_rejected() -> None:
    """Text that cannot be encoded as UTF-8 raises a ValidationError."""
    with pytest.raises(ValidationError):
        merge3("a", "\ud800", "b")


def test_empty_texts_merge() -> None:
    """Three empty texts merge to an empty text."""
    assert merge3("", "", "") == Merged("")
    assert merge("a\n", "", "a\n") == ""
