"""Conversations of an export of ChatGPT, as lines of a transcript: one line for each node of a conversation's tree.

An export is a zip file with `conversations.json`, a list of conversations, or with `conversations-000.json` and so on.
Each conversation is a tree of nodes with a message in most; an edited prompt or a second answer begins a branch. Lines
are written in the order of their times, and the last one names the node that the person saw last (`current_node`): what
does not lead there is no part of the conversation. Without it, the last branch is the main one. Said is what has words
and is addressed to the other side; calls of ChatGPT's own tools, hidden context and thoughts are kept as data.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import orjson

from reverie.errors import NotFound, TooLarge, ValidationError
from reverie.importers.find import UNPACKED_BYTES_MAX
from reverie.importers.lines import Unreadable, parse
from reverie.importers.rewinds import CURRENT
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from reverie.models import Json

_PART: Final = lazy_regex(r"conversations(?:-\d+)?\.json", re.ASCII)
_ID: Final = lazy_regex(r"[\w.-]{1,128}", re.ASCII)
_ZIP_BEGIN: Final = b"PK\x03\x04"
_SECONDS_MAX: Final = 2**33  # the year 2242: a later time is none
_HINT: Final = "give the zip file of an export, the folder that it was unpacked to, or its conversations.json"


def conversations(
    export: Path, *, on_skipped: Callable[[str, str], None] = lambda *_: None
) -> Iterator[tuple[str, bytes]]:
    """Yield the id of each conversation of an export with messages, and its lines.

    `on_skipped` is called with the title of one that cannot be read, or its number, and the reason.

    Raises NotFound, ValidationError for what is no export or has no conversation that can be read, and TooLarge.
    """
    skipped: list[str] = []
    names: set[str] = set()
    number = 0
    for part, data in _parts(export):
        for conversation in _list(part, data):
            number += 1
            try:
                name, lines = _conversation(conversation, names)
            except Unreadable as error:
                title = conversation.get("title") if isinstance(conversation, dict) else None
                skipped.append(str(error))
                on_skipped(title if isinstance(title, str) and title.strip() else f"conversation {number}", str(error))
                continue
            names.add(name)
            if lines:
                yield name, lines
    if skipped and not names:
        raise ValidationError(f"{export} has no conversation that can be read: {skipped[0]}", hint=_HINT)


def _list(part: str, data: bytes) -> list[Json]:
    """Return the conversations in one file of an export. Raises ValidationError."""
    try:
        value, _ = parse(data)
    except Unreadable as error:
        raise ValidationError(f"{part} cannot be read: {error}", hint=_HINT) from error
    if isinstance(value, dict) and "mapping" in value:
        return [value]
    if not isinstance(value, list):
        raise ValidationError(f"{part} is not a list of conversations", hint=_HINT)
    return value


def _conversation(conversation: Json, names: set[str]) -> tuple[str, bytes]:
    """Return the id of a conversation and its lines, none where nothing was said; raises Unreadable.

    `names` are the ids of those before it.
    """
    if not isinstance(conversation, dict):
        raise Unreadable("it is not an object")
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict):
        raise Unreadable("it has no `mapping` of messages")
    name = conversation.get("conversation_id") or conversation.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise Unreadable("its id is missing, or is not made of letters, digits, `.`, `_` and `-`")
    if name in names:
        raise Unreadable(f"another one has the id {name}")
    lines = [*_lines(name, mapping), *_current(name, conversation)]
    if not any("message" in line for line in lines):
        return name, b""
    try:
        return name, b"".join(orjson.dumps(line) + b"\n" for line in lines)
    except orjson.JSONEncodeError as error:
        raise Unreadable(f"it cannot be written as lines: {error}") from error


def _parts(export: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file with conversations, in the order of their names."""
    if export.is_dir():
        files = sorted(path for path in export.iterdir() if _PART.fullmatch(path.name) and path.is_file())
        if not files:
            raise NotFound(f"{export} has no conversations.json", hint=_HINT)
        yield from ((str(path), _read(path)) for path in files)
        return
    if not export.is_file():
        raise NotFound(f"{export} is not a file", hint=_HINT)
    with export.open("rb") as file:
        begins_as_zip = file.read(len(_ZIP_BEGIN)) == _ZIP_BEGIN
    if not begins_as_zip and not zipfile.is_zipfile(export):
        yield str(export), _read(export)
        return
    try:
        yield from _unpacked(export)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ValidationError(
            f"{export} is a zip file that is damaged or not complete: {error}", hint="download the export again"
        ) from error


