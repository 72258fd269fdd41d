"""Files of the space's folder that agents wrote by tools of their own: their memories have an agent's trust.

A save does not say who made it, so it counts as a person's. The agent's thread does: a call of a file tool with a path
in the folder, and the words, or a shell command that names a file of the folder and has the words. What came into the
store by a save at that time or later, in these words, is the agent's.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from reverie.store import DocumentRecord, MemoriesCursor, MemoryRecord, Write
from reveried.clock import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reverie.store import Writer
    from reveried.services import Services

__all__ = ["attribute_lines", "attribute_messages"]

UNDATED = timedelta(minutes=10)  # before now: when a call without a time may have been made
CLOCKS = timedelta(seconds=2)  # by which the client's clock may be ahead of ours
_WORDS_OF_EDITS = ("content", "new_string", "new_str", "insert_text", "file_text", "new_source")
_FILE = re.compile(r"[\w./~@+-]+\.md\b")
_PATHS = ("file_path", "path", "notebook_path")


async def attribute_lines(services: Services, space: str, data: bytes, *, who: str) -> None:
    """Attribute what tool calls in these lines of a transcript wrote into the folder."""
    roots = _roots(services, space)
    if not any(orjson.dumps(root)[1:-1] in data for root in roots):
        return
    messages = []
    for line in data.splitlines():
        try:
            entry = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("message"), dict):
            messages.append((entry["message"].get("content"), entry.get("timestamp")))
    await _attribute(services, space, _edits(messages, roots), who=who)


async def attribute_messages(
    services: Services, space: str, messages: Iterable[tuple[Any, str | None]], *, who: str
) -> None:
    """Attribute what tool calls in these messages (content and time) wrote into the folder."""
    edits = _edits(messages, _roots(services, space))
    await _attribute(services, space, edits, who=who)


def _roots(services: Services, space: str) -> set[str]:
    root = str(services.sync_service.root_of(space))
    return {root, os.path.realpath(root)}


def _edits(messages: Iterable[tuple[Any, Any]], roots: set[str]) -> dict[str, list[tuple[str, Any]]]:
    """Return the words that tool calls wrote to each path in the folder, with the time of the call."""
    found: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for content, at in messages:
        for block in content if isinstance(content, list) else ():
            given = block.get("input") if isinstance(block, dict) and block.get("type") == "tool_use" else None
            if not isinstance(given, dict):
                continue
            for relative, command in _commands(given, roots):
                found[relative].append((command, at))
            path = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), "")
            root = next((root for root in roots if path.startswith(root + "/")), None)
            if root is not None:
                relative = str(Path(os.path.normpath(path)).relative_to(root)) if ".." not in path else ""
                found[relative].extend((text, at) for text in _texts(given))
    found.pop("", None)
    return found


def _commands(given: Mapping[str, Any], roots: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each file of the folder that a shell command names, with the command: its words are what it may write."""
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join(part for part in command if isinstance(part, str))
    if not isinstance(command, str) or not any(root in command for root in roots):
        return
    for name in dict.fromkeys(_FILE.findall(command)):
        path = next((name[len(root) + 1 :] for root in roots if name.startswith(root + "/")), name)
        if not path.startswith("/") and ".." not in path:
            yield os.path.normpath(path), command


def _texts(given: Mapping[str, Any]) -> Iterator[str]:
    edits = given.get("edits")
    for edit in (given, *(edits if isinstance(edits, list) else ())):
        if isinstance(edit, dict):
            yield from (edit[name] for name in _WORDS_OF_EDITS if isinstance(edit.get(name), str))


async def _attribute(
    services: Services, space: str, edits: Mapping[str, Sequence[tuple[str, Any]]], *, who: str
) -> None:
    """Commit the saves of these files, then give their memories in the agent's words an agent's trust."""
    if not edits:
        return
    await services.sync_service.read_saves(space, set(edits))
    now = datetime.fromisoformat(services.clock())
    written = {path: [(_plain(text), _since(at, now)) for text, at in calls] for path, calls in edits.items()}

    def body(writer: Writer) -> None:
        changed = False
        for path, calls in written.items():
            document = writer.load(DocumentRecord, (path,))
            for name in [] if document is None else document.ids:
                memory = writer.load(MemoryRecord, (name,))
                if memory is None or memory.trust != "person":
                    continue
                words = _plain(memory.content)
                if any(memory.updated_at >= since and words in text for text, since in calls):
                    provenance = {**memory.provenance, "by": who}
                    changed |= writer.save(replace(memory, trust="agent", provenance=provenance), (name,))
        if changed:
            writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)

    await services.submit(Write(space, who, "folder.author", body))


def _since(at: Any, now: datetime) -> str:
    """Return the earliest time of a save that a call made `at` may have caused; clocks may differ a little."""
    try:
        moment = datetime.fromisoformat(at) - CLOCKS
        return text_of(moment)
    except (TypeError, ValueError):
        return text_of(now - UNDATED)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
