"""The HTTP API: every route of the daemon in one table; a duplicate route fails at the start."""

from __future__ import annotations

from reveried.http.routing import Table, table
from reveried.routes import (
    daemon,
    distillation,
    distiller_check,
    documents,
    dreams,
    events,
    history,
    hooks,
    imports,
    jobs,
    mcp,
    memories,
    projects,
    review,
    runs,
    search,
    sessions,
    spaces_and_tokens,
    sync,
    thread_memory,
    threads,
    tools,
)

__all__ = ["routes"]


def routes() -> Table:
    """Return all routes by (method, path); each module `routes/<noun>.py` has its own in `ROUTES`, listed here."""
    return table(
        daemon.ROUTES,
        distiller_check.ROUTES,
        spaces_and_tokens.ROUTES,
        threads.ROUTES,
        projects.ROUTES,
        thread_memory.ROUTES,
        distillation.ROUTES,
        memories.ROUTES,
        review.ROUTES,
        runs.ROUTES,
        search.ROUTES,
        tools.ROUTES,
        mcp.ROUTES,
        documents.ROUTES,
        sync.ROUTES,
        history.ROUTES,
        dreams.ROUTES,
        imports.ROUTES,
        sessions.ROUTES,
        hooks.ROUTES,
        events.ROUTES,
        jobs.ROUTES,
    )
