"""Random saves: what a person deletes stays deleted, and the save of a stale buffer deletes nothing of others."""

from __future__ import annotations

from support.save_cases import cleanup, stale_save
from support.soak import count

CASES = count(60, 10_000)


def test_what_a_person_deletes_stays_deleted() -> None:
    """At most one cleanup in a thousand brings a deleted line back, which is then named; none loses other lines."""
    results = [cleanup(seed) for seed in range(CASES)]
    back = [result for result in results if result.back]
    told = sum(bool(result.told) for result in results)
    print(f"{CASES} cleanups: {len(back)} not as saved, {told} left out lines of others and named them")

    assert len(back) * 1_000 <= CASES, back[:5]
    assert [result for result in back if not result.kept] == []
    assert [result for result in results if result.lost] == []


def test_a_stale_save_deletes_nothing_of_others() -> None:
    """Every word of others is in the document or a conflict copy, or is named and comes back by an undo."""
    results = [stale_save(seed) for seed in range(CASES)]
    print(f"{CASES} stale saves: {sum(bool(result.told) for result in results)} left lines out and named them")

    assert [result for result in results if result.lost] == []
    assert [result for result in results if result.back] == []
