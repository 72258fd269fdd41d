"""Lossless conversion of one line of a Claude Code transcript to an entry, and back.

Nothing is thrown away: what an `Entry` has a field for moves there unchanged, the rest of the line stays in `extra`,
and `json_object_of` puts the two together again. A line that cannot be read becomes a `bad` entry with its text in
`raw` and the reason in `extra["problem"]`.

Decisions that the format leaves open:

* An assistant line with `isApiErrorMessage`, or one that the client wrote itself (`model: <synthetic>`), is speech:
  the person saw it as the assistant's turn, and the mark stays in `extra`.
* A line of a bare chat log (`{"role", "content"}` without `type`) is speech of that role.
* A message of role `system` or `tool` is kept as data and marked `meta`: nobody said it.
* Times are kept as given, however far in the future; order is the order of lines. What is no time is reported.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from reverie.errors import ValidationError
from reverie.importers.jsonline import LINE_BYTES_MAX, Problem, Unreadable, load, text_of
from reverie.models import Entry, EntryKind, Json, Role

if TYPE_CHECKING:
    from reverie.models import Json

__all__ = ["bad_entry", "is_command", "json_object_of", "read_line", "rfc3339_utc"]

_COMMAND = re.compile(r"\s*<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat))>")
# Lists, since a foreign value may be one that cannot be looked up by its hash.
_TYPED: Final = ["user", "assistant"]
_DATA_ROLES: Final = ["system", "tool", "developer"]
_KINDS: Final = {
    "progress": EntryKind.PROGRESS,
    "attachment": EntryKind.ATTACHMENT,
}

_FORM: Final = re.compile(r"\d{4}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)
_RFC3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


def read_line(line: bytes, number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of one line (without its line end), and a problem to report or None; never raises.

    `number` is the line's number, from 1.
    """
    if len(line) > LINE_BYTES_MAX:
        return bad_entry(line, number, f"longer than {LINE_BYTES_MAX} bytes")
    try:
        value, mended = load(line)
        entry, problem = _classify(value, number)
    except Unreadable as why:
        return bad_entry(line, number, str(why))
    return entry, Problem(number, mended) if mended else problem


def bad_entry(line: bytes, number: int, why: str) -> tuple[Entry, Problem]:
    """Return an entry for an unreadable line: its text in `raw`, the reason in `extra`."""
    raw, encoding = text_of(line)
    extra = {"problem": why} if encoding is None else {"problem": why, "encoding": encoding}
    return Entry(kind=EntryKind.BAD, extra=extra, raw=raw, line=number), Problem(number, why)


def json_object_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object an entry was read from; ValidationError for a `bad` entry."""
    if entry.kind is EntryKind.BAD:
        raise ValidationError(
            f"line {entry.line} could not be read and has no JSON", hint="use its raw text", line=entry.line
        )
    line = dict(entry.extra)
    lifted: dict[str, Any] = {"uuid": entry.id, "parentUuid": entry.parent}
    if "timestamp" not in line and "ts" not in line:
        lifted["timestamp"] = entry.at
    line.update((key, value) for key, value in lifted.items() if value is not None)
    if entry.role is not None:
        message = {"id": entry.reply, "role": entry.role, "content": entry.content, "usage": entry.usage}
        held = dict(line["message"]) if "message" in line else line
        held.update((key, value) for key, value in message.items() if value is not None)
        if held is not line:
            line["message"] = held
    return line


def is_command(entry: Entry) -> bool:
    """True if a `meta` line is a slash command the person typed, not the client's output."""
    if entry.kind is not EntryKind.META or entry.role != "user" or entry.extra.get("isMeta") is True:
        return False
    return any(text.lstrip().startswith("<command-") for text in _texts(entry.content))


def _classify(value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    """Return the entry for one JSON object; modifies `value`, so the caller must own it."""
    kind = value.get("type")
    if kind in _TYPED:
        return _message(value, number, kind)
    if kind is None and "role" in value:
        return _bare(value, number)
    if kind == "system" and value.get("subtype") == "compact_boundary":
        return _entry(EntryKind.BOUNDARY, value, number)
    return _entry(_KINDS.get(kind, EntryKind.OTHER) if isinstance(kind, str) else EntryKind.OTHER, value, number)


def _message(value: dict[str, Any], number: int, kind: str) -> tuple[Entry, Problem | None]:
    message = value.get("message")
    if not isinstance(message, dict):
        raise Unreadable(f"a {kind} line whose message is not an object")
    role = message.get("role")
    if role in _DATA_ROLES:
        return _entry(EntryKind.META, value, number)
    if role != kind:
        raise Unreadable(f"a {kind} line whose message has the role {_abbreviated(role)}")
    content = _content(message)
    del message["role"], message["content"]
    reply = message.pop("id") if kind == "assistant" and isinstance(message.get("id"), str) else None
    usage = message.pop("usage") if isinstance(message.get("usage"), dict) else None
    entry_kind = _kind_of_message(value, role, content)
    return _entry(entry_kind, value, number, role=cast("Role", role), content=content, reply=reply, usage=usage)


def _bare(value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
    role = value["role"]
    if role in _DATA_ROLES:
        return _entry(EntryKind.META, value, number)
    if role not in _TYPED:
        raise Unreadable(f"the unknown role {_abbreviated(role)}")
    content = _content(value)
    del value["role"], value["content"]
    # `message` would make it look like a line of Claude Code when it is put together again.
    if "message" in value:
        raise Unreadable("a line with both a role and a message")
    return _entry(
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


def _entry(
    kind: EntryKind,
    value: dict[str, Any],
    number: int,
    *,
    role: Role | None = None,
    content: Json = None,
    reply: str | None = None,
    usage: dict[str, Any] | None = None,
) -> tuple[Entry, Problem | None]:
    identity = value.pop("uuid") if isinstance(value.get("uuid"), str) else None
    parent = value.pop("parentUuid") if isinstance(value.get("parentUuid"), str) else None
    at, problem = _entry_time(value, number)
    entry = Entry(
        kind=kind,
        id=identity,
        parent=parent,
        role=role,
        content=content,
        reply=reply,
        at=at,
        usage=usage,
        extra=value,
        line=number,
    )
    return entry, problem


def _entry_time(value: dict[str, Any], number: int) -> tuple[str | None, Problem | None]:
    """Return the line's time in RFC 3339 UTC; the original stays in `extra` if it was written differently."""
    given = value.get("timestamp", value.get("ts"))
    if given is None:
        return None, None
    at = rfc3339_utc(given)
    if at is None:
        return None, Problem(number, f"{_abbreviated(given)} is not a time; the line is kept without one")
    if at == value.get("timestamp") and "ts" not in value:
        del value["timestamp"]
    return at, None


def _content(holder: dict[str, Any]) -> Json:
    content = holder.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Unreadable("a message whose content is neither text nor a list of blocks")
    for place, block in enumerate(content, 1):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise Unreadable(f"a message whose content block {place} is not an object with a type")
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


def _abbreviated(value: Json) -> str:
    """Return a foreign value shortened for an error message."""
    shown = orjson.dumps(value).decode()
    return shown if len(shown) <= 40 else shown[:39] + "…"


def rfc3339_utc(given: Json) -> str | None:
    """Return a time in RFC 3339 UTC with milliseconds (truncated), or None if it is not RFC 3339."""
    if not isinstance(given, str):
        return None
    # The days 29 to 31 are the only ones that can be wrong in the usual form.
    if _FORM.fullmatch(given) and given[8:10] < "29":
        return given
    if not _RFC3339.fullmatch(given):
        return None
    try:
        moment = datetime.fromisoformat(given.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
