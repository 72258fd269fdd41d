"""What a command did, and a daemon's answers as a table; shared by the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import orjson

from support.fake_daemon import HEALTH, Answer, Seen, envelope

__all__ = ["Cli", "Outcome", "Routes"]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return orjson.loads(self.out)


Cli = Callable[..., Outcome]


class Routes:
    """Answers by `METHOD path`; a value is JSON to answer, an Answer, or a function of the request."""

    def __init__(self) -> None:
        self.table: dict[str, Any] = {"GET /v1/health": HEALTH}

    def __setitem__(self, call: str, answer: Any) -> None:
        self.table[call] = answer

    def __call__(self, seen: Seen) -> Answer:
        found = self.table.get(f"{seen.method} {seen.path}")
        if found is None:
            return envelope("not_found", f"There is no {seen.path!r} here.", status=404, hint="See /v1/openapi.json.")
        if callable(found):
            found = found(seen)
        return found if isinstance(found, Answer) else Answer(found)
