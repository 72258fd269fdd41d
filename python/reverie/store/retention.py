"""Decides what is old enough to go, and removes it in small steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from reverie.store.codec import GONE, Record, unbind
from reverie.store.keys import decode, kind_prefix, number
from reverie.store.reader import forward
from reverie.store.schema import RULES, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.store.write_txn import Draft
    from reverie.store.writer import Writer

__all__ = ["STEP_RECORDS", "Rules", "Step", "prune"]

STEP_RECORDS = 500  # looked at in one write, so that it stays well under 20 ms
_DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Rules:
    """After how many days what goes. Messages, operations and current records never do."""

    version_days: int = 365  # counted from the moment a version was superseded
    event_days: int = 90
    key_days: int = 7  # idempotency keys
    job_days: int = 7  # since the job last changed


@dataclass(frozen=True, slots=True)
class Step:
    """What one step removed, and where the next one goes on; None when all has been looked at."""

    removed: int
    cursor: str | None


def expired(at_ms: int, now_ms: int, days: int) -> bool:
    """Whether something that happened at `at_ms` lies at least `days` back."""
    return at_ms <= now_ms - days * _DAY_MS


def superseded(version: Record, successor: Record | None, now_ms: int, days: int) -> bool:
    """Whether a kept version may go: what came after it, or the deletion that it is, is old enough."""
    if successor is None:
        return version.form == GONE and expired(version.at_ms, now_ms, days)
    return expired(successor.at_ms, now_ms, days)


def prune(writer: Writer, rules: Rules, cursor: str | None = None) -> Step:
    """One step over one space: looks at no more than STEP_RECORDS records and removes those that are due.

    Start with no cursor, hand each step the cursor of the last, stop when it is None. Bookkeeping: no operation.
    """
    stages = _stages(rules, writer.lookup.at_ms)
    index, _, after = (cursor or "0:").partition(":")
    kind, due = stages[int(index)]
    draft = writer.lookup
    seen = list(islice(forward(draft.txn, kind_prefix(draft.space, kind), bytes.fromhex(after) or None), STEP_RECORDS))
    # A sequence stays dense: only its beginning goes, whatever the clock did.
    chosen = takewhile if RULES[kind].sequence else filter
    gone = list(chosen(lambda item: due(draft, *item), _unbound(seen)))
    for raw, record in gone:
        draft.let_go(record)
        draft.remove(kind, raw, record)
    done = len(seen) < STEP_RECORDS or (RULES[kind].sequence and len(gone) < len(seen))
    if not done:
        return Step(len(gone), f"{index}:{seen[-1][0].hex()}")
    following = int(index) + 1
    return Step(len(gone), f"{following}:" if following < len(stages) else None)


def _unbound(items: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, Record]]:
    return ((raw, unbind(raw, data)) for raw, data in items)


def _stages(rules: Rules, now_ms: int) -> list[tuple[Kind, Callable[[Draft, bytes, Record], bool]]]:
    def older(days: int) -> Callable[[Draft, bytes, Record], bool]:
        return lambda _draft, _raw, record: expired(record.at_ms, now_ms, days)

    def replaced(draft: Draft, raw: bytes, record: Record) -> bool:
        return superseded(record, _successor(draft, raw), now_ms, rules.version_days)

    return [
        (Kind.EVENT, older(rules.event_days)),
        (Kind.IDEMPOTENCY, older(rules.key_days)),
        (Kind.JOB, older(rules.job_days)),
        (Kind.VERSION, replaced),
    ]


def _successor(draft: Draft, raw: bytes) -> Record | None:
    """The version that came after the kept version under `raw`: the next one kept, else the current record."""
    rest = raw[len(draft.space) + 1 :]
    operation = decode(rest[1:])[-1]
    of = raw[: len(raw) - len(number(operation))]
    following = next(forward(draft.txn, of, raw), None)
    if following is not None:
        return unbind(*following)
    return draft.find(draft.space + of[len(draft.space) + 1 :])
