"""The ledger of tokens: every distillation and dream enters what it used, in the transaction of its archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie.store import Kind

if TYPE_CHECKING:
    from reverie.store import Reader, Writer

__all__ = ["spend", "spent"]

DAY = 10  # characters of an RFC 3339 time that name its day


def spent(writer: Writer, *, kind: str, ref: str, tokens: int, at: str) -> None:
    """Enters `tokens` used by `kind` (thread or dream) for `ref`; each entry carries the total so far."""
    last = writer.last(Kind.LEDGER)
    total = (last[1]["total"] if last else 0) + tokens
    writer.append(Kind.LEDGER, (), {"kind": kind, "ref": ref, "tokens": tokens, "total": total, "at": at})


def spend(reader: Reader, at: str) -> dict[str, Any]:
    """Tokens used so far, and on the day of `at` (UTC)."""
    total = today = 0
    for _, entry in reader.scan(Kind.LEDGER, reverse=True):
        total = max(total, entry["total"])
        if entry["at"][:DAY] != at[:DAY]:
            break
        today += entry["tokens"]
    return {"total": total, "today": today}
