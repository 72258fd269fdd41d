"""Lossless conversion of one line of a Codex rollout to an entry, and back.

A line is `{"timestamp", "type", "payload"}`. What was said and done is in the `response_item`s, in the form of the
Responses API: messages, calls of tools, their outputs. They become messages as the Messages API has them; the words,
inputs and outputs move to the entry's `content`, the rest of the payload stays in `extra`. An `event_msg` repeats them
for the screen and is kept as data, like the beginning of a session and of each turn; so is the one by which the person
takes prompts back, which `rewinds.py` reads.

* The client writes the project's instructions and the state of the machine as messages of the user: they are `meta`.
* An editor's files and selection stand before the person's words in one text: they stay in `extra`.
* A compaction (`compacted`) is a summary where it has one; newer versions encrypt it, and then it is a boundary.
* An output that begins with an exit status other than 0 is marked as an error, as the Messages API wants it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import orjson

from reverie.importers.entry import abbreviated, new_entry, with_time
from reverie.importers.lines import Unreadable
from reverie.lazy_regex import lazy_regex
from reverie.models import EntryKind

if TYPE_CHECKING:
    from reverie.importers.lines import Problem
    from reverie.models import Entry, Json, Role

Block: TypeAlias = dict[str, Any]

_TYPES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_NOT_TYPED: Final = (
    "# AGENTS.md instructions",
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "<permissions", "<collaboration_mode>"),
    *("<skill>", "<turn_aborted>", "<subagent_notification>", "<user_shell_command>", "<recommended_plugins>"),
    *("<codex_internal_context", "<goal_context>", "<hook_prompt", "<external_"),
    "Warning: apply_patch was requested via ",
)
"""Beginnings of user messages that the client wrote."""

# What an editor or the app puts before the person's words, up to the last heading of these.
_BEFORE: Final = lazy_regex(
    r"\s*# (?:Context from my IDE setup|Files mentioned by the user):\n.*^## My request(?: for Codex)?:\s*",
    re.DOTALL | re.MULTILINE,
)
_TEXT: Final = frozenset({"input_text", "output_text"})
_DATA_URL: Final = lazy_regex(r"data:(image/[\w.+-]+);base64,([A-Za-z0-9+/=]+)")
_FAILED: Final = lazy_regex(r"(?:Chunk ID:.*\n)?(?:Wall time:.*\n)?(?:Process exited with code|Exit code:?) +[1-9]")
_FAILED_JSON: Final = lazy_regex(r'\{.*"metadata": ?\{[^{}]*"exit_code": ?[1-9]', re.DOTALL)  # of older versions


def is_line(line: dict[str, Any]) -> bool:
    """Return True if a line's object, or the `extra` of its entry, is of a Codex rollout."""
    kind = line.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(line.get("payload"), dict)


