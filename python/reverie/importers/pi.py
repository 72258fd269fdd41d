"""Lossless conversion of one line of a session of the coding agent pi to an entry, and back.

A session is a tree of lines linked by `id` and `parentId`, with a header that names the folder. Blocks of text are
those of the Messages API already; calls of tools, their results, thinking and images are renamed. A compaction is a
summary. What changes the model, names a branch or belongs to an extension is kept as data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from reverie.importers.entry import abbreviated, new_entry, with_time
from reverie.importers.lines import Unreadable
from reverie.models import EntryKind

if TYPE_CHECKING:
    from reverie.importers.lines import Problem
    from reverie.models import Entry, Json

Block: TypeAlias = dict[str, Any]

_NAMES: Final = ("id", "parentId")
_DATA: Final = frozenset(
    {
        *("session", "model_change", "thinking_level_change", "branch_summary", "custom", "custom_message"),
        *("label", "session_info"),
    }
)
_USAGE: Final = (
    ("input", "input_tokens"),
    ("output", "output_tokens"),
    ("cacheRead", "cache_read_input_tokens"),
    ("cacheWrite", "cache_creation_input_tokens"),
)


def is_line(line: dict[str, Any]) -> bool:
    """Return True if a line's object, or the `extra` of its entry, is of a session of pi."""
    match line.get("type"):
        case "message":
            return isinstance(line.get("message"), dict)
        case "compaction":
            return "firstKeptEntryId" in line
        case "session":
            return isinstance(line.get("version"), int) and isinstance(line.get("cwd"), str)
        case str() as kind:
            return kind in _DATA and "parentUuid" not in line and "sessionId" not in line
        case _:
            return False


def entry_of(value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of one line's JSON object, and a problem to report or None. Modifies `value`.

    Raises Unreadable for a message that is none.
    """
    if value["type"] == "compaction" and isinstance(value.get("summary"), str):
        content = value.pop("summary")
        return new_entry(EntryKind.SUMMARY, value, number, names=_NAMES, role="user", content=content)
    if value["type"] != "message":
        return new_entry(EntryKind.OTHER, value, number, names=_NAMES)
    message = value["message"]
    match message.get("role"):
        case "user" | "assistant" as role:
            content = _content(message)
            usage = _usage(message.get("usage"))
            return new_entry(
                EntryKind.SPEECH, value, number, names=_NAMES, role=role, content=content, reply=None, usage=usage
            )
        case "toolResult" if isinstance(message.get("toolCallId"), str):
            result = {"type": "tool_result", "tool_use_id": message["toolCallId"], "content": _content(message)}
            if message.get("isError") is True:
                result["is_error"] = True
            return new_entry(EntryKind.SPEECH, value, number, names=_NAMES, role="user", content=[result])
        case _:  # a command that the person ran, or a message of an extension
            return new_entry(EntryKind.META, value, number, names=_NAMES)


def json_object_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that `entry_of` read an entry from."""
    line = with_time(dict(entry.extra), entry)
    line.update((name, own) for name, own in zip(_NAMES, (entry.id, entry.parent), strict=True) if own is not None)
    if entry.kind is EntryKind.SUMMARY:
        line["summary"] = entry.content
    elif entry.role is not None:
        message = line["message"] = dict(line["message"])
        content = entry.content
        if message["role"] == "toolResult":
            content = cast("list[Block]", content)[0]["content"]  # as `entry_of` made it
        if isinstance(content, str):
            message["content"] = content
        else:
            pairs = zip(message["content"], content or [], strict=True)
            message["content"] = [_item_of(rest, block) for rest, block in pairs]
    return line


def _content(message: dict[str, Any]) -> Json:
    """Return a message's content as blocks of the Messages API; item fields that no block has stay in `message`."""
    content = message.get("content")
    if isinstance(content, str):
        del message["content"]
        return content
    if not isinstance(content, list) or not all(isinstance(item, dict) for item in content):
        raise Unreadable(f"a message whose content is neither text nor a list of items: {abbreviated(content)}")
    taken = [_block_of(item) for item in content]
    message["content"] = [
        {name: part for name, part in item.items() if name not in moved}
        for item, (_, moved) in zip(content, taken, strict=True)
    ]
    return [block for block, _ in taken]


def _block_of(item: Block) -> tuple[Block, tuple[str, ...]]:
    """Return the Messages API block of an item of pi, and the names of the item's fields whose values the block has."""
    match item:
        case {"type": "text", "text": str(text)}:
            return {"type": "text", "text": text}, ("text",)
        case {"type": "thinking", "thinking": str(text)}:
            return {"type": "thinking", "thinking": text, "signature": ""}, ("thinking",)
        case {"type": "toolCall", "id": str(call), "name": str(name), "arguments": dict(arguments)}:
            return {"type": "tool_use", "id": call, "name": name, "input": arguments}, ("id", "name", "arguments")
        case {"type": "image", "data": str(data), "mimeType": str(kind)}:
            source = {"type": "base64", "media_type": kind, "data": data}
            return {"type": "image", "source": source}, ("data", "mimeType")
        case _:
            return {"type": "text", "text": f"[{item.get('type')}]"}, ()


def _item_of(rest: Block, block: Block) -> Block:
    """Return the item of pi that a block and the fields in `rest` were made from."""
    match block:
        case {"type": "text", "text": text} if rest.get("type") == "text":
            return {"text": text, **rest}
        case {"type": "thinking", "thinking": text}:
            return {**rest, "thinking": text}
        case {"type": "tool_use", "id": call, "name": name, "input": arguments}:
            return {**rest, "id": call, "name": name, "arguments": arguments}
        case {"type": "image", "source": source}:
            return {**rest, "data": source["data"], "mimeType": source["media_type"]}
        case _:
            return rest


def _usage(given: Json) -> dict[str, Any] | None:
    """Return the tokens of a reply under the names of the Messages API, or None."""
    if not isinstance(given, dict):
        return None
    return {ours: given[theirs] for theirs, ours in _USAGE if isinstance(given.get(theirs), int)} or None
