"""Sessions of pi: what becomes of each line, and that it can be written back."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from reverie.importers.detect import folder_of, json_object_of, model_named_in, read_line
from reverie.models import Entry, EntryKind

AT = "2026-06-18T02:35:03.508Z"


def read(kind: str, *, parent: str | None = "a0", **fields: Any) -> Entry:
    """Return the entry of a line of a pi session; assert that it gives the same line back."""
    line = {"type": kind, "id": "b1", "parentId": parent, "timestamp": AT, **fields}
    entry, problem = read_line(orjson.dumps(line), 2)
    assert problem is None
    assert json_object_of(entry) == line
    assert (entry.id, entry.parent, entry.at) == ("b1", parent, AT)
    return entry


@pytest.mark.parametrize(
    ("content", "blocks"),
    [
        ("Fix it", "Fix it"),
        ([{"type": "text", "text": "Fix it"}], [{"type": "text", "text": "Fix it"}]),
        (
            [{"type": "image", "data": "aGk=", "mimeType": "image/png"}],
            [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}],
        ),
        ([{"type": "unknown", "x": 1}], [{"type": "text", "text": "[unknown]"}]),
    ],
)
def test_prompts(content: Any, blocks: Any) -> None:
    """A person's message in a pi session becomes an entry of speech with the role `user`."""
    entry = read("message", message={"role": "user", "content": content, "timestamp": 1})
    assert (entry.kind, entry.role, entry.content) == (EntryKind.SPEECH, "user", blocks)


def test_replies() -> None:
    """A reply in a pi session becomes thinking, text and tool_use blocks; its model and usage are known."""
    items = [
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"},
        {"type": "text", "text": "I look."},
        {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "ls"}},
    ]
    usage = {"input": 10, "output": 2, "cacheRead": 5, "cacheWrite": 0, "totalTokens": 17}
    entry = read("message", message={"role": "assistant", "content": items, "model": "m-1", "usage": usage})
    assert entry.content == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}},
    ]
    assert model_named_in(entry) == "m-1"
    assert entry.usage == {
        "input_tokens": 10,
        "output_tokens": 2,
        "cache_read_input_tokens": 5,
        "cache_creation_input_tokens": 0,
    }


@pytest.mark.parametrize("failed", [True, False])
def test_results(*, failed: bool) -> None:
    """A tool's result in a pi session becomes a `tool_result` block."""
    message = {"role": "toolResult", "toolCallId": "t1", "content": [{"type": "text", "text": "no"}], "isError": failed}
    [block] = read("message", message=message).content or []
    assert (block["tool_use_id"], block["content"]) == ("t1", [{"type": "text", "text": "no"}])
    assert block.get("is_error", False) is failed


def test_the_rest() -> None:
    """In a pi session a compaction is a summary, a person's shell command is metadata, the header has the folder."""
    summary = read("compaction", summary="The lamps are fixed.", firstKeptEntryId="a0", tokensBefore=9)
    assert (summary.kind, summary.content) == (EntryKind.SUMMARY, "The lamps are fixed.")
    assert read("message", message={"role": "bashExecution", "command": "ls", "output": ""}).kind is EntryKind.META
    assert read("model_change", provider="p", modelId="m").kind is EntryKind.OTHER
    header = read("session", parent=None, version=3, cwd="/home/mira/tidetable")
    assert (header.kind, folder_of(header.extra)) == (EntryKind.OTHER, "/home/mira/tidetable")


def test_a_message_that_is_none() -> None:
    """A message in a pi session whose content is neither text nor a list is reported as a bad line."""
    entry, problem = read_line(orjson.dumps({"type": "message", "message": {"role": "user", "content": 3}}), 1)
    assert entry.kind is EntryKind.BAD
    assert problem is not None
