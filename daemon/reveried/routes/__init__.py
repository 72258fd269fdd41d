"""The HTTP API: every route of the daemon in one table; a duplicate route fails at the start."""

from __future__ import annotations

from reveried.http.routing import Table, table
from reveried.routes import (
    conflicts_and_sync,
    contexts_states_and_notes,
    daemon,
    distillation,
    documents,
    dreams,
    history_and_events,
    jobs,
    mcp,
    memories_and_candidates,
    runs,
    search,
    sessions,
    spaces_and_projects,
    threads,
    tools,
)

__all__ = ["routes"]


def routes() -> Table:
    """Return all routes by (method, path); each module of this package has its own in tuples, listed here."""
    return table(
        daemon.ROUTES,
        distillation.CHECK_ROUTES,
        spaces_and_projects.ROUTES,
        threads.ROUTES,
        spaces_and_projects.PROJECT_ROUTES,
        contexts_states_and_notes.ROUTES,
        distillation.ROUTES,
        memories_and_candidates.ROUTES,
        memories_and_candidates.CANDIDATE_ROUTES,
        runs.ROUTES,
        search.ROUTES,
        tools.ROUTES,
        mcp.ROUTES,
        documents.ROUTES,
        conflicts_and_sync.ROUTES,
        history_and_events.ROUTES,
        dreams.ROUTES,
        threads.IMPORT_ROUTES,
        sessions.ROUTES,
        sessions.HOOK_ROUTES,
        history_and_events.EVENT_ROUTES,
        jobs.ROUTES,
    )
