"""`GET /v1/openapi.json`: the OpenAPI description of this API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reveried.http.call import Reply
from reveried.http.routing import Route

if TYPE_CHECKING:
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def description(call: Call) -> Reply:
    """Return the OpenAPI 3.1 document of all routes."""
    return Reply(call.services.description())


ROUTES = (Route("GET", "/v1/openapi.json", description, "Returns this description."),)
