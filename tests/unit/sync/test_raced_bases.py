"""The merge base of saves that race with writes of agents, as a trace of a fast editor under load showed them."""

from __future__ import annotations

from reverie.sync.unseen_lines import Candidate, find_base
from support.sync_sides import BASE, PATH, agreed_sides, settled_text


def text(*words: str) -> str:
    return "# Notes\n" + "".join(f"- {word}\n" for word in words)


def test_a_stale_buffer_that_explains_every_line_is_the_base() -> None:
    """An editor saves its old buffer with one more line, while agents' lines come and go around it.

    The oldest text that was replaced within two seconds has a line that the buffer never had: it would be deleted.
    """
    buffer = text("theirs1", "theirs2", "theirs3", "theirs4")
    candidates = [
        Candidate(
            text("ours0", "theirs1", "theirs3", "theirs3", "theirs2", "ours1", "theirs4", "ours2"), by_person=True
        ),
        Candidate(buffer, replaced_recently=True, is_stale_buffer=True, by_person=True),
        Candidate(text("ours0", "theirs1", "theirs3", "theirs2", "ours1"), replaced_recently=True),
        Candidate(text("ours0", "theirs1", "ours1"), replaced_recently=True),
        Candidate(text("ours0"), replaced_recently=True),
    ]
    found = find_base(text("theirs1", "theirs2", "theirs3", "theirs4", "theirs5"), candidates)
    assert found.base == 1


def test_a_text_that_a_save_raced_is_a_candidate() -> None:
    """A text that was on disk only until the next write, and never a baseline, is a merge-base candidate for a save."""
    sides = agreed_sides()
    one = BASE + "- Agent: the first of its facts\n"
    two = one + "- Agent: the second of its facts\n"
    sides.put(PATH, one)
    assert sides.steps(sides.plan([PATH]))[0]()
    sides.files[PATH] = one.encode()  # the write is made; what it displaced was a save, so it is not recorded as agreed
    sides.put(PATH, two)
    assert sides.steps(sides.plan([PATH]))[0]()

    sides.save(PATH, one.replace("- Editor: vim\n", ""))

    assert settled_text(sides) == two.replace("- Editor: vim\n", "")
