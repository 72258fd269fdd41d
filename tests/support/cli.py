"""Outcome of a CLI command, and a table of a fake daemon's answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from support.fake_daemon import HEALTH, Answer, Request, envelope

__all__ = ["DISTILLED", "Cli", "Outcome", "Routes", "check"]

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
"""The answer of a daemon to a distillation."""


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
