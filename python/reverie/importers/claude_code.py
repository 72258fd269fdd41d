"""Lossless conversion of one line of a Claude Code transcript to an entry, and back.

Nothing is thrown away: what an `Entry` has a field for moves there unchanged, the rest of the line stays in `extra`,
and `json_object_of` puts the two together again.

Decisions that the format leaves open:

* An assistant line with `isApiErrorMessage`, or one that the client wrote itself (`model: <synthetic>`), is speech:
  the person saw it as the assistant's turn, and the mark stays in `extra`.
* A line of a bare chat log (`{"role", "content"}` without `type`) is speech of that role.
* A message of role `system` or `tool` is kept as data and marked `meta`: nobody said it.
* Times are kept as given, however far in the future; order is the order of lines. What is no time is reported.

Words that the person typed while the agent worked stand in operations of a queue, and are speech. They have no uuid and
mostly stand nowhere else. `enqueue` has the words; `remove` says that the agent was given them, `dequeue` that they
become the next prompt, a line of its own with the same words, and `popAll`, with the words, that they are back in the
input line: what is sent after it counts. Neither `remove` nor `dequeue` says which words it is about, and news of
running tasks stand in the same queue: so words are compared, and never counted off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from reverie.importers.entry import abbreviated, new_entry
from reverie.importers.lines import Unreadable
from reverie.lazy_regex import lazy_regex
from reverie.models import Entry, EntryKind, Json, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.importers.lines import Problem


_TYPE: Final = "queue-operation"
_NEWS: Final = lazy_regex(r"\s*<([a-z][\w-]*)[ >]")
# A command is a line of its own as well; "/etc/hosts" is none.
_TYPED_COMMAND: Final = lazy_regex(r"\s*/[\w:.-]+(?:\s|$)")


def is_queue_operation(entry: Entry) -> bool:
    """Return True for an entry by which something enters or leaves the client's queue."""
    return entry.extra.get("type") == _TYPE and entry.id is None


def is_typed(content: Json) -> bool:
    """Return True for content of an `enqueue` that a person typed: no news of the client, no command.

    News are an element ("<task-notification>…</task-notification>") or a JSON object; "<div> is broken" is typed.
    """
    if not isinstance(content, str) or not content.strip() or _TYPED_COMMAND.match(content):
        return False
    tag = _NEWS.match(content)
    return not (_is_object(content) or (tag is not None and f"</{tag[1]}>" in content))


def queued_words(entry: Entry) -> str:
    """Return the words that the person typed into the queue by this entry; empty for any other entry.

    Threads that were imported earlier have them in `extra`, of an entry that is no speech.
    """
    if not is_queue_operation(entry) or entry.extra.get("operation") != "enqueue":
        return ""
    content = entry.content if entry.kind is EntryKind.SPEECH else entry.extra.get("content")
    return content if isinstance(content, str) and is_typed(content) else ""


def withdrawn(entries: Sequence[Entry]) -> frozenset[int]:
    """Return the positions of queued words that are no message: taken back, or there again as a prompt."""
    waiting: dict[int, str] = {}
    prompted: set[int] = set()  # may have become a prompt
    gone: set[int] = set()
    for index, entry in enumerate(entries):
        if is_queue_operation(entry):
            match entry.extra.get("operation"):
                case "enqueue" if words := queued_words(entry).strip():
                    waiting[index] = words
                    prompted.add(index)
                case "remove":
                    prompted.clear()
                case "dequeue":
                    prompted.update(waiting)
                case "popAll":
                    gone |= _found(waiting, entry.extra.get("content"))
                    waiting.clear()
        elif prompted and entry.kind is EntryKind.SPEECH and entry.role == "user":
            found = prompted & _found(waiting, entry.content)
            gone |= found
            # What was before these in the queue has left it.
            waiting = {place: words for place, words in waiting.items() if place > max(found, default=-1)}
    return frozenset(gone)


def _found(waiting: Mapping[int, str], content: Json) -> set[int]:
    """Return the places whose words are whole lines of a content: what was queued apart may be sent together."""
    lines = f"\n{joined_text(content).strip()}\n"
    return {place for place, words in waiting.items() if f"\n{words}\n" in lines}


def joined_text(content: Json) -> str:
    """Return the texts of a content, a string or a list of blocks, on lines; empty for anything else."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _is_object(text: str) -> bool:
    """Return True for a JSON object: the record of a task."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        value: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(value, dict)


_COMMAND = lazy_regex(r"\s*<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat))>")
# Lists, since a foreign value may be one that cannot be looked up by its hash.
_TYPED: Final = ["user", "assistant"]
_DATA_ROLES: Final = ["system", "tool", "developer"]
_IDS: Final = ("sessionId", "uuid", "leafUuid", "messageId")
_KINDS: Final = {"progress": EntryKind.PROGRESS, "attachment": EntryKind.ATTACHMENT}


