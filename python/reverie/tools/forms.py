"""The definitions as the model APIs take them: one schema, three envelopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, assert_never, get_args

import msgspec

from reverie.tools.definitions import TOOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.tools.definitions import Tool

__all__ = ["FORMATS", "Format", "definitions"]

Format: TypeAlias = Literal["anthropic", "openai", "mcp"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)

_REFERENCES: Final = "#/$defs/"


def definitions(form: Format) -> list[dict[str, Any]]:
    """Every tool as one API wants it: the items of `tools` in a request, or of an MCP server's `tools/list`."""
    return [_formed(tool, form) for tool in TOOLS]


def _formed(tool: Tool, form: Format) -> dict[str, Any]:
    said = {"name": tool.name, "description": tool.says}
    match form:
        case "anthropic":
            return {**said, "input_schema": _schema(tool)}
        case "openai":
            return {"type": "function", "function": {**said, "parameters": _schema(tool)}}
        case "mcp":
            return {**said, "inputSchema": _schema(tool), "annotations": {"readOnlyHint": tool.reads}}
        case _:
            assert_never(form)


def _schema(tool: Tool) -> dict[str, Any]:
    """The input as JSON Schema without references, which not every model's API follows."""
    (reference,), known = msgspec.json.schema_components([tool.takes], ref_template=_REFERENCES + "{name}")
    whole: dict[str, Any] = _whole(reference, known)
    whole.pop("description", None)
    return whole


def _whole(schema: Any, known: Mapping[str, Any]) -> Any:
    """`schema` with what it refers to in place, names of our own left out, and the type of every enum said."""
    match schema:
        case {"$ref": str(reference)}:
            return _whole(known[reference.removeprefix(_REFERENCES)], known)
        case {"properties": dict(properties)}:
            kept = {name: rule for name, rule in schema.items() if name != "title"}
            return {**kept, "properties": {name: _whole(rule, known) for name, rule in properties.items()}}
        case {"items": items}:
            return {**schema, "items": _whole(items, known)}
        case {"enum": list()}:
            return {"type": "string", **schema}
        case _:
            return schema
