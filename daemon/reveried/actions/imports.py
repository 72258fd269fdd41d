"""Import of a transcript in pieces: decided by the compute process for bulk work, committed after agents' writes."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import Any

from msgspec.structs import replace

from reverie import git, wire
from reverie.decode import mapped
from reverie.importers.detect import named_folders
from reverie.store import Reader, ThreadRecord
from reverie.usecases import imports, projects, sessions, threads
from reverie.usecases.by import By
from reveried.actions import briefs, trust
from reveried.actions.projects import has_no_remote, known_project, registered
from reveried.actions.threads import opened_with
from reveried.drive import write
from reveried.execute import execute, read
from reveried.services import Services
from reveried.session_texts import SessionTexts
from reveried.supervise import failures_logged

WHO = "import:import"
PIECE_BYTES = 512 * 1024  # of one commit while no agent writes
PIECE_BESIDE_BYTES = 64 * 1024  # and when agents write: a write that shares the commit waits 1 or 2 ms for it


async def begin(
    services: Services,
    space: str,
    client: str,
    session: str,
    source: str | None,
    *,
    again: bool = False,
    owner: str | None = None,
) -> wire.ImportPlace:
    """Open the import of a session, and return its position: 0, or as far as it was imported before.

    `owner` is the agent whose token imports it; None for a person.

    Raises:
        Conflict: a person deleted the thread of this session, and does not want it `again`.
    """
    by = By(space, f"import:{client}")
    opened = await write(services, imports.begin, by, client, session, source, again=again, owner=owner)
    return mapped(await read(services, space, partial(imports.position, import_id=opened.id)), wire.ImportPlace)


async def take_chunk(
    services: Services, space: str, import_id: str, *, offset: int, first_line: int, data: bytes, final: bool
) -> wire.ChunkAnswer:
    """Append the whole lines of `data`, a file's bytes from `offset` on, to the import's thread; return the position.

    The chunk is committed piece by piece: what was appended stays when a later piece fails, and the import's position
    is behind it.

    Raises:
        NotFound: no such import.
        Conflict: the chunk would leave bytes out, or the thread was deleted.
    """
    here = await read(services, space, partial(imports.position, import_id=import_id))
    folder = None if offset < here.offset else here.folder
    links = await real_folders(services, space, data, folder)
    # Where lines may be duplicates, each piece would read the identities of the whole thread again.
    whole = offset < here.offset or here.mixed
    total: wire.ChunkAnswer | None = None
    begin = end = 0
    while end < len(data) or total is None:
        size = PIECE_BESIDE_BYTES if services.worker.is_shared() else PIECE_BYTES
        # A piece ends after the line that reaches its size.
        begin, end = end, len(data) if whole else data.find(b"\n", end + size - 1) + 1 or len(data)
        last = final and end == len(data)
        piece = data[begin:end]
        answer = await _take(
            services, space, import_id, offset=offset, first_line=first_line, data=piece, final=last, links=links
        )
        offset, first_line = answer.offset, answer.lines + 1
        total = answer if total is None else _sum(total, answer)
    with failures_logged("attribution", thread=here.thread):  # the lines are committed
        await trust.attribute_lines(services, space, data, who=f"thread:{here.thread}", folder=folder)
        if final:
            await briefs.refresh_ended(services, space, here.thread)
            services.made(SessionTexts).make_start_soon(services, space, here.thread)
    return total


def _sum(total: wire.ChunkAnswer, answer: wire.ChunkAnswer) -> wire.ChunkAnswer:
    """Return one answer for two pieces of a chunk: position and lines of the newer one, all other numbers added up."""
    return replace(
        answer,
        added=total.added + answer.added,
        duplicates=total.duplicates + answer.duplicates,
        redacted=total.redacted + answer.redacted,
        counts=dict(Counter(total.counts) + Counter(answer.counts)),
        kinds=dict(Counter(total.kinds) + Counter(answer.kinds)),
        problems=[*total.problems, *answer.problems],
    )


async def real_folders(services: Services, space: str, data: bytes, folder: str | None) -> dict[str, str]:
    """Return the folders that lines name, and the one before them, each with its path without links.

    Empty while no folder is ignored: they are for the comparison with those.
    """
    if not (await read(services, space, sessions.privacy_of)).ignored:
        return {}

    def resolved() -> dict[str, str]:
        return {one: git.real_folder(one) for one in {*named_folders(data), folder or ""}}

    return await asyncio.to_thread(resolved)


async def _take(
    services: Services,
    space: str,
    import_id: str,
    *,
    offset: int,
    first_line: int,
    data: bytes,
    final: bool,
    links: dict[str, str],
) -> wire.ChunkAnswer:
    """Append one piece of a transcript; decide it again if another import of the same file has committed meanwhile."""

    def snapshot(reader: Reader) -> imports.ChunkJob:
        return imports.snapshot(
            reader,
            import_id=import_id,
            offset=offset,
            first_line=first_line,
            data=data,
            final=final,
            redactor=services.redactor,
            literals=services.config.redact.literals,
            allow=services.keeper.allow,
            at=services.clock(),
            real_folders=links,
        )

    return await execute(
        services,
        By(space, WHO),
        imports.DECIDED,
        snapshot,
        lock=import_id,
        prepare=partial(_opening, services, space, import_id),
        import_id=import_id,
        offset=offset,
    )


async def _opening(services: Services, space: str, import_id: str, plan: imports.ChunkPlan) -> dict[str, Any]:
    """Return the `opening` of a decided piece: a thread's first one also sets its memory index, notes and digest.

    What was redacted in the compute process is known from here on: its fingerprints are written with the next commit.
    """
    services.redactor.add_fingerprints(plan.fingerprints)

    def thread_of(reader: Reader) -> ThreadRecord:
        return threads.get(reader, imports.position(reader, import_id).thread)

    opening = None
    if plan.sealed:
        thread = await read(services, space, thread_of)
        project = projects.of_thread(thread)
        moves = False
        if plan.folder is not None:
            by = By(space, f"import:{thread.agent}")
            if project is None:
                project = await registered(services, by, plan.folder, remote=plan.remote, bulk=True)
            elif (
                plan.remote
                and await has_no_remote(services, space, project)
                # A session that is elsewhere by now shows the remote of that folder, and not of its own one.
                and await known_project(services, space, plan.folder) == project
            ):
                seen = await registered(services, by, plan.folder, remote=plan.remote, bulk=True)
                project, moves = seen, seen != project
        if thread.last_seq == 0:
            index, seed = await opened_with(services, space, agent=thread.agent, project=project)
            opening = imports.Opening(project, index=index, seed=seed)
        else:
            opening = imports.Opening(project, moves)
    return {"opening": opening}
