"""The ledgers of tokens: of distillations and dreams by their own count, and of requests to language models.

What a distillation or dream used is written in the transaction of its result. What a request to a model used is
written in two steps around it: `reserve` before it is sent, in a durable commit, and `settle` when its end is known, in
the transaction of what was made of the answer, where something was. So a process that is killed at any moment has sent
nothing that is not counted, and the daily ceilings hold for what is under way too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from reverie import tokenizer, wire
from reverie.decode import mapped
from reverie.errors import ModelFailed
from reverie.models import DATE_CHARS
from reverie.store import (
    SYSTEM_SPACE,
    ClearedRecord,
    FactorRecord,
    LedgerRecord,
    Reader,
    SpendRecord,
    Store,
    ThreadRecord,
    UsageRecord,
    Writer,
)

CALLS_HINT = "`reverie status` shows what was used; wait for the next UTC day, or raise distiller.dailyCalls."
TOKENS_HINT = "`reverie status` shows what was used; wait for the next UTC day, or raise distiller.dailyTokens."


class Ceilings(msgspec.Struct, frozen=True):
    """The most tokens, read and written, and the most requests of one UTC day, over all roles and spaces."""

    tokens: int
    calls: int


class ReservedCall(msgspec.Struct, frozen=True):
    """A request to a model that is about to be sent, and the most tokens that it may use."""

    id: str
    day: str
    role: str
    tokens: int


class UsedTokens(msgspec.Struct, frozen=True):
    """The tokens that a request used; `cached` are those of `input` that the provider had in its cache.

    `known` is False where it failed and may have used some: its reservation stays.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    failed: bool = False
    known: bool = True


def record_use(writer: Writer, *, kind: str, ref: str, tokens_used: int, at: str) -> None:
    """Append the tokens used by a `kind` ("thread" or "dream") for `ref`; each entry carries the running total."""
    last = writer.last_record(LedgerRecord)
    total = (last[1].total if last else 0) + tokens_used
    writer.append_record(LedgerRecord(kind=kind, ref=ref, tokens=tokens_used, total=total, at=at), ())


def spend(reader: Reader, at: str) -> wire.TokenSpend:
    """Return the tokens used in total and on the UTC day of `at` by distillations and dreams of the reader's space."""
    total = today = 0
    for _, entry in reader.records(LedgerRecord, reverse=True):
        total = max(total, entry.total)
        if entry.at[:DATE_CHARS] != at[:DATE_CHARS]:
            break
        today += entry.tokens
    return wire.TokenSpend(total=total, today=today, tokenizer=tokenizer.TOKENIZER)


def session_cost(reader: Reader) -> tuple[int, int | None]:
    """Return how many threads a model has read, and the tokens that one of them took on average; None without any."""
    used = [thread.model_tokens for _, thread in reader.records(ThreadRecord) if thread.model_tokens]
    return len(used), sum(used) // len(used) if used else None


def reserve(writer: Writer, call: ReservedCall, ceilings: Ceilings) -> None:
    """Count a request that is about to be sent, with the most tokens that it may use; in the system space.

    Raises:
        ModelFailed: the request does not fit below today's ceilings (`over_ceiling`); nothing is counted.
    """
    today = list(_records(writer, call.day))
    if sum(record.calls for _, record in today) >= ceilings.calls:
        raise ModelFailed(
            f"Today's {ceilings.calls} requests to the model are used up.", hint=CALLS_HINT, reason="over_ceiling"
        )
    used = sum(map(_tokens, (record for _, record in today)))
    if used + call.tokens > ceilings.tokens:
        raise ModelFailed(
            f"A request of up to {call.tokens:,} tokens does not fit: "
            f"{used:,} of today's {ceilings.tokens:,} are used.",
            hint=TOKENS_HINT,
            reason="over_ceiling",
        )
    record = writer.load(SpendRecord, (call.day, call.role)) or SpendRecord()
    reserved = {**record.reserved, call.id: call.tokens}
    _save(writer, call, msgspec.structs.replace(record, calls=record.calls + 1, reserved=reserved))


