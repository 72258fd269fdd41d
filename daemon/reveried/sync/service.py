"""The folders of all spaces, for handlers and loops: one pass at a time for each, which callers that wait join."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from reverie.errors import ReverieError, failure_of
from reverie.usecases import projections, purge_steps, sync
from reverie.usecases.by import By
from reveried.locks import keyed_lock
from reveried.log import logger
from reveried.sync.folder import Folder
from reveried.sync.loop import SyncLoop
from reveried.sync.state import SyncOutcome
from reveried.sync.status import announce, log_failure, status_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable
    from pathlib import Path

    from reverie import wire
    from reverie.documents.index import DocumentEntry
    from reverie.redact import Redactor
    from reverie.store import Store
    from reverie.sync.plan import Answer, Baseline
    from reverie.usecases.projections import ListedDocument
    from reveried.config import Config
    from reveried.worker import Submit

PASSES_MAX = 8  # of one call, while a person saves again and again or the store changes; the next event tries again
SHUTDOWN_MAX_S = 20.0  # seconds that `close` waits for blocking work


class SyncService:
    """The folders of all spaces of this process. Coroutines only; what blocks runs in threads.

    Two locks for each space: "files" is held during a scan with what follows from it, "records" while baselines are
    saved.
    """

    def __init__(
        self,
        store: Store,
        submit: Submit,
        redactor: Redactor,
        config: Config,
        *,
        store_id: str,
        now_ms: Callable[[], int],
        random: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._submit = submit
        self._config = config
        self._now_ms = now_ms
        self._new_folder = partial(
            Folder,
            store=store,
            submit=submit,
            redactor=redactor,
            config=config.sync,
            store_id=store_id,
            now_ms=now_ms,
            random=random,
        )
        self._folders: dict[str, Folder] = {}
        self._loops: dict[str, tuple[SyncLoop, asyncio.Task[None]]] = {}
        self._is_started = False
        self._writes = JoinedWrites(self._sync_and_log)

    def folder(self, space: str) -> Folder:
        """Return the folder of a space, created on first use; its sync loop is started if the service is."""
        folder = self._folders.get(space)
        if folder is None:
            folder = self._folders[space] = self._new_folder(space, self.root_of(space))
            if self._is_started:
                self._start_loop(space)
        return folder

    def start(self, spaces: Iterable[str]) -> None:
        """Start the sync loops of these spaces, and of every space from its first use on."""
        self._is_started = True
        for space in spaces:
            if space in self._folders:
                self._start_loop(space)
            self.folder(space)

    def _start_loop(self, space: str) -> None:
        loop = SyncLoop(self, space, self._config.sync, now_ms=self._now_ms)
        self._loops[space] = loop, asyncio.create_task(loop.run())

    def status(self, space: str) -> wire.SyncStatus:
        """Return the sync status of a space's folder, with how its changes are noticed."""
        with self._store.reader(space) as reader:
            status = status_of(self.folder(space), reader, now_ms=self._now_ms())
        loop = self._loops.get(space)
        status.watching, status.watching_hint = ("scans", None) if loop is None else loop[0].watch_mode
        return status

    def root_of(self, space: str) -> Path:
        """Return the configured path of a space's folder."""
        return self._config.memory.data_dir / space

    async def documents(self, space: str) -> list[ListedDocument]:
        """Return every document of a space in the store."""
        return await asyncio.to_thread(self.folder(space).documents)

    async def index_entries(self, space: str) -> list[DocumentEntry]:
        """Return the documents that agents get in the index, by path."""
        folder = self.folder(space)
        await asyncio.to_thread(folder.documents)
        return folder.listing.entries()

    async def secret_markers(self, space: str, path: str) -> frozenset[str]:
        """Return the markers that the store's text has for the secrets in the file that is at a path now."""
        async with keyed_lock("files", space):
            return await (folder := self.folder(space)).in_thread(folder.secret_markers, path)

    async def text(self, space: str, path: str) -> str | None:
        """Return the text of the file that is at a path now, secrets included; None where none can be read."""
        async with keyed_lock("files", space):
            return await (folder := self.folder(space)).in_thread(folder.text, path)

    async def read_saves(self, space: str, paths: Iterable[str] | None) -> None:
        """Sync files saved at these paths, or in the whole folder (None), into the store; errors are logged.

        Called before a write to the store, so that the write is based on what a person has just saved.

        A folder that is missing or stopped must not block agents.
        """
        await self._sync_and_log(space, set(paths or ()), whole=paths is None)

    async def write_documents(self, space: str, paths: Iterable[str]) -> None:
        """Write these documents, or all that changed, to disk, together with those of other callers that wait.

        An error is logged and shown by the status: the store has them already, and the next scan tries again.
        """
        await self._writes.write(space, paths)

    async def write_all(self, space: str) -> None:
        """Write all changed documents, and then the projections: as `write_documents`, for what people wait for."""
        await self._sync_and_log(space, None)
        try:
            await self.update_projections(space)
        except BaseException as error:  # noqa: BLE001 - as above
            failure_of(error)
            log_failure(space, error)

    async def sync(
        self,
        space: str,
        paths: set[str] | None,
        *,
        whole: bool = False,
        deep: bool = False,
        answer: Answer | None = None,
    ) -> SyncOutcome:
        """Scan `paths`, or everything (`whole`), store and write until folder and store agree, and return the counts.

        Without `whole`, paths whose documents have changed since the last call are included. `deep` reads every file;
        `answer` is a person's decision about missing and older files.

        Raises:
            Conflict: the folder is gone or not the one that it was; nothing was done.
            ReverieError: the folder cannot be read or written.
        """
        outcome = SyncOutcome()
        async with keyed_lock("files", space):
            folder = self.folder(space)
            wanted: set[str] | None = None if whole else set(paths or ())
            try:
                for _ in range(PASSES_MAX):
                    written = await folder.sync(wanted, outcome, deep=deep, answer=answer)
                    if written.handled:
                        self._schedule_upkeep(space)
                    if not written.rescan:
                        break
                    wanted, deep = written.rescan, False
                await folder.save_root()
            finally:
                if folder.problem is not None and (entry := self._loops.get(space)) is not None:
                    entry[0].retry_failed_scan()
                await announce(folder, self._submit)
        return outcome

    async def accept_folder(self, space: str) -> None:
        """Give the space the folder that is at its path now, however empty; the next scan compares it.

        Nothing happens if the folder is the space's own. The baselines of the folder before are removed from the store
        first, and the space file is written after that: a folder with a space file and baselines of other files would
        look like deletions.

        Raises:
            Conflict: the folder there is another space's.
            ReverieError: it cannot be made or read.
        """
        async with keyed_lock("files", space), keyed_lock("records", space):
            before = self.folder(space)
            root = await before.in_thread(before.to_accept)
            if root is None:
                return
            await self._submit(sync.reset_baselines.write(By(space, "sync"), root))
            self._folders[space] = accepted = self._new_folder(space, self.root_of(space))
            accepted.late.take_over(before.late)
            await before.in_thread(before.close)
            if space in self._loops:
                self._loops[space][0].restart()

    async def save_baselines(self, space: str) -> None:
        """Save the changed baselines to the store; those lost by a crash are found again by comparing the texts."""
        async with keyed_lock("records", space):
            await self.folder(space).save_baselines()

    async def update_projections(self, space: str) -> ReverieError | None:
        """Bring MEMORY.md, indexes and archives up to date with the store; return why one was not written, or None.

        Returns why one of these files could not be written, if so: the status names it, and the others are written.
        """
        folder = self.folder(space)
        with folder.recorded_failure("projections"):
            if (entries := await asyncio.to_thread(folder.entries_to_list)) is not None:
                await self._submit(projections.relist.write(By(space, "index"), entries))
                await self.sync(space, set())
            async with keyed_lock("files", space):
                folder = self.folder(space)
                failed = await folder.in_thread(folder.update_projections)
            if removed := self.folder(space).take_removed_archives():
                await self._submit(purge_steps.files_gone.write(By(space, "purge"), removed))
            return failed

    async def forget_texts(
        self, space: str, cover: Callable[[Baseline], Baseline], holds: Callable[[str], bool]
    ) -> None:
        """Remove texts of earlier saves from the baselines as `cover` does for each, and save the baselines.

        A person's edit of a projection, which nothing reads, and an archive are removed where `holds` is true of them.
        """
        async with keyed_lock("files", space):
            folder = self.folder(space)
            folder.baselines.replace_texts(cover)
            await folder.in_thread(folder.remove_copies, holds)
        await self.save_baselines(space)

    async def settle_displaced(self, space: str) -> None:
        """Return when no file that is replaced by now waits for late writes; at most after twice the grace time."""
        folder, deadline = self.folder(space), self._now_ms() + int(2000 * self._config.sync.grace_seconds) + 2000
        late, replaced = folder.late, folder.displaced
        while (due := late.due) is not None and replaced & folder.displaced and self._now_ms() < deadline:
            await asyncio.sleep(max(0.0, due - self._now_ms()) / 1000)
            async with keyed_lock("files", space):
                changed = await folder.in_thread(late.settle, self._now_ms())
            await self._sync_and_log(space, changed)

    async def _sync_and_log(self, space: str, paths: set[str] | None, *, whole: bool = False) -> None:
        """Sync these paths, or all; errors are logged, not raised."""
        try:
            await self.sync(space, paths, whole=whole)
        except BaseException as error:  # noqa: BLE001 - the status names it, and agents are served without the folder
            failure_of(error)
            log_failure(space, error)

    def _schedule_upkeep(self, space: str) -> None:
        """Let the sync loop of a space save baselines and update projections soon."""
        if (entry := self._loops.get(space)) is not None:
            entry[0].schedule_upkeep()

    async def close(self) -> None:
        """End the loops, settle displaced files, and save the baselines.

        A folder whose work takes longer than `SHUTDOWN_MAX_S` is left as it is; the next start compares it.
        """
        self._writes.cancel()
        busy = await self._stop_loops()
        for space, folder in self._folders.items():
            if space in busy:
                logger("reveried.sync").error("a folder is still being scanned, and not recorded", space=space)
                continue
            try:
                await self._finish(space, folder)
            except BaseException as error:  # noqa: BLE001 - the other folders have to be closed; the next start compares this
                failure_of(error)
                log_failure(space, error, "a folder was not recorded")
            await asyncio.to_thread(folder.close)

    async def _stop_loops(self) -> set[str]:
        """Stop the sync loops; return the spaces whose work has not ended in time."""
        running = {task: space for space, (_, task) in self._loops.items()}
        for loop, task in self._loops.values():
            await loop.stop()
            task.cancel()
        running |= {task: space for space, folder in self._folders.items() for task in folder.running}
        pending = (await asyncio.wait(running, timeout=SHUTDOWN_MAX_S))[1] if running else set()
        return {running[task] for task in pending}

    async def _finish(self, space: str, folder: Folder) -> None:
        """Settle all displaced files of a folder, sync their late writes, and save the baselines."""
        if changed := await asyncio.to_thread(folder.late.settle, None):
            await self.sync(space, changed)
        await self.save_baselines(space)


