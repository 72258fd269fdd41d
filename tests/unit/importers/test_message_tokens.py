"""Token count of a message: which parts count, and that it is the same alone and in a batch."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from reverie.importers.entry import IMAGE_TOKENS, message_tokens, with_token_counts
from reverie.models import Entry, EntryKind
from reverie.tokenizer import count

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4000}}


@pytest.mark.parametrize(
    ("content", "pieces", "flat"),
    [
        ("some words", ["some words"], 0),
        ("", [], 0),
        (None, [], 0),
        ([], [], 0),
        ([{"type": "text", "text": "a b"}, {"type": "text", "text": "c"}], ["a b", "c"], 0),
        ([{"type": "thinking", "thinking": "let me see", "signature": "x" * 500}], ["let me see"], 0),
        ([{"type": "redacted_thinking", "data": "x" * 500}], [], 0),
        ([{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls -l"}}],
         ["Bash", '{"command":"ls -l"}'], 0),
        ([{"type": "tool_use", "id": "t", "name": "Bash"}], ["Bash", "{}"], 0),
        ([{"type": "tool_result", "tool_use_id": "t", "content": "two words"}], ["two words"], 0),
        ([{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}, IMAGE]}],
         ["x"], IMAGE_TOKENS),
        ([{"type": "tool_result", "tool_use_id": "t"}], [], 0),
        ([IMAGE, {"type": "text", "text": "look"}], ["look"], IMAGE_TOKENS),
        ([{"type": "image", "source": {"type": "url", "url": "https://x"}}], [], IMAGE_TOKENS),
        ([{"type": "document", "source": {"type": "base64", "data": "AAAA"}}], [], IMAGE_TOKENS),
        ([{"type": "of the future", "words": "kept"}], ['{"type":"of the future","words":"kept"}'], 0),
        ([{"type": "text", "text": 5}], ['{"type":"text","text":5}'], 0),
    ],
)  # fmt: skip
def test_tokens_of_a_message(content: Any, pieces: list[str], flat: int) -> None:
    """Tokens count texts, thinking, tool names, inputs and results, a fixed number for images, no signatures."""
    expected = sum(count(piece) for piece in pieces) + flat
    assert message_tokens(content) == expected
    alone = Entry(kind=EntryKind.SPEECH, content=content)
    other = Entry(kind=EntryKind.SPEECH, content="between")
    assert [entry.tokens for entry in with_token_counts([other, alone, other])] == [1, expected, 1]


def test_entries_without_content_are_unchanged() -> None:
    """An entry without content stays the same entry."""
    entry = Entry(kind=EntryKind.OTHER, extra=orjson.loads(b'{"type":"x"}'))
    assert with_token_counts([entry]) == [entry]
    assert with_token_counts([]) == []
