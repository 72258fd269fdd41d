"""The last request of a Codex session: what its provider counted for that request, and not the session's sum."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reverie.usecases.imports import ChunkJob, decide


def counted(last: Any) -> dict[str, Any]:
    """Return a line of Codex about tokens; None for a turn without a request yet."""
    info = None if last is None else {"total_token_usage": {"total_tokens": 34_382_115}, "last_token_usage": last}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info, "rate_limits": {}}}


def said(text: str) -> dict[str, Any]:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"type": "response_item", "payload": item}


@pytest.mark.parametrize(
    ("lines", "tokens"),
    [
        ([said("Hello"), counted({"input_tokens": 90_000, "output_tokens": 10, "total_tokens": 90_010})], 90_010),
        ([counted({"total_tokens": 90_010}), said("Go on"), counted({"total_tokens": 54_242})], 54_242),
        ([counted({"total_tokens": 54_242}), counted(None)], 54_242),
        ([counted({"total_tokens": -1}), counted({"total_tokens": "9"}), counted({"total_tokens": 10**12})], 0),
        ([counted({"total_tokens": True}), counted([])], 0),
        ([{"type": "event_msg", "payload": {"type": "agent_message", "info": {"last_token_usage": {}}}}], 0),
    ],
)
def test_the_last_request_of_a_codex_session(lines: list[dict[str, Any]], tokens: int) -> None:
    """The newest `last_token_usage` counts; the sum of the session and impossible numbers do not."""
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    assert decide(ChunkJob(data=data, first_line=1, final=True)).usage_tokens == tokens


def test_what_came_behind_the_count_is_estimated() -> None:
    """Messages behind the last count are not part of it: our own count up to there is stored beside it."""
    lines = [said("The gauge is red"), counted({"total_tokens": 500}), said("and the crane is blue")]
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    plan = decide(ChunkJob(data=data, first_line=1, final=True))
    assert 0 < plan.tokens_at_usage < plan.tokens
