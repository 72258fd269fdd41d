"""Tool definitions: names, parameters, descriptions, and the envelope of each API."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import msgspec
import pytest

from reverie import tokenizer, tools
from reverie.models import NoteCategory

PATCHES = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
        "required": ["oldText", "newText"],
        "additionalProperties": False,
    },
}
TEXTS = {"type": "array", "items": {"type": "string"}}
TEXT = {"type": "string"}
KINDS = ["fact", "mistake", "observation", "preference", "procedure", "skill"]
SIGNATURES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "search": (
        {"query": TEXT, "since": TEXT, "before": TEXT, "project": TEXT, "limit": {"type": "integer"}},
        ["query"],
    ),
    "read_thread": ({"thread": TEXT, "around": {"type": "integer"}, "limit": {"type": "integer"}}, ["thread"]),
    "remember": ({"fact": TEXT, "type": {**TEXT, "enum": KINDS}, "project": TEXT}, ["fact"]),
    "note": (
        {"content": TEXT, "category": {**TEXT, "enum": sorted(get_args(NoteCategory))}},
        ["content", "category"],
    ),
    "memory_list": ({}, []),
    "memory_read": ({"path": TEXT, "offset": {"type": "integer"}, "limit": {"type": "integer"}}, ["path"]),
    "memory_write": ({"path": TEXT, "content": TEXT}, ["path", "content"]),
    "memory_patch": ({"path": TEXT, "patches": PATCHES}, ["path", "patches"]),
    "memory_append": ({"path": TEXT, "entry": TEXT, "summary": TEXT}, ["path", "entry"]),
    "memory_delete": ({"path": TEXT}, ["path"]),
    "recall": ({"query": TEXT, "limit": {"type": "integer"}, "minScore": {"type": "number"}}, ["query"]),
    "working_state_get": ({}, []),
    "working_state_set": (
        {
            "currentTask": TEXT,
            "taskChain": TEXTS,
            "completedSteps": TEXTS,
            "nextSteps": TEXTS,
            "openFiles": TEXTS,
            "recentDecisions": TEXTS,
            "blockers": TEXTS,
        },
        [],
    ),
}
"""Seed 004, section 6, and seed 001, tier 5: every tool with its parameters, and those it cannot do without.

`memory_read` has a range as well: a whole file may be larger than a context. `recall` is silent about the unrelated,
and `minScore` overrides that.
"""
OFFERED = (
    "search",
    "read_thread",
    "remember",
    "note",
    "memory_list",
    "memory_read",
    "memory_write",
    "memory_patch",
    "memory_append",
)


def without_texts(schema: Any) -> Any:
    """Return a schema without descriptions, bounds and defaults."""
    match schema:
        case {"properties": dict(properties)}:
            result = {"type": "object", "properties": {name: without_texts(rule) for name, rule in properties.items()}}
            return {**result, "required": schema["required"], "additionalProperties": schema["additionalProperties"]}
        case {"items": items}:
            return {"type": schema["type"], "items": without_texts(items)}
        case dict():
            return {name: schema[name] for name in ("type", "enum") if name in schema}


def test_the_inputs_are_as_specified() -> None:
    """Names, parameters and required ones are as specified; no other parameters, no references."""
    schemas = {tool.name: tools.input_schema(tool.input_type) for tool in tools.TOOLS}
    expected = {
        name: {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        for name, (properties, required) in SIGNATURES.items()
    }

    assert {name: without_texts(schema) for name, schema in schemas.items()} == expected
    assert "$ref" not in str(schemas)


@pytest.mark.parametrize("form", tools.FORMATS)
def test_agents_are_offered_nine_tools_in_2000_tokens(form: tools.Format) -> None:
    """The list of each API has the nine tools, and as JSON with every schema and description at most 2,000 tokens."""
    listed = tools.definitions(form)

    assert tuple(item.get("name") or item["function"]["name"] for item in listed) == OFFERED
    assert tokenizer.count(json.dumps(listed, separators=(",", ":"))) <= 2_000


def test_every_parameter_is_explained() -> None:
    """Every parameter has a description, and so have the fields of list items."""
    for item in tools.definitions("anthropic"):
        for name, rule in item["input_schema"]["properties"].items():
            assert rule["description"], (item["name"], name)


def test_descriptions_say_when_to_use_a_tool() -> None:
    """Each offered tool says when to use it, in three sentences at most."""
    for tool in tools.LISTED:
        assert re.search(r"\b(Use it|Load those)\b", tool.description), tool.name
        assert tool.description.count(". ") <= 2, tool.name


def test_every_api_gets_its_envelope() -> None:
    """The same schema is under each API's own name for it."""
    schemas = {item["name"]: item["input_schema"] for item in tools.definitions("anthropic")}

    for item in tools.definitions("openai"):
        assert set(item) == {"type", "function"}
        assert set(item["function"]) == {"name", "description", "parameters"}
        assert item["function"]["parameters"] == schemas[item["function"]["name"]]
    for item in tools.definitions("mcp"):
        assert set(item) - {"_meta", "outputSchema"} == {"name", "description", "inputSchema", "annotations"}
        assert item["inputSchema"] == schemas[item["name"]]
        assert item["annotations"]["readOnlyHint"] is tools.LISTED[list(schemas).index(item["name"])].read_only
    assert tools.FORMATS == ("anthropic", "openai", "mcp")


