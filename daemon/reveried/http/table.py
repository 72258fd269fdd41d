"""One row per call of the surface, and the mapping that refuses two rows for one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from reveried.http.call import Call, Reply, Stream

__all__ = ["Handler", "Route", "Table", "table"]

Handler = Callable[[Call], Awaitable[Reply | Stream]]


@dataclass(frozen=True, slots=True)
class Route:
    """One call: what it is matched by, what runs, and what openapi.json says of it.

    `path` may hold `{name}` (one segment) and, last, `{name:path}` (the rest). `takes` and `gives` are wire structs
    (`takes` is for documentation; the handler reads the body by `call.into(Struct)`). A `raw` route takes a body of
    any type, the others JSON only.
    """

    method: str
    path: str
    handler: Handler
    says: str
    takes: Any = None
    gives: Any = None
    status: int = 200
    query: tuple[str, ...] = ()
    raw: bool = False


Table = dict[tuple[str, str], Route]


def table(*groups: Iterable[Route]) -> Table:
    """All routes by (method, path).

    Raises:
        ValueError: two routes claim one call.
    """
    rows: Table = {}
    for route in (route for group in groups for route in group):
        key = (route.method, route.path)
        if key in rows:
            raise ValueError(f"two routes claim {route.method} {route.path}")
        rows[key] = route
    return rows
