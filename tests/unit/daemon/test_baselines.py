"""The baselines of a folder, and those that the store does not have yet."""

from __future__ import annotations

from reverie.sync.plan import Baseline
from reveried.sync.state import Baselines

ONE, TWO = Baseline("facts/user.md", "1" * 64, 1), Baseline("facts/user.md", "2" * 64, 2)


def test_unsaved_baselines_stay_unsaved_after_an_error() -> None:
    """Baselines that could not be saved stay unsaved."""
    agreement = Baselines({"old.md": Baseline("old.md", "0" * 64, 1)})
    agreement.update([ONE], {})
    agreement.remove(["old.md"])
    told = agreement.unsaved()
    assert told == ([ONE], {"old.md"})

    assert agreement.unsaved() == told
    agreement.mark_saved(*told)
    assert agreement.unsaved() == ([], set())


def test_changes_during_a_save_stay_unsaved() -> None:
    """Baselines that change while others are saved stay unsaved."""
    agreement = Baselines({"old.md": Baseline("old.md", "0" * 64, 1)})
    agreement.update([ONE], {})
    agreement.remove(["old.md"])
    told = agreement.unsaved()
    agreement.update([TWO, Baseline("old.md", "3" * 64, 3)], {})

    agreement.mark_saved(*told)
    assert agreement.unsaved() == ([TWO, Baseline("old.md", "3" * 64, 3)], set())


def test_an_intended_write_is_expected() -> None:
    """A path with an intended write is expected, so that its baseline is removed with its document."""
    agreement = Baselines({"a.md": Baseline("a.md", "", 0, intended=frozenset({"x"})), "b.md": Baseline("b.md", "", 0)})
    assert agreement.expected_files(None) == agreement.expected_files(["a.md", "b.md", "c.md"]) == {"a.md"}
