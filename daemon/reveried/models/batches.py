"""Message Batches: requests of scheduled work, sent together, answered within a day, counted like every other.

The requests are reserved in the ledger and the batch is recorded in one commit before it is sent, and its id in another
one as soon as the provider has named it. So a daemon that is killed at any moment finds the batch again: by its id, or,
where that was not stored yet, among the newest batches of the account by the ids of its requests.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from reverie.decode import from_msgpack
from reverie.errors import ModelFailed
from reverie.language_model.requests import Outcome
from reverie.models import DATE_CHARS
from reverie.store import SYSTEM_SPACE, BatchedCall, BatchEntry, BatchesCursor, Write
from reverie.usecases.usage import ReservedCall, UsedTokens, reserve, settle
from reveried.log import logger
from reveried.models.meter import MARGIN_TOKENS, MODEL_TOKENS, WHO
from reveried.models.transport import NOT_SENT, request_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.language_model.requests import ModelRequest
    from reverie.store import Store, Writer
    from reverie.usecases.usage import Ceilings
    from reveried.models.anthropic import Anthropic
    from reveried.worker import Submit

T = TypeVar("T")
ITEMS_MAX: Final = 500  # requests of one batch
ROLE: Final = "strong"  # what is scheduled is kept, so the strong model is asked
CALL_S: Final = 120.0  # of one call about a batch
AGE_S: Final = 3600.0  # by which a batch may be older or younger than its record; clocks are set meanwhile
IN_VAIN_MAX: Final = 3  # answers in a row that are refusals or none; a first one may be of a server in between


class _State(msgspec.Struct, frozen=True):
    """A provider's batch: whether it has ended, and in a list also its number of requests and its age in seconds."""

    id: str
    ended: bool
    requests: int = 0
    age_s: float | None = None


class _Result(msgspec.Struct, frozen=True):
    """The outcome of a request (`batch_jobs.BatchResult`)."""

    id: str
    outcome: Outcome
    billed: bool
    found: bool


