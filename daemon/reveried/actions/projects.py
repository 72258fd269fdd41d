"""The project of a folder or a name: read the repository's files in a thread, find or register the project."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol

from reverie import wire
from reverie.documents.index import DocumentEntry
from reverie.documents.layout import PERSON
from reverie.errors import ReverieError, ValidationError
from reverie.git import Checkout, locate
from reverie.store import ProjectRecord, Reader, ThreadRecord
from reverie.usecases import project_joins, projects
from reverie.usecases.by import By
from reverie.usecases.projections import ProjectListings
from reveried.drive import write
from reveried.execute import execute, read
from reveried.log import logger
from reveried.services import Services


async def registered(services: Services, by: By, text: str, *, remote: str = "", bulk: bool = False) -> str:
    """Return the name of the project that `text` names or is a folder of, an absolute path; a new one is registered.

    `remote` is the one that a transcript shows, for a folder that is no longer there, or never was on this machine.
    `bulk` writes are not an agent's: an import goes on in large pieces behind its own ones.

    Raises:
        ValidationError: it is no name.
    """
    checkout = await _checkout(text)
    if checkout is not None and not checkout.exists and not checkout.remote:
        checkout = replace(checkout, remote=remote, is_repository=bool(remote))
    stored = await read(services, by.space, projects.known)
    if checkout is None:
        project = projects.named(stored, text)
    else:
        project = projects.find(stored, checkout)
        if project is not None and not _has_all(project.remotes, project.folders, checkout):
            project = None
    if project is not None:
        return project.name
    paths = [document.path for document in await services.sync_service.documents(by.space)]
    register = projects.register.write(by, checkout, name="" if checkout is not None else text, paths=paths)
    name = (await services.submit(register, bulk=bulk)).value
    if checkout is not None and checkout.remote:
        left = projects.left_without_folders(stored, await read(services, by.space, projects.known))
        await _join_all(services, by, dict.fromkeys(left, name))
    return name


async def _join_all(services: Services, by: By, joined: dict[str, str]) -> None:
    """Join projects that turned out to be the repository of another one; what fails is logged, and sorting repeats it.

    `joined` has the name of that one for each.
    """
    log = logger("reveried.projects")
    for name, same in joined.items():
        threads_of = partial(project_joins.threads_of, names={name})
        try:
            threads = dict.fromkeys(await read(services, by.space, threads_of), same)
            answer = await _move(services, by, {name: same}, threads)
        except ReverieError as error:
            log.warning("a project was not joined to its repository's", project=name, to=same, code=error.code)
            continue
        threads = dict.fromkeys(await read(services, by.space, threads_of), same)  # that began meanwhile
        await write(services, project_joins.set_projects, by, threads)
        undo = None if answer.operation is None else f"reverie undo {answer.operation}"
        log.info("a project is the repository of another one", project=name, to=same, undo=undo)


async def has_no_remote(services: Services, space: str, name: str) -> bool:
    """Return True for a project that is known by folders alone."""
    project = projects.named(await read(services, space, projects.known), name)
    return project is not None and bool(project.folders) and not project.remotes


async def known_project(services: Services, space: str, text: str) -> str | None:
    """Return the name of the known project that `text` names or is a folder of; None for an unknown folder.

    Raises:
        NotFound: no project has this name.
    """
    checkout = await _checkout(text)
    with services.store.reader(space) as reader:  # one small record
        stored = projects.known(reader)
    if checkout is None:
        return projects.require(stored, text).name
    project = projects.find(stored, checkout)
    return None if project is None else project.name


class _Asked(Protocol):
    """The fields of a recall or search request that select whose memories it reads: a project's, a folder's, or all."""

    @property
    def project(self) -> str | None: ...
    @property
    def folder(self) -> str | None: ...
    @property
    def all_projects(self) -> bool: ...


class Selection(NamedTuple):
    """The project of a request, and the names of the projects whose memories it may see; None for all."""

    project: str | None
    visible: frozenset[str] | None

    @property
    def scope(self) -> str | None:
        """The project whose documents are listed beside the person's: none in an unknown folder; None for all."""
        return None if self.visible is None else self.project or PERSON


