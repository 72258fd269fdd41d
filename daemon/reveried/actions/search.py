"""The search in messages, memories and sections of documents by a question."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from reverie import wire
from reverie.errors import ValidationError
from reverie.importers.entry import rfc3339_utc
from reverie.search import days_asked_about
from reverie.store import MemoryRecord, to_ms
from reverie.text_recall import Hit
from reverie.usecases import search
from reverie.usecases.message_search import within
from reverie.usecases.projections import holds_only
from reverie.usecases.search import said_on_days
from reveried.actions.projects import known_project, visible
from reveried.services import Services

WAIT_S: Final = 5.0  # a search waits so long for an index that is built, then answers from what there is
MEMORY_TOKENS: Final = 100_000  # no limit for memories but their number
LOOKED_AT: Final = 5  # times as many as are asked for, of which some may be of another project or time


async def search_space(services: Services, space: str, request: wire.SearchRequest) -> wire.SearchAnswer:
    """Return what answers a question, best first.

    Raises:
        NotFound: no project has this name.
        ValidationError: a time that is none, or an end that is not after the beginning.
    """
    since, before = time_ms(request.since, "since"), time_ms(request.before, "before")
    if since is not None and before is not None and before <= since:
        hint = "give a later `before`, or an earlier `since`"
        raise ValidationError("before is not after `since`", hint=hint, field="before")
    project = None
    if request.project is not None:
        project = await known_project(services, space, request.project)
        if project is None:  # a folder that no thread has worked in
            return wire.SearchAnswer(hits=[])
    return await asyncio.to_thread(_found, Asked(services, space, request, project, since, before))


@dataclass(frozen=True, slots=True)
class Asked:
    """A search request with its fields resolved: the project's name, and the times in milliseconds since 1970."""

    services: Services
    space: str
    request: wire.SearchRequest
    project: str | None
    since: int | None
    before: int | None


def _found(asked: Asked) -> wire.SearchAnswer:
    """Bring the indexes up to date for up to `WAIT_S`, then return the hits of a search; blocks: run in a thread."""
    services, space, request = asked.services, asked.space, asked.request
    lists: list[list[wire.SearchHit]] = []
    complete = True
    if request.where != "memories":
        complete = services.messages.catch_up(space, WAIT_S)
    if request.where in ("messages", "all"):
        lists.append(_messages(asked))
    is_of_thread = request.agent is not None or request.thread is not None
    if request.where in ("memories", "all") and not is_of_thread:
        lists.append([search.memory_hit(request.query, hit) for hit in memory_hits(asked)])  # not counted as recalled
    if request.where in ("documents", "all") and not is_of_thread:
        lists.append(_sections(asked))
    return wire.SearchAnswer(hits=search.joined(lists, request.limit) if lists else [], complete=complete)


def _messages(asked: Asked) -> list[wire.SearchHit]:
    """Return the messages that match a search request or were said on the day it names, best first."""
    services, space, request = asked.services, asked.space, asked.request
    threads = None if asked.project is None else services.messages.threads_of(space, asked.project)
    if request.thread is not None:
        threads = [request.thread] if threads is None or request.thread in threads else []
    accepted = within(kind="message", threads=threads, agent=request.agent, since=asked.since, before=asked.before)
    ask = partial(services.messages.messages, space, request.query, within=accepted)
    with services.store.reader(space) as reader:
        message_hits = search.message_hits(reader, request.query, ask, request.limit)
        days = days_asked_about(request.query) if asked.since is None and asked.before is None else []
        if not days:
            return message_hits
        listed = said_on_days(reader, days, request.limit, threads=threads, agent=request.agent)
    places = {_place(hit) for hit in listed}
    return [*listed, *(hit for hit in message_hits if _place(hit) not in places)][: request.limit]


def _place(hit: wire.SearchHit) -> tuple[str, int]:
    assert hit.thread is not None
    assert hit.message is not None
    return hit.thread.id, hit.message.seq


def _sections(asked: Asked) -> list[wire.SearchHit]:
    """Return the sections of documents that match a search request, best first."""
    services, space, request, project = asked.services, asked.space, asked.request, asked.project
    accepted = within(kind="document", since=asked.since, before=asked.before)
    limit = request.limit if project is None else request.limit * LOOKED_AT
    hits = services.messages.sections(space, request.query, limit, accepted)
    with services.store.reader(space) as reader:
        sections = [search.section_hit(reader, request.query, hit) for hit in hits]
        kept = [hit for hit in sections if hit is not None]
        if project is not None:  # a file of all projects may quote what another one knows
            own = holds_only(reader, (hit.document or "" for hit in kept), project)
            kept = [hit for hit in kept if hit.document in own]
    return kept[: request.limit]


def memory_hits(asked: Asked) -> list[Hit[MemoryRecord]]:
    """Return up to `limit` memories of the project, the person and the time, best first; blocks: run in a thread."""
    request = asked.request
    found = asked.services.recall.recall(
        asked.space,
        request.query,
        limit=request.limit * LOOKED_AT,
        token_budget=MEMORY_TOKENS,
        projects=visible(asked.services, asked.space, asked.project),
    )
    start, end = asked.since if asked.since is not None else 0, asked.before
    hits = [hit for hit in found.hits if start <= (at := to_ms(hit.memory.updated_at)) and (end is None or at < end)]
    return hits[: request.limit]


def time_ms(given: str | None, field: str) -> int | None:
    """Return a time or a day (its beginning, UTC) in milliseconds since 1970. Raises ValidationError."""
    if given is None:
        return None
    at = rfc3339_utc(given)
    if at is not None:
        return to_ms(at)
    try:
        return int(datetime.strptime(given, "%Y-%m-%d").replace(tzinfo=UTC).timestamp() * 1000)
    except ValueError as error:
        hint = "write it as 2026-11-21, or as 2026-11-21T09:30:00Z"
        raise ValidationError(f"{field} is not a time", hint=hint, field=field) from error