def settle(writer: Writer, call: ReservedCall, used: UsedTokens | None) -> None:
    """Replace the reservation of a request by what it used; None: it was never sent, and does not count.

    A call whose reservation is not there was settled before, and is left as it is.
    """
    record = writer.load(SpendRecord, (call.day, call.role))
    if record is None or call.id not in record.reserved:
        return
    if used is not None and not used.known:
        _save(writer, call, msgspec.structs.replace(record, failed=record.failed + used.failed))
        return
    reserved = {name: most for name, most in record.reserved.items() if name != call.id}
    if used is None:
        _save(writer, call, msgspec.structs.replace(record, calls=record.calls - 1, reserved=reserved))
        return
    settled = SpendRecord(
        calls=record.calls,
        failed=record.failed + used.failed,
        input_tokens=record.input_tokens + used.input,
        output_tokens=record.output_tokens + used.output,
        cached_tokens=record.cached_tokens + used.cached,
        reserved=reserved,
    )
    _save(writer, call, settled)


def model_spend(store: Store, at: str) -> list[wire.ModelSpend]:
    """Return what requests to models used on the UTC day of `at`, over all spaces, one entry for each role."""
    with store.reader(SYSTEM_SPACE) as reader:
        return [
            mapped(
                record,
                wire.ModelSpend,
                role=role,
                open=len(record.reserved),
                reserved_tokens=sum(record.reserved.values()),
            )
            for role, record in _records(reader, at[:DATE_CHARS])
        ]


def _records(reader: Reader, day: str) -> Iterator[tuple[str, SpendRecord]]:
    return ((str(key[-1]), record) for key, record in reader.records(SpendRecord, (day,)))


def _tokens(record: SpendRecord) -> int:
    """Return the tokens of a day and role that count against the ceiling: used ones and reserved ones."""
    return record.input_tokens + record.output_tokens + sum(record.reserved.values())


def _save(writer: Writer, call: ReservedCall, record: SpendRecord) -> None:
    writer.save(record, (call.day, call.role))


# How full a model's context window is: the API's own usage numbers, and the correction they teach our token count.
#
# No tokenizer of every model is public. Between two API usages of one thread both the API and we have counted the same
# messages, so the ratio of the two is the model's factor; what came since the last usage is estimated as our count
# times that factor.


USAGE_TOKENS_MAX = 1_000_000_000  # a larger number in a usage is a mistake, not a window
LEARN_TOKENS_MIN = 200  # of our count between two usages; a shorter stretch is mostly overhead of messages
LEARN_TOKENS_MAX = 50_000  # weight of all earlier stretches, so that a factor keeps following its model
_MESSAGES_NAMES = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_OPENAI_NAMES = ("prompt_tokens", "completion_tokens")  # cached ones are among the former
FACTOR_MIN, FACTOR_MAX = 0.5, 2.0  # outside of it the two did not count the same messages


def tokens_of(usage: Mapping[str, Any]) -> int:
    """Return the tokens in the model's window after a reply, by the API's usage, also one with OpenAI's names.

    Impossible numbers count as 0, and all is 0 where no number is left of the input: then the usage says nothing.
    """
    names = _MESSAGES_NAMES if "input_tokens" in usage or "prompt_tokens" not in usage else _OPENAI_NAMES
    counts = [_count(usage, name) for name in names]
    return sum(counts) if any(counts[:-1]) else 0


def after_append(
    thread: ThreadRecord, live: int, usage: Mapping[str, Any] | None, edits: Sequence[Mapping[str, Any]]
) -> ThreadRecord:
    """Return a thread's record after a reply with the API's `usage` and `applied_edits` was appended.

    `live` is our own count of the context by now. Without a usage, or with one that says nothing, the tokens that the
    edits cleared are subtracted from the last one. After an edit no factor is learnt: the API no longer counted the
    messages that we counted.
    """
    after = replace(thread, live_tokens=live)
    cleared = sum(_count(edit, "cleared_input_tokens") for edit in edits)
    if tokens := tokens_of(usage or {}):
        after = replace(after, usage=UsageRecord(tokens=tokens, live=live))
        if not edits:
            after = replace(after, factor=_learnt_factor(thread, live, tokens))
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