async def selected(services: Services, space: str, asked: _Asked) -> Selection:
    """Return the project that a request names, or that of the folder it comes from.

    Raises:
        NotFound: no project has the name that it gives.
    """
    if asked.all_projects or (asked.project is None and asked.folder is None):
        return Selection(None, None)
    if asked.project is not None:
        name = await known_project(services, space, asked.project)
        # In an unknown folder only what is the person's.
        return Selection(name, visible(services, space, name or PERSON))
    name = await known_project(services, space, asked.folder or "/")
    return Selection(name, visible(services, space, name))


def visible(services: Services, space: str, project: str | None) -> frozenset[str] | None:
    """Return the projects whose memories a thread of `project` sees: its own, by all its names, and the person's.

    None for all.
    """
    if not project:
        return None if project is None else frozenset({PERSON})
    with services.store.reader(space) as reader:  # one small record
        return frozenset({*projects.names_of(reader, project), PERSON})


def thread_project(services: Services, space: str, thread_id: str) -> str | None:
    """Return the project of a thread; None where it has none, or there is no such thread."""
    with services.store.reader(space) as reader:
        thread = reader.load(ThreadRecord, (thread_id,)) if thread_id else None
        return None if thread is None else projects.of_thread(thread)


async def index_entries(services: Services, space: str, project: str | None) -> list[DocumentEntry]:
    """Return the documents that agents get in the index: those of a project and of the person, or all for None."""
    entries = await services.sync_service.index_entries(space)
    return await read(services, space, lambda reader: services.made(ProjectListings).entries(reader, entries, project))


async def sort(services: Services, by: By) -> wire.ProjectsSorted:
    """Give threads of older releases their folder's project, move their memories to it, and return the moves."""
    names: dict[str, str] = {}
    by_place: dict[tuple[str, str], str] = {}
    places = await read(services, by.space, project_joins.folders)
    stored = await read(services, by.space, projects.known)
    with_remote = {project.name for project in stored if project.remotes}
    sorted_by_remote = await read(services, by.space, partial(project_joins.threads_of, names=with_remote))
    for thread, (folder, remote) in places.items():
        # A folder that is gone and of no project says less than the remote by which the thread got its project.
        if thread in sorted_by_remote and not remote and await _is_unknown(folder, stored):
            continue
        if (folder, remote) not in by_place:
            by_place[folder, remote] = await registered(services, by, folder, remote=remote)
        names[thread] = by_place[folder, remote]
    folders_of = {thread: folder for thread, (folder, _) in places.items()}
    same = partial(project_joins.same_repositories, names=names, folders_of=folders_of)
    joined = await read(services, by.space, same)
    answer = await _move(services, by, joined, names)
    await services.sync_service.write_all(by.space)
    return answer


async def _is_unknown(folder: str, stored: list[ProjectRecord]) -> bool:
    """Return True for a folder that is gone, and that no known project has."""
    checkout = await _checkout(folder)
    return checkout is not None and not checkout.exists and projects.find(stored, checkout) is None


async def _move(services: Services, by: By, joined: dict[str, str], threads: dict[str, str]) -> wire.ProjectsSorted:
    """Move `threads`, the memories of older releases, and those of the `joined` projects, to their projects."""

    def snapshot(reader: Reader) -> project_joins.SortJob:
        window = services.config.consolidation.window
        at = services.clock()
        return project_joins.snapshot(reader, window=window, at=at, threads=threads, joined=joined)

    # Without the key: it is of the whole request, which may join several projects.
    return await execute(services, replace(by, key=None), project_joins.DECIDED, snapshot, threads=threads)


async def _checkout(text: str) -> Checkout | None:
    """Return the git checkout at an absolute path, or None for a name. Raises ValidationError for a relative one."""
    if text.startswith("/"):
        return await asyncio.to_thread(partial(locate, text))
    if text.startswith((".", "~")) or "/" in text:
        raise ValidationError(
            f"{text[:100]!r} is neither a name nor an absolute path",
            hint="give the name of a project, or a path from /",
            field="project",
        )
    return None


def _has_all(remotes: list[str], folders: list[str], checkout: Checkout) -> bool:
    """Return True if a known project has the remote and all folders of a checkout of it already."""
    return (not checkout.remote or checkout.remote in remotes) and (
        not checkout.is_repository or set(checkout.folders) <= set(folders)
    )
