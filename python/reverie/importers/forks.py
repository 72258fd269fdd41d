"""The sessions that a transcript was forked from: it begins with their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEAD_BYTES: Final = 1 << 18  # of a transcript; Codex's first line has all of its instructions
_LINES: Final = 50


def parents(head: bytes, session: str) -> tuple[str, ...]:
    """Return the other sessions that the first lines of a session's transcript name, each once.

    Claude Code copies the lines, with the id that they had (`sessionId`) or with `forkedFrom: {sessionId}`; Codex puts
    the other's `session_meta` behind its own, which may have `forked_from_id`.
    """
    found: dict[str, None] = {}
    for line in head.split(b"\n")[:_LINES]:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # the end of the head is in the middle of a line
        if isinstance(value, dict):
            found.update(dict.fromkeys(_ids(value)))
    found.pop(session, None)
    return tuple(found)


def _ids(line: dict[str, Any]) -> Iterator[str]:
    places: Iterable[tuple[object, tuple[str, ...]]] = [
        (line, ("sessionId",)),
        (line.get("forkedFrom"), ("sessionId",)),
        (line.get("payload") if line.get("type") == "session_meta" else None, ("id", "forked_from_id")),
    ]
    for place, keys in places:
        if isinstance(place, dict):
            yield from (name for key in keys if isinstance(name := place.get(key), str))
