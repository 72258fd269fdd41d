"""What a reply's usage and applied edits teach about how full a window is."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.usecases import usage

EDIT = {"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8, "cleared_input_tokens": 5_000}


def thread(live: int, **more: Any) -> dict[str, Any]:
    """A thread's record as far as its window goes."""
    return {"liveTokens": live, "usage": None, "contextWindow": None, **more}


def after(before: dict[str, Any], live: int, account: int | None = None, *edits: dict[str, Any]) -> dict[str, Any]:
    """The record after messages that bring our count to `live`, and the API's account of the last reply."""
    given = None if account is None else {"input_tokens": account}
    return {**before, "liveTokens": live, **usage.told(before, live, given, edits)}


def test_the_account_counts_and_what_came_since_is_an_estimate() -> None:
    """Without an account all of it is our own count."""
    counted = after(thread(0), 1_000)
    told = after(counted, 1_200, 3_000)
    since = after(told, 1_300)

    assert [usage.live_tokens(each) for each in (counted, told, since)] == [1_000, 3_000, 3_100]
    assert [usage.context_use(each, 200_000)["estimated"] for each in (counted, told, since)] == [True, False, True]


def test_the_factor_is_learnt_between_two_accounts() -> None:
    """What the API counted of what we have counted too; system prompt and tools, which only it sees, do not matter."""
    first = after(thread(0), 1_000, 9_000)
    second = after(first, 2_000, 10_300)
    since = after(second, 2_100)

    assert second["factor"]["value"] == pytest.approx(1.3)
    assert usage.live_tokens(since) == 10_300 + 130
    assert usage.context_use(since, 200_000)["factor"] == 1.3


def test_a_factor_is_a_mean_that_goes_on_learning() -> None:
    """Long stretches weigh more than short ones; wild ones are held within bounds."""
    state = after(thread(0), 0, 1_000)
    state = after(state, 1_000, 2_200)
    state = after(state, 4_000, 5_800 - 600)
    assert state["factor"]["value"] == pytest.approx((1.2 * 1_000 + 1.0 * 3_000) / 4_000)
    state = after(state, 5_000, 900_000)
    assert state["factor"]["value"] == pytest.approx((1.05 * 4_000 + 2.0 * 1_000) / 5_000)


@pytest.mark.parametrize(("live", "account"), [(1_100, 2_000), (3_000, 800), (3_000, 1_000)])
def test_what_teaches_nothing_changes_no_factor(live: int, account: int) -> None:
    """Too little between two accounts, or an account that has shrunk."""
    state = after(after(thread(0), 1_000, 1_000), live, account)
    assert "factor" not in state


def test_edits_are_taken_off_where_no_account_says_so() -> None:
    """With a usage, the usage has it already; either way nothing is learnt from that stretch, and it is remembered."""
    full = after(thread(0), 20_000, 30_000)
    told = after(full, 21_000, 26_200, EDIT)
    alone = after(full, 21_000, None, EDIT, {"type": "clear_thinking_20251015", "cleared_thinking_turns": 3})

    assert usage.live_tokens(told) == 26_200
    assert usage.live_tokens(alone) == 26_000
    assert (told["cleared"], alone["cleared"]) == ({"edits": 1, "tokens": 5_000}, {"edits": 2, "tokens": 5_000})
    assert "factor" not in told
    assert usage.applied([EDIT, EDIT, {"type": "clear_thinking_20251015"}]) == ["clear_tool_uses", "clear_thinking"]


@pytest.mark.parametrize("count", [-5, 2_000_000_000, "many", None, True, 1.5])
def test_numbers_that_cannot_be_meant_are_passed_over(count: Any) -> None:
    """In a usage and in an edit."""
    assert usage.used({"input_tokens": 70, "output_tokens": count}) == 70
    state = after(thread(0), 9_000, None, {"type": "x", "cleared_input_tokens": count})
    assert usage.live_tokens(state) == 9_000


def test_a_window_is_full_by_the_learnt_factor() -> None:
    """A thread without an account of its own is measured by what is known of its model."""
    state = thread(100_000, factor={"value": 1.5, "from": 9_000})
    assert usage.is_full(state, window=200_000, distil_at=0.7, absolute_cap=10**9)
    assert not usage.is_full(thread(100_000), window=200_000, distil_at=0.7, absolute_cap=10**9)
    assert usage.is_full(thread(100_000), window=200_000, distil_at=0.7, absolute_cap=90_000)
