"""The HTTP API: each module enters the handlers of its endpoints into one table; a second one of the same fails."""

from __future__ import annotations

from reveried.http.route import API, Table
from reveried.routes import (  # noqa: F401 - each enters its handlers
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


def routes() -> Table:
    """Return every endpoint with its handler."""
    return API
