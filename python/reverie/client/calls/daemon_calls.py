"""The daemon about itself: health, status, spaces, jobs, events, its own description."""

from __future__ import annotations

from typing import Any

from reverie import wire
from reverie.client.call import Call, get, ignore, nothing, send, target

__all__ = ["backup", "cancel_job", "event_stream", "health", "job", "metrics", "openapi", "spaces", "status"]


def health() -> Call[wire.Health]:
    """Whether the daemon answers, and as what."""
    return get(wire.Health, "health")


def status() -> Call[wire.Status]:
    """Counts, schedules, the last dream and what wants a person's eye."""
    return get(wire.Status, "status")


def spaces() -> Call[wire.Page[wire.Space]]:
    """The spaces and the folders of their documents."""
    return get(wire.Page[wire.Space], "spaces")


def backup(path: str) -> Call[wire.BackupMade]:
    """Write a compact, checked copy of the whole store to an absolute path at which nothing is yet."""
    return send("POST", target("backups"), wire.BackupMade, wire.CreateBackup(path=path), long=True)


def job(job_id: str) -> Call[wire.Job]:
    """How far a long piece of work is."""
    return get(wire.Job, "jobs", job_id)


def cancel_job(job_id: str) -> Call[None]:
    """Stop a long piece of work; what it has committed stays."""
    return nothing("DELETE", "jobs", job_id)


def openapi() -> Call[dict[str, Any]]:
    """The description of the surface, OpenAPI 3.1."""
    return get(dict[str, Any], "openapi.json")


def metrics() -> Call[str]:
    """Counters and timings as Prometheus text."""
    return Call("GET", "/metrics", bytes.decode)


def event_stream(after: int | None = None) -> Call[None]:
    """The stream of events after a sequence; read by the clients' `events`."""
    headers = {"Accept": "text/event-stream"} | ({} if after is None else {"Last-Event-ID": str(after)})
    return Call("GET", target("events", after=after), ignore, headers=headers)
