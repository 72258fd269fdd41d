"""Run a use case: replay its stored answer, else snapshot, decide in the compute process, commit, retry while stale."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from reverie.decode import from_msgpack
from reverie.errors import Conflict, ReverieError
from reverie.language_model.requests import ModelRequest, Outcome
from reverie.store import Reader, Write, Writer
from reverie.usecases import redactions
from reverie.usecases.by import By, Decided
from reveried.actions.memories import write_accesses
from reveried.locks import keyed_lock
from reveried.models.settle import settlements
from reveried.services import Services

if TYPE_CHECKING:
    from reveried.models.ask import Models

T = TypeVar("T")
S = TypeVar("S")  # a snapshot
P = TypeVar("P")  # a plan
A = TypeVar("A")  # an answer

ROUNDS_MAX = 4  # of questions that depend on answers: extraction, consolidation, and one more of each at a retry
TRIES = 5  # while holding the lock, after a first one without it
_TOO_MANY = "It was not done within the rounds of questions that one job may ask."


async def execute(
    services: Services,
    by: By,
    do: Decided[P, A],
    snapshot: Callable[[Reader], S],
    *,
    lock: str = "memories",
    skip: Callable[[S], A | None] = lambda _: None,
    complete: Callable[[S], Awaitable[S]] | None = None,
    unwritten: Callable[[P], A | None] = lambda _: None,
    prepare: Callable[[P], Awaitable[dict[str, Any]]] | None = None,
    **given: Any,
) -> A:
    """Return the answer of a use case: `snapshot` in a thread, its job in the compute process, then its commit.

    Each attempt asks for a stored answer first: a concurrent call with the same idempotency key may have committed
    meanwhile. `complete` adds to the snapshot what its reader does not give. `skip` returns an answer where the
    snapshot shows that there is nothing to decide, and `unwritten` where the plan writes nothing; the key keeps these
    answers too. `given` is for the commit, as is what `prepare` looks up for a plan. Use cases that write the same
    records share the name of a `lock`.

    One that learns has what people saved, also before the first scan of a start, and the access counts. The model, if
    one is configured, is asked what the plan needs, by one caller of a space at a time: two would ask, and pay for, the
    same questions. Its answers are kept over several attempts, and what those have used is written in the transaction
    of the result. The files are written at the end.

    Raises:
        Conflict: other writers were faster in every try, or the key was used for another request.
        ReverieError: what the snapshot, the decision or the commit raises.
    """
    answers = do.commit.answers
    assert answers is not None
    models = services.models if do.learns else None
    outcomes: dict[str, Outcome] = {}

    async def attempt() -> tuple[A, bool]:
        """Return the answer, and whether it is of a commit."""
        replay = await stored_answer(services, by.space, by.key, answers)
        if replay is not None:
            return replay, True
        since = services.redactor.generation
        state = await read(services, by.space, snapshot)
        if (answer := skip(state)) is not None:
            return await _keep(services, by.space, by.key, answer, answers), False
        if complete is not None:
            state = await complete(state)
        if models is None:
            plan = await decide(services, do.job, state, do.plan, bulk=do.bulk)
        else:
            plan = await _decided(services, models, do, state, outcomes)
        if (answer := unwritten(plan)) is not None:
            return await _keep(services, by.space, by.key, answer, answers), False
        found = {} if prepare is None else await prepare(plan)
        write, settled = opened.with_result(do.commit.write(by, plan, **given, **found))
        write = redactions.unless_changed(write, services.redactor, since)
        result = (await services.submit(write, bulk=do.commit.bulk)).value
        opened.written(settled)
        return result, True

    if do.learns:
        await services.sync_service.read_saves(by.space, None)
        await write_accesses(services)
    async with nullcontext() if models is None else keyed_lock("model", by.space), settlements() as opened:
        answer, is_written = await retry_while_stale(attempt, keyed_lock(lock, by.space))
    if do.learns and is_written:
        await services.sync_service.write_all(by.space)
    return answer


async def read(services: Services, space: str, snapshot: Callable[[Reader], T]) -> T:
    """Return `snapshot` of a fresh reader of the space, taken in a thread: a large read does not block the loop."""

    def run() -> T:
        with services.store.reader(space) as reader:
            return snapshot(reader)

    return await asyncio.to_thread(run)


async def decide(services: Services, job: str, snapshot: Any, plan: type[T], *, bulk: bool = False) -> T:
    """Return the plan that the compute process makes of `snapshot`; `job` is a name of `compute_jobs`.

    Raises:
        ReverieError: what deciding raised, or Busy and ComputeFailed where it could not be done now.
    """
    answer = await services.compute.run(job, msgspec.msgpack.encode(snapshot), bulk=bulk)
    return from_msgpack(answer, plan)


async def _decided(
    services: Services, models: Models, do: Decided[P, A], snapshot: Any, outcomes: dict[str, Outcome]
) -> P:
    """Return the plan of a compute job, after the model was asked what the job needs to know for it.

    This is the way of every job that a model takes part in: summaries, learning, runs, dreams, reflection.
    `outcomes` keeps the answers over several snapshots: a plan that was stale is made again from the same answers
    as far as the questions are the same. What still has no answer after all rounds has failed.
    """
    loop = asyncio.get_running_loop()
    reflection = services.config.reflection
    until = loop.time() + reflection.max_seconds
    rounds = ROUNDS_MAX + reflection.max_steps
    while True:
        snapshot.outcomes = outcomes
        result = await decide(services, do.job, snapshot, do.plan | list[ModelRequest], bulk=do.bulk)  # type: ignore[arg-type]
        if not isinstance(result, list):
            return result
        if rounds > 0:
            outcomes |= await models.ask_in_time(result, until - loop.time(), reflection.max_seconds)
        else:
            outcomes |= dict.fromkeys((one.id for one in result), Outcome(reason="timeout", message=_TOO_MANY))
        rounds -= 1


async def retry_while_stale(attempt: Callable[[], Awaitable[T]], lock: asyncio.Lock) -> T:
    """Return the result of `attempt` (snapshot, decide, commit), made again up to TRIES times while it is stale.

    A plan is stale when another writer committed after its snapshot: an ordinary outcome, not an error. The first try
    runs without the lock. A retry holds it, and new callers wait for it too: otherwise many callers at once would
    invalidate each other's plans, each time after the full cost of deciding.

    Raises:
        Conflict: every try was stale, or the conflict is of another kind.
    """
    if not lock.locked():
        try:
            return await attempt()
        except Conflict as conflict:
            _raise_unless_stale(conflict)
    async with lock:
        for _ in range(TRIES - 1):
            try:
                return await attempt()
            except Conflict as conflict:
                _raise_unless_stale(conflict)
        return await attempt()


async def stored_answer(
    services: Services, space: str, idempotency: tuple[str, str] | None, answers: type[A] | None = None
) -> A | None:
    """Return the stored answer of an idempotency key; None without a key, or where the key is new.

    The answer comes as type `answers`, or as plain JSON without one. The lookup is a write of the single writer, so it
    is ordered after every commit that was queued before it; its body raises, so it stores nothing for a new key.

    Raises:
        Conflict: the key was used for another request.
    """
    if idempotency is None:
        return None
    lookup: Write[A] = Write(space, "", "", _raise_unused, idempotency=idempotency, answers=answers)
    try:
        return (await services.submit(lookup)).value
    except _UnusedKeyError:
        return None


async def answer_once(
    services: Services,
    space: str,
    idempotency: tuple[str, str] | None,
    work: Callable[[], Awaitable[A]],
    answers: type[A] | None = None,
) -> A:
    """Return the answer of `work` and store it under its idempotency key; a repeated call gets the stored answer.

    For calls that are not a single write and do no harm when run twice: two concurrent calls may both run `work`, and
    the first stored answer wins for both.

    Raises:
        Conflict: the key was used for another request.
        ReverieError: what `work` raises; then nothing is stored.
    """
    replay = await stored_answer(services, space, idempotency, answers)
    if replay is not None:
        return replay
    return await _keep(services, space, idempotency, await work(), answers)


async def _keep(
    services: Services, space: str, idempotency: tuple[str, str] | None, answer: A, answers: type[A] | None
) -> A:
    """Store an answer that no write has stored, and return it, or the one that is there already."""
    if idempotency is None:
        return answer
    kept = Write(space, "", "", lambda _: answer, idempotency=idempotency, answers=answers)
    return (await services.submit(kept)).value


class _UnusedKeyError(ReverieError):
    """Aborts the lookup of an idempotency key that no call has used, so that the lookup stores nothing."""


def _raise_unless_stale(conflict: Conflict) -> None:
    if not conflict.details.get("stale"):
        raise conflict


def _raise_unused(_: Writer) -> NoReturn:
    raise _UnusedKeyError("no call has used this key")
