"""A `SessionStore` of the Claude Agent SDK: each session is a thread, imported as Claude Code's transcripts are.

    from reverie.adapters.claude_agent_sdk import SessionStore
    from reverie.client import AsyncClient

    async with AsyncClient() as client:
        options = ClaudeAgentOptions(session_store=SessionStore(client))

So the session is found by `reverie search`, is learnt from, and has the project of its folder. Lines come back
deep-equal, but for secrets and private parts, which are never stored, and for what a person keeps out.

The SDK needs no base class, and this module imports it for summaries alone.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

import orjson

from reverie import ids, wire
from reverie.adapters.values import RecentlyUsed, all_items
from reverie.client.optional import load
from reverie.errors import NotFound, ValidationError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

    from claude_agent_sdk import (
        SessionKey,
        SessionListSubkeysKey,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )

    from reverie.client import AsyncClient

SESSIONS_MAX: Final = 256  # whose lines are known without reading them again
DELETED_MAX: Final = 10_000  # deleted sessions that may begin anew; one before these is as if a person had deleted it
_CLIENT: Final = "claude-code"  # whose lines these are: the SDK runs Claude Code
_SOURCE = "claude-agent-sdk:"  # begins the source of each thread, which the key follows
_SESSION_MAX = 200  # characters of the name of an import
_CHUNK_BYTES = wire.CHUNK_MAX_BYTES // 2


@dataclass(slots=True, weakref_slot=True)
class _Written:
    """The state of a session as this process left it: where its import is, and the ids of the lines in it."""

    offset: int = -1
    uuids: set[str] = field(default_factory=set)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class SessionStore:
    """Sessions of the Claude Agent SDK in the client's space; use one for all sessions of a program.

    Its calls raise the client's errors; of an append, the SDK logs them and tries three times, and the session goes on.
    A line with a `uuid` that is there already is not added again.
    """

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._written = RecentlyUsed[_Written](SESSIONS_MAX)
        self._deleted: dict[str, None] = {}  # oldest first

    async def append(self, key: SessionKey, entries: Sequence[SessionStoreEntry]) -> None:
        """Append lines of a session in order.

        Raises:
            Conflict: a person deleted the session's thread (`details["forgotten"]`); nothing brings it back by itself.
        """
        if not entries:
            return
        source = _source(key)
        written = self._written.get(source, _Written)
        async with written.lock:
            import_position = await self._client.start_import(
                _CLIENT, _session(source), source=source, again=source in self._deleted
            )
            self._deleted.pop(source, None)
            if import_position.offset != written.offset:  # another process wrote, or this one has just begun
                written.uuids = await self._uuids(import_position.thread) if import_position.lines else set()
            written.offset = -1  # until the daemon has answered, it is not known what it has
            new = _new(entries, written.uuids)
            offset, line = import_position.offset, import_position.lines
            for data in _chunks(new):
                answer = await self._client.send_chunk(import_position.id, data, offset=offset, first_line=line + 1)
                offset, line = answer.offset, answer.lines
            written.offset = offset
            written.uuids.update(filter(None, map(_uuid, new)))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return every line of a session, or None for one that was never written."""
        thread = ids.of_session("thr", _CLIENT, _session(_source(key)))
        try:
            lines = [line async for line in self._lines(thread)]
        except NotFound:
            return None
        return lines or None

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the sessions of a project, without those of subagents; `mtime` is that of the last message, in ms."""
        return [
            {"session_id": session, "mtime": _milliseconds(thread.updated_at)}
            for session, thread in await self._sessions(project_key)
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the SDK's summary of each session of a project, made of its lines now."""
        fold = load("claude_agent_sdk", "claude-agent-sdk").fold_session_summary
        summaries: list[SessionSummaryEntry] = []
        for session, thread in await self._sessions(project_key):
            lines = [line async for line in self._lines(thread.id)]
            summary: SessionSummaryEntry = fold(None, {"project_key": project_key, "session_id": session}, lines)
            summary["mtime"] = _milliseconds(thread.updated_at)
            summaries.append(summary)
        return summaries

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the subpaths of a session: one for the transcript of each subagent."""
        threads = self._threads(key["project_key"], key["session_id"])
        return [parts[2] async for parts, _ in threads if len(parts) == 3]

    async def delete(self, key: SessionKey) -> None:
        """Delete a session with its subagents, or with a `subpath` that of one alone."""
        subpath = key.get("subpath")
        threads = [(parts, thread) async for parts, thread in self._threads(key["project_key"], key["session_id"])]
        for parts, thread in threads:
            if subpath is None or parts[2:] == [subpath]:
                source = thread.source or ""
                await self._client.delete_thread(thread.id, confirm=thread.id)
                self._written.remove(source)
                self._deleted[source] = None
                if len(self._deleted) > DELETED_MAX:
                    del self._deleted[next(iter(self._deleted))]

    async def _uuids(self, thread: str) -> set[str]:
        return {uuid async for line in self._lines(thread) if (uuid := _uuid(line)) is not None}

    async def _lines(self, thread: str) -> AsyncIterator[Any]:
        """Yield the lines of a thread as they were appended."""
        async for entry in all_items(lambda after: self._client.entries(thread, limit=wire.LIMIT_MAX, after=after)):
            if entry.value is not None and entry.line:  # what has no line number is Reverie's own mark
                yield entry.value

    async def _threads(self, *names: str) -> AsyncIterator[tuple[list[str], wire.Thread]]:
        """Yield the parts of the key and the thread of each session whose key begins with `names`."""
        async for thread in all_items(lambda after: self._client.threads(limit=wire.LIMIT_MAX, after=after)):
            if thread.source is not None and thread.source.startswith(_SOURCE):
                parts = [unquote(part) for part in thread.source.removeprefix(_SOURCE).split("/")]
                if parts[: len(names)] == list(names):
                    yield parts, thread

    async def _sessions(self, project_key: str) -> list[tuple[str, wire.Thread]]:
        """Return the id and the thread of each session of a project, without those of subagents."""
        return [(parts[1], thread) async for parts, thread in self._threads(project_key) if len(parts) == 2]


def _source(key: Mapping[str, Any]) -> str:
    """Return the source of a session's thread, from which the key can be read again."""
    parts = [key["project_key"], key["session_id"], *([key["subpath"]] if key.get("subpath") else [])]
    try:
        return _SOURCE + "/".join(quote(part, safe="") for part in parts)
    except UnicodeEncodeError as error:
        hint = "give names that can be written as UTF-8"
        raise ValidationError("the key of a session has half of a surrogate pair", hint=hint) from error


def _session(source: str) -> str:
    """Return the session name under which a session is imported: its source, or a hash of one that is too long."""
    return source if len(source) <= _SESSION_MAX else _SOURCE + hashlib.sha256(source.encode()).hexdigest()


def _uuid(line: Mapping[str, Any]) -> str | None:
    uuid = line.get("uuid")
    return uuid if isinstance(uuid, str) else None


def _new(entries: Iterable[Mapping[str, Any]], known: Collection[str]) -> list[Mapping[str, Any]]:
    """Return the lines whose id is not known, each once, and those without an id."""
    seen = set(known)
    new = []
    for entry in entries:
        uuid = _uuid(entry)
        if uuid is None or uuid not in seen:
            new.append(entry)
        if uuid is not None:
            seen.add(uuid)
    return new


def _chunks(entries: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Return lines as chunks of an import, none of which is too large to be taken."""
    chunks: list[list[bytes]] = []
    size = _CHUNK_BYTES
    for entry in entries:
        line = orjson.dumps(entry) + b"\n"
        if size + len(line) > _CHUNK_BYTES:
            chunks.append([])
            size = 0
        chunks[-1].append(line)
        size += len(line)
    return [b"".join(lines) for lines in chunks]


def _milliseconds(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1000)
