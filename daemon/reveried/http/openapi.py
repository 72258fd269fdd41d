"""Generator of openapi.json from the endpoints and the wire structs."""

from __future__ import annotations

import re
from types import NoneType
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import wire
from reveried import __version__
from reveried.http.types import KEY_BYTES_MAX, PATH_PARAMETER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.api.endpoint import Endpoint

REFERENCES = "#/components/schemas/{name}"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
_ERRORS = {
    "400": "The request is not valid: `details.field` names what is wrong.",
    "401": "The bearer token is missing or unknown.",
    "403": "The caller may not do this.",
    "404": "There is no such thing in this space.",
    "409": "Another writer was faster, the thing is in the way, or the idempotency key is of another request.",
    "410": "The events after this cursor have been removed, or the store is older than it.",
    "413": "Something is larger than a limit.",
    "415": "The body is not JSON in UTF-8, or is compressed.",
    "422": "The token budget is too small: `details.minimumRequired` is enough where the `contextWindow` is as large.",
    "426": "The caller speaks another version of the protocol.",
    "500": "The daemon or its store failed.",
    "502": "The language model failed.",
    "503": "The daemon starts, stops or has too much to do: try again after `Retry-After` seconds.",
    "507": "The disk is full.",
}
_ERROR_HEADERS: dict[str, dict[str, Any]] = {
    "401": {"WWW-Authenticate": {"schema": {"type": "string"}}},
    "503": {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 1}}},
}
_ERROR_SCHEMA: dict[str, Any] = {
    "title": "Error",
    "type": "object",
    "description": "Why a request failed: a code that never changes, and a sentence.",
    "properties": {
        "error": {"type": "string", "description": "The code.", "examples": ["validation_error", "not_found"]},
        "message": {"type": "string"},
        "details": {
            "type": "object",
            "description": "`hint` says what to do next; the other fields depend on the code.",
            "properties": {"hint": {"type": "string"}},
            "additionalProperties": True,
        },
    },
    "required": ["error", "message", "details"],
    "additionalProperties": False,
}
_TAGS = {
    "daemon": "The daemon itself: health, status, figures, backups, jobs and events.",
    "threads": "Conversations, their contexts, notes, working states and distillations.",
    "memories": "Memories one by one, and the search for them.",
    "documents": "The markdown files that memories are read from, and the index of them.",
    "folder": "The folder on disk: its sync, and conflicts between files and the store.",
    "history": "What was written, by whom, and taking it back.",
    "dreams": "Distilling the memories, now or on a schedule.",
    "tools": "The tools of agents.",
    "mcp": "The Model Context Protocol over HTTP.",
    "imports": "Transcripts of other programs.",
}
_TAG_OF_NOUN = {
    "recall": "memories",
    "index": "documents",
    "conflicts": "folder",
    "sync": "folder",
    "operations": "history",
    "rollback": "history",
    "diff": "history",
    "archives": "history",
    "schedules": "dreams",
}
_KEY_PARAMETER: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A name for this request: a repeated one gets the first answer again. A random UUID is a good key.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_BYTES_MAX, "pattern": "^[!-~]([ -~]*[!-~])?$"},
}
_PRECONDITIONS: tuple[dict[str, Any], ...] = (
    {
        "name": "If-Match",
        "in": "header",
        "description": "The `ETag` of the version that was read, or `*` for any; another version is 409.",
        "schema": {"type": "string", "pattern": '^("[0-9a-f]{64}"|\\*)$'},
    },
    {
        "name": "If-None-Match",
        "in": "header",
        "description": "`*`: only if there is no document at this path yet.",
        "schema": {"type": "string", "enum": ["*"]},
    },
)
_ETAG_HEADER = {"description": "The version, for `If-Match`.", "schema": {"type": "string"}}
_LOCATION_HEADER = {"description": "The path of what was made.", "schema": {"type": "string"}}


