"""The brief of a project: what its sessions taught, in about a thousand tokens, for a session that begins.

The lines of a thread are made in the compute process when its session ends and when a brief is read, whichever is
first; so a brief has every session, and is ready in milliseconds where none has grown.
"""

from __future__ import annotations

from functools import partial

from reverie import wire
from reverie.errors import NotFound, ReverieError
from reverie.store import BriefRecord
from reverie.tokenizer import count
from reverie.usecases import briefs
from reverie.usecases.briefs import BriefCache
from reverie.usecases.by import By
from reverie.usecases.usage import session_cost
from reveried.actions.projects import known_project
from reveried.drive import commit_since, while_outdated, write
from reveried.execute import decide, read
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.services import Services

_LARGE_TOKENS = 20_000  # of a brief that somebody asked for with more than the settings give


async def brief(
    services: Services, space: str, project: str, *, max_tokens: int | None = None, with_last: bool = True
) -> briefs.Brief:
    """Return the brief of a project by its name; `max_tokens` is that of the settings if it is not given.

    `with_last`: with the lines on the last session.
    """
    await _refresh(services, space, project)
    size = services.config.brief.max_tokens if max_tokens is None else max_tokens
    return await read(
        services, space, lambda reader: services.made(BriefCache).brief(reader, project, size, with_last=with_last)
    )


async def brief_text(
    services: Services, space: str, project: str, *, max_tokens: int | None = None, with_last: bool = True
) -> str:
    """Return the brief of a project as text of at most `max_tokens`, empty where nothing is known of it.

    `with_last`: with the lines on the last session, and the foot for who reads it: what a model costs.
    """
    cost = await model_cost(services, space) if with_last else None
    foot = "" if cost is None else f"\nRead by a model: about {cost:,} tokens a session."
    size = services.config.brief.max_tokens if max_tokens is None else max_tokens
    text = briefs.text_of(await brief(services, space, project, max_tokens=size - count(foot), with_last=with_last))
    return f"{text}{foot}" if text else ""


async def model_cost(services: Services, space: str) -> int | None:
    """Return the tokens that a model takes for a session on average, None where none has read one."""
    if services.config.distiller.kind == "extractive":
        return None
    _, tokens = await read(services, space, session_cost)
    return tokens


async def project_name(services: Services, space: str, project: str) -> str:
    """Return the name of a known project by its name or folder. Raises NotFound."""
    name = await known_project(services, space, project)
    if name is None:
        raise NotFound(f"no project is in {project[:100]!r}", hint="reverie projects lists them", field="project")
    return name


async def change_line(
    services: Services, by: By, project: str, line: str, request: wire.ChangeBriefLine
) -> wire.BriefLineChanged:
    """Drop a line of a project's brief, keep it as a memory, or correct it. Raises NotFound."""
    found = await _line(services, by.space, project, line)
    text = None if request.text is None else request.text.strip()
    return await write(services, briefs.change_line, by, project, found, request.action, text=text)


async def _line(services: Services, space: str, project: str, line: str) -> briefs.Line:
    """Return a line of the brief that the settings make, or else of a large one. Raises NotFound."""
    try:
        return briefs.find_line(await brief(services, space, project), line)
    except NotFound:
        return briefs.find_line(await brief(services, space, project, max_tokens=_LARGE_TOKENS), line)


async def _refresh(services: Services, space: str, project: str) -> None:
    """Make the lines of the threads of a project that have grown since theirs were made, the newest first."""
    for thread in await read(services, space, partial(services.made(BriefCache).stale, project=project)):
        try:
            await _make(services, space, thread)
        except NotFound:  # deleted meanwhile
            continue


async def refresh_ended(services: Services, space: str, thread: str) -> None:
    """Make the lines of a thread that was imported or has ended; if that fails, the next brief makes them."""
    try:
        await _make(services, space, thread, bulk=True)
    except ReverieError as error:
        logger("reveried.briefs").info("the lines of a thread are left for later", code=error.code)


async def _make(services: Services, space: str, thread: str, *, bulk: bool = False) -> None:
    async with keyed_lock("brief", f"{space}/{thread}"):

        async def attempt(since: int) -> None:
            job = await read(services, space, partial(briefs.snapshot_thread, thread_id=thread))
            if job is None:  # they are current
                return
            plan = await decide(services, "brief", job, BriefRecord, bulk=bulk)
            await commit_since(services, since, briefs.commit_thread, By(space, ""), plan)

        await while_outdated(services, attempt)
