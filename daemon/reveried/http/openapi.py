"""Generator of openapi.json from the table of routes and the wire structs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from reveried import __version__

if TYPE_CHECKING:
    from reveried.http.routing import Route, Table

__all__ = ["openapi"]

REFERENCES = "#/components/schemas/{name}"
_PARAMETER = re.compile(r"\{(\w+)(?::path)?\}")
_ERROR_STATUSES = ("400", "401", "403", "404", "409", "410", "413", "415", "422", "426", "500", "502", "503", "507")
_ERROR_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What failed. `details.hint` says what to do.",
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}, "details": {"type": "object"}},
    "required": ["error", "message", "details"],
    "additionalProperties": False,
}


def openapi(table: Table) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of all routes."""
    types = _types(table)
    schemas, components = msgspec.json.schema_components(types, ref_template=REFERENCES)
    by_type = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for (method, path), route in sorted(table.items(), key=lambda row: (row[0][1], row[0][0])):
        shown = _PARAMETER.sub(r"{\1}", path)
        paths.setdefault(shown, {})[method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Reverie",
            "version": __version__,
            "description": "A local daemon that gives agents a memory which survives distillation.",
        },
        "paths": paths,
        "components": {
            "schemas": {**components, "Error": _ERROR_SCHEMA},
            "responses": {
                "Error": {
                    "description": "The request failed.",
                    "content": _json({"$ref": "#/components/schemas/Error"}),
                }
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _types(table: Table) -> list[Any]:
    """Return every type of a request body or an answer, once each."""
    found: dict[str, Any] = {}
    for route in table.values():
        for kind in (route.body, route.answer):
            if kind is not None:
                found.setdefault(repr(kind), kind)
    return list(found.values())


def _operation(route: Route, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the operation object of one route; `schemas` are those of its types, by their repr."""
    operation: dict[str, Any] = {"summary": route.summary, "operationId": _name(route)}
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PARAMETER.findall(route.path)
    ]
    parameters += [{"name": name, "in": "query", "schema": {"type": "string"}} for name in route.query]
    if route.method == "POST":
        parameters.append({"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}})
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _json(schemas[repr(route.body)])}
    answer: dict[str, Any] = {"description": route.summary}
    if route.answer is not None:
        answer["content"] = _json(schemas[repr(route.answer)])
    operation["responses"] = {str(route.status): answer} | {
        status: {"$ref": "#/components/responses/Error"} for status in _ERROR_STATUSES
    }
    return operation


def _name(route: Route) -> str:
    """Return a unique operationId: method and path as words, `get_threads_id`."""
    words = re.sub(r"[^A-Za-z0-9]+", " ", route.path.removeprefix("/v1")).split()
    return "_".join([route.method.lower(), *words])


def _json(schema: Any) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
