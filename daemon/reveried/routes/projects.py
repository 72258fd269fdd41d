"""`/v1/projects`: the repositories and folders that threads work in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from reverie import wire
from reverie.usecases import project_identity
from reveried.actions.projects import known_project, sort
from reveried.http.call import Reply
from reveried.http.routing import Route
from reveried.use_case_runner import answer_once, read

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.http.call import Call

__all__ = ["ROUTES"]


async def list_projects(call: Call) -> Reply:
    """List the projects of the space by name, or the one that `of` names or is a folder of."""
    query = call.query_as(wire.ProjectsQuery)
    only = None
    if query.of is not None:
        only = await known_project(call.services, call.space, query.of)
        if only is None:  # a folder of no known project
            return Reply(wire.Page[wire.Project]([]))
    return Reply(await read(call.services, call.space, partial(_page, query=query, only=only)))


def _page(reader: Reader, *, query: wire.ProjectsQuery, only: str | None) -> wire.Page[wire.Project]:
    """Return a page of the projects, with the number of their threads and memories."""
    threads, memories = project_identity.counts(reader)
    found = [
        wire.Project(project.name, project.remotes, project.folders, threads[project.name], memories[project.name])
        for project in sorted(project_identity.known(reader), key=lambda project: project.name)
        if project.name > (query.after or "") and only in {None, project.name}
    ]
    return wire.Page(found[: query.limit], found[query.limit - 1].name if len(found) > query.limit else None)


async def sort_projects(call: Call) -> Reply:
    """Sort the threads and memories of older releases into projects."""
    work = partial(sort, call.services, call.space, who=call.who)
    return Reply(await answer_once(call.services, call.space, call.idempotency, work, wire.ProjectsSorted))


ROUTES = (
    Route(
        "GET",
        "/v1/projects",
        list_projects,
        "Lists the projects.",
        answer=wire.Page[wire.Project],
        query=wire.ProjectsQuery,
    ),
    Route(
        "POST",
        "/v1/projects/sort",
        sort_projects,
        "Sorts the threads and memories of older releases into projects; undo moves the memories back.",
        answer=wire.ProjectsSorted,
    ),
)
