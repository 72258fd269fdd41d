"""Following of transcripts: what an agent's client writes into its file is imported while it is written.

A file is read after each hook of its session, and now and then in between: often while it grows, every few seconds
while it does not. What is read goes through the import, so that its position survives a restart, a file that was
rewritten is recognised, and an import of the same file by hand adds nothing.
"""

from __future__ import annotations

import asyncio
import math
import os
import stat
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from reverie.errors import Busy, NotFound, ReverieError, failure_of
from reverie.importers import find
from reverie.usecases import sessions, threads
from reverie.usecases.by import By
from reverie.wire import CHUNK_MAX_BYTES
from reveried.actions import imports
from reveried.actions.learn import learn
from reveried.drive import write
from reveried.execute import read
from reveried.log import logger
from reveried.supervise import start_supervised
from reveried.working_states import BackgroundState

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.store import SessionRecord
    from reveried.services import Services

SessionKey: TypeAlias = tuple[str, str, str]
"""Space, client and session id."""

FOLLOWED_MAX: Final = 200  # sessions at one time; those that were heard of last
TAIL_BYTES: Final = 4096  # before the position, by which a file that was rewritten in place is known
QUICK_S: Final = 0.25  # between two polls of a file that grows
QUIET_S: Final = 5.0  # and of one that does not; a prompt's hook asks for a poll at once
LEARN_S: Final = 60.0  # a session whose turn is finished, and was quiet for so long, or that has ended, is learnt from
OPEN_S: Final = 3_600.0  # one whose turn is open, waiting for a person or left: of 288 pauses in a turn 6 were longer
END_S: Final = 1.0  # a client may write its last lines after the hook of its end
IDLE_S: Final = 12 * 3600.0  # a session whose client is not known to live is left after so long without a line


@dataclass(slots=True)
class _Followed:
    """One session that is followed, and how far its file was read by this process."""

    record: SessionRecord
    path: Path
    due: asyncio.Event = field(default_factory=asyncio.Event)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended: bool = False
    file: tuple[int, int] | None = None  # device and inode of the file whose beginning was compared
    offset: int = 0
    lines: int = 0
    tail: bytes = b""  # of the file before `offset`
    stamp: tuple[int, int] | None = None  # size and time of the last change when `tail` was compared
    earlier: dict[Path, _Followed] = field(default_factory=dict)  # other files of the session, not read to their end
    heard_at: float = 0.0  # of the loop's time: a hook or a line
    import_id: str = ""
    has_to_wait: bool = False  # its last read found no room to compute
    is_read: bool = False  # to the end, after the session's end
    forgotten: bool = False  # its thread was deleted


