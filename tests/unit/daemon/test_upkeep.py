"""When a folder's bookkeeping is due."""

from __future__ import annotations

from itertools import pairwise

from reveried.sync_service.timers import MOST_S, RECORD_S, REST_TIMES, RETRY_MOST_S, RETRY_S, SETTLED_S, Upkeep


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


def test_projections_come_in_the_end_though_changes_go_on() -> None:
    """An agent that writes all day does not keep the list of its memories from being written."""
    upkeep, brought = Upkeep(), []
    for half in range(600):
        now = half / 2
        upkeep.written(now)
        if upkeep.settles(now):
            brought.append(now)
    assert brought
    assert max(after - before for before, after in zip([0.0, *brought], brought, strict=False)) <= MOST_S + 0.5


def test_what_takes_long_is_done_less_often() -> None:
    """A store of a hundred thousand memories is not read whole after every write; records are kept all the same."""
    upkeep = Upkeep()
    upkeep.written(0.0)
    assert upkeep.settles(SETTLED_S)
    upkeep.took(3.0, now=5.0)
    upkeep.written(6.0)

    assert upkeep.records(6.0 + RECORD_S)
    assert not upkeep.settles(5.0 + REST_TIMES * 3.0 - 0.1)
    assert upkeep.settles(5.0 + REST_TIMES * 3.0)


def test_records_that_fail_wait_longer_each_time_and_hold_nothing_up() -> None:
    """Projections come meanwhile; once the records are kept, the next ones are kept as ever."""
    upkeep, now, tries = Upkeep(), 0.0, []
    while now < 60.0:
        upkeep.written(now)
        if upkeep.records(now):
            tries.append(now)
            upkeep.records_failed(now)
        now += 0.5
    waits = [after - before for before, after in pairwise(tries)]
    assert waits[:4] == [RETRY_S, 2 * RETRY_S, 4 * RETRY_S, 8 * RETRY_S]
    assert set(waits[4:]) == {RETRY_MOST_S}

    upkeep.records(1e3)
    upkeep.kept()
    upkeep.written(2e3)
    assert upkeep.settles(2e3 + SETTLED_S)
    assert upkeep.records(2e3 + RECORD_S)


def test_projections_that_fail_wait_longer_each_time() -> None:
    """Also when writes go on; and what took long waits for that too."""
    upkeep = Upkeep()
    upkeep.written(0.0)
    assert upkeep.settles(SETTLED_S)
    upkeep.settles_failed(0.0, 10.0)
    upkeep.written(10.0)
    assert not upkeep.settles(9.9 + RETRY_S)
    assert upkeep.settles(10.0 + RETRY_S)
    upkeep.settles_failed(3.0, 20.0)
    assert not upkeep.settles(19.9 + REST_TIMES * 3.0)
    assert upkeep.settles(20.0 + REST_TIMES * 3.0)


def test_a_check_comes_at_once_but_after_its_rest() -> None:
    """What only Reverie writes is brought up after a look at everything, no more often than its cost allows."""
    upkeep = Upkeep()
    upkeep.checks(5.0)
    assert upkeep.settles(5.0)
    upkeep.took(1.0, 6.0)
    upkeep.checks(7.0)
    assert upkeep.due == 6.0 + REST_TIMES * 1.0
