"""A ledger of model requests with its store and event loop, and a metered transport to a fault server, for tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.errors import DiskFull, ModelFailed
from reverie.language_model.requests import ModelAnswer, ModelMessage, ModelRequest, Role, new_request
from reverie.redact import Redactor
from reverie.store import Store
from reverie.usecases.usage import Ceilings, model_spend
from reveried.config import Distiller
from reveried.models.anthropic import Anthropic
from reveried.models.meter import Metered
from reveried.models.transport import ModelTransport
from reveried.worker import Worker
from support.model_server import ModelServer

KEY = "sk-test-0123456789-of-a-test"
AT = "2026-11-22T10:00:00.000Z"
ENOUGH_S = 120.0  # for an answer on a busy machine, where the start of the process with the package takes seconds
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


class Ledger:
    """A store that counts requests to models, with its event loop and a clock; with `full`, no write succeeds."""

    def __init__(self, folder: Path) -> None:
        self.runner = asyncio.Runner()
        self.store = Store.open(folder / "store", redactor=Redactor())
        self.worker = Worker(self.store, clock=lambda: self.at, queue_length=1000)
        self.worker.start()
        self.at = AT
        self.full = False
        self.calls = 0

    async def submit(self, write: Any, *, bulk: bool = False) -> Any:
        """Submit a write, unless the disk is full."""
        if self.full:
            raise DiskFull("the disk is full")
        return await self.worker.submit(write, bulk=bulk)

    def metered(self, transport: ModelTransport, *, tries: int = 6, **ceilings: int) -> Metered:
        """Return the transport with this ledger; it waits at most half a second between two tries."""
        return Metered(
            transport,
            self.submit,
            ceilings=Ceilings(**{"tokens": 10_000_000, "calls": 10_000, **ceilings}),
            clock=lambda: self.at,
            new_id=self._new_id,
            random=lambda: 0.0,
            tries=tries,
            wait_s_max=0.5,
        )

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def spent(self, at: str = AT) -> wire.ModelSpend:
        """Return the entry of the cheap role on a day."""
        return next(entry for entry in model_spend(self.store, at) if entry.role == "cheap")

    def close(self) -> None:
        self.worker.stop()
        self.store.close()
        self.runner.close()

    def _new_id(self, kind: str) -> str:
        self.calls += 1
        return f"{kind}_{self.calls}"


class Asking(Ledger):
    """A ledger with a transport to the Messages API; `server` answers, unless another address is given."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        super().__init__(folder)
        self.server = server
        self.transport = self.new_transport()

    def new_transport(self, url: str | None = None, env: dict[str, str] | None = None, **settings: Any) -> Anthropic:
        """Return a transport to the server, or to `url`."""
        chosen = Distiller(
            kind="anthropic",
            base_url=self.server.url if url is None else url,
            **settings,
        )
        return Anthropic(chosen, {**os.environ, "ANTHROPIC_API_KEY": KEY} if env is None else env)

    def sharing_processes(self, url: str | None = None, **settings: Any) -> Anthropic:
        """Return a transport with other settings, by whose processes this one's requests are sent too."""
        made = self.new_transport(url, **settings)
        made._processes = self.transport._processes
        return made

    def ask(
        self,
        request: ModelRequest | None = None,
        *,
        transport: Anthropic | None = None,
        deadline_s: float = ENOUGH_S,
        **options: Any,
    ) -> ModelAnswer:
        metered = self.metered(transport or self.transport, **options)
        reply: ModelAnswer = self.run(metered.answer(request or question(), deadline_s))
        return reply

    def failure(self, *, deadline_s: float = ENOUGH_S, **options: Any) -> ModelFailed:
        """Return the error that asking ends with."""
        with pytest.raises(ModelFailed) as failed:
            self.ask(deadline_s=deadline_s, **options)
        return failed.value

    def close(self) -> None:
        self.run(self.transport.close())
        super().close()


def question(text: str = "Is it so?", *, role: Role = "cheap") -> ModelRequest:
    return new_request(
        purpose="extract",
        role=role,
        system="Answer in JSON.",
        messages=[ModelMessage("user", text)],
        schema=SCHEMA,
        max_output_tokens=1000,
        prompt_version="test-1",
    )