class Follower:
    """The tasks that follow transcripts, one for each open session. `on_growth` is called after lines were added."""

    def __init__(self, *, quick_s: float = QUICK_S, quiet_s: float = QUIET_S) -> None:
        self._quick_s, self._quiet_s = quick_s, quiet_s
        self._followed: dict[SessionKey, _Followed] = {}
        self._tasks: dict[SessionKey, asyncio.Task[None]] = {}
        self.on_growth: Callable[[Services, str, SessionRecord], None] = lambda *_: None

    def follow(self, services: Services, space: str, session: SessionRecord) -> None:
        """Follow a session's transcript from now on; one that is followed already is read at once."""
        key = (space, session.client, session.session)
        if session.transcript is None:
            return
        current = self._followed.get(key)
        path = Path(session.transcript)
        loop = asyncio.get_running_loop()
        if current is not None and current.path == path and not self._tasks[key].done():
            current.record, current.ended, current.heard_at = session, False, loop.time()
            current.due.set()
            return
        if len(self._tasks) >= FOLLOWED_MAX and key not in self._tasks:
            # Its next hook has it followed again; one that has ended may have none, and waits to be learnt from.
            others = self._followed
            self._drop(min(others, key=lambda key: (not others[key].is_read, others[key].heard_at)))
        self._followed[key] = _Followed(session, path, heard_at=loop.time())
        if current is not None:
            self._tasks[key].cancel()
            self._followed[key].earlier = {
                other: followed
                for other, followed in {**current.earlier, current.path: current}.items()
                if other != path
            }
        task = start_supervised("follower", partial(self._run, services, space, self._followed[key]))
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._forget(key, done))

    def follows(self, key: SessionKey) -> bool:
        """Return True for a session that is followed."""
        return key in self._followed

    def _drop(self, key: SessionKey) -> None:
        self._tasks.pop(key).cancel()
        del self._followed[key]

    def _forget(self, key: SessionKey, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key], self._followed[key]

    def leave(self, space: str, thread: str) -> None:
        """Stop following the sessions of a thread that is deleted, without reading what they still write."""
        for key, followed in list(self._followed.items()):
            if key[0] == space and followed.record.thread == thread:
                self._tasks[key].cancel()

    def poll(self, key: SessionKey) -> None:
        """Have a session's file read soon."""
        if (followed := self._followed.get(key)) is not None:
            followed.heard_at = asyncio.get_running_loop().time()
            followed.due.set()

    def end(self, key: SessionKey) -> None:
        """Read what a session that has ended still writes, then stop following it."""
        if (followed := self._followed.get(key)) is not None:
            followed.ended = True
            followed.due.set()

    async def catch_up(self, services: Services, key: SessionKey) -> None:
        """Import what a session's file has now; returns at once for one that is not followed."""
        if (followed := self._followed.get(key)) is not None:
            await self._read(services, key[0], followed)

    async def catch_up_all(self, services: Services, space: str) -> None:
        """Import what the files of a space's sessions have now."""
        for key in [key for key in self._followed if key[0] == space]:
            await self.catch_up(services, key)

    async def close(self) -> None:
        """Stop following. The next start continues from the stored positions."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, services: Services, space: str, followed: _Followed) -> None:
        """Read the file whenever it is due, until the session has ended, its client is gone or its thread deleted."""
        loop = asyncio.get_running_loop()
        pause_s, grown_at, learn_s = self._quick_s, loop.time(), LEARN_S
        while True:
            # Before the read: what is asked for during it is due once more.
            followed.due.clear()
            ended = followed.ended or not _is_alive(followed.record.pid)
            if ended:
                await asyncio.sleep(min(END_S, self._quiet_s))
            if await self._read(services, space, followed):
                pause_s, grown_at, learn_s = self._quick_s, loop.time(), LEARN_S
                followed.heard_at = grown_at
            else:
                pause_s = min(pause_s * 2, self._quiet_s)
            if followed.forgotten:
                return
            if followed.has_to_wait:
                ended = False  # what is left is read once there is room to compute
            followed.is_read = ended
            quiet_s = loop.time() - grown_at
            if ended or quiet_s > learn_s:
                waits = partial(threads.waits_for_result, thread_id=followed.record.thread)
                if not ended and learn_s < OPEN_S and await read(services, space, waits):
                    learn_s = OPEN_S  # the answer that a call waits for is learnt together with the call, or not at all
                else:
                    failure = await _learn(services, space, followed.record.thread)
                    learn_s = math.inf if failure is None else 2 * max(quiet_s, LEARN_S)
                    ended = ended and not isinstance(failure, Busy)
            if ended or (followed.record.pid is None and quiet_s > IDLE_S):
                client, session = followed.record.client, followed.record.session
                await write(services, sessions.end, By(space, f"session:{client}"), client, session)
                return
            try:
                await asyncio.wait_for(followed.due.wait(), pause_s)
                pause_s = self._quick_s
            except TimeoutError:
                continue

    async def _read(self, services: Services, space: str, followed: _Followed) -> bool:
        """Import the new lines of the session's files; return True if there were any. Errors are logged and retried."""
        added = 0
        followed.has_to_wait = False
        for other in (*followed.earlier.values(), followed):
            async with other.lock:
                try:
                    added += await _import(services, space, other)
                except NotFound:
                    pass  # the client has not written it yet, or has removed it
                except BaseException as error:  # noqa: BLE001 - the session's other files are read
                    failure = failure_of(error)
                    followed.has_to_wait = followed.has_to_wait or isinstance(failure, Busy)
                    logger("reveried.follower").warning(
                        "a transcript was not read",
                        work="follower",
                        kind=type(error).__name__,
                        code=failure.code,
                        why=failure.message,
                        exc_info=None if failure is error else error,
                    )
                    continue
            followed.earlier.pop(other.path, None)
        if added:
            services.made(BackgroundState).schedule(services, space, followed.record.thread)
            self.on_growth(services, space, followed.record)
        return added > 0


