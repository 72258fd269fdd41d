"""Writes a story down as a Claude Code transcript: each turn becomes the lines that the program would have written."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

__all__ = ["Transcript"]

_BEGUN = datetime(2026, 3, 30, 8, 2, 11, tzinfo=UTC)
_STEP = timedelta(seconds=41)
_NAMES = uuid.UUID("5c0c9d0e-4a38-4c0e-9f5d-3c1a6f1f7b20")


@dataclass(slots=True)
class Transcript:
    """Lines so far. Ids and times are counted, so the same story gives the same bytes."""

    session: str
    folder: str
    branch: str
    lines: list[dict[str, Any]] = field(default_factory=list)
    _last: str | None = None
    _replies: int = 0
    _calls: int = 0

    def person(self, text: str) -> None:
        """What the person says."""
        self._line("user", {"role": "user", "content": text})

    def agent(self, *blocks: dict[str, Any]) -> None:
        """One reply of the agent: a line for each block, as they come in, all of one message."""
        self._replies += 1
        for block in blocks:
            message = {
                "id": f"msg_demo{self._replies:04}",
                "type": "message",
                "role": "assistant",
                "model": "claude-demo",
                "content": [block],
                "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
                "usage": {"input_tokens": 900 + 310 * self._replies, "output_tokens": 140},
            }
            self._line("assistant", message, requestId=f"req_demo{self._replies:04}")

    def says(self, text: str) -> dict[str, Any]:
        """A piece of text in a reply."""
        return {"type": "text", "text": text}

    def calls(self, tool: str, **given: Any) -> dict[str, Any]:
        """A tool call in a reply; `result` answers the latest."""
        self._calls += 1
        return {"type": "tool_use", "id": f"toolu_demo{self._calls:04}", "name": tool, "input": given}

    def result(self, text: str, *, failed: bool = False) -> None:
        """What the latest tool call gave back."""
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": f"toolu_demo{self._calls:04}",
            "content": text,
        }
        if failed:
            block["is_error"] = True
        self._line("user", {"role": "user", "content": [block]}, toolUseResult=text)

    def written(self) -> bytes:
        """The file's bytes."""
        return b"".join(orjson.dumps(line) + b"\n" for line in self.lines)

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        number = len(self.lines)
        identity = str(uuid.uuid5(_NAMES, f"{self.session}/{number}"))
        at = (_BEGUN + number * _STEP).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append(
            {
                "parentUuid": self._last,
                "isSidechain": False,
                "userType": "external",
                "cwd": self.folder,
                "sessionId": self.session,
                "version": "2.1.0",
                "gitBranch": self.branch,
                "type": kind,
                "message": message,
                "uuid": identity,
                "timestamp": at,
                **more,
            }
        )
        self._last = identity