class Batches:
    """Sends requests as batches, and waits for their answers; what was sent is found again after a restart."""

    def __init__(
        self,
        transport: Anthropic,
        submit: Submit,
        store: Store,
        *,
        ceilings: Ceilings,
        clock: Callable[[], str],
        new_id: Callable[[str], str],
        poll_s: float,
    ) -> None:
        """`poll_s` are the seconds between two questions whether a batch has ended."""
        self._transport = transport
        self._submit = submit
        self._store = store
        self._ceilings = ceilings
        self._clock = clock
        self._new_id = new_id
        self._poll_s = poll_s

    def under_way(self, space: str, *, learning: bool) -> list[BatchEntry]:
        """Return the batches of a space whose answers are not used yet: those of learning, or else those of dreams."""
        return [entry for entry in self._entries() if entry.space == space and bool(entry.through) == learning]

    async def send(self, space: str, requests: Sequence[ModelRequest], through: Mapping[str, int]) -> None:
        """Send requests as one batch; `through` is the last entry that was read of each thread.

        Raises:
            ModelFailed: they do not fit below today's ceilings, or the provider did not take them; nothing counts then.
        """
        calls = {request.id: self._reserved(request) for request in requests}
        entry = BatchEntry(
            id=self._new_id("batch"),
            space=space,
            at=self._clock(),
            calls={
                request.id: BatchedCall(calls[request.id].id, calls[request.id].day, calls[request.id].tokens, sent)
                for request in requests
                for sent in (request_tokens(request),)
            },
            through=dict(through),
        )

        def body(writer: Writer) -> None:
            for call in calls.values():
                reserve(writer, call, self._ceilings)
            _save(writer, entry)

        await self._submit(Write(SYSTEM_SPACE, WHO, "model.batch", body))
        items = [{"id": calls[request.id].id, "request": request} for request in requests]
        try:
            state = await self._ask("batch-create", "", items, _State)
        except ModelFailed as failure:
            if failure.details.get(NOT_SENT) or failure.reason in {"rejected", "rate_limited", "over_ceiling"}:
                await self._drop(entry, dict.fromkeys(entry.calls))
            raise
        await self._write("model.batch", lambda writer: _save(writer, replace(entry, provider=state.id)))

    async def answers(self, entry: BatchEntry) -> dict[str, Outcome]:
        """Return the outcome of each request of a batch once it has ended; empty where it was never sent.

        What they used is settled; the entry stays until `forget`, so that a killed daemon reads the results again.

        Raises:
            ModelFailed: the provider refuses to answer; the entry stays.
        """
        try:
            batch_id = entry.provider or await self._found(entry)
            results = await self._ended(batch_id, entry) if batch_id else None
        except ModelFailed as failure:
            if failure.reason == "rejected" and not _is_gone(failure):
                raise  # the results are there for weeks: the next run asks for them
            # The provider does not know it any more, or says what is no result: what may have been used stays reserved.
            await self._drop(entry, dict.fromkeys(entry.calls, UsedTokens(failed=True, known=False)))
            return dict.fromkeys(entry.calls, Outcome(reason=failure.reason, message=failure.message))
        if results is None:
            await self._drop(entry, dict.fromkeys(entry.calls))
            return {}
        by_call = {call.call: name for name, call in entry.calls.items()}
        outcomes: dict[str, Outcome] = {}
        used: dict[str, UsedTokens | None] = {}
        for result in results:
            name = by_call.get(result.id)
            if name is not None:
                outcomes[name], used[name] = result.outcome, _used(result)
        await self._write("model.settle", lambda writer: _settle(writer, entry, used))
        return outcomes

    async def forget(self, entry: BatchEntry) -> None:
        """Remove a batch whose answers were used."""
        await self._write("model.batch", lambda writer: _remove(writer, entry))

    def _entries(self) -> list[BatchEntry]:
        with self._store.reader(SYSTEM_SPACE) as reader:
            return (reader.load(BatchesCursor, BatchesCursor.KEY) or BatchesCursor()).batches

    def _reserved(self, request: ModelRequest) -> ReservedCall:
        tokens = int(request_tokens(request) * MODEL_TOKENS) + MARGIN_TOKENS + request.max_output_tokens
        return ReservedCall(self._new_id("call"), self._clock()[:DATE_CHARS], ROLE, tokens)

    async def _found(self, entry: BatchEntry) -> str:
        """Return the provider's id of a batch whose id was not stored, empty where none has its requests.

        Only the results of a batch tell whose it is. So all that may be this one are asked for in turn, and another
        program's that is under way delays none that has ended.
        """
        others = {other.provider for other in self._entries()}
        listed: list[_State] = await self._until(lambda: self._ask("batch-newest", "", [], list[_State]))
        age = _seconds_since(entry.at, self._clock())
        waiting = [
            batch.id
            for batch in sorted(listed, key=lambda batch: not batch.ended)
            if batch.requests == len(entry.calls)
            and batch.id not in others
            and (batch.age_s is None or abs(batch.age_s - age) <= AGE_S)
        ]
        while waiting:
            for batch in tuple(waiting):
                results = await self._looked_into(batch, entry)
                if results is None:
                    continue
                if any(result.found for result in results):  # the ids are ours alone
                    named = replace(entry, provider=batch)
                    await self._write("model.batch", partial(_save, entry=named))
                    return batch
                waiting.remove(batch)
            if waiting:
                await asyncio.sleep(self._poll_s)
        return ""

    async def _looked_into(self, batch: str, entry: BatchEntry) -> list[_Result] | None:
        """Return the results of a batch that may not be ours: empty if the provider has none, None if it has not ended.

        Raises:
            ModelFailed: the provider refuses to answer.
        """
        try:
            return await self._results(batch, entry)
        except ModelFailed as failure:
            if failure.reason == "rejected" and not _is_gone(failure):
                raise
            return []

    async def _ended(self, provider: str, entry: BatchEntry) -> list[_Result]:
        """Return the results of a batch once it has ended. Raises ModelFailed as `_until`."""
        while (results := await self._results(provider, entry)) is None:  # noqa: ASYNC110 - the provider tells no one
            await asyncio.sleep(self._poll_s)
        return results

    async def _results(self, provider: str, entry: BatchEntry) -> list[_Result] | None:
        """Return the results of a batch, None if it has not ended. Raises ModelFailed as `_until`."""
        items = [{"id": call.call, "sent": call.sent} for call in entry.calls.values()]
        state: _State = await self._until(lambda: self._ask("batch-state", provider, [], _State))
        if not state.ended:
            return None
        results: list[_Result] = await self._until(lambda: self._ask("batch-results", provider, items, list[_Result]))
        return results

    async def _until(self, ask: Callable[[], Any]) -> Any:
        """Return the answer of `ask`, asked again after a pause for as long as the provider fails or cannot be reached.

        Raises:
            ModelFailed: the provider says that there is no such thing, again and again what cannot be used, or that it
                refuses the question, as for a key that is not valid any more.
        """
        in_vain = 0
        while True:
            try:
                return await ask()
            except ModelFailed as failure:
                in_vain = in_vain + 1 if failure.reason in {"unparseable", "rejected"} else 0
                if _is_gone(failure) or in_vain == IN_VAIN_MAX:
                    raise
                logger("reveried.models").warning("a batch is asked for again", reason=failure.reason)
            await asyncio.sleep(self._poll_s)

    async def _ask(self, job: str, batch: str, items: Sequence[dict[str, Any]], kind: type[T]) -> T:
        return from_msgpack(await self._transport.batch(job, batch, items, CALL_S), kind)

    async def _drop(self, entry: BatchEntry, used: Mapping[str, UsedTokens | None]) -> None:
        """Settle the requests of a batch and forget it, in one commit."""

        def body(writer: Writer) -> None:
            _settle(writer, entry, used)
            _remove(writer, entry)

        await self._write("model.settle", body)

    async def _write(self, why: str, body: Callable[[Writer], None]) -> None:
        await self._submit(Write(SYSTEM_SPACE, WHO, why, body))


