"""`GET /metrics`: the daemon's figures in the Prometheus text format; no names, paths or contents."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from reveried import __version__
from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call
    from reveried.services import Services

__all__ = ["ROUTES"]

MEDIA = "text/plain; version=0.0.4; charset=utf-8"


async def metrics(call: Call) -> Reply:
    """Return requests by route and status, connections, the worker's queues, compute processes, event streams."""
    lines = [*_process_lines(call.services), *call.services.metrics.lines(), ""]
    return Reply(body="\n".join(lines).encode(), media=MEDIA)


def _process_lines(services: Services) -> list[str]:
    worker, admission = services.worker.status(), services.admission
    figures: list[tuple[str, str, str, float]] = [
        ("reverie_uptime_seconds", "gauge", "Age of the process.", time.monotonic() - services.started),
        ("reverie_connections", "gauge", "Open connections.", admission.open_connections),
        ("reverie_connections_total", "counter", "Connections accepted.", admission.accepted),
        ("reverie_body_bytes_held", "gauge", "Bytes of request bodies being received.", admission.reserved_bytes),
        ("reverie_writes_queued", "gauge", "Writes of agents that wait.", worker.queued),
        ("reverie_bulk_writes_queued", "gauge", "Pieces of bulk work that wait.", worker.bulk_queued),
        ("reverie_commits_total", "counter", "Durable commits.", worker.commits),
        ("reverie_writes_total", "counter", "Writes committed.", worker.writes),
        ("reverie_commit_seconds_max", "gauge", "Longest commit so far.", worker.longest_commit_s),
        ("reverie_storage_failed", "gauge", "1 when the store takes no more writes.", float(worker.failed)),
        ("reverie_compute_processes", "gauge", "Compute processes now.", len(services.compute.pids())),
        ("reverie_compute_started_total", "counter", "Compute processes started.", services.compute.started),
        ("reverie_compute_crashed_total", "counter", "Compute processes that ended early.", services.compute.crashed),
        ("reverie_jobs_running", "gauge", "Jobs that run.", services.jobs.running),
        ("reverie_event_streams", "gauge", "Readers of the events.", services.events.readers),
    ]
    lines = [
        "# HELP reverie_build_info The version that runs.",
        "# TYPE reverie_build_info gauge",
        f'reverie_build_info{{version="{__version__}"}} 1',
    ]
    for name, kind, says, value in figures:
        lines += [f"# HELP {name} {says}", f"# TYPE {name} {kind}", f"{name} {value:g}"]
    lines += [
        "# HELP reverie_refused_total Connections and requests refused, by reason.",
        "# TYPE reverie_refused_total counter",
    ]
    lines += [f'reverie_refused_total{{why="{why}"}} {count}' for why, count in sorted(admission.refused.items())]
    return lines


ROUTES = (Route("GET", "/metrics", metrics, "The daemon's figures in the Prometheus text format."),)
