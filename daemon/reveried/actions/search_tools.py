"""The tools by which agents find what was said and keep a fact: `search`, `read_thread` and `remember`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import UNSET, UnsetType

from reverie import wire
from reverie.documents.layout import PERSON
from reverie.errors import NotFound, ValidationError
from reverie.models import Candidate, MemoryType
from reverie.usecases import agent_search
from reverie.usecases import memories as usecase_memories
from reveried.actions import projects
from reveried.actions.search import Asked, memory_hits, search_space, time_ms
from reveried.drive import write
from reveried.execute import read

if TYPE_CHECKING:
    from reverie import tools
    from reverie.store import MemoryRecord, Reader
    from reveried.actions.caller import ToolCall

T = TypeVar("T")

ALL: Final = "all"  # in place of a project
_INCOMPLETE: Final = "The index is still being built, so that there may be more: search again in a minute."
_NO_PROJECT: Final = 'leave `project` out for this one, or give "all"'


async def search(call: ToolCall, params: tools.SearchInput) -> str:
    """Return the messages and memories that answer a query as text; where none does, what to try.

    Raises:
        ValidationError: no project has the name given, or a time that is none.
    """
    project = await _searched(call, params.project)
    request = wire.SearchRequest(
        query=params.query,
        project=project,
        since=_given(params.since),
        before=_given(params.before),
        limit=params.limit,
    )
    said = wire.SearchAnswer(hits=[])
    if project != PERSON:
        said = await search_space(call.services, call.space, request)
    memories = await _memories(call, request)

    def text(reader: Reader) -> str:
        return agent_search.hits_text(
            reader,
            said.hits,
            memories,
            query=params.query,
            limit=params.limit,
            project=project,
            session=call.thread,
        )

    answer = await read(call.services, call.space, text) or _nothing(request)
    return answer if said.complete else f"{answer}\n{_INCOMPLETE}"


async def _searched(call: ToolCall, given: str | UnsetType) -> str | None:
    """Return the project to search: the one given, else the caller's; None for all. Raises ValidationError."""
    if given is UNSET:
        return call.project
    if given == ALL:
        return None
    try:
        return await projects.known_project(call.services, call.space, str(given)) or PERSON
    except NotFound as error:
        raise ValidationError(error.message, hint=_NO_PROJECT, field="project") from error


async def _memories(call: ToolCall, request: wire.SearchRequest) -> list[MemoryRecord]:
    """Return the memories of the project and the person that answer a request, best first; they count as recalled."""
    since, before = time_ms(request.since, "since"), time_ms(request.before, "before")
    asked = Asked(call.services, call.space, request, request.project, since, before)
    memories = [hit.memory for hit in await asyncio.to_thread(memory_hits, asked)]
    call.services.accesses.count(call.space, [memory.id for memory in memories], at=call.services.clock())
    return memories


def _nothing(request: wire.SearchRequest) -> str:
    """Return the line that says where nothing was found, and what else to try."""
    where = "in any project" if request.project is None else f"in {request.project or 'this folder'}"
    tries = ["other words, such as a name, a file or an error text"]
    tries += ["without since and before"] if request.since or request.before else []
    tries += ['with project "all"'] if request.project is not None else []
    return f"Nothing {where} answers this. Try {', or '.join(tries)}."


async def read_thread(call: ToolCall, params: tools.ReadThreadInput) -> str:
    """Return messages of a thread as text. Raises NotFound."""
    page = partial(
        agent_search.thread_text,
        thread_id=params.thread,
        around=_given(params.around),
        limit=params.limit,
        project=call.project,
        session=call.thread,
    )
    return await read(call.services, call.space, page)


async def remember(call: ToolCall, params: tools.RememberInput) -> str:
    """Keep a fact as an agent's memory of its project, and return where it is.

    Raises:
        HeldForPerson: a person forgot it; it waits for their decision.
        ValidationError: no project has the name given.
    """
    given = _given(params.project)
    if given is not None and given.startswith("/"):
        project = await projects.registered(call.services, call.by, given)
    else:
        project = await _searched(call, params.project) or PERSON
    kind = MemoryType(params.type)
    candidate = Candidate(
        type=kind,
        content=call.services.redactor.text(params.fact),
        subject="project",
        project=project,
    )
    record = await write(call.services, usecase_memories.remember, replace(call.by, origin={}), candidate)
    whose = f"of {project}" if project else "for every project"
    return f"{'Known already' if record.existed else 'Remembered'}: a {kind.value} {whose}, in {record.document}."


def _given(value: T | UnsetType) -> T | None:
    """Return a field of an input, None where it was left out."""
    return None if isinstance(value, UnsetType) else value
