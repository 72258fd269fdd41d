"""The choice of the memories of a dream: all, or the oldest that fit; the least budget; oversized memories."""

from __future__ import annotations

import random

import pytest

from reverie.consolidate import ArchivePlan, DreamBatch, plan_oldest
from reverie.consolidate.dreams import BATCH_MIN, Archive, counted_sources
from reverie.errors import TokenBudgetExceeded
from reverie.models import Memory, MemoryType
from support.soak import count

AT = "2026-11-21T09:30:00.000Z"
WORDS = [f"word{number}" for number in range(900)]


def facts(number: int, words: int = 12, seed: int = 1) -> list[Memory]:
    """Return memories without a word in common, the oldest first."""
    chance = random.Random(seed)
    return [
        Memory(f"mem_{n}", MemoryType.FACT, " ".join(chance.sample(WORDS, words)), (), "facts/project.md", AT, AT)
        for n in range(number)
    ]


def oldest(memories: list[Memory], budget: int, maximum: int = 100_000) -> DreamBatch:
    return plan_oldest(memories, budget=budget, maximum=maximum, redact=str)


def whole(memories: list[Memory], budget: int) -> ArchivePlan:
    """Return the plan of a dream that reads all of these memories, whether or not their number fits."""
    counted = list(counted_sources(memories, str))
    return Archive([source for source, _ in counted], str).plan(budget, sum(size for _, size in counted))


def test_all_memories_give_the_archive_of_a_whole_dream() -> None:
    """If reading all memories fits the budget, the archive has the same bytes as one of all of them."""
    memories = facts(60)
    used = whole(memories, 100_000).tokens_used
    for budget in (100_000, used, used - 1, used - 300):
        batch = oldest(memories, budget)
        expected = whole(memories, budget)
        assert batch.plan is not None
        assert batch.plan.data == expected.data
        assert batch.plan.changes == expected.changes
        assert len(batch.taken) == 60


def test_no_memories_are_no_plan() -> None:
    """Without memories there is no plan."""
    assert oldest([], 10) == DreamBatch(None)


def test_the_oldest_that_fit_are_taken_whole() -> None:
    """The oldest memories that fit are chosen and all are in the archive; with one more it would be too large."""
    memories = facts(400)
    batch = oldest(memories, 3_000)
    taken = len(batch.taken)
    assert batch.plan is not None
    assert BATCH_MIN < taken < 400
    assert list(batch.taken) == [memory.id for memory in memories[:taken]]
    assert len(batch.plan.body["memories"]) == taken
    assert batch.plan.tokens_used <= 3_000
    more = whole(memories[: taken + 1], 3_000)
    assert len(more.body["memories"]) < taken + 1
    again = oldest(memories, 3_000).plan
    assert again is not None
    assert again.data == batch.plan.data


def test_a_million_waiting_memories_cost_as_much_as_a_few() -> None:
    """Of very many waiting memories only as many are read as the largest budget can take."""
    looked_at = []

    def redact(text: str) -> str:
        looked_at.append(text)
        return text

    memories = facts(1) * count(20_000, 1_000_000)
    plan_oldest(memories, budget=2_000, maximum=2_000, redact=redact)
    assert len(looked_at) < 5_000


def test_random_backlogs_end() -> None:
    """For random memories and budgets, repeated dreams read every memory in order; each reported minimum is enough."""
    chance = random.Random(11)
    for round_number in range(count(25, 2_000)):
        memories = facts(chance.randrange(1, 90), chance.randrange(1, 60), seed=round_number)
        memories = [memory if chance.random() < 0.9 else memories[0] for memory in memories]
        maximum = chance.randrange(200, 6_000)
        budget = chance.randrange(1, maximum + 1)
        read: list[str] = []
        waiting = memories
        while waiting:
            try:
                batch = oldest(waiting, budget, maximum)
            except TokenBudgetExceeded as error:
                if error.minimum_required > maximum:
                    break  # only oversized ones are left
                least = error.minimum_required
                budget = least if least > budget else 0
                batch = oldest(waiting, least, maximum)
            assert batch.plan is not None
            assert batch.plan.tokens_used <= budget
            assert batch.taken
            read += batch.taken
            waiting = [memory for memory in waiting[len(batch.taken) :] if memory.id not in batch.oversized]
            budget = chance.randrange(1, maximum + 1)
        assert read == [memory.id for memory in memories[: len(read)]]


def test_oversized_memories_are_passed_over() -> None:
    """A memory over the largest budget is skipped; if all are, the error's hint names the budget that is needed."""
    small, giant = facts(30), facts(1, words=800, seed=9)[0]
    batch = oldest([small[0], giant, *small[1:]], 1_400, 1_400)
    assert batch.oversized == (giant.id,) == ("mem_0",)
    assert len(batch.taken) > BATCH_MIN
    with pytest.raises(TokenBudgetExceeded) as refused:
        oldest([giant], 1_400, 1_400)
    needed = refused.value.minimum_required
    assert f"dream.maxTokenBudget to {needed}" in str(refused.value.hint)
    assert oldest([giant], needed, needed).taken == (giant.id,)


def test_fewer_than_the_least_batch_where_they_are_long() -> None:
    """If twenty long memories exceed the largest budget, fewer are taken."""
    memories = facts(40, words=200)
    batch = oldest(memories, 2_500, 2_500)
    assert 0 < len(batch.taken) < BATCH_MIN
    with pytest.raises(TokenBudgetExceeded) as refused:
        oldest(memories, 100, 2_500)
    assert refused.value.minimum_required <= 2_500
    assert oldest(memories, refused.value.minimum_required, 2_500).taken
