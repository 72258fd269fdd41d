"""The HTTP API: each module enters the handlers of its endpoints into one table; a second one of the same fails.

A module is imported for the first request of one of its nouns: all of them take as long as the rest of the start.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Final

from reveried.http.route import API, Table, noun_of

NOUNS: Final = {
    "health": "health",
    "sessions": "sessions compactions privacy hooks",
    "threads": "threads imports",
    "contexts": "threads",
    "learn": "threads distiller",
    "memories": "memories recall search candidates",
    "brief": "projects",
    "spaces": "projects spaces tokens",
    "mcp": "mcp",
    "tools": "tools",
    "documents": "documents index",
    "admin": "status backups compact metrics openapi.json",
    "dreams": "dreams schedules",
    "history": "operations rollback history diff archives events",
    "jobs": "jobs",
    "redactions": "redactions",
    "runs": "runs",
    "sync": "conflicts sync",
}
"""The first segments of its paths, by module."""

FREQUENT: Final = ("sessions", "threads", "memories", "mcp", "tools", "documents")
"""Nouns of the requests that agents and their hooks wait for."""

FIRST_S: Final = 0.1  # whoever started the daemon asks for its health in this time


def routes_of(noun: str) -> Table:
    """Return the endpoints of a noun with their handlers, none where there is no such noun."""
    for module, nouns in NOUNS.items():
        if noun in nouns.split():
            import_module(f"{__name__}.{module}")
    return Table({row: handler for row, handler in API.items() if noun_of(row.path) == noun})


def routes() -> Table:
    """Return every endpoint with its handler."""
    for module in NOUNS:
        import_module(f"{__name__}.{module}")
    return API


async def load_frequent() -> None:
    """Import what agents' requests need, in parts, between which requests are answered; the first one goes before."""
    await asyncio.sleep(FIRST_S)
    for noun in FREQUENT:
        routes_of(noun)
        await asyncio.sleep(0)
