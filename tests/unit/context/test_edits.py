"""Tests of clearing old tool results by our own rules, for models whose server does not do it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reverie.context.assemble import assemble
from reverie.context.edits import PLACEHOLDER, clear, server_edits, tool_uses_to_clear
from reverie.context.inputs import Limits, Parts
from reverie.context.units import split_units
from support.api_rules import violations
from support.talk import Talk

LIMITS = Limits(window=20_000, keep_tool_uses=3)


def busy(calls: int, size: int = 1_000) -> Talk:
    talk = Talk().user("go")
    for number in range(calls):
        talk.call("Bash", {"command": f"step {number}"}, "word " * size, thinking=f"thought {number}")
    return talk


def ids(talk: Talk, limits: Limits = LIMITS, beside: int = 0) -> list[str]:
    return tool_uses_to_clear(split_units(talk.done())[0], limits, beside)


def test_nothing_below_the_trigger() -> None:
    """Tool results are cleared only once the conversation passes 0.60 of the window."""
    assert ids(busy(11)) == []
    assert ids(busy(12)) == [f"toolu_{number:04}" for number in range(1, 10)]


def test_everything_beside_the_conversation_counts() -> None:
    """The trigger of clearing counts the tokens beside the conversation too."""
    assert ids(busy(11), beside=1_000) == [f"toolu_{number:04}" for number in range(1, 9)]


def test_the_newest_tool_uses_are_kept() -> None:
    """All results but those of the newest tool uses are cleared, oldest first."""
    assert ids(busy(15), replace(LIMITS, keep_tool_uses=14)) == []
    assert ids(busy(15), replace(LIMITS, keep_tool_uses=13)) == []
    assert ids(busy(15), replace(LIMITS, keep_tool_uses=12)) == ["toolu_0001", "toolu_0002", "toolu_0003"]
    assert len(ids(busy(15), replace(LIMITS, keep_tool_uses=0))) == 15


def test_too_little_to_clear_clears_nothing() -> None:
    """Nothing is cleared below `clear_at_least`, as the cached prefix is worth more than the freed tokens."""
    assert ids(busy(12), replace(LIMITS, clear_at_least=0.50)) == []


def test_calls_stay_and_results_become_a_placeholder() -> None:
    """Each call keeps its input, its result becomes a placeholder, and the cleared ids are returned in order."""
    units, cleared = clear(split_units(busy(13).done())[0], LIMITS)
    contents = [block["content"] for piece in units for block in piece.user_blocks if block["type"] == "tool_result"]

    assert contents == [PLACEHOLDER] * 10 + ["word " * 1_000] * 3
    assert [item.id for item in cleared] == [f"toolu_{number:04}" for number in range(1, 11)]
    assert [piece.assistant_blocks[-1]["input"] for piece in units[1:]] == [{"command": f"step {n}"} for n in range(13)]


def test_thinking_of_the_last_turns_is_kept() -> None:
    """The last `keep_thinking_turns` turns keep their thinking blocks; older turns lose them."""
    talk = Talk()
    for number in range(4):
        talk.user(f"q{number}").call("Bash", {}, "ok", thinking=f"thought {number}").reply("a")

    def thoughts(turns: int) -> list[Any]:
        units, _ = clear(split_units(talk.done())[0], replace(LIMITS, keep_thinking_turns=turns))
        return [block["thinking"] for piece in units for block in piece.assistant_blocks if block["type"] == "thinking"]

    assert thoughts(2) == ["thought 2", "thought 3"]
    assert thoughts(9) == ["thought 0", "thought 1", "thought 2", "thought 3"]
    assert thoughts(0) == []


def test_only_models_without_server_side_editing_are_cleared_here() -> None:
    """130,000 tokens of tool results are cleared for a local model, and left to the server for the others."""
    talk = busy(130).done()
    local = assemble(Parts(messages=talk, model="local-model"), Limits())
    served = assemble(Parts(messages=talk, model="claude-sonnet-4-5"), Limits())

    assert violations(local.request) == violations(served.request) == []
    assert local.tokens["total"] < 15_000
    assert served.tokens["total"] > 130_000
    assert local.request["context_management"] == {"edits": []}
    assert [edit["type"] for edit in server_edits("claude-sonnet-4-5", Limits())] == [
        "clear_thinking_20251015",
        "clear_tool_uses_20250919",
    ]
    assert len([item for item in local.dropped if item.why == "cleared"]) == 122