def is_line(line: dict[str, Any]) -> bool:
    """Return True for a line with a type and an id of Claude Code: of a session, or of what it is about."""
    return isinstance(line.get("type"), str) and any(isinstance(line.get(name), str) for name in _IDS)


def json_object_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object that `entry_of` read an entry from."""
    line = dict(entry.extra)
    lifted: dict[str, Any] = {"uuid": entry.id, "parentUuid": entry.parent}
    if "timestamp" not in line and "ts" not in line:
        lifted["timestamp"] = entry.at
    line.update((key, value) for key, value in lifted.items() if value is not None)
    if is_queue_operation(entry) and entry.role is not None:
        line["content"] = entry.content
    elif entry.role is not None:
        message = {"id": entry.reply, "role": entry.role, "content": entry.content, "usage": entry.usage}
        merged = dict(line["message"]) if "message" in line else line
        merged.update((key, value) for key, value in message.items() if value is not None)
        if merged is not line:
            line["message"] = merged
    return line


def is_command(entry: Entry) -> bool:
    """True if a `meta` line is a slash command the person typed, not the client's output."""
    if entry.kind is not EntryKind.META or entry.role != "user" or entry.extra.get("isMeta") is True:
        return False
    return any(text.lstrip().startswith("<command-") for text in _texts(entry.content))


def entry_of(value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of one line's JSON object, and a problem to report or None. Modifies `value`.

    Raises Unreadable for a message that is none.
    """
    kind = value.get("type")
    if kind in _TYPED:
        return _message(value, number, kind)
    if kind is None and "role" in value:
        return _bare(value, number)
    if kind == "queue-operation" and value.get("operation") == "enqueue" and is_typed(value.get("content")):
        return new_entry(EntryKind.SPEECH, value, number, role="user", content=value.pop("content"))
    if kind == "system" and value.get("subtype") == "compact_boundary":
        return new_entry(EntryKind.BOUNDARY, value, number)
    return new_entry(_KINDS.get(kind, EntryKind.OTHER) if isinstance(kind, str) else EntryKind.OTHER, value, number)


def _message(value: dict[str, Any], number: int, kind: str) -> tuple[Entry, Problem | None]:
    message = value.get("message")
    if not isinstance(message, dict):
        raise Unreadable(f"a {kind} line whose message is not an object")
    role = message.get("role")
    if role in _DATA_ROLES:
        return new_entry(EntryKind.META, value, number)
    if role != kind:
        raise Unreadable(f"a {kind} line whose message has the role {abbreviated(role)}")
    content = _content(message)
    del message["role"], message["content"]
    reply = message.pop("id") if kind == "assistant" and isinstance(message.get("id"), str) else None
    usage = message.pop("usage") if isinstance(message.get("usage"), dict) else None
    entry_kind = _kind_of_message(value, role, content)
    return new_entry(entry_kind, value, number, role=cast("Role", role), content=content, reply=reply, usage=usage)


def _bare(value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    role = value["role"]
    if role in _DATA_ROLES:
        return new_entry(EntryKind.META, value, number)
    if role not in _TYPED:
        raise Unreadable(f"the unknown role {abbreviated(role)}")
    content = _content(value)
    del value["role"], value["content"]
    # `message` would make it look like a line of Claude Code when it is put together again.
    if "message" in value:
        raise Unreadable("a line with both a role and a message")
    return new_entry(
        _kind_of_message(value, role, content), value, number, role=cast("Role", role), content=content, reply=None
    )


def _kind_of_message(value: dict[str, Any], role: Json, content: Json) -> EntryKind:
    if value.get("isSidechain") is True:
        return EntryKind.SIDECHAIN
    if role == "assistant":
        return EntryKind.SPEECH
    if value.get("isCompactSummary") is True:
        return EntryKind.SUMMARY
    if value.get("isMeta") is True or _is_command_text(content):
        # Results of tools are part of the conversation whatever the line is marked as.
        return EntryKind.SPEECH if _has_result(content) else EntryKind.META
    return EntryKind.SPEECH


def _content(holder: dict[str, Any]) -> Json:
    content = holder.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Unreadable("a message whose content is neither text nor a list of blocks")
    for number, block in enumerate(content, 1):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise Unreadable(f"a message whose content block {number} is not an object with a type")
    return content


def _texts(content: Json) -> list[str]:
    if isinstance(content, str):
        return [content]
    blocks = content if isinstance(content, list) else []
    return [text for block in blocks if block["type"] == "text" and isinstance(text := block.get("text"), str)]


def _is_command_text(content: Json) -> bool:
    if isinstance(content, str):
        return _COMMAND.match(content) is not None
    texts = _texts(content)
    return len(texts) == len(content) > 0 and all(_COMMAND.match(text) for text in texts)


def _has_result(content: Json) -> bool:
    return isinstance(content, list) and any(block["type"] == "tool_result" for block in content)
