"""The baselines of a folder, and those that the store does not have yet."""

from __future__ import annotations

from reverie.sync.state import Baseline
from reveried.sync_service.folder_state import Baselines

ONE, TWO = Baseline("facts/user.md", "1" * 64, 1), Baseline("facts/user.md", "2" * 64, 2)


def test_what_the_store_could_not_be_told_it_is_told_the_next_time() -> None:
    """Baselines that could not be saved stay unsaved."""
    agreement = Baselines({"old.md": Baseline("old.md", "0" * 64, 1)})
    agreement.update([ONE], {})
    agreement.remove(["old.md"])
    told = agreement.unsaved()
    assert told == ([ONE], {"old.md"})

    assert agreement.unsaved() == told
    agreement.mark_saved(*told)
    assert agreement.unsaved() == ([], set())


def test_what_changes_while_the_store_is_told_it_is_told_too() -> None:
    """Baselines that change while others are saved stay unsaved."""
    agreement = Baselines({"old.md": Baseline("old.md", "0" * 64, 1)})
    agreement.update([ONE], {})
    agreement.remove(["old.md"])
    told = agreement.unsaved()
    agreement.update([TWO, Baseline("old.md", "3" * 64, 3)], {})

    agreement.mark_saved(*told)
    assert agreement.unsaved() == ([TWO, Baseline("old.md", "3" * 64, 3)], set())


def test_a_file_that_was_to_be_written_is_expected() -> None:
    """A path with an intended write is expected, so that its baseline is removed with its document."""
    agreement = Baselines({"a.md": Baseline("a.md", "", 0, intended=frozenset({"x"})), "b.md": Baseline("b.md", "", 0)})
    assert agreement.expected_files(None) == agreement.expected_files(["a.md", "b.md", "c.md"]) == {"a.md"}
