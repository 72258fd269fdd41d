"""The search for the text that a save was edited from."""

from __future__ import annotations

import pytest

from reverie.sync.unseen_lines import Candidate, Found, find_base, lines_beyond, without_unsure_lines

V0 = "# T\n\n> Summary: one, two\n\n- one of them here\n- two of them here\n- three of them here\n"
V1 = V0.replace("one, two", "one, two, four") + "- four of them are green\n"
V2 = V1.replace("one, two, four", "two, four, five") + "- five of them are blue\n"
PLAIN = "# T\n\n- one of them here\n- two of them here\n"
ADDED = PLAIN + "- three of them here\n"
MORE = ADDED + "- four of them are green\n"


def found(new: str, *texts: str | Candidate) -> Found:
    """Return what `find_base` finds for a save among these texts, newest first."""
    return find_base(new, [text if isinstance(text, Candidate) else Candidate(text) for text in texts])


def recent(text: str) -> Candidate:
    return Candidate(text, replaced_recently=True)


def saved(text: str) -> Candidate:
    return Candidate(text, by_person=True)


@pytest.mark.parametrize(
    ("new", "base", "oldest"),
    [
        (V2, 0, 0),
        (V1, 1, 1),  # its summary line is there again, and nothing of V2
        (V0, 2, 2),
        (V1.replace("- one of them here\n", ""), 1, 1),  # a stale buffer deletes a line of its own
        (V1.replace("- four of them are green\n", ""), 1, 1),  # the summary of V1 shows which buffer it is
        (V0 + "- something else of a person\n", 2, 2),
        (V2.replace("- five of them are blue\n", ""), 0, 0),  # the newest summary: the line was deleted
        (V2.replace("> Summary: two, four, five\n\n", ""), 0, 0),  # the newest line
        ("# T\n\n> Summary: two, four, five\n\n", 0, 0),
        ("# T\n\n- one of them here\n", 0, 2),  # neither: it cannot be told, and all since V0 is named
        (V2.replace("> Summary: two, four, five", "> Summary: what I like"), 0, 0),
        (V0.replace("> Summary: one, two", "> Summary: two, four, five"), 0, 0),
        (V1.replace("\n", "\r\n"), 1, 1),
        (V1.replace("here\n", "here  \n").rstrip("\n"), 1, 1),
    ],
)
def test_a_save_shows_what_its_writer_has_seen(new: str, base: int, oldest: int) -> None:
    """The merge base is the text that a save continues, by the lines that it lacks and those that it has again."""
    assert found(new, V2, V1, V0) == Found(base, oldest)


@pytest.mark.parametrize(
    ("new", "candidates", "base", "oldest"),
    [
        (PLAIN, [MORE, ADDED, PLAIN], 0, 2),
        (PLAIN, [MORE, recent(ADDED), PLAIN], 1, 2),
        (PLAIN, [MORE, recent(ADDED), recent(PLAIN)], 2, 2),  # who has not seen one may not have seen the other
        (ADDED, [MORE, recent(ADDED), recent(PLAIN)], 1, 1),
        (MORE.replace("three", "3"), [MORE, recent(ADDED), recent(PLAIN)], 0, 0),
        ("- else\n", [MORE, ADDED, PLAIN], 0, 2),
        # An agent changed one line and deleted another within two seconds: to go on from before it deletes more.
        ("- else\n", ["# T\n\n- two of them there\n", recent(PLAIN)], 0, 1),
    ],
)
def test_what_is_silent_is_told_by_its_age(new: str, candidates: list[str | Candidate], base: int, oldest: int) -> None:
    """If the texts do not show it, a text replaced within two seconds before the save counts as not seen."""
    assert found(new, *candidates) == Found(base, oldest)


def test_a_merged_save_is_the_base_of_the_next_one() -> None:
    """The editor's text before a merge is the base of its next save, unless that has the merged lines or hardly any."""
    buffer = Candidate(PLAIN + "- my own line of words\n", is_stale_buffer=True)
    merged = MORE + "- my own line of words\n"

    assert found(buffer.text + "- and one more\n", merged, buffer, MORE, PLAIN).base == 1
    assert found(PLAIN, merged, buffer, MORE, PLAIN).base == 1
    assert found("# T\n", merged, buffer, MORE, PLAIN) == Found(0, 3, buffers=(1,))
    assert found(merged.replace("- one of them here\n", ""), merged, buffer, MORE, PLAIN).base == 0


def test_an_author_may_take_their_own_change_back() -> None:
    """A save that has again what a person's save replaced is an undo; what an agent replaced, a stale buffer."""
    newer = PLAIN.replace("two of them here", "2 of those there")

    assert found(PLAIN, saved(newer), PLAIN) == Found(0, 0)
    assert found(PLAIN, newer, PLAIN) == Found(1, 1)
    assert found(PLAIN + "- x\n", saved(newer), PLAIN) == Found(0, 1)
    assert found(PLAIN + "- x\n", newer, PLAIN) == Found(1, 1)
    # Who replaced the line last counts: here an agent did before, and it came back.
    assert found(PLAIN + "- x\n", saved(newer), PLAIN, "# x\n", PLAIN) == Found(0, 3)
    assert found(PLAIN + "- x\n", newer, PLAIN, saved("# x\n"), PLAIN).base == 1
    # Another editor: it has again what an agent had replaced before that save.
    assert found(V0, saved(V1 + "- a line of an editor\n"), V1, V0) == Found(2, 2)


def test_a_deletion_cannot_be_missed() -> None:
    """If the newer text only lacks lines, it is the merge base even of a save that has them."""
    shorter = PLAIN.replace("- two of them here\n", "")

    assert found(PLAIN + "- x\n", shorter, PLAIN) == Found(0, 0)
    assert found(PLAIN + "- x\n", shorter, recent(PLAIN)) == Found(0, 0)


def test_an_edited_line_that_was_replaced_counts() -> None:
    """An edited line counts as a replaced line that is back if it is more like that one than like newer lines."""
    old, new = PLAIN + "- shell: fish with many plugins\n", PLAIN + "- shell: bash\n- at home in a city\n"

    assert found(old.replace("many", "many good"), new, old).base == 1
    assert found(new.replace("bash", "bash with plugins").replace("- at home in a city\n", ""), new, old).base == 0


def test_lines_in_question_are_taken_from_the_base() -> None:
    """Lines newer than an older text that a save lacks are counted, and removed from the base once each."""
    text = MORE + "- four of them are green\n"

    assert lines_beyond(text, ADDED) == 2
    assert without_unsure_lines(text, PLAIN, ADDED) == ADDED
    assert without_unsure_lines("\ufeff" + text, ADDED, MORE) == "\ufeff" + MORE


@pytest.mark.parametrize(
    ("save", "base"),
    [
        ("> Summary: City: Bergen\n\n- City: Bergen\n", 1),  # all of the old text
        ("> Summary: Tea: black\n\n- City: Oslo\n- Tea: black\n", 0),  # all of the new one
        ("> Summary: where I live\n\n- City: Bergen\n", 0),  # words of a person
        ("> Summary: Tea: green\n\n- City: Bergen\n", 0),  # the tea was deleted
    ],
)
def test_a_summary_changed_with_the_line_that_it_quotes_is_the_older_one(save: str, base: int) -> None:
    """A word replaced everywhere changes the summary line too: the line that it quotes says which text was loaded."""
    texts = ["> Summary: Tea: green\n\n- City: Oslo\n- Tea: green\n", "> Summary: City: Oslo\n\n- City: Oslo\n"]
    assert find_base(save, [Candidate(text) for text in texts]).base == base