@dataclass(slots=True)
class _Pass:
    """A write pass that has not begun yet: the paths that its callers named, and its task."""

    task: asyncio.Task[None]
    paths: set[str] = field(default_factory=set)


class JoinedWrites:
    """Per space at most one write pass that runs and one that waits, which all callers that come meanwhile join.

    After a commit of a hundred writes a hundred callers wait for the file of one document. A pass reads the store when
    it begins, so whoever joined it before finds the own write in the file.
    """

    def __init__(self, write: Callable[[str, set[str]], Awaitable[None]]) -> None:
        """Prepare; `write` brings paths of a space's folder up to date, and reports its errors itself."""
        self._write = write
        self._waiting: dict[str, _Pass] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def write(self, space: str, paths: Iterable[str]) -> None:
        """Return when a pass that began after this call has written these paths; a cancelled caller stops no pass."""
        waiting = self._waiting.get(space)
        if waiting is None:
            task = asyncio.create_task(self._run(space, self._running.get(space)))
            waiting = self._waiting[space] = _Pass(task)
        waiting.paths.update(paths)
        await asyncio.shield(waiting.task)

    async def _run(self, space: str, before: asyncio.Task[None] | None) -> None:
        """Run one pass after the one before it has ended."""
        if before is not None:
            await asyncio.wait((before,))
        this = self._waiting.pop(space)
        self._running[space] = this.task
        try:
            await self._write(space, this.paths)
        finally:
            del self._running[space]

    def cancel(self) -> None:
        """Cancel all passes: the folders are being closed. What is in the store is written at the next start."""
        for task in (*(waiting.task for waiting in self._waiting.values()), *self._running.values()):
            task.cancel()
        self._waiting.clear()