def entry_of(value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of one line's JSON object, and a problem to report or None. Modifies `value`.

    Raises Unreadable for a message that is none.
    """
    payload = value["payload"]
    if value["type"] == "compacted":
        if not (isinstance(payload.get("message"), str) and payload["message"]):
            return new_entry(EntryKind.BOUNDARY, value, number)
        return new_entry(EntryKind.SUMMARY, value, number, role="user", content=payload.pop("message"))
    if value["type"] == "response_item":
        kind = payload.get("type")
        if kind == "message":
            return _message(value, payload, number)
        if isinstance(payload.get("call_id"), str) and kind in _CALLS:
            return new_entry(EntryKind.SPEECH, value, number, role="assistant", content=[_call(payload)])
        if isinstance(payload.get("call_id"), str) and kind in _OUTPUTS and "output" in payload:
            return new_entry(EntryKind.SPEECH, value, number, role="user", content=[_result(payload)])
    return new_entry(EntryKind.OTHER, value, number)


def json_object_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that `entry_of` read an entry from."""
    line = with_time(dict(entry.extra), entry)
    if entry.role is None:
        return line
    payload = line["payload"] = dict(line["payload"])
    if line["type"] == "compacted":
        payload["message"] = entry.content
        return line
    blocks = cast("list[Block]", entry.content)  # as `entry_of` made it
    if payload["type"] == "message":
        payload["content"] = [_item_of(item, block) for item, block in zip(payload["content"], blocks, strict=True)]
    elif payload["type"] in _CALLS:
        _, name = _CALLS[payload["type"]]
        if name not in payload:
            payload[name] = _given_input(payload["type"], blocks[0]["input"])
    elif "output" not in payload:
        payload["output"] = blocks[0]["content"]
    return line


# Messages


def _message(value: dict[str, Any], payload: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of a message, whose content gets the texts of its items, and a problem or None."""
    role = payload.get("role")
    if role not in {"user", "assistant"}:
        return new_entry(EntryKind.META, value, number)
    items = payload.get("content")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Unreadable(f"a message whose content is not a list of items: {abbreviated(items)}")
    if not items:
        return new_entry(EntryKind.OTHER, value, number)
    content = [_block_of(item) for item in items]
    payload["content"] = [_without_words(item) for item in items]
    speaker: Role = "user" if role == "user" else "assistant"
    is_meta = role == "user" and str(content[0].get("text", "")).lstrip().startswith(_NOT_TYPED)
    return new_entry(EntryKind.META if is_meta else EntryKind.SPEECH, value, number, role=speaker, content=content)


def _block_of(item: Block) -> Block:
    """Return the content block of an item: its words or image, else its type's name in brackets."""
    if item.get("type") in _TEXT and isinstance(item.get("text"), str):
        return {"type": "text", "text": item["text"][len(_before(item)) :]}
    if image := _image(item):
        return {"type": "image", "source": {"type": "base64", "media_type": image[1], "data": image[2]}}
    return {"type": "text", "text": f"[{item.get('type')}]"}


def _before(item: Block) -> str:
    """Return what stands before the person's words in the text of an item; nothing where there are no words."""
    found = _BEFORE.match(item["text"]) if item["type"] == "input_text" else None
    return found[0] if found and found.end() < len(item["text"]) else ""


def _without_words(item: Block) -> Block:
    """Return an item without the words or image that its content block has."""
    if item.get("type") in _TEXT and isinstance(item.get("text"), str):
        rest = {name: part for name, part in item.items() if name != "text"}
        return {**rest, "text": before} if (before := _before(item)) else rest
    return {name: part for name, part in item.items() if name != "image_url"} if _image(item) else item


def _item_of(item: Block, block: Block) -> Block:
    """Return an item with the words or image of its content block put back."""
    if item.get("type") in _TEXT and isinstance(item.get("text", ""), str) and block["type"] == "text":
        return {**item, "text": item.get("text", "") + block["text"]}
    if block["type"] == "image":
        source = block["source"]
        return {**item, "image_url": f"data:{source['media_type']};base64,{source['data']}"}
    return item


def _image(item: Block) -> re.Match[str] | None:
    """Return the type and the data of an item that is an image in the line itself, or None."""
    url = item.get("image_url")
    return _DATA_URL.fullmatch(url) if item.get("type") == "input_image" and isinstance(url, str) else None


# Calls of tools, and their outputs

_CALLS: Final = {
    "function_call": ("name", "arguments"),
    "custom_tool_call": ("name", "input"),
    "local_shell_call": ("type", "action"),
}
"""By the type of a call, the fields of its tool's name and of its input."""

_OUTPUTS: Final = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})


def _call(payload: dict[str, Any]) -> Block:
    """Return the `tool_use` block of a call; its input moves there, where it can be written back as it was."""
    named, name = _CALLS[payload["type"]]
    given = payload.get(name)
    taken: Json = None
    if payload["type"] == "function_call" and isinstance(given, str):
        taken = _parsed(given)
    elif payload["type"] == "custom_tool_call" and isinstance(given, str):
        taken = {"input": given}
    elif isinstance(given, dict):
        taken = given
    if not isinstance(taken, dict):
        taken = {name: given}
    elif _given_input(payload["type"], taken) == given:
        del payload[name]
    server = payload.get("namespace")  # of MCP: its tool may have the name of one of Codex, by which it asks the person
    prefix = f"{server.rstrip('_')}__" if isinstance(server, str) and server.startswith("mcp__") else ""
    return {"type": "tool_use", "id": payload["call_id"], "name": f"{prefix}{payload.get(named)}", "input": taken}


def _parsed(arguments: str) -> Json:
    """Return the value of a call's arguments, which are JSON in a text; None where they are not."""
    try:
        value: Json = orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return None
    return value


def _given_input(kind: str, taken: dict[str, Any]) -> Json:
    """Return a call's input as its line has it: for `function_call` compact JSON in a text."""
    if kind == "function_call":
        return json.dumps(taken, ensure_ascii=False, separators=(",", ":"))
    return taken["input"] if kind == "custom_tool_call" else taken


def _result(payload: dict[str, Any]) -> Block:
    """Return the `tool_result` block of an output, and remove from `payload` an output that is a plain text."""
    output = payload["output"]
    block: Block = {"type": "tool_result", "tool_use_id": payload["call_id"], "content": _text_of(output)}
    if isinstance(output, str):
        del payload["output"]
    if _FAILED.match(block["content"]) or _FAILED_JSON.match(block["content"]):
        block["is_error"] = True
    return block


def _text_of(output: Json) -> str:
    """Return an output as text: a string, joined texts of items, `content` or `output`, else its JSON."""
    match output:
        case str():
            return output
        case list():
            return "\n".join(str(item["text"]) for item in output if isinstance(item, dict) and "text" in item)
        case {"content": str(text)} | {"output": str(text)}:
            return text
        case _:
            return orjson.dumps(output).decode()