def test_results_that_are_objects_have_a_schema() -> None:
    """What is text for reading has no output schema; every other result has one, an object without references."""
    schemas = {tool.name: tools.input_schema(tool.output_type) for tool in tools.TOOLS if tool.output_type is not None}

    assert {tool.name for tool in tools.TOOLS} - schemas.keys() == {"search", "read_thread", "remember", "memory_read"}
    assert all(schema["type"] == "object" for schema in schemas.values())
    assert "$ref" not in str(schemas)
    assert schemas["recall"]["required"] == ["about", "memories"]
    assert schemas["memory_patch"]["properties"]["appliedCount"] == {"type": "integer"}


def test_a_client_of_mcp_learns_what_a_tool_changes() -> None:
    """MCP annotations mark destructive and not idempotent tools; `search` and `remember` are loaded at once."""
    items = {item["name"]: item for item in tools.definitions("mcp")}
    hints = {name: item["annotations"] for name, item in items.items()}

    assert {name for name in items if hints[name]["destructiveHint"]} == {"memory_write", "memory_patch"}
    assert not any(hints[name]["idempotentHint"] for name in ("note", "memory_append", "memory_patch"))
    assert all(hint["idempotentHint"] for hint in hints.values() if hint["readOnlyHint"])
    loaded = {name for name, item in items.items() if item.get("_meta", {}).get("anthropic/alwaysLoad")}
    assert loaded == {"search", "remember"}


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
def test_the_schema_agrees_with_the_input_struct(tool: tools.Tool) -> None:
    """Fields without a default are required, and an unknown name is refused."""
    properties, required = SIGNATURES[tool.name]
    samples = {"path": "facts/user.md", "patches": [{"oldText": "a", "newText": "b"}], "category": "task", "limit": 3}
    samples |= {"offset": 2, "minScore": 0.5, "around": 7, "type": "mistake"}
    values = {name: samples.get(name, ["x"] if properties[name] == TEXTS else "x") for name in properties}

    parsed = msgspec.convert(values, tool.input_type)
    assert msgspec.to_builtins(parsed) == values
    for name in required:
        with pytest.raises(msgspec.ValidationError, match=name):
            msgspec.convert({field: value for field, value in values.items() if field != name}, tool.input_type)
    with pytest.raises(msgspec.ValidationError, match="unknown"):
        msgspec.convert({**values, "other": 1}, tool.input_type)


def test_a_tool_is_found_by_its_name() -> None:
    """An unknown name gives None."""
    assert all(tools.tool_named(tool.name) is tool for tool in tools.TOOLS)
    assert tools.tool_named("memory_burn") is None
