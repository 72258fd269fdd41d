"""What one folder and its store agreed on, and what of it the store was told."""

from __future__ import annotations

from reverie.sync.state import Baseline
from reveried.sync_service.baseline import Agreement

ONE, TWO = Baseline("facts/user.md", "1" * 64, 1), Baseline("facts/user.md", "2" * 64, 2)


def test_what_the_store_could_not_be_told_it_is_told_the_next_time() -> None:
    """A full disk refuses the records: they are not forgotten."""
    agreement = Agreement({"old.md": Baseline("old.md", "0" * 64, 1)})
    agreement.agree([ONE], {})
    agreement.forget(["old.md"])
    told = agreement.unrecorded()
    assert told == ([ONE], {"old.md"})

    assert agreement.unrecorded() == told
    agreement.recorded(*told)
    assert agreement.unrecorded() == ([], set())


def test_what_changes_while_the_store_is_told_it_is_told_too() -> None:
    """A record that was made meanwhile, and a path that is somebody's again."""
    agreement = Agreement({"old.md": Baseline("old.md", "0" * 64, 1)})
    agreement.agree([ONE], {})
    agreement.forget(["old.md"])
    told = agreement.unrecorded()
    agreement.agree([TWO, Baseline("old.md", "3" * 64, 3)], {})

    agreement.recorded(*told)
    assert agreement.unrecorded() == ([TWO, Baseline("old.md", "3" * 64, 3)], set())


def test_a_file_that_was_to_be_written_is_expected() -> None:
    """Else the record of one whose document went before it was there would be kept for good."""
    agreement = Agreement({"a.md": Baseline("a.md", "", 0, intended=frozenset({"x"})), "b.md": Baseline("b.md", "", 0)})
    assert agreement.expected(None) == agreement.expected(["a.md", "b.md", "c.md"]) == {"a.md"}
