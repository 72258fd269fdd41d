"""Purge a memory, a document or a thread: nothing under the home has its words after that. Delete a thread.

A purge is recorded before its first write, and ended by its last. A daemon that is killed in between goes on with it
when it starts again. So does the deletion of a thread, of which one write has room for a part.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from reverie import wire
from reverie.errors import NotFound, ReverieError
from reverie.store import SYSTEM_SPACE, CompactionCursor, Kind
from reverie.text_caches import clear_text_caches
from reverie.usecases import consolidation, documents, memories, purge_steps, purge_targets, restored, threads
from reverie.usecases.by import By
from reverie.usecases.conflicts import open_conflicts
from reverie.usecases.follow import Kept
from reveried.actions.compact import compact
from reveried.drive import commit, write
from reveried.execute import read
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.stored import spaces_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.models import Json
    from reverie.store import Done, PendingPurge, Reader, Write
    from reverie.usecases.purge_targets import Findings, Sources
    from reveried.services import Services

WHO = "purge"
_LMDB_MAGIC = (0xBEEFC0DE).to_bytes(4, "little")
_MAGIC_AT = 16


async def purge(services: Services, by: By, target: PendingPurge) -> wire.Purged:
    """Remove the target for good from store, history, archives, folder and free pages; return what went.

    Raises:
        NotFound: nothing is left of it.
        Conflict: a person's secret is in its place, or the folder cannot be written there.
    """
    async with keyed_lock("purge", by.space):
        sources = await read(services, by.space, partial(purge_targets.sources, purge=target))
        await _delete_first(services, by, target)
        await write(services, purge_steps.begin, by, target)
        return await _finish(services, by, target, sources)


async def delete_thread(services: Services, by: By, thread_id: str) -> Done[threads.Deletion]:
    """Delete a thread with its messages and archives, and return its first write, after which no reader has it.

    Raises:
        NotFound: no thread of that id, and none whose deletion is under way.
    """
    begun = await commit(services, threads.delete, by, thread_id)
    if not begun.value.done:
        await _delete_rest(services, by, thread_id)
    return begun


async def _delete_rest(services: Services, by: By, thread_id: str) -> None:
    while not (await write(services, threads.delete_rest, by, thread_id)).done:
        pass


async def resume(services: Services) -> None:
    """Go on with the deletions, the purges and the compaction that a crash has interrupted; an error is logged.

    Archives of earlier releases that are not what their names say are renamed first, so that a purge finds their files.
    """
    try:
        for space in await asyncio.to_thread(spaces_of, services.store):
            misnamed = await read(services, space, consolidation.misnamed_archives)
            if misnamed is not None:
                await write(services, purge_steps.name_archives, By(space, WHO), misnamed)
            for thread_id in await read(services, space, threads.deleting):
                await _delete_rest(services, By(space, WHO), thread_id)
            for target in await read(services, space, purge_targets.pending):
                async with keyed_lock("purge", space):
                    await _resume_one(services, space, target)
        with services.store.reader(SYSTEM_SPACE) as reader:
            due = reader.load(CompactionCursor, CompactionCursor.KEY) is not None
        if due:
            await compact(services)
    except (OSError, ReverieError) as error:
        logger("reveried.purge").error(
            "a purge was not finished", problem=error.code if isinstance(error, ReverieError) else str(error)
        )


async def _resume_one(services: Services, space: str, target: PendingPurge) -> None:
    """Go on with one purge; one whose sources are gone already only has to be ended."""
    try:
        sources = await read(services, space, partial(purge_targets.sources, purge=target))
    except NotFound:
        sources = purge_targets.Sources(
            documents=[target.key] if target.kind == "document" else [],
            thread=target.key if target.kind == "thread" else None,
        )
    # Only a person purges, and `purge` as the author would make an agent's removal of what it forgets.
    await _finish(services, By(space, "owner"), target, sources)


async def _delete_first(services: Services, by: By, target: PendingPurge) -> None:
    """Delete the memory or document as an ordinary deletion does, with the same checks; nothing if it is gone."""
    with services.store.reader(by.space) as reader:
        is_memory = target.kind == "memory" and reader.exists(Kind.MEMORY, (target.key,))
        is_document = target.kind == "document" and reader.exists(Kind.DOCUMENT, (target.key,))
    if is_memory:
        await write(services, memories.forget, by, target.key)
    if is_document and not _is_copy(services, by.space, target.key):
        await write(services, documents.delete, by, target.key)


def _is_copy(services: Services, space: str, path: str) -> bool:
    """Return True if a document is the copy of an open conflict, which only the purge itself may delete."""
    with services.store.reader(space) as reader:
        return any(conflict.copy == path for conflict in open_conflicts(reader))


async def _finish(services: Services, by: By, target: PendingPurge, found: Sources) -> wire.Purged:
    """Run every step of a purge that is recorded as begun; each may have run before."""
    space = by.space
    async with keyed_lock("memories", space):
        await write(services, purge_steps.remove_blocks, by, found)
        await services.sync_service.write_all(space)
        findings = await _rewrite(services, by, found)
        forgotten = partial(purge_steps.without_words, holds=findings.wide.holds)
        await services.sync_service.forget_texts(space, forgotten, findings.wide.in_file)
        # After a crash behind `_erase` nobody knows the words any more.
        await asyncio.to_thread(clear_spool, services, findings.wide.in_file)
        await _erase(services, by, found)
        await forget_all(space)
        if paths := frozenset(found.documents):
            named = await read(services, space, partial(purge_targets.naming, paths=paths))
            for start in range(0, len(named), purge_steps.BATCH):
                await write(services, purge_steps.without_names, by, named[start : start + purge_steps.BATCH], paths)
        await write(services, purge_steps.needs_compaction, By(SYSTEM_SPACE, WHO), services.clock())
        operation = await write(services, purge_steps.finish, by, target)
    await services.sync_service.write_all(space)
    await services.sync_service.settle_displaced(space)
    await services.sync_service.save_baselines(space)  # without those of files that went last
    saved = await compact(services)
    logger("reveried.purge").info("purged", kind=target.kind, memories=len(found.memories), bytes=saved)
    return wire.Purged(
        operation=str(operation),
        memories=len(found.memories),
        documents=len(found.documents),
        archives=len(findings.archives),
        kept=found.kept,
        freed_bytes=max(0, saved),
        backups=await asyncio.to_thread(_backups, services, found.since),
    )


async def _rewrite(services: Services, by: By, found: Sources) -> Findings:
    """Remove the purged words from archives, summaries and other memories; return the records that had them.

    In two rounds: changing a current record adds a version with the words to its history.
    """

    def find(reader: Reader) -> Findings:
        return purge_targets.findings(reader, found)

    async def rewrite(findings: Findings) -> None:
        if findings.copies:
            await write(services, purge_steps.cover_copies, by, findings)
            await services.sync_service.write_all(by.space)
        writes = purge_steps.rewrites(by, findings, found)
        while part := list(islice(writes, together)):  # as one commit, since each waits for the disk
            await asyncio.gather(*(_repeat(services, step) for step in part))

    together = min(purge_steps.BATCH, 1 + services.config.daemon.queue_length // 2)  # room is left for other writes
    first = await read(services, by.space, find)
    await rewrite(first)
    await rewrite(await read(services, by.space, find))
    await forget_answers(services, by, first.wide.in_answer)
    return first


async def forget_all(space: str) -> None:
    """Have all that this process keeps of a space forget it: indexes and their files, listings, cached texts."""
    for kept in Kept.every():
        if kept.writes_files:
            await asyncio.to_thread(kept.forget, space)
        else:
            kept.forget(space)
    clear_text_caches()


async def forget_answers(services: Services, by: By, holds: Callable[[Json], bool]) -> None:
    """Empty the stored answers and the results of jobs for which `holds` is true."""
    services.jobs.forget(by.space, holds)
    after: bytes | None = None
    while True:
        after = await write(services, purge_steps.forget_answers, by, holds, after)
        if after is None:
            return


async def _erase(services: Services, by: By, found: Sources) -> None:
    """Remove the purged thread, memory or document itself, with all versions."""
    if found.thread is not None:
        with suppress(NotFound):  # it was deleted before
            await delete_thread(services, by, found.thread)
    for step in purge_steps.erase(by, found):
        await _repeat(services, step)


def clear_spool(services: Services, holds: Callable[[str], bool]) -> None:
    """Remove the requests to a model and answers with the words that a release with a spool has left in its folder."""
    folder = services.layout.data_dir / "spool"
    try:
        for path in folder.rglob("*"):
            if path.is_file() and holds(path.read_text("utf-8", "replace")):
                path.unlink(missing_ok=True)
    except OSError as error:
        logger("reveried.purge").error(
            "the spool of requests to a model still has purged words", folder=str(folder), problem=str(error)
        )


async def _repeat(services: Services, step: Write[int]) -> None:
    """Submit a write repeatedly until it has nothing left to do."""
    while (await services.submit(step, bulk=True)).value:
        pass


# Backups


def _backups(services: Services, since: str) -> list[wire.BackupFile]:
    """Return the backups made after `since`, oldest first: they still have the purged data.

    Those below the backup folder, those that are known to be elsewhere, and the stores that `reverie restore` put
    aside. A backup is not opened: a damaged one could end the process.
    """
    with services.store.reader(SYSTEM_SPACE) as reader:
        paths = {Path(entry.path): entry.at for entry in restored.listed(reader)}
    folder = services.config.backup.folder
    for file in sorted(folder.rglob("*")) if folder.is_dir() else []:
        paths.setdefault(file, "")
    for file in sorted(services.layout.store_dir.parent.glob("store-before-*/data.mdb")):
        paths.setdefault(file, "")
    files = [(at or _written(path), path) for path, at in paths.items() if _is_backup(path)]
    return [wire.BackupFile(path=str(path), at=at) for at, path in sorted(files) if at >= since]


def _is_backup(path: Path) -> bool:
    """Return True if a file begins as an LMDB file does."""
    try:
        with path.open("rb") as file:
            return file.read(_MAGIC_AT + len(_LMDB_MAGIC))[_MAGIC_AT:] == _LMDB_MAGIC
    except OSError:
        return False


def _written(path: Path) -> str:
    """Return when a file was written last, RFC 3339 UTC."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
