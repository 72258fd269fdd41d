"""How full a model's context window is: the API's own usage numbers, and the correction they teach our token count.

No tokenizer of every model is public. Between two API usages of one thread both the API and we have counted the same
messages, so the ratio of the two is the model's factor; what came since the last usage is estimated as our count times
that factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from reverie import tokenizer, wire
from reverie.store import ClearedRecord, FactorRecord, ThreadRecord, UsageRecord

USAGE_TOKENS_MAX = 1_000_000_000  # a larger number in a usage is a mistake, not a window
LEARN_TOKENS_MIN = 200  # of our count between two usages; a shorter stretch is mostly overhead of messages
LEARN_TOKENS_MAX = 50_000  # weight of all earlier stretches, so that a factor keeps following its model
FACTOR_MIN, FACTOR_MAX = 0.5, 2.0  # outside of it the two did not count the same messages


def tokens_of(usage: Mapping[str, Any]) -> int:
    """Return the tokens in the model's window after a reply, by the API's usage; impossible numbers count as 0."""
    names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
    return sum(_count(usage, name) for name in names)


def after_append(
    thread: ThreadRecord, live: int, usage: Mapping[str, Any] | None, edits: Sequence[Mapping[str, Any]]
) -> ThreadRecord:
    """Return a thread's record after a reply with the API's `usage` and `applied_edits` was appended.

    `live` is our own count of the context by now. Without a usage, the tokens that the edits cleared are subtracted
    from the last one. After an edit no factor is learnt: the API no longer counted the messages that we counted.
    """
    after = replace(thread, live_tokens=live)
    cleared = sum(_count(edit, "cleared_input_tokens") for edit in edits)
    if usage:
        after = replace(after, usage=UsageRecord(tokens=tokens_of(usage), live=live))
        if not edits:
            after = replace(after, factor=_learnt_factor(thread, live, tokens_of(usage)))
    elif cleared:
        after = replace(after, usage=UsageRecord(tokens=max(0, live_tokens(after) - cleared), live=live))
    if edits:
        before = thread.cleared or ClearedRecord(edits=0, tokens=0)
        after = replace(after, cleared=ClearedRecord(edits=before.edits + len(edits), tokens=before.tokens + cleared))
    return after


def edit_names(edits: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of applied edits without their dates: `clear_tool_uses_20250919` is `clear_tool_uses`."""
    return list(dict.fromkeys(str(edit.get("type", "")).rsplit("_", 1)[0] for edit in edits))


def live_tokens(thread: ThreadRecord) -> int:
    """Return the tokens of the thread's context now: the API's last usage, plus our estimate of what came since.

    Without a usage all of it is our estimate. Example: usage 10,000 at our count 8,000; our count is 9,000 now and the
    factor 1.2, so 10,000 + 1,000 * 1.2 = 11,200.
    """
    live, usage = thread.live_tokens, thread.usage
    if usage is None:
        return round(live * _factor(thread))
    counted = live if usage.live is None else usage.live
    return usage.tokens + round(max(0, live - counted) * _factor(thread))


def context_use(thread: ThreadRecord, window: int) -> wire.ContextUse:
    """Return how full the model's window is; `window` (tokens) is for a thread that names none."""
    live, room = live_tokens(thread), thread.context_window or window
    usage = thread.usage
    return wire.ContextUse(
        tokens=live,
        window=room,
        fraction=round(live / room, 4),
        tokenizer=tokenizer.TOKENIZER,
        estimated=usage is None or (usage.live is not None and thread.live_tokens > usage.live),
        factor=round(_factor(thread), 4),
    )


def is_full(thread: ThreadRecord, *, window: int, distil_at: float, absolute_cap: int) -> bool:
    """Return whether a thread is due for distillation: `distil_at` of the window, or `absolute_cap` tokens."""
    live = live_tokens(thread)
    return live >= absolute_cap or live >= distil_at * (thread.context_window or window)


def _factor(thread: ThreadRecord) -> float:
    return 1.0 if thread.factor is None else thread.factor.value


def _learnt_factor(thread: ThreadRecord, live: int, usage_tokens: int) -> FactorRecord | None:
    """Return the thread's token factor (or None), learnt also from the stretch since the last usage if that is long.

    The new factor is the average of all stretches, weighted by their tokens. Example: 1.0 from 1,000 tokens, then a
    stretch of 1,000 with 1,200 by the API: 1.1 from 2,000.
    """
    before = thread.usage
    if before is None or before.live is None:
        return thread.factor
    ours, theirs = live - before.live, usage_tokens - before.tokens
    if ours < LEARN_TOKENS_MIN or theirs <= 0:
        return thread.factor
    factor = thread.factor or FactorRecord(value=1.0, weight=0)
    ratio = min(FACTOR_MAX, max(FACTOR_MIN, theirs / ours))
    average = (factor.value * factor.weight + ratio * ours) / (factor.weight + ours)
    return FactorRecord(value=average, weight=min(factor.weight + ours, LEARN_TOKENS_MAX))


def _count(numbers: Mapping[str, Any], name: str) -> int:
    count = numbers.get(name)
    return count if type(count) is int and 0 <= count <= USAGE_TOKENS_MAX else 0