def _read(path: Path) -> bytes:
    """Return the bytes of a file. Raises TooLarge."""
    if path.stat().st_size > UNPACKED_BYTES_MAX:
        raise TooLarge(f"{path} is larger than {UNPACKED_BYTES_MAX} bytes", hint="split it")
    return path.read_bytes()


def _unpacked(export: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files with conversations out of a zip file."""
    with zipfile.ZipFile(export) as archive:
        members = [info for info in archive.infolist() if _PART.fullmatch(info.filename.rsplit("/", 1)[-1])]
        if not members:
            raise ValidationError(f"{export} has no conversations.json", hint=_HINT)
        if sum(info.file_size for info in members) > UNPACKED_BYTES_MAX:
            raise TooLarge(f"{export} unpacks to more than {UNPACKED_BYTES_MAX} bytes", hint="split it")
        for info in sorted(members, key=lambda info: info.filename):
            yield f"{export} ({info.filename})", archive.read(info)


def _lines(name: str, mapping: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the line of each node, parents before their children, else in the order of the times."""
    waiting = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    order = sorted(waiting, key=lambda key: (_seconds(waiting[key]) is not None, _seconds(waiting[key]) or 0.0))
    written: set[str] = set()
    for key in order:
        path: list[str] = []
        at: Json = key
        while isinstance(at, str) and at in waiting and at not in written and at not in path:
            path.append(at)
            at = waiting[at].get("parent")
        for node in reversed(path):
            written.add(node)
            yield _line(name, node, waiting[node])


def _current(name: str, conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the line that names the node which the person saw last, where it is one of the conversation's."""
    node = conversation.get("current_node")
    if isinstance(node, str) and node in conversation["mapping"]:
        at = conversation.get("update_time")
        yield {"type": CURRENT, "uuid": f"{node} at {at}", "sessionId": name, "node": node}


def _line(name: str, key: str, node: dict[str, Any]) -> dict[str, Any]:
    """Return one node of a conversation's tree as a transcript line, a JSON object."""
    message = node.get("message") if isinstance(node.get("message"), dict) else None
    author = message.get("author") if message is not None else None
    role = author.get("role") if isinstance(author, dict) else None
    words = "" if message is None else _words(message.get("content"))
    line: dict[str, Any] = {"uuid": key, "parentUuid": node.get("parent"), "sessionId": name}
    seconds = _seconds(node)
    if seconds is not None:
        moment = datetime.fromtimestamp(seconds, UTC)
        line["timestamp"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if message is None or role not in {"user", "assistant"} or not words or not _is_said(message):
        return {"type": "chatgpt-node", **line, "node": {"role": role, "content": message and message.get("content")}}
    said: dict[str, Any] = {"role": role, "content": words}
    metadata = message.get("metadata")
    if role == "assistant" and isinstance(metadata, dict) and isinstance(metadata.get("model_slug"), str):
        said["model"] = metadata["model_slug"]
    return {"type": role, **line, "message": said}


def _seconds(node: dict[str, Any]) -> float | None:
    """Return the time of a node's message in seconds since 1970, or None."""
    match node:
        case {"message": {"create_time": int() | float() as given}} if not isinstance(given, bool):
            return float(given) if 0 <= given < _SECONDS_MAX else None
        case _:
            return None


def _is_said(message: dict[str, Any]) -> bool:
    """Return True if a message is shown to the other side: not to a tool of ChatGPT, and not hidden."""
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation") is True
    return message.get("recipient", "all") == "all" and not hidden


def _words(content: Json) -> str:
    """Return the words of a message; an image or a file is named. Empty for thoughts and hidden context."""
    match content:
        case {"content_type": "text" | "multimodal_text", "parts": list(parts)}:
            return "\n".join(_part(part) for part in parts).strip()
        case {"content_type": "code", "language": language, "text": str(text)} if text.strip():
            return f"```{language if language != 'unknown' else ''}\n{text}\n```"
        case _:
            return ""


def _part(part: Json) -> str:
    """Return one part of a ChatGPT message as text; an image or file as its kind in brackets."""
    match part:
        case str():
            return part
        case {"text": str(text)}:
            return text
        case {"content_type": str(kind)}:
            return f"[{kind.removesuffix('_asset_pointer')}]"
        case _:
            return ""
