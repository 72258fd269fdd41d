"""An append that is committed is never answered with an error: a caller would send its messages once more."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from reverie import wire
from reverie.errors import Busy
from reverie.store import Done
from reveried.actions import threads as actions
from reveried.actions import trust as attribution
from reveried.config import Context
from reveried.http.types import Call
from reveried.routes import threads

CONTEXT = wire.ContextUse(tokens=1, window=10, fraction=0.1)
APPENDED = wire.Appended(first_seq=1, last_seq=1, context=CONTEXT)


def _call(services: Any) -> Call:
    body = b'{"messages": [{"role": "user", "content": "once"}]}'
    headers = {"content-type": "application/json"}
    return Call("POST", "/v1/threads/t/messages", "default", None, {"id": "t"}, wire.NoQuery(), headers, body, services)


@pytest.mark.parametrize("error", [Busy("the queue is full"), KeyError("a defect")])
def test_a_second_write_that_fails_is_no_error_of_the_append(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Neither the distillation of a full thread nor the trust of the files that its calls wrote."""

    async def failing(*_: Any, **__: Any) -> None:
        raise error

    async def submit(_: Any, **__: Any) -> Done[wire.Appended]:
        return Done(APPENDED, 1)

    monkeypatch.setattr(actions, "_distilled_if_full", failing)
    monkeypatch.setattr(attribution, "attribute_messages", failing)
    monkeypatch.setattr(actions, "seal", lambda *_: None)
    services = SimpleNamespace(
        clock=lambda: "2026-11-21T09:30:00.000Z",
        redactor=None,
        submit=submit,
        new_id=None,
        config=SimpleNamespace(context=Context()),
        background_state=SimpleNamespace(schedule=lambda *_: None),
    )

    reply = asyncio.run(threads.append(_call(services)))

    assert isinstance(reply, wire.Appended)