def openapi(endpoints: Iterable[Endpoint[..., Any]]) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of endpoints."""
    rows = sorted(endpoints, key=lambda row: (row.path, row.method))
    types = _types(rows)
    schemas, components = msgspec.json.schema_components(types, ref_template=REFERENCES)
    by_type = dict(zip(map(repr, types), map(_with_items, schemas), strict=True))
    used = _used_components([*by_type.values()], components)
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        shown = PATH_PARAMETER.sub(r"{\1}", row.path)
        paths.setdefault(shown, {})[row.method.lower()] = _operation(row, by_type)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Reverie",
            "version": __version__,
            "description": "A local daemon that gives agents a memory which survives distillation.",
        },
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {**{name: _with_items(components[name]) for name in used}, "Error": _ERROR_SCHEMA},
            "responses": {f"Error{status}": _error(status) for status in _ERRORS},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _types(rows: list[Endpoint[..., Any]]) -> list[Any]:
    """Return the types of all request bodies and answers, without repetition and without the types nested in them."""
    types: dict[str, Any] = {}
    for row in rows:
        for kind in (row.body_kind, _shown(row), wire.JobAccepted if row.job else None):
            if kind is not None:
                types.setdefault(repr(kind), kind)
    return list(types.values())


def _shown(row: Endpoint[..., Any]) -> Any:
    """Return the type of an answer in JSON, or None."""
    return row.shows or (None if row.answer in (NoneType, str, bytes) else row.answer)


def _used_components(schemas: list[Any], components: dict[str, Any]) -> list[str]:
    """Return the names of the components that `schemas` refer to, also through others, in alphabetical order."""
    names: set[str] = set()
    rest: list[Any] = list(schemas)
    while rest:
        for name in re.findall(r'"#/components/schemas/([^"]+)"', msgspec.json.encode(rest.pop()).decode()):
            if name not in names:
                names.add(name)
                rest.append(components[name])
    return sorted(names)


def _with_items(schema: Any) -> Any:
    """Return a schema in which every array says what its items are, where msgspec leaves out `items` of any type."""
    if isinstance(schema, list):
        return [_with_items(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    whole = {name: _with_items(part) for name, part in schema.items()}
    if whole.get("type") == "array" and "items" not in whole:
        whole["items"] = {}
    return whole


def _operation(row: Endpoint[..., Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the operation object of one route; `schemas` are those of its types, by their repr."""
    operation: dict[str, Any] = {"tags": [_tag(row)], "summary": row.summary, "operationId": _name(row)}
    parameters = [_path_parameter(name, whole=bool(rest)) for name, rest in PATH_PARAMETER.findall(row.path)]
    parameters += _query_parameters(row)
    if row.method == "POST":
        parameters.append(_KEY_PARAMETER)
    if row.etag and row.method != "GET":
        parameters += _PRECONDITIONS
    if parameters:
        operation["parameters"] = parameters
    if row.raw:
        operation["requestBody"] = {"required": True, "content": {"application/octet-stream": {"schema": {}}}}
    elif row.body_kind is not None:
        required = any(field.required for field in msgspec.structs.fields(row.body_kind))
        operation["requestBody"] = {"required": required, "content": _json(schemas[repr(row.body_kind)])}
    operation["responses"] = _answers(row, schemas) | {
        status: {"$ref": f"#/components/responses/Error{status}"} for status in _error_statuses(row)
    }
    return operation


def _path_parameter(name: str, *, whole: bool) -> dict[str, Any]:
    parameter = {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    return parameter | ({"description": "A path; its `/` may be sent as they are or as `%2F`."} if whole else {})


def _query_parameters(row: Endpoint[..., Any]) -> list[dict[str, Any]]:
    """Return the parameters of a route's query struct, with types, bounds and defaults."""
    (reference,), components = msgspec.json.schema_components([row.query_kind], ref_template=REFERENCES)
    struct = components[reference["$ref"].rpartition("/")[2]]
    parameters = []
    for name, rule in struct["properties"].items():
        schema = {key: part for key, part in rule.items() if key != "default" or part is not None}
        if "anyOf" in schema:  # a parameter that may be left out is never null
            schema = next(dict(option) for option in schema["anyOf"] if option.get("type") != "null")
        schema = {"type": "string", **schema} if "enum" in schema else schema
        parameter = {"name": name, "in": "query", "required": name in struct["required"]}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        parameters.append({**parameter, "schema": schema})
    return parameters


def _answers(row: Endpoint[..., Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the responses of a call that succeeds, by status."""
    answer: dict[str, Any] = {"description": row.summary}
    if _shown(row) is not None:
        answer["content"] = _json(schemas[repr(_shown(row))])
        if row.text:
            answer["content"][TEXT] = {"schema": {"type": "string"}}
    elif row.media != JSON:
        answer["content"] = {row.media: {"schema": {"type": "string"}}}
    headers: dict[str, Any] = {}
    if row.etag and row.method != "DELETE":
        headers["ETag"] = _ETAG_HEADER
    if row.status == 201 and "{" not in row.path:
        headers["Location"] = _LOCATION_HEADER
    if headers:
        answer["headers"] = headers
    if not row.job:
        return {str(status): answer for status in (row.status, *row.also)}
    started = {
        "description": "The work has begun as a job; GET /v1/jobs/{job} follows it.",
        "headers": {"Location": _LOCATION_HEADER},
        "content": _json(schemas[repr(wire.JobAccepted)]),
    }
    return {"200": answer | {"description": "With `wait=true`: the result."}, "202": started}


def _error_statuses(row: Endpoint[..., Any]) -> list[str]:
    """Return the statuses of the errors that a route may answer."""
    left_out = set() if row.path == "/v1/events" else {"410"}
    if row.method == "GET":
        left_out |= {"415", "507"}
    return [status for status in _ERRORS if status not in left_out]


def _error(status: str) -> dict[str, Any]:
    """Return the response component of one error status."""
    headers = {"headers": _ERROR_HEADERS[status]} if status in _ERROR_HEADERS else {}
    return {"description": _ERRORS[status], **headers, "content": _json({"$ref": "#/components/schemas/Error"})}


def _noun(row: Endpoint[..., Any]) -> str:
    return row.path.removeprefix("/v1").split("/")[1]


def _tag(row: Endpoint[..., Any]) -> str:
    """Return the group of a route: by its noun, else `daemon`."""
    noun = _noun(row)
    return noun if noun in _TAGS else _TAG_OF_NOUN.get(noun, "daemon")


def _name(row: Endpoint[..., Any]) -> str:
    """Return a unique operationId: method and path as words, `get_threads_id`."""
    shown = PATH_PARAMETER.sub(r"\1", row.path.removeprefix("/v1"))
    words = re.sub(r"[^A-Za-z0-9]+", " ", shown).split()
    return "_".join([row.method.lower(), *words])


def _json(schema: Any) -> dict[str, Any]:
    return {JSON: {"schema": schema}}
