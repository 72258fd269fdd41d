"""The ledger of model requests: ceilings with concurrent requests, pauses before retries, and a full disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import wire
from reverie.errors import DiskFull, FailureReason, ModelFailed
from reverie.language_model.requests import ModelAnswer, ModelRequest
from reverie.redact import Redactor
from reverie.store import Store
from reverie.usecases.usage import Ceilings, model_spend
from reveried.models.meter import Metered, retry_pause
from reveried.models.transport import NOT_SENT
from reveried.worker import Worker
from support.asking_model import question

FIRST, NEXT = "2026-11-22", "2026-11-23"


class Provider:
    """A transport in this process that counts its requests, and fails as often as the test lists failures."""

    def __init__(self) -> None:
        self.seen = 0
        self.failures: list[ModelFailed] = []
        self.meanwhile: Callable[[], Any] = lambda: None

    async def answer(self, request: ModelRequest, deadline_s: float) -> ModelAnswer:
        """Answer, after every other task has had its turn."""
        assert request.role == "cheap"
        assert deadline_s > 0
        self.seen += 1
        await asyncio.sleep(0)
        self.meanwhile()
        if self.failures:
            raise self.failures.pop(0)
        return ModelAnswer("{}", input_tokens=30, output_tokens=7, model="m")

    async def close(self) -> None:
        """Do nothing."""


class Ledger:
    """A store with its worker and a clock that the test moves; `full` lets every write fail."""

    def __init__(self, store: Store, worker: Worker) -> None:
        self.store = store
        self.worker = worker
        self.day = FIRST
        self.full = False
        self.number = 0

    async def submit(self, write: Any, *, bulk: bool = False) -> Any:
        """Submit a write, unless the disk is full."""
        if self.full:
            raise DiskFull("the disk is full")
        return await self.worker.submit(write, bulk=bulk)

    def metered(self, provider: Provider, *, tries: int = 3, **ceilings: int) -> Metered:
        """Return the metered provider."""
        return Metered(
            provider,
            self.submit,
            ceilings=Ceilings(**{"tokens": 10**9, "calls": 10**6, **ceilings}),
            clock=lambda: f"{self.day}T12:00:00.000Z",
            new_id=self._new_id,
            random=lambda: 0.0,
            tries=tries,
            wait_s_max=0.01,
        )

    def spent(self, day: str = FIRST) -> wire.ModelSpend:
        """Return the entry of a day."""
        (entry,) = model_spend(self.store, day)
        return entry

    def _new_id(self, kind: str) -> str:
        self.number += 1
        return f"{kind}_{self.number}"


@asynccontextmanager
async def ledger(folder: Path) -> AsyncIterator[Ledger]:
    """Yield a ledger in a new store."""
    store = Store.open(folder / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: f"{FIRST}T12:00:00.000Z", queue_length=1000)
    worker.start()
    try:
        yield Ledger(store, worker)
    finally:
        worker.stop()
        store.close()


def failed(reason: FailureReason, **details: Any) -> ModelFailed:
    return ModelFailed("no", reason=reason, **details)


def test_requests_at_once_stay_below_the_ceiling(tmp_path: Path) -> None:
    """With a ceiling of seven calls, 40 concurrent requests send seven; the others fail and are not counted."""

    async def main() -> None:
        async with ledger(tmp_path) as book:
            provider = Provider()
            metered = book.metered(provider, calls=7)
            outcomes = await asyncio.gather(
                *(metered.answer(question(), 10) for _ in range(40)), return_exceptions=True
            )
            refused = [outcome.reason for outcome in outcomes if isinstance(outcome, ModelFailed)]
            assert (provider.seen, refused) == (7, ["over_ceiling"] * 33)
            spent = book.spent()
            assert (spent.calls, spent.failed, spent.open, spent.input_tokens) == (7, 0, 0, 7 * 30)

    asyncio.run(main())


def test_what_is_open_counts_against_the_ceiling(tmp_path: Path) -> None:
    """A request under way counts with its reservation, so a second one is refused; a finished one with its real use."""

    async def main() -> None:
        async with ledger(tmp_path) as book:
            provider = Provider()
            metered = book.metered(provider, tokens=1500)
            one, other = await asyncio.gather(
                metered.answer(question(), 10), metered.answer(question(), 10), return_exceptions=True
            )
            assert [type(one), type(other)] == [ModelAnswer, ModelFailed]
            await metered.answer(question(), 10)
            assert book.spent().calls == 2

    asyncio.run(main())


def test_each_try_counts_once(tmp_path: Path) -> None:
    """Each try that was sent counts once: an error without tokens, a broken connection with its reservation."""

    async def main() -> None:
        async with ledger(tmp_path) as book:
            provider = Provider()
            metered = book.metered(provider, tries=5)
            provider.failures = [failed("failed", status=500), failed("failed"), failed("failed", **{NOT_SENT: True})]
            await metered.answer(question(), 10)
            spent = book.spent()
            assert (provider.seen, spent.calls, spent.failed, spent.open) == (4, 3, 2, 1)
            assert (spent.input_tokens, spent.output_tokens) == (30, 7)
            assert spent.reserved_tokens > question().max_output_tokens

    asyncio.run(main())


def test_no_try_begins_that_cannot_end(tmp_path: Path) -> None:
    """Where a pause leaves no time for a further request, none is sent or counted, and the last failure is raised."""

    async def run() -> None:
        async with ledger(tmp_path) as kept:
            provider = Provider()
            provider.failures = [failed("rate_limited", status=529), failed("rate_limited", status=529)]
            with pytest.raises(ModelFailed) as caught:
                await kept.metered(provider).answer(question(), 0.4)
            assert caught.value.reason == "rate_limited"
            assert provider.seen == kept.spent().calls == 1

    asyncio.run(run())


def test_a_ledger_that_cannot_be_written(tmp_path: Path) -> None:
    """If the ledger cannot be written, no request is sent; one already sent is settled by the next request."""

    async def main() -> None:
        async with ledger(tmp_path) as book:
            provider = Provider()
            metered = book.metered(provider)
            provider.meanwhile = lambda: setattr(book, "full", True)
            assert (await metered.answer(question(), 10)).text == "{}"
            assert (book.spent().open, book.spent().input_tokens) == (1, 0)
            with pytest.raises(DiskFull):
                await metered.answer(question(), 10)
            assert provider.seen == 1
            book.full, provider.meanwhile = False, lambda: None
            await metered.answer(question(), 10)
            spent = book.spent()
            assert (spent.calls, spent.open, spent.input_tokens) == (2, 0, 60)

    asyncio.run(main())


def test_a_day_ends_during_a_request(tmp_path: Path) -> None:
    """A request counts for the day on which it was sent; the next day's count begins at zero."""

    async def main() -> None:
        async with ledger(tmp_path) as book:
            provider = Provider()
            metered = book.metered(provider, calls=1)
            provider.meanwhile = lambda: setattr(book, "day", NEXT)
            await metered.answer(question(), 10)
            assert (book.spent().calls, book.spent().open) == (1, 0)
            await metered.answer(question(), 10)
            assert book.spent(NEXT).calls == 1

    asyncio.run(main())


@given(
    tried=st.integers(1, 10),
    random=st.floats(0, 1, exclude_max=True),
    stated=st.none() | st.floats(-1e9, 1e12),
    most=st.floats(0, 1e5),
)
def test_pauses_are_bounded(tried: int, random: float, stated: float | None, most: float) -> None:
    """A pause is never negative and never longer than the settings allow, whatever a provider states."""
    failure = ModelFailed("no", reason="rate_limited", retry_after=stated)
    pause = retry_pause(failure, tried, random, most)
    assert pause is not None
    assert 0 <= pause <= most
    if stated is not None:
        assert pause == min(max(0.0, stated), most)


@pytest.mark.parametrize("reason", ["timeout", "over_ceiling", "rejected", "refused", "truncated", "unparseable"])
def test_what_does_not_pass_is_not_tried_again(reason: FailureReason) -> None:
    assert retry_pause(failed(reason), 1, 0.5, 60) is None
