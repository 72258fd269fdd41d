"""The surface: every call of the daemon in one table; a duplicate fails at start."""

from __future__ import annotations

from reveried.http.table import Table, table
from reveried.routes import description, events, health, jobs, metrics

__all__ = ["routes"]


def routes() -> Table:
    """All calls by (method, path). A module `routes/<noun>.py` lists its own in `ROUTES`; add it here."""
    return table(
        description.ROUTES,
        events.ROUTES,
        health.ROUTES,
        jobs.ROUTES,
        metrics.ROUTES,
    )
