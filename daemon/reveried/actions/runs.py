"""Actions on runs: begin and complete them; the end of those whose session has ended or that were idle for long."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from reverie import wire
from reverie.decode import convert
from reverie.errors import ReverieError
from reverie.git import locate
from reverie.store import RunRecord
from reverie.usecases import run_memories, runs, sessions
from reverie.usecases.by import By
from reveried.actions import projects
from reveried.actions.learn import terms
from reveried.clock import text_of
from reveried.drive import write
from reveried.execute import execute, read
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.services import Services
from reveried.stored import spaces_of
from reveried.supervise import failures_logged
from reveried.written_files import written_since

LOOK_EVERY_S = 5.0  # for runs that are due
WHO = "reveried"


async def begin(services: Services, by: By, request: wire.CreateRun, *, agent: str | None) -> RunRecord:
    """Begin a run and return its record. Raises NotFound for an unknown thread."""
    project = None if request.project is None else await projects.registered(services, by, request.project)
    return await write(services, runs.begin, by, request, agent=agent, project=project)


async def complete(services: Services, by: By, run: str, *, ended_by: wire.RunEnd) -> wire.RunResult:
    """Complete a run (extract, consolidate, apply) and return its result; that of one which has ended is stored.

    Calls at the same time wait for the first, and then have its result too.
    """
    async with keyed_lock(f"run {run}", by.space):
        await _join_watched_files(services, by.space, run)
        return await execute(
            services,
            by,
            runs.DECIDED,
            lambda reader: runs.snapshot(reader, run, terms(services)),
            skip=_stored_result,
            ended_by=ended_by,
        )


async def _join_watched_files(services: Services, space: str, run: str) -> None:
    """Add to a run the files written in watched folders since it began; log those that are left out."""
    paths = services.config.workspace.paths
    if not paths:
        return
    folders = await asyncio.to_thread(lambda: [(path, locate(str(Path(path).expanduser()))) for path in paths])
    watch = await read(services, space, lambda reader: runs.watch(reader, run, folders))
    if watch is None:
        return
    # What the daemon writes itself is not learnt again.
    own = (services.config.memory.data_dir, services.store.path)
    left_out = [*watch.ignored, *await asyncio.to_thread(lambda: [os.path.realpath(path) for path in own])]

    def at(seconds: float) -> str:
        return text_of(datetime.fromtimestamp(seconds, UTC))

    def private(path: str) -> bool:
        return sessions.is_ignored(path, left_out)

    since = datetime.fromisoformat(watch.since).timestamp()
    for folder in watch.folders:
        look = partial(written_since, Path(folder), since, skip=private, agent=watch.agent, at=at)
        seen = await asyncio.to_thread(look)
        files = [file for file in seen.files if not sessions.in_pause(file.at, watch.pauses)]
        added = await write(services, runs.join, services.by(space, WHO), run, files) if files else 0
        if seen.why or seen.left_out:
            logger("reveried.runs").warning(
                "a watched folder was not read whole",
                run=run,
                folder=folder,
                why=seen.why or "many files were written",
                added=added,
                left_out=seen.left_out,
            )


def _stored_result(job: runs.RunJob) -> wire.RunResult | None:
    """Return the stored result of a run that has ended, an empty one after its purge; None while it is running."""
    if job.run.state == "running":
        return None
    if job.run.answer is None:
        return wire.RunResult(candidates=[], changes=[], tier="", operation=None)
    return convert(job.run.answer, wire.RunResult)


async def context(services: Services, space: str, run: str) -> wire.RunContext:
    """Return the text that a completion now would extract knowledge from."""
    job = await read(services, space, lambda reader: runs.snapshot(reader, run, terms(services)))
    return await asyncio.to_thread(run_memories.context_answer, job)


async def complete_due(services: Services, *, every_s: float = LOOK_EVERY_S) -> None:
    """Complete, until cancelled, the runs whose session has ended, and those idle for `runs.idleMinutes`."""
    idle = timedelta(minutes=services.config.runs.idle_minutes)
    completed: dict[str, set[str]] = defaultdict(set)  # runs of a space that need not be read again
    while True:
        await asyncio.sleep(every_s)
        before = text_of(datetime.fromisoformat(services.clock()) - idle)
        for space in spaces_of(services.store):
            find = partial(runs.due, idle_since=before, completed=completed[space])
            for run, ended_by in await read(services, space, find):
                await _complete_unattended(services, space, run, ended_by)


async def _complete_unattended(services: Services, space: str, run: str, ended_by: wire.RunEnd) -> None:
    with failures_logged("runs", space=space, run=run):  # the next run is completed all the same
        try:
            await complete(services, services.by(space, WHO), run, ended_by=ended_by)
        except ReverieError as error:
            logger("reveried.runs").warning("a run was not completed", space=space, run=run, code=error.code)
