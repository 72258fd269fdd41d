"""Makes the ASGI application from the table of routes: matching by starlette, failures in the closed envelope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Match
from starlette.routing import Route as StarletteRoute

from reverie.errors import NotFound
from reveried.http.endpoint import Endpoint, send_error
from reveried.http.envelope import MethodNotAllowed

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from reveried.http.table import Table
    from reveried.services import Services

__all__ = ["Application"]

SHOWN_CHARS = 80


class Application:
    """Every call of the surface; what is none of them is 404 or 405."""

    def __init__(self, table: Table, services: Services) -> None:
        routes = [
            StarletteRoute(path, Endpoint(route, services), methods=[method]) for (method, path), route in table.items()
        ]
        # An exact path goes before a pattern, so that `/v1/jobs/all` would never read as a job named `all`.
        routes.sort(key=lambda route: ("{" in route.path, ":path}" in route.path))
        self._by_noun: dict[str, list[StarletteRoute]] = {}
        for route in routes:
            self._by_noun.setdefault(_noun(route.path), []).append(route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        allowed: set[str] = set()
        for route in self._by_noun.get(_noun(scope["path"]), ()):
            match, child = route.matches(scope)
            if match is Match.FULL:
                scope.update(child)
                await route.handle(scope, receive, send)
                return
            if match is Match.PARTIAL:
                allowed |= route.methods or set()
        if allowed:
            await send_error(MethodNotAllowed(scope["method"], allowed), send)
        else:
            await self._unknown(scope, receive, send)

    async def _unknown(self, scope: Scope, receive: Receive, send: Send) -> None:
        del receive
        shown = scope["path"][:SHOWN_CHARS]
        await send_error(NotFound(f"There is no {shown!r} here.", hint="See /v1/openapi.json."), send)


def _noun(path: str) -> str:
    """What a path is about, `threads` of `/v1/threads/x`: only routes of one noun are compared with it."""
    return path.removeprefix("/v1/").partition("/")[0]
