"""The ledger of model requests: ceilings with concurrent requests, pauses before retries, and a full disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.errors import DiskFull, FailureReason, ModelFailed
from reverie.language_model.requests import ModelAnswer, ModelRequest
from reveried.models.meter import Metered, retry_pause
from reveried.models.transport import NOT_SENT
from support.asking_model import AT, Ledger, question

NEXT_DAY = "2026-11-23T10:00:00.000Z"


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


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    """A ledger in a new store."""
    made = Ledger(tmp_path)
    yield made
    made.close()


def failed(reason: FailureReason, **details: Any) -> ModelFailed:
    return ModelFailed("no", reason=reason, **details)


def at_once(book: Ledger, metered: Metered, number: int) -> list[ModelAnswer | BaseException]:
    """Return what so many requests at once end with."""

    async def all_of_them() -> list[ModelAnswer | BaseException]:
        asked = (metered.answer(question(), 10) for _ in range(number))
        return await asyncio.gather(*asked, return_exceptions=True)

    outcomes: list[ModelAnswer | BaseException] = book.run(all_of_them())
    return outcomes


def test_requests_at_once_stay_below_the_ceiling(book: Ledger) -> None:
    """With a ceiling of seven calls, 40 concurrent requests send seven; the others fail and are not counted."""
    provider = Provider()
    metered = book.metered(provider, calls=7)
    outcomes = at_once(book, metered, 40)
    refused = [outcome.reason for outcome in outcomes if isinstance(outcome, ModelFailed)]
    assert (provider.seen, refused) == (7, ["over_ceiling"] * 33)
    spent = book.spent()
    assert (spent.calls, spent.failed, spent.open, spent.input_tokens) == (7, 0, 0, 7 * 30)


def test_what_is_open_counts_against_the_ceiling(book: Ledger) -> None:
    """A request under way counts with its reservation, so a second one is refused; a finished one with its real use."""
    provider = Provider()
    metered = book.metered(provider, tokens=1500)
    assert [type(outcome) for outcome in at_once(book, metered, 2)] == [ModelAnswer, ModelFailed]
    book.run(metered.answer(question(), 10))
    assert book.spent().calls == 2


def test_each_try_counts_once(book: Ledger) -> None:
    """Each try that was sent counts once: an error without tokens, a broken connection with its reservation."""
    provider = Provider()
    metered = book.metered(provider, tries=5)
    provider.failures = [failed("failed", status=500), failed("failed"), failed("failed", **{NOT_SENT: True})]
    book.run(metered.answer(question(), 10))
    spent = book.spent()
    assert (provider.seen, spent.calls, spent.failed, spent.open) == (4, 3, 2, 1)
    assert (spent.input_tokens, spent.output_tokens) == (30, 7)
    assert spent.reserved_tokens > question().max_output_tokens


def test_no_try_begins_that_cannot_end(book: Ledger) -> None:
    """Where a pause leaves no time for a further request, none is sent or counted, and the last failure is raised."""
    provider = Provider()
    provider.failures = [failed("rate_limited", status=529), failed("rate_limited", status=529)]
    with pytest.raises(ModelFailed) as caught:
        book.run(book.metered(provider).answer(question(), 0.4))
    assert caught.value.reason == "rate_limited"
    assert provider.seen == book.spent().calls == 1


def test_a_ledger_that_cannot_be_written(book: Ledger) -> None:
    """If the ledger cannot be written, no request is sent; one already sent is settled by the next request."""
    provider = Provider()
    metered = book.metered(provider)
    provider.meanwhile = lambda: setattr(book, "full", True)
    assert book.run(metered.answer(question(), 10)).text == "{}"
    assert (book.spent().open, book.spent().input_tokens) == (1, 0)
    with pytest.raises(DiskFull):
        book.run(metered.answer(question(), 10))
    assert provider.seen == 1
    book.full, provider.meanwhile = False, lambda: None
    book.run(metered.answer(question(), 10))
    spent = book.spent()
    assert (spent.calls, spent.open, spent.input_tokens) == (2, 0, 60)


def test_a_day_ends_during_a_request(book: Ledger) -> None:
    """A request counts for the day on which it was sent; the next day's count begins at zero."""
    provider = Provider()
    metered = book.metered(provider, calls=1)
    provider.meanwhile = lambda: setattr(book, "at", NEXT_DAY)
    book.run(metered.answer(question(), 10))
    assert (book.spent(AT).calls, book.spent(AT).open) == (1, 0)
    book.run(metered.answer(question(), 10))
    assert book.spent(NEXT_DAY).calls == 1


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
