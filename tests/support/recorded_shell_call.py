"""Sessions in which an agent ran one shell command, as a client records them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from reverie.client import Client
from reveried.cli.send_sessions import import_file


def import_shell_call(
    client: Client, folder: Path, command: str, *, at: str, until: str, cwd: str | None = None
) -> None:
    """Import a session whose agent ran `command` from `at` to `until` (RFC 3339), in a client started in `cwd`."""
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    said: list[tuple[str, Any, str]] = [("user", "Go.", at), ("assistant", [use], at), ("user", [result], until)]
    lines = [
        {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "s",
            "timestamp": when,
            "message": {"role": role, "content": content},
        }
        | ({} if cwd is None else {"cwd": cwd})
        for number, (role, content, when) in enumerate(said)
    ]
    session = folder / f"{uuid4()}.jsonl"
    session.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    import_file(client, session, program="claude-code")
