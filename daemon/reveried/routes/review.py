"""`/v1/candidates`: what waits for a person's decision, and the decision."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from reverie import wire
from reverie.errors import Forbidden
from reverie.usecases import review
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.use_case_runner import read

if TYPE_CHECKING:
    from reverie.store import Write
    from reveried.http.call import Call

__all__ = ["ROUTES"]

T = TypeVar("T")


async def list_candidates(call: Call) -> Reply:
    """Return the candidates, oldest first: those that wait, unless another state is asked for."""
    query = call.query_as(wire.CandidateQuery)
    state = None if query.state == "all" else query.state
    page = await read(
        call.services,
        call.space,
        lambda reader: review.page(reader, state=state, after=query.after or "", limit=query.limit),
    )
    return Reply(page)


async def get_candidate(call: Call) -> Reply:
    """Return one candidate."""
    with call.services.store.reader(call.space) as reader:
        return Reply(review.candidate_answer(reader, review.get(reader, call.params["id"])))


async def accept(call: Call) -> Reply:
    """Make the changes of a candidate, and write the documents to disk."""
    return await _decide(
        call,
        review.accept(
            call.space,
            call.params["id"],
            who=call.who,
            new_id=partial(call.services.new_id, "mem"),
            idempotency=call.idempotency,
        ),
    )


async def reject(call: Call) -> Reply:
    """Make none of its changes; the same is not asked again."""
    return await _decide(call, review.reject(call.space, call.params["id"], who=call.who, idempotency=call.idempotency))


async def _decide(call: Call, write: Write[T]) -> Reply:
    """Commit a decision; saves of people at its documents are committed first, so that it is compared with them."""
    if call.agent is not None:
        # Text that came from outside could otherwise ask the agent that reads it to accept it.
        raise Forbidden("candidates are decided by a person, not by an agent", hint="reverie review, without a token")
    services, space = call.services, call.space
    paths = await read(services, space, lambda reader: review.paths_of(reader, call.params["id"]))
    await services.sync_service.read_saves(space, paths)
    answer = (await services.submit(write)).value
    await services.sync_service.write_all(space)
    return Reply(answer)


ROUTES = (
    Route(
        "GET",
        "/v1/candidates",
        list_candidates,
        "Lists what waits for a person's decision.",
        answer=wire.Page[wire.Candidate],
        query=wire.CandidateQuery,
    ),
    Route("GET", "/v1/candidates/{id}", get_candidate, "Returns one candidate.", answer=wire.Candidate),
    Route(
        "POST",
        "/v1/candidates/{id}/accept",
        accept,
        "Makes the changes of a candidate.",
        answer=wire.CandidateDecided,
    ),
    Route(
        "POST",
        "/v1/candidates/{id}/reject",
        reject,
        "Makes none of a candidate's changes.",
        answer=wire.CandidateDecided,
    ),
)
