"""The HTTP API: every route of the daemon in one table; a duplicate route fails at the start."""

from __future__ import annotations

from reveried.http.route_table_and_dispatch import Table, table
from reveried.routes import (
    agent_runs_with_files_and_working_memory,
    brief,
    conflicts_and_sync,
    contexts_states_and_notes,
    distill_learn_and_reflect,
    documents_and_index,
    dreams_and_schedules,
    health_metrics_openapi_and_store_maintenance,
    history_diffs_undo_archives_and_events,
    jobs,
    mcp,
    memories_recall_and_candidates,
    redactions,
    sessions_hooks_compactions_and_privacy,
    spaces_tokens_and_projects,
    threads_and_imports,
    tools_and_memory_tool,
)

__all__ = ["routes"]


def routes() -> Table:
    """Return all routes by (method, path); each module of this package has its own in tuples, listed here."""
    return table(
        health_metrics_openapi_and_store_maintenance.ROUTES,
        distill_learn_and_reflect.CHECK_ROUTES,
        spaces_tokens_and_projects.ROUTES,
        threads_and_imports.ROUTES,
        spaces_tokens_and_projects.PROJECT_ROUTES,
        brief.ROUTES,
        contexts_states_and_notes.ROUTES,
        distill_learn_and_reflect.ROUTES,
        memories_recall_and_candidates.ROUTES,
        memories_recall_and_candidates.CANDIDATE_ROUTES,
        agent_runs_with_files_and_working_memory.ROUTES,
        memories_recall_and_candidates.SEARCH_ROUTES,
        tools_and_memory_tool.ROUTES,
        mcp.ROUTES,
        documents_and_index.ROUTES,
        conflicts_and_sync.ROUTES,
        history_diffs_undo_archives_and_events.ROUTES,
        dreams_and_schedules.ROUTES,
        threads_and_imports.IMPORT_ROUTES,
        sessions_hooks_compactions_and_privacy.ROUTES,
        sessions_hooks_compactions_and_privacy.HOOK_ROUTES,
        redactions.ROUTES,
        history_diffs_undo_archives_and_events.EVENT_ROUTES,
        jobs.ROUTES,
    )
