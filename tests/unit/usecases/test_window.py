"""The fill of a model's window, from a reply's usage and applied edits."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reverie.store import ClearedRecord, FactorRecord, ThreadRecord
from reverie.usecases import usage as use_usage

AT = "2026-11-21T09:30:00.000Z"
EDIT = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 5_000}


def thread(live: int, factor: FactorRecord | None = None) -> ThreadRecord:
    """Return a thread whose context has `live` tokens by our count."""
    return ThreadRecord(id="t", created_at=AT, updated_at=AT, live_tokens=live, factor=factor)


def after(before: ThreadRecord, live: int, usage: int | None = None, *edits: dict[str, Any]) -> ThreadRecord:
    """Return the thread after messages that bring our count to `live`, and a reply with `usage` tokens."""
    return use_usage.after_append(before, live, None if usage is None else {"input_tokens": usage}, edits)


def test_a_usage_is_exact_and_later_messages_are_estimated() -> None:
    """A reply's usage is the exact size of the context; without one, and for later messages, it is our estimate."""
    counted = after(thread(0), 1_000)
    exact = after(counted, 1_200, 3_000)
    later = after(exact, 1_300)

    states = (counted, exact, later)
    assert [use_usage.live_tokens(state) for state in states] == [1_000, 3_000, 3_100]
    assert [use_usage.context_use(state, 200_000).estimated for state in states] == [
        True,
        False,
        True,
    ]


def test_the_factor_is_learnt_between_two_usages() -> None:
    """The token factor is learnt from what two usages and our count grew between them, without the system prompt."""
    first = after(thread(0), 1_000, 9_000)
    second = after(first, 2_000, 10_300)
    later = after(second, 2_100)

    assert factor_of(second) == pytest.approx(1.3)
    assert use_usage.live_tokens(later) == 10_300 + 130
    assert use_usage.context_use(later, 200_000).factor == 1.3


def test_a_factor_is_a_weighted_mean() -> None:
    """Long stretches weigh more than short ones; implausible ratios are clamped."""
    state = after(thread(0), 0, 1_000)
    state = after(state, 1_000, 2_200)
    state = after(state, 4_000, 5_800 - 600)
    assert factor_of(state) == pytest.approx((1.2 * 1_000 + 1.0 * 3_000) / 4_000)
    state = after(state, 5_000, 900_000)
    assert factor_of(state) == pytest.approx((1.05 * 4_000 + 2.0 * 1_000) / 5_000)


@pytest.mark.parametrize(("live", "usage"), [(1_100, 2_000), (3_000, 800), (3_000, 1_000)])
def test_a_short_or_shrinking_stretch_teaches_no_factor(live: int, usage: int) -> None:
    """Too few tokens between two usages, or a usage that has not grown."""
    state = after(after(thread(0), 1_000, 1_000), live, usage)
    assert state.factor is None
    assert "factor" not in state.as_json()


def test_cleared_tokens_are_subtracted_where_no_usage_has_them() -> None:
    """Tokens cleared by edits are subtracted from our count, but not from a reply's usage, which lacks them already."""
    full = after(thread(0), 20_000, 30_000)
    with_usage = after(full, 21_000, 26_200, EDIT)
    without = after(full, 21_000, None, EDIT, {"type": "clear_thinking_20251015", "cleared_thinking_turns": 3})

    assert use_usage.live_tokens(with_usage) == 26_200
    assert use_usage.live_tokens(without) == 26_000
    assert (with_usage.cleared, without.cleared) == (ClearedRecord(1, 5_000), ClearedRecord(2, 5_000))
    assert with_usage.factor is None
    assert use_usage.edit_names([EDIT, EDIT, {"type": "clear_thinking_20251015"}]) == [
        "clear_tool_uses",
        "clear_thinking",
    ]


@pytest.mark.parametrize("count", [-5, 2_000_000_000, "many", None, True, 1.5])
def test_impossible_numbers_count_as_zero(count: Any) -> None:
    """An impossible number of tokens, in a usage or in a context edit, counts as zero."""
    assert use_usage.tokens_of({"input_tokens": 70, "output_tokens": count}) == 70
    state = after(thread(0), 9_000, None, {"type": "x", "cleared_input_tokens": count})
    assert use_usage.live_tokens(state) == 9_000


@pytest.mark.parametrize("count", [0, -5, 10**17, "2000", None, True, 10.5])
def test_a_usage_that_says_nothing_of_the_input_is_none(count: Any) -> None:
    """Where a usage has no possible number of input tokens, the size of the context is the estimate, as without one."""
    before = after(thread(0), 1_000, 3_000)
    for usage in ({"input_tokens": count, "output_tokens": 4}, {"tokens": 5_000}, {"prompt_tokens": count}):
        assert use_usage.after_append(before, 2_000, usage, ()) == after(before, 2_000)


def test_a_usage_with_openai_names_is_understood() -> None:
    """Prompt and completion are the context; cached tokens, by whatever name, are among the prompt's."""
    assert use_usage.tokens_of({"prompt_tokens": 5_000, "completion_tokens": 4}) == 5_004
    assert (
        use_usage.tokens_of({"prompt_tokens": 5_000, "cache_read_input_tokens": 900, "completion_tokens": 4}) == 5_004
    )
    assert use_usage.tokens_of({"prompt_tokens": 900, "input_tokens": 100, "cache_read_input_tokens": 800}) == 900


def test_a_window_is_full_by_the_learnt_factor() -> None:
    """A thread without a usage of its own is measured by its model's factor."""
    state = thread(100_000, FactorRecord(value=1.5, weight=9_000))
    assert use_usage.is_full(state, window=200_000, distil_at=0.7, absolute_cap=10**9)
    assert not use_usage.is_full(thread(100_000), window=200_000, distil_at=0.7, absolute_cap=10**9)
    assert use_usage.is_full(thread(100_000), window=200_000, distil_at=0.7, absolute_cap=90_000)
    assert not use_usage.is_full(
        replace(thread(100_000), context_window=400_000), window=100_000, distil_at=0.7, absolute_cap=10**9
    )


def factor_of(state: ThreadRecord) -> float:
    """Return the learnt factor of a thread."""
    assert state.factor is not None
    return state.factor.value
