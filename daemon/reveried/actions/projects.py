"""The project of a folder or a name: read the repository's files in a thread, find or register the project."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from reverie.errors import ValidationError
from reverie.repositories import locate
from reverie.usecases import projects
from reveried.execution import read

if TYPE_CHECKING:
    from reverie.repositories import Checkout
    from reveried.services import Services

__all__ = ["known_project", "registered"]


async def registered(services: Services, space: str, text: str, *, who: str) -> str:
    """Return the name of the project that `text` names or is a folder of, an absolute path; a new one is registered.

    Raises:
        ValidationError: it is no name.
    """
    checkout = await _checkout(text)
    stored = await read(services, space, projects.known)
    if checkout is None:
        found = projects.named(stored, text)
    else:
        found = projects.find(stored, checkout)
        if found is not None and not _has_all(found.remotes, found.folders, checkout):
            found = None
    if found is not None:
        return found.name
    paths = [document.path for document in await services.sync_service.documents(space)]
    write = projects.register(space, who, checkout, name="" if checkout is not None else text, paths=paths)
    return (await services.submit(write)).value


async def known_project(services: Services, space: str, text: str) -> str | None:
    """Return the name of the known project that `text` names or is a folder of; None for an unknown folder.

    Raises:
        NotFound: no project has this name.
    """
    checkout = await _checkout(text)
    stored = await read(services, space, projects.known)
    if checkout is None:
        return projects.require(stored, text).name
    found = projects.find(stored, checkout)
    return None if found is None else found.name


async def _checkout(text: str) -> Checkout | None:
    """Return what is checked out at an absolute path, or None for a name. Raises ValidationError for a relative one."""
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
