"""Token costs of blocks: texts, names, compact JSON and results, with a fixed overhead; media as an estimate."""

from __future__ import annotations

from typing import Any

import pytest

from reverie import tokenizer
from reverie.context.tokens import BLOCK, MEDIA, block_cost, content_cost

WORDS = "a few words of text"
HELD = tokenizer.count(WORDS)
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}


@pytest.mark.parametrize(
    ("block", "cost"),
    [
        ({"type": "text", "text": WORDS}, BLOCK + HELD),
        ({"type": "thinking", "thinking": WORDS, "signature": "c2ln" * 99}, BLOCK + HELD),
        ({"type": "redacted_thinking", "data": "c2ln" * 99}, BLOCK),
        (
            {"type": "tool_use", "id": "t" * 99, "name": "Bash", "input": {"command": WORDS}},
            BLOCK + tokenizer.count("Bash") + tokenizer.count(f'{{"command":"{WORDS}"}}'),
        ),
        ({"type": "tool_result", "tool_use_id": "t" * 99, "content": WORDS}, 2 * BLOCK + HELD),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": WORDS}, IMAGE]},
            3 * BLOCK + HELD + MEDIA,
        ),
        (IMAGE, BLOCK + MEDIA),
        ({"type": "document", "source": {"type": "text", "data": WORDS}}, BLOCK + HELD),
        ({"type": "document", "source": {"type": "content", "content": WORDS}}, 2 * BLOCK + HELD),
        ({"type": "document", "source": {"type": "base64", "data": "x" * 120_000}}, BLOCK + 3 * MEDIA),
        ({"type": "document", "source": None}, BLOCK + MEDIA),
        (
            {"type": "container_upload", "file_id": "f"},
            BLOCK + tokenizer.count('{"type":"container_upload","file_id":"f"}'),
        ),
    ],
)
def test_cost_of_each_block_type(block: dict[str, Any], cost: int) -> None:
    """The tokens of a block count all its text, but no signatures and ids."""
    assert block_cost(block) == cost


def test_a_string_is_one_block() -> None:
    """Content as a string costs the same as one text block."""
    assert content_cost(WORDS) == content_cost([{"type": "text", "text": WORDS}])
