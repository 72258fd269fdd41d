"""The HTTP API: every route of the daemon in one table; a duplicate route fails at the start."""

from __future__ import annotations

from reveried.http.route import Table, table
from reveried.routes import (
    admin,
    brief,
    contexts,
    documents,
    dreams,
    history,
    jobs,
    learn,
    mcp,
    memories,
    redactions,
    runs,
    sessions,
    spaces,
    sync,
    threads,
    tools,
)

__all__ = ["routes"]


def routes() -> Table:
    """Return all routes by (method, path); each module of this package has its own in tuples, listed here."""
    return table(
        admin.ROUTES,
        learn.CHECK_ROUTES,
        spaces.ROUTES,
        threads.ROUTES,
        spaces.PROJECT_ROUTES,
        brief.ROUTES,
        contexts.ROUTES,
        learn.ROUTES,
        memories.ROUTES,
        memories.CANDIDATE_ROUTES,
        runs.ROUTES,
        memories.SEARCH_ROUTES,
        tools.ROUTES,
        mcp.ROUTES,
        documents.ROUTES,
        sync.ROUTES,
        history.ROUTES,
        dreams.ROUTES,
        threads.IMPORT_ROUTES,
        sessions.ROUTES,
        sessions.HOOK_ROUTES,
        redactions.ROUTES,
        history.EVENT_ROUTES,
        jobs.ROUTES,
    )
