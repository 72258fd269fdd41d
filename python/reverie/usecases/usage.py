"""The ledgers of tokens: of distillations and dreams by their own count, and of requests to language models.

What a distillation or dream used is written in the transaction of its result. What a request to a model used is
written in two steps around it: `reserve` before it is sent, in a durable commit, and `settle` when its end is known, in
the transaction of what was made of the answer, where something was. So a process that is killed at any moment has sent
nothing that is not counted, and the daily ceilings hold for what is under way too.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reverie import tokenizer, wire
from reverie.decode import mapped
from reverie.errors import ModelFailed
from reverie.models import DATE_CHARS
from reverie.store import SYSTEM_SPACE, LedgerRecord, Reader, SpendRecord, Store, ThreadRecord, Writer

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
