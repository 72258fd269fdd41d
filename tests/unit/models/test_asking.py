"""A request is redacted once more right before it is sent, whatever it was made from."""

from __future__ import annotations

import asyncio

from reverie.language_model.requests import ModelMessage, ToolResult, ToolUse, new_request
from reverie.redact import Redactor
from reveried.models.ask import prepared

SECRET = "ghp_" + "Q9w8E7r6T5y4U3i2O1p0A9s8D7f6G5h4J3k2"


def test_no_secret_is_sent() -> None:
    """System prompt, messages, calls and results of tools lose their secrets; the id of the request stays."""
    messages = [
        ModelMessage("user", f"The token is {SECRET}."),
        ModelMessage("assistant", "", calls=[ToolUse("call-1", "memory_read", {"path": SECRET})]),
        ModelMessage("user", "", results=[ToolResult("call-1", f"It is {SECRET}.")]),
    ]
    request = new_request(
        purpose="extract",
        role="strong",
        system=f"Known: {SECRET}.",
        messages=messages,
        schema={},
        max_output_tokens=10,
        prompt_version="test-1",
    )

    sent = asyncio.run(prepared(request, Redactor()))

    assert SECRET not in repr(sent)
    assert repr(sent).count("[REDACTED:github-token]") == 4
    assert (sent.id, sent.purpose, len(sent.messages)) == (request.id, "extract", 3)
