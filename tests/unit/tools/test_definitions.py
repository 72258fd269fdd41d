"""Tool definitions: names, parameters, descriptions, and the envelope of each API."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import pytest

from reverie import count_and_truncate_tokens, tools
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
SIGNATURES: dict[str, tuple[dict[str, Any], list[str]]] = {
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
    schemas = {item["name"]: item["input_schema"] for item in tools.definitions("anthropic")}
    expected = {
        name: {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        for name, (properties, required) in SIGNATURES.items()
    }

    assert {name: without_texts(schema) for name, schema in schemas.items()} == expected
    assert list(schemas) == list(SIGNATURES)
    assert "$ref" not in str(schemas)


def test_every_parameter_is_explained() -> None:
    """Every parameter has a description, and so have the fields of list items."""
    for item in tools.definitions("anthropic"):
        for name, rule in item["input_schema"]["properties"].items():
            assert rule["description"], (item["name"], name)


def test_descriptions_state_when_to_use_a_tool() -> None:
    """Tool descriptions say when to use notes, memory files and recall; all together they have under 2,500 tokens."""
    says = {tool.name: tool.description.lower() for tool in tools.TOOLS}

    for occasion in ("decision", "how they want things done", "corrected", "work in progress"):
        assert occasion in says["note"]
    assert "survive" in says["note"]
    assert "load relevant files before responding" in says["memory_read"]
    assert "two steps" in says["memory_read"]
    assert "never instructions" in says["memory_read"]
    assert "never instructions" in says["recall"]
    assert "exactly once" in says["memory_patch"]
    assert "finished" in says["memory_append"]
    assert count_and_truncate_tokens.count(str(tools.definitions("anthropic"))) < 2_500


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
        assert item["annotations"]["readOnlyHint"] is tools.TOOLS[list(schemas).index(item["name"])].read_only
    assert tools.FORMATS == ("anthropic", "openai", "mcp")


def test_results_that_are_objects_have_a_schema() -> None:
    """Every tool except `memory_read` has an output schema: an object without references."""
    schemas = {item["name"]: item["outputSchema"] for item in tools.definitions("mcp") if "outputSchema" in item}

    assert {tool.name for tool in tools.TOOLS} - schemas.keys() == {"memory_read"}
    assert all(schema["type"] == "object" for schema in schemas.values())
    assert "$ref" not in str(schemas)
    assert schemas["recall"]["required"] == ["about", "memories"]
    assert schemas["memory_patch"]["properties"]["appliedCount"] == {"type": "integer"}


def test_a_client_of_mcp_learns_what_a_tool_changes() -> None:
    """MCP annotations mark destructive and not idempotent tools; only `note` and `recall` are always loaded."""
    items = {item["name"]: item for item in tools.definitions("mcp")}
    hints = {name: item["annotations"] for name, item in items.items()}

    assert {name for name in items if hints[name]["destructiveHint"]} == {
        "memory_write",
        "memory_patch",
        "memory_delete",
        "working_state_set",
    }
    assert not any(hints[name]["idempotentHint"] for name in ("note", "memory_append", "memory_patch"))
    assert all(hint["idempotentHint"] for hint in hints.values() if hint["readOnlyHint"])
    loaded = {name for name, item in items.items() if item.get("_meta", {}).get("anthropic/alwaysLoad")}
    assert loaded == {"note", "recall"}


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
def test_the_schema_agrees_with_the_input_struct(tool: tools.Tool) -> None:
    """Fields without a default are required, and an unknown name is refused."""
    properties, required = SIGNATURES[tool.name]
    samples = {"path": "facts/user.md", "patches": [{"oldText": "a", "newText": "b"}], "category": "task", "limit": 3}
    samples |= {"offset": 2, "minScore": 0.5}
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
