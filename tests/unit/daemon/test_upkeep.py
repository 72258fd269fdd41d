"""When a folder's bookkeeping is due."""

from __future__ import annotations

from reveried.folders.upkeep import RECORD_S, SETTLED_S, Upkeep


def test_nothing_is_due_before_something_was_written() -> None:
    """However late it is."""
    upkeep = Upkeep()
    assert upkeep.due is None
    assert not upkeep.records(1e9)
    assert not upkeep.settles(1e9)


def test_both_are_due_once_after_the_last_change() -> None:
    """Not before, and not again."""
    upkeep = Upkeep()
    upkeep.written(10.0)
    upkeep.written(10.5)
    assert upkeep.due == 10.5 + SETTLED_S
    assert not upkeep.records(10.4 + SETTLED_S)
    assert not upkeep.settles(10.4 + SETTLED_S)

    assert upkeep.records(10.5 + SETTLED_S)
    assert upkeep.settles(10.5 + SETTLED_S)
    assert not upkeep.records(1e9)
    assert not upkeep.settles(1e9)


def test_records_are_kept_while_changes_go_on() -> None:
    """What a crash forgets does not grow with the time for which agents write; projections wait for their end."""
    upkeep, kept = Upkeep(), []
    for tenth in range(100):
        now = tenth / 10
        upkeep.written(now)
        if upkeep.records(now):
            kept.append(now)
        assert not upkeep.settles(now)
    assert len(kept) == 4
    assert max(after - before for before, after in zip([0.0, *kept], kept, strict=False)) <= RECORD_S + 0.2
