"""Tool definitions: what each of them says, and that its input is the struct; the golden has them word for word."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from reverie import tokenizer, tools

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


@pytest.mark.parametrize("tool", tools.TOOLS, ids=lambda tool: tool.name)
def test_the_schema_agrees_with_the_input_struct(tool: tools.Tool) -> None:
    """Fields without a default are required, and an unknown name is refused."""
    schema = tools.input_schema(tool.input_type)
    samples = {"path": "facts/user.md", "patches": [{"oldText": "a", "newText": "b"}], "category": "task", "limit": 3}
    samples |= {"offset": 2, "minScore": 0.5, "around": 7, "type": "mistake"}
    properties = schema["properties"]
    values = {name: samples.get(name, ["x"] if properties[name]["type"] == "array" else "x") for name in properties}

    parsed = msgspec.convert(values, tool.input_type)
    assert msgspec.to_builtins(parsed) == values
    for name in schema["required"]:
        with pytest.raises(msgspec.ValidationError, match=name):
            msgspec.convert({field: value for field, value in values.items() if field != name}, tool.input_type)
    with pytest.raises(msgspec.ValidationError, match="unknown"):
        msgspec.convert({**values, "other": 1}, tool.input_type)


def test_a_tool_is_found_by_its_name() -> None:
    """An unknown name gives None."""
    assert all(tools.tool_named(tool.name) is tool for tool in tools.TOOLS)
    assert tools.tool_named("memory_burn") is None
