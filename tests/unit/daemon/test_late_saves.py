"""Saves that are not in the folder wait, one after another, until the store has their words."""

from __future__ import annotations

from reveried.folders.late import LateSaves


def test_a_save_that_came_while_another_look_was_carried_out_waits_on() -> None:
    """Only the save that was looked at is let go of; what is merged is the oldest first."""
    late = LateSaves(grace_ms=0)
    late.add("a.md", b"one", None, replaced_by=3)
    looked = late.next("a.md")
    assert looked is not None
    assert (looked.data, looked.replaced_by) == (b"one", 3)
    late.add("a.md", b"two", None)

    assert late.merged("a.md", None)
    assert late.next("a.md") is looked
    assert late.merged("a.md", looked)
    assert late.merged("a.md", looked)
    waiting = late.next("a.md")
    assert waiting is not None
    assert waiting.data == b"two"
    assert not late.merged("a.md", waiting)
    assert late.paths == set()
