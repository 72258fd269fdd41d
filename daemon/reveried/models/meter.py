"""Counts every request to a model in the ledger, below the daily ceilings, and tries again where that may help.

Wraps a transport whose `answer` sends a request once. Each try is reserved in the ledger before it is sent and settled
when its end is known: an answer with its tokens, a failure of the provider with none, and what was never sent not at
all. What an answer used is written with the next reservation, or with the result that it became (`settlement`). Where
the end stays unknown (a timeout, a connection that broke, a killed daemon), the most that the request may have used
counts.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from reverie.errors import ModelFailed, ReverieError
from reverie.models import DATE_CHARS
from reverie.store import SYSTEM_SPACE, Write
from reverie.usecases.usage import Ceilings, ReservedCall, UsedTokens, reserve
from reveried.log import logger
from reveried.models.settle import SETTLEMENTS, write_settlements
from reveried.models.transport import NOT_SENT, request_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.language_model.requests import ModelAnswer, ModelRequest
    from reverie.store import Writer
    from reveried.models.settle import Settlement
    from reveried.models.transport import ModelTransport
    from reveried.worker import Submit

TRIES = 6
REJECTED_MAX = 3  # requests in a row that a provider may reject before it is left alone
REJECTED_PAUSE_S = 900.0
UNREACHABLE_TRIES = 3  # a name that does not resolve rarely does a moment later
BACKOFF_S = 0.5  # before the second try; doubled for each further one
BACKOFF_MAX_S = 30.0
TRY_S_MIN = 0.5  # left for a further try: no model answers sooner, and a timeout counts the most it may have used
RETRIED = frozenset({"rate_limited", "failed", "unreachable"})
UNBILLED = frozenset({"rate_limited", "rejected", "over_ceiling"})  # an error status: no token was used
MARGIN_TOKENS = 200  # for what a provider adds around a request
MODEL_TOKENS = 1.4  # tokens of current models for one of o200k_base: some 30 % more, and a little room
WHO = "reveried"


class Metered:
    """A transport with a ledger, ceilings and retries around another transport."""

    def __init__(
        self,
        transport: ModelTransport,
        submit: Submit,
        *,
        ceilings: Ceilings,
        clock: Callable[[], str],
        new_id: Callable[[str], str],
        random: Callable[[], float],
        tries: int = 1,
        wait_s_max: float = 60.0,
    ) -> None:
        """`random` returns a number from 0 up to 1; no pause between two tries is longer than `wait_s_max`."""
        self._transport = transport
        self._submit = submit
        self._ceilings = ceilings
        self._clock = clock
        self._new_id = new_id
        self._random = random
        self._tries = tries
        self._wait_s_max = wait_s_max
        self._unsettled: list[Settlement] = []
        # By role, requests in a row and the end of the pause: a wrong key or model name does not pass by itself.
        self._rejected: dict[str, tuple[int, float]] = {}
        self._writing = asyncio.Lock()  # else two writes could settle one call

    async def answer(self, request: ModelRequest, deadline_s: float) -> ModelAnswer:
        """Return the answer to `request` within `deadline_s` seconds, retries and pauses included.

        Raises:
            ModelFailed: as the transport's; `over_ceiling` where the request does not fit below today's ceilings.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + deadline_s
        rejected, until = self._rejected.get(request.role, (0, 0.0))
        if request.purpose != "check" and rejected >= REJECTED_MAX and loop.time() < until:
            raise ModelFailed(
                f"The provider rejected {rejected} requests in a row; none is sent for some minutes. "
                "`reverie doctor --model` says why, and ends the pause.",
                hint="reverie doctor --model",
                reason="rejected",
            )
        tried = 0
        while True:
            tried += 1
            try:
                return await self._try_once(request, end - loop.time())
            except ModelFailed as failure:
                if failure.reason == "rejected":
                    rejected += 1
                    self._rejected[request.role] = rejected, loop.time() + REJECTED_PAUSE_S
                pause = retry_pause(failure, tried, self._random(), self._wait_s_max)
                if pause is None or tried >= self._tries or loop.time() + pause + TRY_S_MIN >= end:
                    raise
                logger("reveried.models").info(
                    "a request to the model is tried again",
                    reason=failure.reason,
                    purpose=request.purpose,
                    tried=tried,
                    pause=round(pause, 3),
                )
                await asyncio.sleep(pause)

    async def close(self) -> None:
        """Close the transport, and write what could not be settled before."""
        await self._transport.close()
        if self._unsettled:
            await self._write_settled()

    async def _try_once(self, request: ModelRequest, left_s: float) -> ModelAnswer:
        call = ReservedCall(
            id=self._new_id("call"),
            day=self._clock()[:DATE_CHARS],
            role=request.role,
            tokens=int(request_tokens(request) * MODEL_TOKENS) + MARGIN_TOKENS + request.max_output_tokens,
        )
        await self._reserve(call)
        try:
            answer = await self._transport.answer(request, left_s)
        except ModelFailed as failure:
            if failure.details.pop(NOT_SENT, False) or failure.reason == "unreachable":
                await self._settle(call, None)
            elif failure.reason in UNBILLED or "status" in failure.details:
                await self._settle(call, UsedTokens(failed=True))
            else:
                # The provider may have worked on it: what it may have used stays reserved.
                await self._settle(call, UsedTokens(failed=True, known=False))
            raise
        used = UsedTokens(input=answer.input_tokens, output=answer.output_tokens, cached=answer.cached_tokens)
        opened = SETTLEMENTS.get()
        if opened is None:
            await self._settle(call, used)
        else:
            opened.add((call, used), self._settle_all)
        self._rejected.pop(call.role, None)
        return answer

    async def _reserve(self, call: ReservedCall) -> None:
        """Count the call in a durable commit. Raises ModelFailed over a ceiling, and what the store raises."""
        opened = SETTLEMENTS.get()
        settled = [*self._unsettled, *(() if opened is None else opened.waiting)]

        def body(writer: Writer) -> None:
            write_settlements(writer, settled)
            reserve(writer, call, self._ceilings)

        await self._submit(Write(SYSTEM_SPACE, WHO, "model.reserve", body))
        self._unsettled = [entry for entry in self._unsettled if entry not in settled]
        if opened is not None:
            opened.written(settled)

    async def _settle(self, call: ReservedCall, used: UsedTokens | None) -> None:
        """Write what a call used. Where the store cannot, the reservation stays until the next call is settled."""
        await self._settle_all([(call, used)])

    async def _settle_all(self, settled: Sequence[Settlement]) -> None:
        self._unsettled += settled
        try:
            await self._write_settled()
        except ReverieError as error:
            logger("reveried.models").warning("the ledger could not be written; tried again later", code=error.code)

    async def _write_settled(self) -> None:
        async with self._writing:
            settled = list(self._unsettled)

            def body(writer: Writer) -> None:
                write_settlements(writer, settled)

            await self._submit(Write(SYSTEM_SPACE, WHO, "model.settle", body))
            self._unsettled = [entry for entry in self._unsettled if entry not in settled]


def retry_pause(failure: ModelFailed, tried: int, random: float, wait_s_max: float) -> float | None:
    """Return the seconds to wait before the next try, or None where another try cannot help.

    The provider's own `retry-after` counts as far as `wait_s_max`. Else the pause doubles with each try, and is
    multiplied by 0.5 to 1.0, so that clients that failed together do not come back together.
    """
    if failure.reason not in RETRIED or (failure.reason == "unreachable" and tried >= UNREACHABLE_TRIES):
        return None
    if failure.retry_after is not None:
        return min(max(0.0, failure.retry_after), wait_s_max)
    return float(min(BACKOFF_S * 2 ** (tried - 1), BACKOFF_MAX_S, wait_s_max) * (0.5 + random / 2))
