"""The timers of a sync loop's upkeep."""

from __future__ import annotations

from itertools import pairwise

from reveried.sync.backoff import RETRY_MOST_S, RETRY_S
from reveried.sync.loop import MOST_S, RECORD_S, REST_TIMES, SETTLED_S, UpkeepTimers


def test_nothing_is_due_without_a_change() -> None:
    """Without a change nothing is ever due."""
    upkeep = UpkeepTimers()
    assert upkeep.due is None
    assert not upkeep.take_baselines_due(1e9)
    assert not upkeep.take_projections_due(1e9)


def test_both_are_due_once_after_the_last_change() -> None:
    """Baselines and projections are each due once, a fixed time after the last change, and not earlier."""
    upkeep = UpkeepTimers()
    upkeep.note_change(10.0)
    upkeep.note_change(10.5)
    assert upkeep.due == 10.5 + SETTLED_S
    assert not upkeep.take_baselines_due(10.4 + SETTLED_S)
    assert not upkeep.take_projections_due(10.4 + SETTLED_S)

    assert upkeep.take_baselines_due(10.5 + SETTLED_S)
    assert upkeep.take_projections_due(10.5 + SETTLED_S)
    assert not upkeep.take_baselines_due(1e9)
    assert not upkeep.take_projections_due(1e9)


def test_baselines_are_saved_during_ongoing_changes() -> None:
    """Baselines are saved during ongoing changes; projections wait for their end."""
    upkeep, kept = UpkeepTimers(), []
    for tenth in range(100):
        now = tenth / 10
        upkeep.note_change(now)
        if upkeep.take_baselines_due(now):
            kept.append(now)
        assert not upkeep.take_projections_due(now)
    assert len(kept) == 4
    assert max(after - before for before, after in zip([0.0, *kept], kept, strict=False)) <= RECORD_S + 0.2


def test_ongoing_changes_delay_projections_for_a_limited_time() -> None:
    """Ongoing changes delay projections by at most `MOST_S`."""
    upkeep, brought = UpkeepTimers(), []
    for half in range(600):
        now = half / 2
        upkeep.note_change(now)
        if upkeep.take_projections_due(now):
            brought.append(now)
    assert brought
    assert max(after - before for before, after in zip([0.0, *brought], brought, strict=False)) <= MOST_S + 0.5


def test_slow_projections_are_updated_less_often() -> None:
    """Slow projections are updated less often; baselines are saved all the same."""
    upkeep = UpkeepTimers()
    upkeep.note_change(0.0)
    assert upkeep.take_projections_due(SETTLED_S)
    upkeep.projections_updated(3.0, now=5.0)
    upkeep.note_change(6.0)

    assert upkeep.take_baselines_due(6.0 + RECORD_S)
    assert not upkeep.take_projections_due(5.0 + REST_TIMES * 3.0 - 0.1)
    assert upkeep.take_projections_due(5.0 + REST_TIMES * 3.0)


def test_failing_baselines_back_off_alone() -> None:
    """Failing baselines back off without delaying projections, and a success resets the back-off."""
    upkeep, now, tries = UpkeepTimers(), 0.0, []
    while now < 60.0:
        upkeep.note_change(now)
        if upkeep.take_baselines_due(now):
            tries.append(now)
            upkeep.baselines_failed(now)
        now += 0.5
    waits = [after - before for before, after in pairwise(tries)]
    assert waits[:4] == [RETRY_S, 2 * RETRY_S, 4 * RETRY_S, 8 * RETRY_S]
    assert set(waits[4:]) == {RETRY_MOST_S}

    upkeep.take_baselines_due(1e3)
    upkeep.baselines_saved()
    upkeep.note_change(2e3)
    assert upkeep.take_projections_due(2e3 + SETTLED_S)
    assert upkeep.take_baselines_due(2e3 + RECORD_S)


def test_failing_projections_back_off() -> None:
    """Failing projections back off, also while changes go on."""
    upkeep = UpkeepTimers()
    upkeep.note_change(0.0)
    assert upkeep.take_projections_due(SETTLED_S)
    upkeep.projections_failed(0.0, 10.0)
    upkeep.note_change(10.0)
    assert not upkeep.take_projections_due(9.9 + RETRY_S)
    assert upkeep.take_projections_due(10.0 + RETRY_S)
    upkeep.projections_failed(3.0, 20.0)
    assert not upkeep.take_projections_due(19.9 + REST_TIMES * 3.0)
    assert upkeep.take_projections_due(20.0 + REST_TIMES * 3.0)


def test_a_check_is_due_at_once_except_during_the_rest() -> None:
    """A check of projections is due at once, except during the rest after an update."""
    upkeep = UpkeepTimers()
    upkeep.schedule_check(5.0)
    assert upkeep.take_projections_due(5.0)
    upkeep.projections_updated(1.0, 6.0)
    upkeep.schedule_check(7.0)
    assert upkeep.due == 6.0 + REST_TIMES * 1.0
