"""What happened and what it left: operations, archives, dreams and their schedules."""

from __future__ import annotations

from reverie import wire
from reverie.client.call import Call, get, nothing, reading, send, target

__all__ = [
    "add_schedule",
    "archive",
    "archives",
    "difference",
    "document_history",
    "dream",
    "dream_record",
    "dreams",
    "operation",
    "operations",
    "remove_schedule",
    "rollback",
    "schedules",
    "start_dream",
    "undo",
]


def operations(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Operation]]:
    """One page of the history, newest first."""
    return get(wire.Page[wire.Operation], "operations", limit=limit, after=after)


def operation(operation_id: str) -> Call[wire.Operation]:
    """One committed write: who, why, when and what changed."""
    return get(wire.Operation, "operations", operation_id)


def undo(operation_id: str, *, key: str | None = None) -> Call[wire.UndoAnswer]:
    """Take one operation back by a new one. Conflict when something later stands on it."""
    return send("POST", target("operations", operation_id, "undo"), wire.UndoAnswer, key=key)


def rollback(
    operation_id: str, *, path: str | None = None, memory: str | None = None, key: str | None = None
) -> Call[wire.RollbackAnswer]:
    """Bring documents, memories and notes back to what they were after an operation ("0": to nothing).

    Of one document or one memory alone where that is said.
    """
    body = wire.Rollback(operation_id, path, memory)
    return send("POST", target("rollback"), wire.RollbackAnswer, body, key=key, long=True)


def document_history(path: str) -> Call[wire.Page[wire.DocumentVersion]]:
    """Every version of a document with the operation that made it."""
    return get(wire.Page[wire.DocumentVersion], "history", path)


def difference(from_: str, to: str | None = None, *, path: str | None = None) -> Call[wire.DifferenceAnswer]:
    """What changed in documents between two operations; to the newest without `to`."""
    return Call("GET", target("diff", **{"from": from_, "to": to, "path": path}), reading(wire.DifferenceAnswer))


def archives(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.Archive]]:
    """One page of the archives, by address."""
    return get(wire.Page[wire.Archive], "archives", limit=limit, after=after)


def archive(sha256: str) -> Call[bytes]:
    """The canonical bytes of an archive; their SHA-256 is the address."""
    return Call("GET", target("archives", sha256), bytes)


def dream(*, token_budget: int | None = None, dry_run: bool = False, key: str | None = None) -> Call[wire.DreamAnswer]:
    """Distil what is new since the last dream, and wait until it is done. A dry run writes nothing.

    The daemon refuses a budget that cannot be met with TokenBudgetExceeded.
    """
    body = wire.StartDream(token_budget, dry_run)
    return send("POST", target("dreams", wait=True), wire.DreamAnswer, body, key=key, long=True)


def start_dream(*, token_budget: int | None = None, key: str | None = None) -> Call[wire.JobAccepted]:
    """Begin a dream; `job` tells how far it is."""
    return send("POST", target("dreams"), wire.JobAccepted, wire.StartDream(token_budget), key=key)


def dreams(*, limit: int = wire.LIMIT_DEFAULT, after: str | None = None) -> Call[wire.Page[wire.DreamRecord]]:
    """One page of the past dreams, newest first."""
    return get(wire.Page[wire.DreamRecord], "dreams", limit=limit, after=after)


def dream_record(dream_id: str) -> Call[wire.DreamRecord]:
    """One past dream."""
    return get(wire.DreamRecord, "dreams", dream_id)


def schedules() -> Call[wire.Page[wire.Schedule]]:
    """When dreams run by themselves."""
    return get(wire.Page[wire.Schedule], "schedules")


def add_schedule(
    cron: str, *, timezone: str = "UTC", token_budget: int | None = None, key: str | None = None
) -> Call[wire.Schedule]:
    """Let dreams run by themselves: five cron fields in their standard meaning, in a named time zone."""
    body = wire.CreateSchedule(cron=cron, timezone=timezone, options=wire.DreamOptions(token_budget=token_budget))
    return send("POST", target("schedules"), wire.Schedule, body, key=key)


def remove_schedule(schedule_id: str) -> Call[None]:
    """Stop a schedule."""
    return nothing("DELETE", "schedules", schedule_id)
