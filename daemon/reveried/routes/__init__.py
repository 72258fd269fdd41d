"""The HTTP API: every route of the daemon in one table; a duplicate route fails at the start."""

from __future__ import annotations

from reveried.http.routing import Table, table
from reveried.routes import (
    conflicts,
    contexts,
    daemon,
    documents,
    dreams,
    events,
    history,
    imports,
    jobs,
    memories,
    projects,
    search,
    spaces,
    threads,
    tools,
)

__all__ = ["routes"]


def routes() -> Table:
    """Return all routes by (method, path); each module `routes/<noun>.py` has its own in `ROUTES`, listed here."""
    return table(
        daemon.ROUTES,
        spaces.ROUTES,
        threads.ROUTES,
        projects.ROUTES,
        contexts.ROUTES,
        memories.ROUTES,
        search.ROUTES,
        tools.ROUTES,
        documents.ROUTES,
        conflicts.ROUTES,
        history.ROUTES,
        dreams.ROUTES,
        imports.ROUTES,
        events.ROUTES,
        jobs.ROUTES,
    )
