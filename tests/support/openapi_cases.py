"""Random valid and invalid requests drawn from an OpenAPI description, and the check of answers against it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.daemon import Answer

DEPTH_MAX = 3
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_TEXT = st.text(max_size=12) | st.sampled_from(["facts/a.md", "t0", "1", "0", "- a b c", "../x", "\x00", "1" * 600])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)


@dataclass(frozen=True, slots=True)
class Case:
    """One request of an operation."""

    method: str
    path: str  # as the description has it
    target: str
    body: bytes | None
    headers: dict[str, str] = field(default_factory=dict)


def cases(described: dict[str, Any], ids: list[str], *, without: set[str]) -> st.SearchStrategy[Case]:
    """Return requests of all operations but those of paths in `without`; `ids` are values that exist."""
    operations = [
        _case(described, (method, path), operation, ids)
        for path, item in described["paths"].items()
        if path not in without
        for method, operation in item.items()
    ]
    return st.one_of(operations)


def mistakes_of(described: dict[str, Any], case: Case, answer: Answer) -> list[str]:
    """Return how an answer differs from what the description says about it."""
    documented = described["paths"][case.path][case.method]["responses"]
    response = documented.get(str(answer.status))
    if answer.status >= 500:
        return [f"{answer.status}: {answer.body!r}"]
    if response is None:
        return [f"{answer.status} is not described"]
    response = _resolved(described, response)
    content = response.get("content", {})
    media = answer.headers.get("content-type", "")
    if not content:
        return [f"a body of {media} where none is described"] if answer.body else []
    if media not in content:
        return [f"{media!r} is not one of {list(content)}"]
    missing = [f"no header {name}" for name in response.get("headers", {}) if name.lower() not in answer.headers]
    if not media.startswith("application/json"):
        return missing
    return missing + list(_mistakes(described, content[media]["schema"], answer.json(), "$"))


@st.composite
def _case(draw: st.DrawFn, described: dict[str, Any], call: tuple[str, str], operation: Any, ids: list[str]) -> Case:
    method, path = call
    target, query, headers = path, {}, {}
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if parameter["in"] == "path":
            value = draw(st.sampled_from(ids) | _TEXT.filter(bool))
            target = target.replace(f"{{{name}}}", quote(value, safe="", errors="replace"))
            continue
        if not draw(st.booleans()) and not parameter.get("required"):
            continue
        valid = values(described, parameter["schema"])
        value = draw(valid | valid | _TEXT)
        text = json.dumps(value) if isinstance(value, bool | int) else str(value)
        if parameter["in"] == "query":
            query[name] = text.encode("utf-8", "replace")
        elif text.isascii() and text.isprintable() and text == text.strip():
            headers[name] = text
    if draw(st.integers(0, 9)) == 0:
        query["unknown"] = b"1"
    body: bytes | None = None
    if "requestBody" in operation:
        ((media, content),) = operation["requestBody"]["content"].items()
        valid = values(described, content["schema"])
        body = json.dumps(draw(valid | valid | valid | JSON)).encode()
        headers["Content-Type"] = media
        if draw(st.integers(0, 14)) == 0:
            body = draw(st.binary(max_size=20))
    return Case(method, path, f"{target}?{urlencode(query)}" if query else target, body, headers)


def values(described: dict[str, Any], schema: dict[str, Any], depth: int = 0) -> st.SearchStrategy[Any]:
    """Return values that a schema allows, as far as `DEPTH_MAX` levels."""
    schema = _resolved(described, schema)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return st.one_of([values(described, option, depth) for option in schema[key]])
    match schema.get("type"):
        case "string":
            return _strings(schema)
        case "integer":
            least = schema.get("minimum", -(2**63))
            return st.integers(least, min(schema.get("maximum", 2**63 - 1), least + 10**6)) | st.just(least)
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "boolean":
            return st.booleans()
        case "null":
            return st.none()
        case "array":
            most = 0 if depth > DEPTH_MAX else min(schema.get("maxItems", 3), 3)
            least = schema.get("minItems", 0)
            item = values(described, schema.get("items", {}), depth + 1)
            return st.lists(item, min_size=least, max_size=max(least, most))
        case "object":
            return _objects(described, schema, depth)
        case _:
            return JSON


def _strings(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), min(schema.get("maxLength", 20), 20)
    if "pattern" in schema:
        text = st.from_regex(re.compile(schema["pattern"].replace("(?!\\n)", ""), re.ASCII), fullmatch=True)
        return text.filter(lambda value: least <= len(value) <= schema.get("maxLength", 1_000))
    return st.text(min_size=least, max_size=max(least, most)) | st.just("facts/a.md")


def _objects(described: dict[str, Any], schema: dict[str, Any], depth: int) -> st.SearchStrategy[dict[str, Any]]:
    properties = {
        name: values(described, part, depth + 1)
        for name, part in schema.get("properties", {}).items()
        if depth <= DEPTH_MAX or name in schema.get("required", [])
    }
    if not properties:
        inner = schema.get("additionalProperties")
        return st.dictionaries(
            _TEXT, values(described, inner, depth + 1) if isinstance(inner, dict) else JSON, max_size=2
        )
    required = {name: part for name, part in properties.items() if name in schema.get("required", [])}
    optional = {name: part for name, part in properties.items() if name not in required}
    return st.fixed_dictionaries(required, optional=optional)


def _resolved(described: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = described
        for name in schema["$ref"].removeprefix("#/").split("/"):
            found = found[name]
        schema = found
    return schema


def _mistakes(described: dict[str, Any], schema: dict[str, Any], value: Any, where: str) -> Iterator[str]:
    """Yield where a value breaks a schema."""
    schema = _resolved(described, schema)
    for key in ("anyOf", "oneOf"):
        if key in schema and all(list(_mistakes(described, option, value, where)) for option in schema[key]):
            yield f"{where} fits no option: {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where} is {value!r}, not one of {schema['enum']}"
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        yield f"{where} is {value!r}, and no {kind}"
        return
    if isinstance(value, dict):
        properties, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from (f"{where} has no {name}" for name in schema.get("required", []) if name not in value)
        for name, part in value.items():
            if name in properties:
                yield from _mistakes(described, properties[name], part, f"{where}.{name}")
            elif isinstance(more, dict):
                yield from _mistakes(described, more, part, f"{where}.{name}")
            elif not more:
                yield f"{where}.{name} is not described"
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from _mistakes(described, schema.get("items", {}), part, f"{where}[{number}]")
    if isinstance(value, int | float) and not isinstance(value, bool) and value < schema.get("minimum", value):
        yield f"{where} is {value}"
