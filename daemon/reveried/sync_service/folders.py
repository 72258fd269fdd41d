"""Every space's folder: what callers wait for, and the loops that keep folders and store in agreement."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from reverie.errors import Busy, Conflict, DiskFull, ReverieError, StorageFailed, unexpected
from reverie.ids import new_id
from reverie.usecases import projections
from reverie.usecases import sync as syncing
from reveried.keyed_lock import finish_before_cancel, keyed_lock
from reveried.log import logger
from reveried.sync_service.folder import Folder
from reveried.sync_service.pass_result import Committed
from reveried.sync_service.sync_loop import Attendant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from reverie.projections import DocumentEntry
    from reverie.redact import Redactor
    from reverie.store import Store
    from reverie.sync.file_status import Refusal
    from reverie.sync.plan import Plan
    from reverie.usecases.listing import Listed
    from reveried.config import Config
    from reveried.sync_service.pass_result import Looked, Wrote
    from reveried.worker import Submit

__all__ = ["Folders", "Outcome"]

PASSES_MAX = 8  # while a person saves again and again, or the store changes; the next hint tries anew
PARTS_AT_ONCE = 4  # of a plan that wait for the writer together, so that one flush serves them
ID_RANDOM_BYTES = 10
CLOSE_MOST_S = 20.0  # at the end, for what still runs

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(slots=True)
class Outcome:
    """What one call of `sync` led to: files read, documents taken in, files written, documents deleted, conflicts."""

    read: int = 0
    adopted: int = 0
    written: int = 0
    deleted: int = 0
    conflicts: int = 0


class Folders:
    """The folders of all spaces of this process. Coroutines only; what blocks is done in threads."""

    def __init__(
        self,
        store: Store,
        submit: Submit,
        redactor: Redactor,
        config: Config,
        *,
        store_id: str,
        clock: Callable[[], str],
        now_ms: Callable[[], int],
        random: Callable[[int], bytes],
    ) -> None:
        self._store = store
        self._store_id = store_id
        self._submit = submit
        self._redactor = redactor
        self._config = config
        self._clock = clock
        self._now_ms = now_ms
        self._random = random
        self._folders: dict[str, Folder] = {}
        self._attendants: dict[str, tuple[Attendant, asyncio.Task[None]]] = {}
        self._attending = False
        self._running: dict[asyncio.Task[Any], str] = {}

    def of(self, space: str) -> Folder:
        """The folder of a space, known from its first use on."""
        folder = self._folders.get(space)
        if folder is None:
            folder = self._folders[space] = self._made(space)
            if self._attending:
                self._attend(space)
        return folder

    def _made(self, space: str) -> Folder:
        return Folder(
            space,
            self.root_of(space),
            self._store,
            self._redactor,
            self._config.sync,
            store_id=self._store_id,
            now_ms=self._now_ms,
            random=self._random,
        )

    def attend(self, spaces: Iterable[str]) -> None:
        """Begins to keep these folders, and those of spaces that come into use, in agreement with the store."""
        self._attending = True
        for space in spaces:
            if space in self._folders:
                self._attend(space)
            self.of(space)

    def _attend(self, space: str) -> None:
        attendant = Attendant(self, space, self._config.sync, now_ms=self._now_ms)
        self._attendants[space] = attendant, asyncio.create_task(attendant.run())

    def watching(self, space: str) -> str:
        """How changes of a folder are noticed."""
        found = self._attendants.get(space)
        return "nothing" if found is None else found[0].watching

    def root_of(self, space: str) -> Path:
        """Where a space's folder is."""
        return self._config.memory.data_dir / space

    async def listed(self, space: str) -> list[Listed]:
        """Every document of a space, as the store has them now."""
        return await asyncio.to_thread(self.of(space).listed)

    async def index(self, space: str) -> list[DocumentEntry]:
        """The documents that agents are told of, by path."""
        folder = self.of(space)
        await asyncio.to_thread(folder.listed)
        return folder.listing.memories()

    def refusal(self, space: str, path: str) -> Refusal | None:
        """Why no file can be at a path, as it was when that was last looked at."""
        return self.of(space).refusal(path)

    async def secrets(self, space: str, path: str) -> frozenset[str]:
        """What stands in the store's text for the secrets that the file at a path holds now."""
        async with keyed_lock("files", space):
            return await self._in_thread(space, self.of(space).secrets, path)

    async def take_in(self, space: str, paths: Iterable[str]) -> None:
        """What people saved at these paths, before somebody else changes them; a stopped folder is passed by."""
        await self._quietly(space, set(paths))

    async def publish(self, space: str, paths: Iterable[str] | None = None) -> None:
        """Puts on disk what the store says of these paths, or of all that changed; what fails is logged and told.

        The store has it, and the next look tries again.
        """
        await self._quietly(space, None if paths is None else set(paths))

    async def show(self, space: str) -> None:
        """As `publish` of everything that changed, the indexes and archives too: for what people wait for."""
        await self._quietly(space, None)
        try:
            await self.project(space)
        except (ReverieError, OSError) as error:
            _said(space, error)

    async def sync(
        self, space: str, paths: set[str] | None, *, whole: bool = False, deep: bool = False, accept: bool = False
    ) -> Outcome:
        """Looks at `paths`, or at all (`whole`), takes in and writes until folder and store agree.

        Without `whole`, paths whose documents have changed since the last call belong to it. `deep` reads every file;
        `accept` takes every file that is gone as deleted on purpose.

        Raises:
            Conflict: the folder is gone or not the one that it was; nothing was done.
            ReverieError: the folder cannot be read or written.
        """
        outcome = Outcome()
        async with keyed_lock("files", space):
            folder = self.of(space)
            wanted: set[str] | None = None if whole else set(paths or ())
            for _ in range(PASSES_MAX):
                again = await self._pass(folder, wanted, outcome, deep=deep, accept=accept)
                if not again:
                    break
                wanted, deep = again, False
        return outcome

    async def accept(self, space: str) -> None:
        """Gives the space the folder that is in the place of its own, however empty, for the next look to compare.

        Nothing happens where the folder is its own. What was agreed on with the one before is forgotten in the store
        first, and the mark comes after that: a folder with a mark and records of other files would look like deletions.

        Raises:
            Conflict: the folder there is another space's or store's.
            ReverieError: it cannot be made or read.
        """
        async with keyed_lock("files", space), keyed_lock("records", space):
            before = self.of(space)
            if not await self._in_thread(space, before.vacant):
                return
            await self._submit(syncing.begun_anew(space, at=self._clock()))
            self._folders[space] = begun = self._made(space)
            begun.late.take_over(before.late)
            await self._in_thread(space, before.close)
            if space in self._attendants:
                self._attendants[space][0].begin_anew()

    async def _pass(
        self, folder: Folder, wanted: set[str] | None, outcome: Outcome, *, deep: bool, accept: bool
    ) -> set[str]:
        """One look and what follows from it; the paths that are to be looked at again."""
        looked, wrote = await self._in_thread(folder.space, _look_and_write, folder, wanted, deep=deep, accept=accept)
        outcome.read += looked.read
        if wrote is None:
            try:
                committed = await self._commit(folder.space, looked.plan, outcome)
            except Conflict as conflict:
                if not conflict.details.get("stale"):
                    raise
                return set(looked.paths)
            wrote = await self._in_thread(folder.space, folder.write, looked, committed)
        outcome.written += wrote.written
        if looked.paths:
            self._written(folder.space)
        return wrote.again

    async def _commit(self, space: str, plan: Plan, outcome: Outcome) -> Committed:
        """The store's side of a plan, some parts at a time; what is wrong with one path keeps no other back."""
        committed = Committed()
        parts = deque(part for part in syncing.parts(plan) if part.puts or part.deletes)  # records wait for others
        bulk = len(parts) > 1
        while parts:
            some = [parts.popleft() for _ in range(min(PARTS_AT_ONCE, len(parts)))]
            submits = [
                self._submit(syncing.commit(part, space=space, at=self._clock(), new_id=self._id), bulk=bulk)
                for part in some
            ]
            done = await asyncio.gather(*submits, return_exceptions=True)  # none goes on behind the caller's back
            for part, each in zip(some, done, strict=True):
                if isinstance(each, BaseException):
                    parts.extend(_left(space, part, each, committed))
                else:
                    committed.became |= each.value
                    outcome.adopted += len(part.puts)
                    outcome.deleted += len(part.deletes)
                    outcome.conflicts += len(part.copies)
        return committed

    async def record(self, space: str) -> None:
        """Keeps what is agreed on in the store. Without it, after a crash, the folder is compared anew."""
        async with keyed_lock("records", space):
            folder = self.of(space)
            agreement = folder.agreement
            with _telling(folder, "records"):
                records, gone = agreement.unrecorded()
                if records or gone:
                    await self._in_thread(space, folder.flush)
                    await self._submit(syncing.recorded(space, records, gone, at=self._clock()), bulk=True)
                    agreement.recorded(records, gone)

    async def project(self, space: str) -> ReverieError | None:
        """Brings MEMORY.md, the indexes and the archives up to date with the store.

        Why a file of them could not be written, if one could not: the status tells it, and the others are.
        """
        folder = self.of(space)
        with _telling(folder, "projections"):
            entries = await asyncio.to_thread(self.of(space).to_list)
            if entries is not None:
                await self._submit(projections.relist(space, entries))
                await self.sync(space, set())
            async with keyed_lock("files", space):
                return await self._in_thread(space, self.of(space).project)

    async def _quietly(self, space: str, paths: set[str] | None) -> None:
        try:
            await self.sync(space, paths)
        except (ReverieError, OSError) as error:
            _said(space, error)

    def _written(self, space: str) -> None:
        found = self._attendants.get(space)
        if found is not None:
            found[0].written()

    async def _in_thread(self, space: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Does what blocks. A caller keeps its turn until this has ended, and `close` waits for it."""
        running = asyncio.create_task(asyncio.to_thread(work, *args, **kwargs))
        self._running[running] = space
        running.add_done_callback(self._running.pop)
        return await finish_before_cancel(running)

    async def close(self) -> None:
        """Ends the loops, settles what was replaced a moment ago, and keeps what is agreed on.

        A folder at which something goes on for longer than `CLOSE_MOST_S` is left as it is.
        """
        busy = await self._ended()
        for space, folder in self._folders.items():
            if space in busy:
                logger("reveried.sync_service").error("a folder is still looked at, and not recorded", space=space)
                continue
            try:
                await self._end(space, folder)
            except Exception as error:  # noqa: BLE001 - the others are to be closed; the next start compares this one
                _said(space, error, "a folder was not recorded")
            await asyncio.to_thread(folder.close)

    async def _ended(self) -> set[str]:
        """Ends the loops; the spaces at which something goes on."""
        running = {task: space for space, (_, task) in self._attendants.items()}
        for attendant, task in self._attendants.values():
            await attendant.stop()
            task.cancel()
        running |= self._running
        late = (await asyncio.wait(running, timeout=CLOSE_MOST_S))[1] if running else set()
        return {running[task] for task in late}

    async def _end(self, space: str, folder: Folder) -> None:
        left = await asyncio.to_thread(folder.late.settle, None)
        if left:
            await self.sync(space, left)
        await self.record(space)

    def _id(self, kind: str) -> str:
        return new_id(kind, self._now_ms(), self._random(ID_RANDOM_BYTES))


@contextmanager
def _telling(folder: Folder, what: str) -> Iterator[None]:
    """Lets the status tell why something cannot be kept, until it can."""
    try:
        yield
    except Exception as error:
        folder.unkept[what] = error if isinstance(error, ReverieError) else unexpected(error)
        raise
    folder.unkept.pop(what, None)


def _look_and_write(folder: Folder, paths: set[str] | None, *, deep: bool, accept: bool) -> tuple[Looked, Wrote | None]:
    """One look, and at once what follows from it on disk; None where the store has to be told first."""
    looked = folder.look(paths, deep=deep, accept=accept)
    told = looked.plan.puts or looked.plan.deletes
    return looked, None if told else folder.write(looked, Committed())


def _left(space: str, part: Plan, error: BaseException, committed: Committed) -> list[Plan]:
    """What is to be tried again of a part that failed; a single path is told as failed.

    Raises the error if it is not of the part alone.
    """
    stale = isinstance(error, Conflict) and error.details.get("stale")
    if stale or not isinstance(error, Exception) or isinstance(error, (StorageFailed, DiskFull, Busy)):
        raise error
    alone = list(syncing.parts(part, most=1))
    if len(alone) > 1:
        return alone
    if not isinstance(error, ReverieError):
        logger("reveried.sync_service").error("a file was not taken in", exc_info=error, space=space)
        error = unexpected(error)
    committed.failed |= dict.fromkeys(part.paths, error)
    return []


def _said(space: str, error: Exception, what: str = "files were not written") -> None:
    code = error.code if isinstance(error, ReverieError) else type(error).__name__
    logger("reveried.sync_service").error(what, space=space, code=code, why=str(error))
