"""The remote of a session's repository: what its client recorded, else git's output in the session's own folder."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reverie.importers.chunks import plan_chunk
from reverie.usecases.imports import remote_of

FOLDER = "/machines/ann/pier"
PUSHED = "To github.com:ann/pier.git\n   1a2b3c4..5d6e7f8  main -> main\n"
FETCHED = "From https://github.com/ben/mole\n * branch main -> FETCH_HEAD\n"
PIER, MOLE = "github.com/ann/pier", "github.com/ben/mole"


def remote(*lines: dict[str, Any], folder: str | None = FOLDER) -> str:
    data = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
    return remote_of(data, plan_chunk(data, first_line=1, final=True).entries, folder)


def codex_run(command: str, output: str, *, workdir: str | None = None, call: str = "c1") -> list[dict[str, Any]]:
    """Return the lines of a command and its output in a Codex rollout."""
    given = {"cmd": command} | ({"workdir": workdir} if workdir else {})
    arguments = json.dumps(given)
    payload = {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}
    result = {"type": "function_call_output", "call_id": call, "output": output}
    return [{"type": "response_item", "payload": item} for item in (payload, result)]


def claude_run(command: str, output: str, *, cwd: str = FOLDER) -> list[dict[str, Any]]:
    """Return the lines of a command and its output in a transcript of Claude Code."""
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": command}},
        {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": output}]},
    ]
    return [
        {"type": role, "uuid": role, "cwd": cwd, "message": {"role": role, "content": [block]}}
        for role, block in zip(("assistant", "user"), blocks, strict=True)
    ]


def begun(cwd: str, url: str | None) -> dict[str, Any]:
    """Return the first line of a Codex session in a checkout of `url`."""
    return {
        "type": "session_meta",
        "payload": {"id": "s", "cwd": cwd, "git": {"repository_url": url, "branch": "main"}},
    }


def test_what_the_client_recorded_decides() -> None:
    """Codex records the repository of a session: fetches in other clones, and a forked session's, do not count."""
    fetch = codex_run("git fetch origin", FETCHED, workdir="/machines/ann/mole")
    assert remote(begun(FOLDER, "https://ann:secret@github.com/Ann/pier.git"), *fetch) == PIER
    assert remote(begun(FOLDER, "git@github.com:ann/pier.git"), begun("/machines/x", "https://x.org/a/b")) == PIER
    assert remote(begun(FOLDER, None), *fetch) == ""
    assert remote({"type": "session_meta", "payload": {"cwd": FOLDER, "git": None}}) == ""


@pytest.mark.parametrize(
    ("command", "workdir"),
    [
        ("git push -u origin main", None),
        ("git add -A && git commit -m 'Turn the crane' && git push", FOLDER),
        (f"cd {FOLDER} && git pull --ff-only", None),
        (f'git -C "{FOLDER}" fetch --prune', None),
        ("git push", f"{FOLDER}/.worktrees/fix"),
    ],
)
def test_a_push_in_the_own_folder_counts(command: str, workdir: str | None) -> None:
    """A push, pull or fetch in the session's folder, or in a worktree of it, shows its remote."""
    assert remote(*codex_run(command, PUSHED, workdir=workdir)) == PIER
    if workdir is None:
        assert remote(*claude_run(command, PUSHED)) == PIER


@pytest.mark.parametrize(
    ("command", "workdir"),
    [
        ("git fetch origin && git status", "/machines/ann/mole"),
        ("git fetch origin", "../mole"),
        ("cd ../mole && git pull", None),
        ("(cd /machines/ann/mole; git fetch)", None),
        ("git -C ../mole fetch --all", None),
        ("git --git-dir=/machines/ann/mole/.git fetch", None),
        ("git fetch https://github.com/ben/mole main", None),
        ("git fetch git@github.com:ben/mole.git", None),
        ("git submodule update --remote", None),
        ("ssh build 'git pull'", None),
        ("cat notes/release.log", None),
        ("git clone ben/mole", None),
    ],
)
def test_a_look_into_another_clone_does_not_count(command: str, workdir: str | None) -> None:
    """Output of git about another folder or an address, or in a file that is read, is not the session's repository."""
    assert remote(*codex_run(command, FETCHED, workdir=workdir)) == ""
    # Beside it the session's own push is clear.
    both = [*codex_run(command, FETCHED, workdir=workdir), *codex_run("git push", PUSHED, call="c2")]
    assert remote(*both) == PIER


def test_what_is_no_evidence() -> None:
    """A folder the session moved to, a pasted output, two remotes and a submodule's remote give none."""
    assert remote(*claude_run("git pull", FETCHED, cwd="/machines/ann/mole")) == ""
    pasted = {"type": "user", "uuid": "u", "cwd": FOLDER, "message": {"role": "user", "content": PUSHED}}
    assert remote(pasted) == ""
    assert remote(*claude_run("git push; git pull", PUSHED + FETCHED)) == ""
    assert remote(*claude_run("git pull", f"Fetching submodule lib\n{FETCHED}")) == ""
    assert remote(*claude_run("git pull", f"{PUSHED}Fetching submodule lib\n{FETCHED}")) == PIER
    assert remote(*claude_run("git push", PUSHED), folder=None) == ""