def _seconds_since(at: str, now: str) -> float:
    return (datetime.fromisoformat(now) - datetime.fromisoformat(at)).total_seconds()


def _is_gone(failure: ModelFailed) -> bool:
    """Return True where the provider says that there is no such batch."""
    return failure.details.get("status") in {404, 410}


def _used(result: _Result) -> UsedTokens:
    """Return the tokens that a request of a batch used; unknown if it was billed without a readable answer."""
    answer = result.outcome.answer
    if answer is not None:
        return UsedTokens(input=answer.input_tokens, output=answer.output_tokens, cached=answer.cached_tokens)
    return UsedTokens(failed=True, known=not result.billed)


def _settle(writer: Writer, entry: BatchEntry, used: Mapping[str, UsedTokens | None]) -> None:
    for name, tokens in used.items():
        call = entry.calls[name]
        settle(writer, ReservedCall(call.call, call.day, ROLE, call.tokens), tokens)


def _save(writer: Writer, entry: BatchEntry) -> None:
    stored = (writer.load(BatchesCursor, BatchesCursor.KEY) or BatchesCursor()).batches
    others = [other for other in stored if other.id != entry.id]
    writer.save(BatchesCursor(batches=[*others, entry]), BatchesCursor.KEY)


def _remove(writer: Writer, entry: BatchEntry) -> None:
    stored = (writer.load(BatchesCursor, BatchesCursor.KEY) or BatchesCursor()).batches
    writer.save(BatchesCursor(batches=[other for other in stored if other.id != entry.id]), BatchesCursor.KEY)