async def _import(services: Services, space: str, followed: _Followed) -> int:
    """Import the lines after the position; return how many were added."""
    status = await asyncio.to_thread(_status, followed.path)
    is_new = followed.file != status[:2]
    if is_new or not await asyncio.to_thread(_is_continued, followed, status):
        await _open(services, space, followed, rewritten=not is_new)
        followed.file = status[:2]
        followed.tail = await asyncio.to_thread(_tail, followed)
    followed.stamp = status[2:]
    added = 0
    while followed.offset < status[2]:
        data = await asyncio.to_thread(_bytes_at, followed.path, followed.offset, status[2])
        # Nothing follows the last line of a session that has ended, so it needs no line end.
        is_last = followed.ended and followed.offset + len(data) == status[2]
        answer = await imports.take_chunk(
            services,
            space,
            followed.import_id,
            offset=followed.offset,
            first_line=followed.lines + 1,
            data=data,
            final=is_last,
        )
        added += answer.added
        for problem in answer.problems:
            logger("reveried.follower").warning(
                "a line was not read; it is stored as raw text",
                thread=followed.record.thread,
                line=problem.line,
                why=problem.why,
            )
        if answer.offset == followed.offset:
            break  # the last line is not complete yet
        followed.tail = (followed.tail + data[: answer.offset - followed.offset])[-TAIL_BYTES:]
        followed.offset, followed.lines = answer.offset, answer.lines
    return added


def _is_continued(followed: _Followed, status: tuple[int, int, int, int]) -> bool:
    """Return True if a file has the same bytes before the position as when they were read."""
    if status[2] < followed.offset:
        return False
    return followed.stamp == status[2:] or _tail(followed) == followed.tail


def _tail(followed: _Followed) -> bytes:
    """Return the last bytes before the position."""
    start = max(0, followed.offset - TAIL_BYTES)
    with find.open_transcript(followed.path, offset=start) as stream:
        data = b""
        while len(data) < followed.offset - start and (piece := stream.read(followed.offset - start - len(data))):
            data += piece
        return data


async def _open(services: Services, space: str, followed: _Followed, *, rewritten: bool) -> None:
    """Set the position from which a file is to be read: that of its import, or the start where it was rewritten."""
    record = followed.record
    import_position = await imports.begin(services, space, record.client, record.session, str(followed.path))

    def is_unchanged() -> bool:
        with find.open_transcript(followed.path) as stream:
            return find.skip_imported(
                stream,
                offset=import_position.offset,
                check_from=import_position.check_from,
                sha256=import_position.sha256,
            )

    followed.import_id = import_position.id
    followed.offset, followed.lines = 0, 0
    if not rewritten and await asyncio.to_thread(is_unchanged):
        followed.offset, followed.lines = import_position.offset, import_position.lines


def _status(path: Path) -> tuple[int, int, int, int]:
    """Return device, inode, size and time of the last change of a transcript.

    Raises:
        NotFound: there is none of this user.
    """
    if not is_own_file(path):
        raise NotFound(f"{path} is no file of this user", hint="check the path")
    status = path.stat()
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _bytes_at(path: Path, offset: int, size: int) -> bytes:
    """Return the bytes of a file from `offset` to `size`, at most a chunk; to the end of a line that is longer."""
    with find.open_transcript(path, offset=offset) as stream:
        data = b""
        while len(data) < min(size - offset, CHUNK_MAX_BYTES) and (piece := stream.read(find.CHUNK_BYTES)):
            data += piece
            if b"\n" in piece:
                break
        return data[:CHUNK_MAX_BYTES]


def is_own_file(path: Path) -> bool:
    """Return True for a regular file that belongs to this user, and not for a link to one."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return False
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()


def _is_alive(pid: int | None) -> bool:
    """Return True for a process that lives, and where the process is not known."""
    if pid is None:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


async def _learn(services: Services, space: str, thread: str) -> ReverieError | None:
    """Extract memories from the lines that were not learnt from, if there are any; return why that failed."""
    try:
        stored = await read(services, space, partial(threads.get, thread_id=thread))
        if stored.last_seq > stored.extracted_seq:
            await learn(services, services.by(space, "follower"), thread)
    except BaseException as error:  # noqa: BLE001 - its file is still followed
        failure = failure_of(error)
        logger("reveried.follower").info("a session was not learnt from", code=failure.code)
        return failure
    return None
