"""Outcome of a CLI command, and a table of a fake daemon's answers."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pytest

from reveried.cli import main
from support.daemon import Daemon
from support.fake_daemon import HEALTH, Answer, Request, envelope

AT = "2026-11-21T09:30:00.000Z"
MEMORY = {
    "id": "mem_1",
    "type": "fact",
    "content": "Close the file before renaming it.",
    "tags": [],
    "document": "facts/files.md",
    "createdAt": AT,
    "updatedAt": AT,
}
THREAD = {
    "id": "thr_1",
    "messageCount": 0,
    "tokens": 0,
    "distillations": 0,
    "context": {"tokens": 0, "window": 200000, "fraction": 0.0},
    "createdAt": AT,
    "updatedAt": AT,
}
OPERATION = {
    "id": "op_2",
    "seq": 2,
    "at": AT,
    "who": "owner",
    "why": "distill",
    "undoable": True,
    "changes": [{"kind": "memory", "key": ["mem_1"], "before": None, "after": 1}],
}
DISTILLED = {
    "archive": "cd" * 32,
    "number": 2,
    "summary": {"number": 2, "sections": {}, "text": "# Conversation Summary (Distillation #2)"},
    "tail": {"messages": 10, "tokens": 400},
    "tokensBefore": 9000,
    "tokensAfter": 900,
    "tokensUsed": 900,
    "memories": {"candidates": 3, "counts": {"ADD": 2, "SKIP": 1}, "tier": "GENEROUS"},
}
"""Answers of a daemon: a memory, a thread, an operation that added the memory, and a distillation."""


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)


Cli = Callable[..., Outcome]


def reverie(env: Mapping[str, str], *words: str, typed: str = "", cwd: Path | None = None) -> Outcome:
    """Run `reverie` in this process as in one with this environment, folder and standard input."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True), io.StringIO()
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        mock.patch.dict(os.environ, env, clear=True),
        mock.patch("sys.stdin", io.StringIO(typed)),
        chdir(cwd or Path.cwd()),
    ):
        code = main(words)
    return Outcome(code, out.buffer.getvalue().decode(), err.getvalue())


def run_in_process(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return a function that runs `reverie` with its arguments in this process."""

    def run(*words: str) -> Outcome:
        capsys.readouterr()
        code = main(words)
        output = capsys.readouterr()
        return Outcome(code, output.out, output.err)

    return run


def use_daemon(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of this process so that its commands reach a daemon."""
    for name in ("REVERIE_HOME", "REVERIE_SOCKET"):
        monkeypatch.delenv(name, raising=False)
        if name in daemon.env:
            monkeypatch.setenv(name, daemon.env[name])


def check(cli: Cli, words: str, *parts: str) -> None:
    """Assert that the command succeeds and prints all these parts, without escape sequences."""
    outcome = cli(*words.split())
    assert (outcome.code, outcome.err) == (0, ""), f"{words}: {outcome}"
    for part in parts:
        assert part in outcome.out
    assert "\x1b" not in outcome.out


class Routes:
    """Answers by `METHOD path`: JSON, an Answer, or a function of the request."""

    def __init__(self) -> None:
        self.table: dict[str, Any] = {"GET /v1/health": HEALTH}

    def __setitem__(self, call: str, answer: Any) -> None:
        self.table[call] = answer

    def __call__(self, request: Request) -> Answer:
        answer = self.table.get(f"{request.method} {request.path}")
        if answer is None:
            return envelope(
                "not_found", f"There is no {request.path!r} here.", status=404, hint="See /v1/openapi.json."
            )
        if callable(answer):
            answer = answer(request)
        return answer if isinstance(answer, Answer) else Answer(answer)
