"""Repositories and sessions of projects, for tests."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def git(folder: Path, *words: str) -> None:
    """Run git with an identity of its own."""
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, remote: str | None = None) -> Path:
    """Return a new git repository with one empty commit, and with a remote if one is given."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    if remote is not None:
        git(folder, "remote", "add", "origin", remote)
    return folder


def command_run(command: str, output: str) -> list[Any]:
    """Return the call of a command by an assistant and its result, for `session`: an answer and what follows it."""
    call = {"type": "tool_use", "id": f"call-{command}", "name": "Bash", "input": {"command": command}}
    return [[call], [{"type": "tool_result", "tool_use_id": call["id"], "content": output}]]


def session(path: Path, folder: str, texts: Sequence[Any], *, day: str = "2026-03-01") -> Path:
    """Write a session that works in `folder`: the user's and the assistant's texts, or blocks, in turn."""
    lines: list[dict[str, Any]] = []
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        lines.append(
            {
                "type": role,
                "uuid": f"{path.stem}-{number}",
                "parentUuid": f"{path.stem}-{number - 1}" if number else None,
                "sessionId": path.stem,
                "cwd": folder,
                "timestamp": f"{day}T09:{number // 60 % 60:02}:{number % 60:02}.000Z",
                "message": {"role": role, "content": text},
            }
        )
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path
