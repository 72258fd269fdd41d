"""`/v1/spaces`, `/v1/tokens` and `/v1/projects`: spaces with their folders, tokens, and the projects of threads."""

from __future__ import annotations

import base64
import dataclasses
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie import wire
from reverie.api.spaces import Spaces
from reverie.decode import mapped
from reverie.store import SYSTEM_SPACE
from reverie.usecases import projects as use_projects
from reverie.usecases import spaces
from reveried.actions.projects import known_project, sort
from reveried.drive import commit, write
from reveried.execute import read
from reveried.http.auth import token_hash
from reveried.http.route import serves
from reveried.http.types import Reply

if TYPE_CHECKING:
    from reverie.store import Reader
    from reverie.usecases.by import By
    from reveried.http.types import Call
    from reveried.services import Services

TOKEN_BYTES = 32  # as many random bits as its SHA-256 has
TOKEN_PREFIX = "rvt_"  # noqa: S105 - begins every token, so that people and scanners of secrets recognise one


@serves(Spaces.spaces)
async def list_spaces(call: Call) -> wire.Page[wire.Space]:
    """Return the spaces that the caller may see: all for the owner, its own for the holder of a token."""
    query, names = call.query_as(wire.ListQuery), [call.space]
    if call.is_owner:
        with call.services.store.reader(SYSTEM_SPACE) as reader:
            names = spaces.space_names(reader)
    behind = [name for name in names if query.after is None or name > query.after]
    shown = behind[: query.limit]
    items = [_space(call.services, name) for name in shown]
    return wire.Page(items=items, next=shown[-1] if len(behind) > len(shown) else None)


_owned = partial(serves, hint="as the owner, run it without REVERIE_TOKEN and --token")


@_owned(Spaces.create_space, owner="create spaces")
async def create_space(call: Call) -> Reply:
    """Create a space; its folder is made with its first document, and followed from now on."""
    body = call.into(wire.CreateSpace)
    name = await write(call.services, spaces.create_space, _by(call), body.id)
    call.services.sync_service.folder(name)
    return Reply(_space(call.services, name), status=201, headers={"location": "/v1/spaces"})


@_owned(Spaces.tokens, owner="list tokens")
async def list_tokens(call: Call) -> wire.Page[wire.Token]:
    """Return the valid tokens of all spaces, without their secrets."""
    query = call.query_as(wire.ListQuery)
    with call.services.store.reader(SYSTEM_SPACE) as reader:
        tokens = [item for item, _ in zip(spaces.tokens(reader, after=query.after), range(query.limit + 1))]  # noqa: B905 - the shorter one ends it
    items = tokens[: query.limit]
    return wire.Page(items=items, next=items[-1].id if len(tokens) > len(items) else None)


@_owned(Spaces.create_token, owner="create tokens")
async def create_token(call: Call) -> wire.Token:
    """Create a token and answer it once: a repeated request with the same key is answered without the secret."""
    body = call.into(wire.CreateToken)
    secret = TOKEN_PREFIX + base64.urlsafe_b64encode(call.services.random(TOKEN_BYTES)).rstrip(b"=").decode()
    hashed = token_hash(secret)
    done = await commit(call.services, spaces.create_token, _by(call), hashed, space=body.space, agent=body.agent)
    return replace(done.value, token=wire.ABSENT if done.replayed else secret)


@_owned(Spaces.revoke_token, owner="revoke tokens")
async def revoke_token(call: Call) -> None:
    """Revoke a token: from this answer on every request with it is refused, and its event streams have ended."""
    await write(call.services, spaces.revoke_token, _by(call), call.params["id"])


def _by(call: Call) -> By:
    return dataclasses.replace(call.by, space=SYSTEM_SPACE)


def _space(services: Services, name: str) -> wire.Space:
    return wire.Space(id=name, root=str(services.sync_service.root_of(name)))


@serves(Spaces.projects)
async def list_projects(call: Call) -> wire.Page[wire.Project]:
    """List the projects of the space by name, or the one that `of` names or is a folder of."""
    query = call.query_as(wire.ProjectsQuery)
    only = None
    if query.of is not None:
        only = await known_project(call.services, call.space, query.of)
        if only is None:  # a folder of no known project
            return wire.Page[wire.Project]([])
    return await read(call.services, call.space, partial(_page, query=query, only=only))


def _page(reader: Reader, *, query: wire.ProjectsQuery, only: str | None) -> wire.Page[wire.Project]:
    """Return a page of the projects, with the number of their threads and memories."""
    threads, memories = use_projects.counts(reader)
    projects = [
        mapped(
            project,
            wire.Project,
            threads=threads[project.name],
            memories=memories[project.name],
            joined=project.joined or None,
            joined_in=str(project.joined_in) if project.joined_in else None,
        )
        for project in sorted(use_projects.known(reader), key=lambda project: project.name)
        if project.name > (query.after or "") and only in {None, project.name}
    ]
    return wire.Page(projects[: query.limit], projects[query.limit - 1].name if len(projects) > query.limit else None)


@serves(Spaces.sort_projects, once=True)
async def sort_projects(call: Call) -> wire.ProjectsSorted:
    """Sort the threads and memories of older releases into projects."""
    return await sort(call.services, call.by)
