"""A session file of Claude Code that grows while a daemon follows it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from support.daemon import Daemon
from support.story import SessionWriter, text_block


def now() -> str:
    """Return the present time as clients write it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class LiveSession:
    """A session in `project`, whose file (`path`, or one in `folder`) gets lines with the present time."""

    def __init__(
        self, folder: Path, project: Path, number: int, *, pid: int | None = None, path: Path | None = None
    ) -> None:
        self.writer = SessionWriter(number, str(project))
        self.project, self.pid = project, pid
        self.path = path or folder / f"{self.writer.session}.jsonl"
        self._written = 0

    @property
    def id(self) -> str:
        """Return the session's id."""
        return self.path.stem

    def say(self, prompt: str, *replies: str, **fields: Any) -> None:
        """Append a prompt and the agent's replies to the file."""
        self.writer.user(prompt, **({"timestamp": now()} | fields))
        for reply in replies:
            self.writer.reply(text_block(reply))
            self.writer.lines[-1] |= {"timestamp": now()} | fields
        self.flush()

    def flush(self) -> None:
        """Write the lines that are not in the file yet."""
        new = self.writer.lines[self._written :]
        with self.path.open("ab") as file:
            file.write(b"".join(orjson.dumps(line) + b"\n" for line in new))
        self._written = len(self.writer.lines)

    def start(self, daemon: Daemon, source: str = "startup") -> Any:
        """Announce the session to a daemon; return the answer."""
        body = {
            "client": "claude-code",
            "session": self.id,
            "project": str(self.project),
            "transcript": str(self.path),
            "source": source,
        }
        answer = daemon.ask("POST", "/v1/sessions", body | ({} if self.pid is None else {"pid": self.pid}))
        assert answer.status == 200, answer.body
        return answer.json()

    def hook(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return the input of a hook."""
        return {
            "session_id": self.id,
            "transcript_path": str(self.path),
            "cwd": str(self.project),
            "hook_event_name": event,
            **fields,
        }
