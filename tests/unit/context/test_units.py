"""Splitting a conversation into units a request accepts: alternating roles, calls with results, no empty blocks."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.context.tokens import MESSAGE, content_cost
from reverie.context.units import split_units, without_thinking
from reverie.models import Message
from support.talk import Talk

USE = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}
NO_CALL = {"type": "text", "text": "[… a tool result without its call …]"}
NO_RESULT = {"type": "text", "text": "[… a call of Bash without a result …]"}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def check(talk: list[tuple[str, Any]], expected: list[tuple[str, list[Any], list[Any]]], lost: int = 0) -> None:
    """Assert that `talk` is split into units of these kinds and blocks, and that `lost` is reported."""
    units, reported = split_units([Message(role, content, n, n) for n, (role, content) in enumerate(talk, 1)])  # type: ignore[arg-type]
    assert [(piece.kind, list(piece.assistant_blocks), list(piece.user_blocks)) for piece in units] == expected
    assert len(reported) == lost


def test_a_call_and_its_result_are_one_unit() -> None:
    """Text beside a call belongs to its unit; text that the user adds to the result is a unit of its own."""
    check(
        [("user", "hi"), ("assistant", [text("I look"), USE]), ("user", [text("wait"), RESULT]), ("assistant", "done")],
        [
            ("user", [], [text("hi")]),
            ("call", [text("I look"), USE], [RESULT]),
            ("user", [], [text("wait")]),
            ("reply", [text("done")], []),
        ],
    )


def test_neighbours_of_one_role_are_joined() -> None:
    """Two adjacent messages of one role are joined; a result may be in the second of them."""
    check(
        [("user", "a"), ("user", "b"), ("assistant", [USE]), ("assistant", "and"), ("user", "c"), ("user", [RESULT])],
        [
            ("user", [], [text("a"), text("b")]),
            ("call", [USE, text("and")], [RESULT]),
            ("user", [], [text("c")]),
        ],
    )


def test_orphans_leave_a_line() -> None:
    """A call without a result and a result without a call become a line; the thinking beside them is dropped."""
    check([("user", [RESULT])], [("user", [], [NO_CALL])], lost=1)
    check([("assistant", [THOUGHT, USE])], [("reply", [NO_RESULT], [])], lost=1)
    check(
        [("assistant", [USE]), ("user", "x"), ("assistant", "y"), ("user", [RESULT])],
        [("reply", [NO_RESULT], []), ("user", [], [text("x")]), ("reply", [text("y")], []), ("user", [], [NO_CALL])],
        lost=2,
    )


def test_an_id_is_used_once() -> None:
    """The second call and the second result of one id are replaced by lines, as the API refuses repeated ids."""
    check(
        [("assistant", [USE, USE]), ("user", [RESULT, RESULT]), ("assistant", [USE]), ("user", [RESULT])],
        [
            ("call", [USE, NO_RESULT], [RESULT]),
            ("user", [], [NO_CALL]),
            ("reply", [NO_RESULT], []),
            ("user", [], [NO_CALL]),
        ],
        lost=4,
    )


@pytest.mark.parametrize("content", ["", "  \n", [], None, 7, [text(" ")], [""], [THOUGHT], {"type": "text"}])
def test_empty_messages_are_dropped(content: Any) -> None:
    """Empty content and thinking without a following block are dropped without a line."""
    check([("assistant", content), ("user", "hi")], [("user", [], [text("hi")])])


@pytest.mark.parametrize(
    ("block", "name"),
    [
        ({"type": "hologram"}, "hologram"),
        ({"type": "no name!"}, "unknown"),
        ({"type": 7}, "unknown"),
        ({}, "unknown"),
        (7, "unknown"),
        ({"type": "image", "source": None}, "image"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}, "image"),
        ({"type": "tool_result", "tool_use_id": "not an id"}, "tool_result"),
        (USE, "tool_use"),
        ({"type": "tool_reference", "tool_name": "x"}, "tool_reference"),
    ],
)
def test_unsupported_blocks_become_a_line(block: Any, name: str) -> None:
    """Unknown and malformed blocks are replaced by a line with their type."""
    check([("user", [block])], [("user", [], [text(f"[… a block of type {name} left out …]")])], lost=1)


@pytest.mark.parametrize(
    "source",
    [
        {"type": "base64", "media_type": "image/png", "data": "aGk="},
        {"type": "url", "url": "https://example.com/a.png"},
        {"type": "file", "file_id": "file_1"},
    ],
)
def test_media_loses_its_cache_breakpoint(source: dict[str, Any]) -> None:
    """Images are unchanged but for a cache breakpoint, as the assembly places those."""
    image = {"type": "image", "source": source}
    check([("user", [{**image, "cache_control": {"type": "ephemeral"}}])], [("user", [], [image])])


def test_bare_strings_and_server_side_blocks() -> None:
    """A string is a text block; blocks of the API's own tools are unchanged; unknown ones of a reply become a line."""
    server = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
    check(
        [("user", ["hi"]), ("assistant", ["so", server, {"type": "tool_use", "id": "t", "name": "x", "input": None}])],
        [
            ("user", [], [text("hi")]),
            ("reply", [text("so"), server, text("[… a block of type tool_use left out …]")], []),
        ],
        lost=1,
    )


def test_thinking_is_unchanged_or_dropped() -> None:
    """Signed thinking is unchanged, unsigned thinking is dropped, and none may end a message."""
    redacted = {"type": "redacted_thinking", "data": "xyz"}
    unsigned = {"type": "thinking", "thinking": "hm", "signature": ""}
    check(
        [("assistant", [redacted, {**THOUGHT, "more": 1}, unsigned, text("so"), THOUGHT])],
        [("reply", [redacted, {**THOUGHT, "more": 1}, text("so")], [])],
        lost=1,
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "[no output]"),
        (None, "[no output]"),
        ([], "[no output]"),
        ([text("")], "[no output]"),
        ([text("x")], [text("x")]),
        ([RESULT], [text("[… a block of type tool_result left out …]")]),
    ],
)
def test_results_are_never_empty(content: Any, expected: Any) -> None:
    """An empty result gets a text; a block that a result may not have becomes a line."""
    units, _ = split_units(Talk().call("Bash", {}, content).done())
    assert units[0].user_blocks[0]["content"] == expected


def test_an_error_stays_an_error() -> None:
    """A true `is_error` is copied, and other fields of the source are not."""
    failed = {**RESULT, "is_error": True, "toolUseResult": {}}
    units, _ = split_units([Message("assistant", [USE], 1, 1), Message("user", [failed], 2, 2)])
    assert units[0].user_blocks == ({**RESULT, "is_error": True},)


def test_rewound_messages_are_left_out() -> None:
    """Messages that the user rewound are not part of the conversation."""
    units, _ = split_units([Message("user", "a", 1, 1, rewound=True), Message("user", "b", 2, 2)])
    assert [piece.user_blocks for piece in units] == [(text("b"),)]


def test_every_text_is_counted_once_and_exactly() -> None:
    """A unit's cost is that of its blocks and messages; without thinking it is less by exactly its tokens."""
    talk = Talk().call("Bash", {"command": "ls -la"}, "a.py\nb.py", thinking="let me see what is there").done()
    [piece] = split_units(talk)[0]
    without = without_thinking(piece)

    assert piece.cost == 2 * MESSAGE + sum(content_cost(message.content) for message in talk)
    assert piece.cost - without.cost == content_cost([talk[0].content[0]])
    assert without_thinking(without) is without
