"""Repositories and sessions of projects, for tests."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from reverie.client import Client
from reveried.cli.send_sessions import import_file
from support.story import Story, call, result


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
    return [[call(f"call-{command}", command=command)], [result(f"call-{command}", output)]]


def session(path: Path, folder: str, texts: Sequence[Any], *, day: str = "2026-03-01") -> Path:
    """Write a session that works in `folder`: the user's and the assistant's texts, or blocks, in turn."""
    story = Story(folder=folder, session=path.stem, begin=datetime.fromisoformat(f"{day}T09:00:00+00:00"))
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        story.add(role, message={"role": role, "content": text})
    path.write_bytes(story.bytes())
    return path


def import_shell_call(
    client: Client, folder: Path, command: str, *, at: str, until: str, cwd: str | None = None
) -> None:
    """Import a session whose agent ran `command` from `at` to `until` (RFC 3339), in a client started in `cwd`."""
    story, place = Story(), {} if cwd is None else {"cwd": cwd}
    story.user("Go.", timestamp=at, **place)
    story.assistant(call("t1", command=command), timestamp=at, **place)
    story.user([result("t1", "ok")], timestamp=until, **place)
    path = folder / f"{uuid4()}.jsonl"
    path.write_bytes(story.bytes())
    import_file(client, path, program="claude-code")
