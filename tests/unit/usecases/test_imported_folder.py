"""The folder of an imported session, by which its project is found."""

from __future__ import annotations

import orjson
import pytest

from reverie.store import ThreadRecord
from reverie.usecases.imports import ChunkJob, decide
from reverie.usecases.projects import is_project_unknown


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/home/ann/harbour", "/home/ann/harbour"),
        (r"C:\Users\ann\harbour", "/mnt/c/Users/ann/harbour"),
        (r"\\wsl.localhost\Ubuntu\home\ann\harbour", "/home/ann/harbour"),
        ("harbour", None),
        (None, None),
    ],
)
def test_the_folder_of_a_session(cwd: str | None, folder: str | None) -> None:
    """A folder of Windows is named as this machine knows it, with the remote that Codex states of it."""
    meta = {"cwd": cwd, "git": {"repository_url": "https://example.org/ann/harbour"}}
    line = orjson.dumps({"type": "session_meta", "payload": meta if cwd else {}})
    plan = decide(ChunkJob(data=line + b"\n", first_line=1, final=True))
    assert (plan.folder, plan.remote) == (folder, "example.org/ann/harbour" if folder else "")


@pytest.mark.parametrize(
    ("agent", "project", "project_unknown"),
    [("claude-code", None, True), ("codex", "harbour", False), ("chatgpt", None, False), (None, None, False)],
)
def test_a_session_of_a_client_without_a_folder(
    agent: str | None, project: str | None, *, project_unknown: bool
) -> None:
    """Only a client that works in folders has sessions whose project is not known; a chat needs none."""
    thread = ThreadRecord(id="thr_1", agent=agent, project=project, created_at="", updated_at="")
    assert is_project_unknown(thread) is project_unknown
