"""An append that is committed is never answered with an error: a caller would send its messages once more."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from reverie import wire
from reverie.errors import Busy
from reverie.redact import Redactor, logged
from reverie.store import Done, seal
from reverie.usecases.by import By
from reveried.actions import threads, trust
from reveried.config import Context
from reveried.http.types import Call
from reveried.routes.threads import append

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

    monkeypatch.setattr(threads, "_distilled_if_full", failing)
    monkeypatch.setattr(trust, "attribute_messages", failing)
    monkeypatch.setattr(threads, "seal", lambda *_: None)
    services = SimpleNamespace(
        clock=lambda: "2026-11-21T09:30:00.000Z",
        redactor=Redactor(),
        submit=submit,
        new_id=None,
        config=SimpleNamespace(context=Context()),
        made=lambda _: SimpleNamespace(schedule=lambda *_: None),
    )

    reply = asyncio.run(append(_call(services)))

    assert isinstance(reply, wire.Appended)


@pytest.mark.parametrize("letters", [10, threads.INLINE_BYTES])
def test_a_large_body_is_sealed_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch, letters: int) -> None:
    """Entries and seals of a large body are made in another thread; what was redacted is in the request's log."""
    threads_of_work: list[int] = []
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"

    def sealed(value: Any, redactor: Redactor) -> Any:
        threads_of_work.append(threading.get_ident())
        return seal(value, redactor)

    async def submit(_: Any, **__: Any) -> Done[wire.Appended]:
        return Done(APPENDED, 1, replayed=True)

    monkeypatch.setattr(threads, "seal", sealed)
    services: Any = SimpleNamespace(
        clock=lambda: "2026-11-21T09:30:00.000Z",
        redactor=Redactor(),
        submit=submit,
        config=SimpleNamespace(context=Context()),
    )
    message = wire.MessageIn("user", f"{secret} {'x' * letters}")
    request = wire.AppendMessages(messages=[message])
    with logged() as log:
        asyncio.run(threads.append(services, By("default", "person"), "t", request, size=letters + 50))
        assert len(log.taken) == 1
    assert (threads_of_work == [threading.get_ident()]) == (letters == 10)
