"""A list in the message of a commit keeps the line before it where its items mean something else without it."""

from __future__ import annotations

import pytest

from reverie.distill.commands import Commit
from reverie.distill.extractive.commit_kind_title_problem_and_lesson import Message, read_message


def message(body: str) -> Message:
    command = f"git commit -m \"$(cat <<'EOF'\nRing the bell of the pier\n\n{body}\nEOF\n)\""
    return read_message(Commit("1a2b3c4", "Ring the bell of the pier", 1, None, command))


def test_items_that_go_on_with_a_line_are_joined_to_it() -> None:
    """List items that continue the line before them make one sentence with it; text after the list is its own."""
    found = message(
        "Ring the bell when:\n- a boat is late by an hour\n- the fog hides the pier.\n\nIt rings three times."
    )
    assert found.rest == (
        "Ring the bell when: a boat is late by an hour; the fog hides the pier.",
        "It rings three times.",
    )


def test_a_list_of_faults_keeps_the_line_that_says_so() -> None:
    """A list of earlier faults is joined to the line that calls them wrong; alone they would read as present faults."""
    found = message("These were wrong before:\n- the bell rang at every wave\n- the bell rang on Sundays\n")
    assert found.problem == "These were wrong before: the bell rang at every wave; the bell rang on Sundays."


@pytest.mark.parametrize("line", ["Changes:", "The bell of the pier:"])
def test_a_heading_is_left_out(line: str) -> None:
    """A line that is only a heading is left out, and each item below it is a sentence of its own."""
    found = message(f"{line}\n- Add a rope to the bell\n- Store the hour of each ring\n")
    assert found.rest == ("Add a rope to the bell.", "Store the hour of each ring.")


def test_a_line_that_says_what_was_done_is_a_sentence() -> None:
    """A line before items that are sentences is left out or is its own sentence; other items are joined to it."""
    found = message("Hang the bell of the pier higher:\n- Add a rope to the bell\n- Store the hour of each ring\n")
    assert found.rest == ("Add a rope to the bell.", "Store the hour of each ring.")
    found = message("Move the bell of the pier to a tower:\n- Add a rope to the bell\n- Store the hour of each ring\n")
    assert found.rest[0] == "Move the bell of the pier to a tower."
    found = message("Move these parts of the pier to a tower:\n- the bell and its rope\n- the clock of the master\n")
    assert found.rest == ("Move these parts of the pier to a tower: the bell and its rope; the clock of the master.",)


def test_a_line_that_is_wrapped_behind_a_colon_goes_on() -> None:
    """After a colon at the end of a line, a next line that is no list item continues the sentence."""
    found = message('The bell of the pier rings three times at noon. Rename its ropes for the crew:\n"left" to "port".')
    assert found.rest[-1] == 'Rename its ropes for the crew: "left" to "port".'


@pytest.mark.parametrize(
    "line",
    [
        "Part of SEA-12",
        "Refs #41",
        "Tests included for the bell and its rope.",
        "All 64 unit tests pass now.",
        "The rope was renamed at 12 call sites.",
        "A bell for the fog will be added by the crew.",
        "The rope is not yet tied to the mast.",
        "The light is left to a separate commit.",
    ],
)
def test_what_holds_for_a_moment_is_left_out(line: str) -> None:
    """Lines with tickets, test results, counts of one day or plans are left out of what is kept of a commit message."""
    assert message(f"The bell rings at noon.\n\n{line}\n").rest == ("The bell rings at noon.",)


@pytest.mark.parametrize("line", ["Show the last 20 lines of the log of the pier.", "The bell still needs its rope."])
def test_numbers_and_needs_of_the_matter_are_kept(line: str) -> None:
    """Numbers and requirements that stay true are kept from a commit message."""
    assert message(f"The bell rings at noon.\n\n{line}\n").rest == ("The bell rings at noon.", line)
