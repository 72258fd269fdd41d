"""Validation of a context by the rules of the messages API, with its error messages."""

from __future__ import annotations

from typing import Any

TOP = {"system", "messages", "context_management", "betas"}
USER = {"text", "image", "document", "tool_result", "search_result"}
ASSISTANT = {"text", "thinking", "redacted_thinking", "tool_use", "server_tool_use", "web_search_tool_result"}
THINKING = {"thinking", "redacted_thinking"}
HEADER = "context-management-2025-06-27"


def violations(request: dict[str, Any], signed: list[dict[str, Any]] | None = None) -> list[str]:
    """Return every rule that `request` breaks; `signed` are the thinking blocks as the model wrote them."""
    errors: list[str] = []
    if set(request) != TOP:
        errors.append(f"top level: {sorted(request)}")
    errors += _system(request["system"])
    errors += _roles(request["messages"])
    for number, message in enumerate(request["messages"]):
        errors += [f"messages.{number}: {error}" for error in _message(message)]
    errors += _pairs(request["messages"])
    errors += _editing(request["context_management"], request["betas"])
    if (marks := count_marks(request)) > 4:
        errors.append(f"{marks} cache breakpoints")
    if signed is not None:
        errors += [
            "thinking was altered"
            for message in request["messages"]
            for block in message["content"]
            if block["type"] in THINKING and block not in signed
        ]
    return errors


def count_marks(value: Any) -> int:
    """Count the cache breakpoints in the request."""
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(count_marks(item) for item in value.values())
    return sum(count_marks(item) for item in value) if isinstance(value, list) else 0


def _system(system: Any) -> list[str]:
    return [f"system.{number}: {error}" for number, block in enumerate(system) for error in _text(block)]


def _text(block: dict[str, Any]) -> list[str]:
    if block.get("type") != "text" or not isinstance(block.get("text"), str):
        return ["not a text block"]
    extra = set(block) - {"type", "text", "cache_control", "citations"}
    empty = [] if block["text"].strip() else ["text content blocks must be non-empty"]
    return empty + ([f"extra inputs: {sorted(extra)}"] if extra else [])


def _roles(messages: list[dict[str, Any]]) -> list[str]:
    roles = [message["role"] for message in messages]
    errors = []
    if not roles or roles[0] != "user":
        errors.append("first message must use the user role")
    if [role for role in roles if role != "system"][-1:] == ["assistant"]:
        errors.append("prefill: the last turn is the assistant's")
    for number, role in enumerate(roles):
        before = roles[number - 1] if number else None
        after = roles[number + 1] if number + 1 < len(roles) else None
        if role == before:
            errors.append(f"messages.{number}: two messages of {role} in a row")
        if role == "system" and (before != "user" or after not in {None, "assistant"}):
            errors.append(f"messages.{number}: a system message out of place")
    return errors


def _message(message: dict[str, Any]) -> list[str]:
    content = message["content"]
    if set(message) != {"role", "content"} or not isinstance(content, list) or not content:
        return ["content must be a non-empty list"]
    allowed = {"user": USER, "assistant": ASSISTANT, "system": {"text"}}[message["role"]]
    errors = [f"type {block.get('type')}" for block in content if block.get("type") not in allowed]
    for block in content:
        match block["type"]:
            case "text":
                errors += _text(block)
            case "tool_use":
                errors += _tool_use(block)
            case "tool_result":
                errors += _tool_result(block)
            case "thinking" | "redacted_thinking" if "cache_control" in block:
                errors.append("thinking cannot be a cache breakpoint")
            case _:
                pass
    if message["role"] == "assistant" and content[-1]["type"] in THINKING:
        errors.append("the final block cannot be thinking")
    return errors


def _tool_use(block: dict[str, Any]) -> list[str]:
    fine = isinstance(block.get("input"), dict) and isinstance(block.get("id"), str) and bool(block.get("name"))
    extra = set(block) - {"type", "id", "name", "input", "cache_control"}
    return [] if fine and not extra else [f"tool_use: {sorted(block)}"]


def _tool_result(block: dict[str, Any]) -> list[str]:
    extra = set(block) - {"type", "tool_use_id", "content", "is_error", "cache_control"}
    errors = [f"tool_result: extra inputs {sorted(extra)}"] if extra else []
    if isinstance(block["content"], str):
        return errors + ([] if block["content"].strip() else ["tool_result: empty"])
    inner = [f"tool_result holds {part.get('type')}" for part in block["content"] if part.get("type") not in USER]
    texts = [error for part in block["content"] if part.get("type") == "text" for error in _text(part)]
    return errors + inner + texts + ([] if block["content"] else ["tool_result: no content"])


def _pairs(messages: list[dict[str, Any]]) -> list[str]:
    errors: list[str] = []
    earlier: set[str] = set()
    calls: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "system":
            continue
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        if sorted(results) != sorted(calls):
            errors.append(f"messages.{number}: results {results} answer calls {calls}")
        kinds = [block["type"] == "tool_result" for block in message["content"]]
        if kinds != sorted(kinds, reverse=True):
            errors.append(f"messages.{number}: tool results must come first")
        calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
        if len(set(calls)) != len(calls) or earlier & set(calls):
            errors.append(f"messages.{number}: tool_use ids must be unique")
        earlier |= set(calls)
    return errors


def _editing(management: Any, betas: Any) -> list[str]:
    if not isinstance(management, dict) or set(management) != {"edits"}:
        return ["context_management must hold edits"]
    errors = [] if HEADER in betas else ["context_management needs its beta header"]
    kinds = [edit["type"] for edit in management["edits"]]
    if kinds not in ([], ["clear_thinking_20251015", "clear_tool_uses_20250919"]):
        errors.append(f"edits: {kinds}")
    return errors
