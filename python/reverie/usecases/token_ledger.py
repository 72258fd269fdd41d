"""The ledger of tokens that distillations and dreams used, written in the transaction of their archive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import tokens, wire
from reverie.store import LedgerRecord

if TYPE_CHECKING:
    from reverie.store import Reader, Writer

__all__ = ["record_use", "spend"]

DATE_CHARS = 10  # of an RFC 3339 time: `2026-11-21`


def record_use(writer: Writer, *, kind: str, ref: str, tokens_used: int, at: str) -> None:
    """Append the tokens used by a `kind` ("thread" or "dream") for `ref`; each entry carries the running total."""
    last = writer.last_record(LedgerRecord)
    total = (last[1].total if last else 0) + tokens_used
    writer.append_record(LedgerRecord(kind=kind, ref=ref, tokens=tokens_used, total=total, at=at), ())


def spend(reader: Reader, at: str) -> wire.TokenSpend:
    """Return the tokens used in total and on the UTC day of `at`."""
    total = today = 0
    for _, entry in reader.records(LedgerRecord, reverse=True):
        total = max(total, entry.total)
        if entry.at[:DATE_CHARS] != at[:DATE_CHARS]:
            break
        today += entry.tokens
    return wire.TokenSpend(total=total, today=today, tokenizer=tokens.TOKENIZER)
