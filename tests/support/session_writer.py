"""Writer of Claude Code session files (JSON lines) with every line kind that the client produces."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

_NAMESPACE = uuid.UUID("9b7c1f5e-0c55-4e0e-8a0b-6f2f1c8f0a77")
_START = datetime(2026, 2, 3, 8, 30, tzinfo=UTC)
_STEP = timedelta(seconds=17)
_TIMELESS = ("file-history-snapshot", "summary")  # line kinds outside of the tree of messages


def text_block(text: str) -> dict[str, Any]:
    """Return a text block."""
    return {"type": "text", "text": text}


def thinking_block(text: str) -> dict[str, Any]:
    """Return a thinking block with a made-up signature."""
    return {"type": "thinking", "thinking": text, "signature": f"c2ln{len(text):06}"}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call with its result; a `result` of None means that the call was never answered."""

    name: str
    arguments: dict[str, Any]
    result: str | list[dict[str, Any]] | None
    failed: bool = False


@dataclass(slots=True)
class SessionWriter:
    """The lines of one session so far; ids and times are counted, so equal calls give equal bytes."""

    number: int
    folder: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    parent: str | None = None  # uuid of the line that the next one hangs on
    compactions: int = 0
    unanswered: int = 0
    _replies: int = 0
    _calls: int = 0
    _slots: int = 0  # lines of the tree so far, for their ids and times

    @property
    def session(self) -> str:
        """Return the session's UUID."""
        return str(uuid.uuid5(_NAMESPACE, f"session {self.number}"))

    @property
    def last_reply(self) -> str:
        """Return the id of the newest assistant message."""
        return f"msg_{self.number:03}{self._replies:06}"

    def bytes(self) -> bytes:
        """Return the lines as the bytes of a session file."""
        return b"".join(orjson.dumps(line) + b"\n" for line in self.lines)

    def add(self, kind: str, **fields: Any) -> str:
        """Append one line of the message tree and return its uuid; `fields` may override the envelope."""
        identity = str(uuid.uuid5(_NAMESPACE, f"{self.number}/{self._slots}"))
        envelope = {
            "parentUuid": self.parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self.folder,
            "sessionId": self.session,
            "version": "2.1.4",
            "gitBranch": "main",
            "type": kind,
            "uuid": identity,
            "timestamp": self._now(),
        }
        self._slots += 1
        self.lines.append(envelope | fields)
        if not fields.get("isSidechain"):
            self.parent = identity
        return identity

    def add_outside_tree(self, kind: str, **fields: Any) -> None:
        """Append a line that has no uuid and no parent: a snapshot, a queue operation, a title of another session."""
        line = {"type": kind, **fields}
        self.lines.append(line if kind in _TIMELESS else {**line, "sessionId": self.session, "timestamp": self._now()})

    def user(self, content: str | list[dict[str, Any]], **fields: Any) -> str:
        """Append a message of the user."""
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def reply(self, *blocks: dict[str, Any]) -> None:
        """Append a reply of the agent without tool calls, a line for each block."""
        self._replies += 1
        for block in blocks:
            self._assistant(block, "end_turn")

    def tools(self, *calls: ToolCall, before: tuple[dict[str, Any], ...] = (), interleaved: bool = False) -> None:
        """Append a reply with the blocks `before` and the tool calls, and the result of each call.

        `interleaved` writes each result right behind its call, as the client does when a tool is quick; otherwise all
        results follow the whole reply.
        """
        self._replies += 1
        for block in before:
            self._assistant(block, "tool_use")
        results: list[tuple[str, str, ToolCall]] = []
        for call in calls:
            self._calls += 1
            identity = f"toolu_{self.number:03}{self._calls:06}"
            use = {"type": "tool_use", "id": identity, "name": call.name, "input": call.arguments}
            line = self._assistant(use, "tool_use")
            if interleaved:
                self._result(identity, line, call)
            else:
                results.append((identity, line, call))
        for identity, line, call in results:
            self._result(identity, line, call)

    def compact(self, summary: str, tokens_before: int) -> None:
        """Append a compaction as the client records it: the boundary line, then the client's summary."""
        self.compactions += 1
        end, self.parent = self.parent, None
        self.add(
            "system",
            subtype="compact_boundary",
            logicalParentUuid=end,
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata={"trigger": "auto", "preTokens": tokens_before},
        )
        self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def progress(self, **data: Any) -> None:
        """Append a progress notice of a running tool."""
        identity = f"toolu_{self.number:03}{self._calls:06}"
        self.add("progress", data=data, toolUseID=identity, parentToolUseID=identity)

    def _assistant(self, block: dict[str, Any], stop: str) -> str:
        message = {
            "model": "claude-generated",
            "id": self.last_reply,
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 6, "cache_read_input_tokens": 700 * self._replies, "output_tokens": 90},
        }
        return self.add("assistant", message=message, requestId=f"req_{self.number:03}{self._replies:06}")

    def _result(self, identity: str, line: str, call: ToolCall) -> None:
        if call.result is None:
            self.unanswered += 1
            return
        block: dict[str, Any] = {"tool_use_id": identity, "type": "tool_result", "content": call.result}
        if call.failed:
            block["is_error"] = True
        shown = call.result if isinstance(call.result, str) else {"parts": len(call.result)}
        self.user([block], toolUseResult=shown, sourceToolAssistantUUID=line)

    def _now(self) -> str:
        at = _START + timedelta(days=self.number) + self._slots * _STEP
        return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
