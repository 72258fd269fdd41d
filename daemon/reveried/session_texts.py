"""Texts for agents' sessions, made before a hook asks for them: a hook waits for a fraction of a second at most.

A thread has three parts, each within what a client takes from one hook: its state, its summary, its excerpts. They are
made when its client is about to compact it, when its session ends, some seconds after a turn, and at the daemon's start
for the threads that were used last.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from reverie import wire
from reverie.errors import Busy, ReverieError
from reverie.store import Kind, ThreadRecord
from reverie.usecases import projects
from reverie.usecases.follow import Kept
from reveried.actions import contexts
from reveried.actions.projects import thread_project
from reveried.execute import read
from reveried.log import logger
from reveried.start_texts import StartTexts

if TYPE_CHECKING:
    from reverie.store import Reader
    from reveried.services import Services

PARTS: Final = ("state", "summary", "excerpts")
CHARS_MAX: Final = 9_500  # of one hook: above 10,000 Claude Code shows the first 2,000, Codex the two ends
_HEAD_CHARS: Final = {"state": 2_000, "summary": 300, "excerpts": 300}  # for what is put around a part
_TIERS: Final = {
    "state": "digest,workingState,notes,recall",
    "summary": "summary",
    "excerpts": "excerpts,tail",
}
_GOES_ON: Final = "The summary goes on:\n"
_CACHED_MAX: Final = 64  # threads, of some 30 KB each
_AFTER_TURN_S: Final = 15.0  # agents that go on at once have their texts made later
_WARM_MAX: Final = 3  # threads at the daemon's start

ThreadKey = tuple[str, str]
Stamp = tuple[tuple[int, int], int]
"""The state of what was forgotten or given other words by a person, and a thread's last entry."""


class SessionTexts(Kept):
    """The texts that hooks print, by thread and part (state, summary, excerpts), and the tasks that make them.

    `starts` has the texts for new sessions, which are made with those of the threads of their project.
    """

    def __init__(self) -> None:
        self.starts = StartTexts()
        self._ready: OrderedDict[ThreadKey, tuple[Stamp, dict[str, str]]] = OrderedDict()
        self._making: dict[ThreadKey, asyncio.Task[dict[str, str]]] = {}  # those whose parts will be kept
        self._tasks: set[asyncio.Task[dict[str, str]]] = set()
        self._timers: dict[ThreadKey, asyncio.TimerHandle] = {}

    def current(
        self, services: Services, space: str, thread: str, *, may_have_grown: bool = False
    ) -> dict[str, str] | None:
        """Return the hook texts of a thread by part as made last; None where it grew or a memory was forgotten.

        It `may_have_grown` by what its client writes about a compaction for which they were made.
        """
        entry = self._ready.get((space, thread))
        if entry is None:
            return None
        (known, last_seq), parts = entry
        now = _stamp(services, (space, thread))
        return parts if known == now[0] and (may_have_grown or last_seq == now[1]) else None

    def make(self, services: Services, space: str, thread: str) -> asyncio.Task[dict[str, str]]:
        """Start making the hook texts of a thread and return the task, or the task that makes them already."""
        key = (space, thread)
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()
        task = self._making.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._make(services, key))
            self._making[key] = task
            self._tasks.add(task)
            task.add_done_callback(partial(self._end, key))
        return task

    def _end(self, key: ThreadKey, task: asyncio.Task[dict[str, str]]) -> None:
        """Drop a task that has ended, unless a newer task makes the texts of the same thread."""
        self._tasks.discard(task)
        if self._making.get(key) is task:
            del self._making[key]

    def make_all(self, services: Services, space: str, thread: str) -> tuple[asyncio.Task[Any], ...]:
        """Start making the hook texts of a thread, and the start text of its project."""
        project = thread_project(services, space, thread)
        starts = () if project is None else (self.starts.make(services, space, project),)
        return self.make(services, space, thread), *starts

    def make_later(self, services: Services, space: str, thread: str) -> None:
        """Make the hook texts of a thread and its project once no turn has ended for some seconds."""
        key = (space, thread)
        if (timer := self._timers.pop(key, None)) is not None:
            timer.cancel()
        loop = asyncio.get_running_loop()
        self._timers[key] = loop.call_later(_AFTER_TURN_S, self.make_all, services, space, thread)

    def make_start_soon(self, services: Services, space: str, thread: str) -> None:
        """Have the start text of a thread's project made in some seconds: the thread was imported."""
        project = thread_project(services, space, thread)
        if project is not None:
            self.starts.make_soon(services, space, project)

    def remove(self, space: str, thread: str) -> None:
        """Remove the hook texts of a deleted thread, also those that are being made."""
        self.starts.forget(space)
        self._ready.pop((space, thread), None)
        self._making.pop((space, thread), None)
        if (timer := self._timers.pop((space, thread), None)) is not None:
            timer.cancel()

    def forget(self, space: str) -> None:
        """Remove the hook texts of all threads of a space after a purge, also those that are being made."""
        for parts in (self._ready, self._making):
            for key in [key for key in parts if key[0] == space]:
                del parts[key]

    async def _make(self, services: Services, key: ThreadKey) -> dict[str, str]:
        """Make the hook texts of a thread, return them by part, and cache them if whole, unless removed meanwhile."""
        stamp = _stamp(services, key)
        parts = await self._made(services, key)
        if self._making.get(key) is asyncio.current_task() and len(parts) == len(PARTS):
            self._ready[key] = stamp, parts
            self._ready.move_to_end(key)
            if len(self._ready) > _CACHED_MAX:
                self._ready.popitem(last=False)
        return parts

    async def _made(self, services: Services, key: ThreadKey) -> dict[str, str]:
        """Return the texts of all parts of a thread by name, without those for which there is no room to compute now.

        A part that cannot be made at all is an empty text.
        A summary by a model is whole: what one part has no room for stands before the excerpts.
        """
        parts: dict[str, str] = {}
        rest = ""
        for part in PARTS:
            room = CHARS_MAX - _HEAD_CHARS[part]
            begin, rest = rest, ""
            try:
                asked = wire.ContextQuery(format="text", tiers=_TIERS[part], max_chars=room - len(begin))
                written = 2 * room - len(_GOES_ON) if part == "summary" else None
                text = await contexts.context_text(services, *key, asked, written_max_chars=written)
            except ReverieError as error:
                logger("reveried.session_texts").info("a text was not made", part=part, code=error.code)
                if isinstance(error, Busy):
                    continue
                text = ""
            if len(text) > room:
                cut = text.rfind("\n", 0, room)
                text, rest = text[:cut], _GOES_ON + text[cut + 1 :] + "\n\n"
            parts[part] = begin + text
        return parts

    async def close(self) -> None:
        """Cancel the timers and tasks that make texts, and wait for the tasks to end."""
        await self.starts.close()
        for timer in self._timers.values():
            timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _stamp(services: Services, key: ThreadKey) -> Stamp:
    space, name = key
    with services.store.reader(space) as reader:
        thread = reader.load(ThreadRecord, (name,))
        forgotten = reader.collection_state(Kind.FORGOTTEN)
    return forgotten, 0 if thread is None else thread.last_seq


def size(text: str, *, in_bytes: bool) -> int:
    """Return the size of a text as a client counts it: bytes of UTF-8, or UTF-16 code units."""
    return len(text.encode("utf-8", "replace")) if in_bytes else len(text.encode("utf-16-le", "replace")) // 2


def fitted(text: str, *, in_bytes: bool) -> str:
    """Return a text cut to the most that one hook may print: CHARS_MAX bytes of UTF-8, or UTF-16 code units."""
    if size(text, in_bytes=in_bytes) <= CHARS_MAX:
        return text
    code, unit = ("utf-8", 1) if in_bytes else ("utf-16-le", 2)
    return text.encode(code, "replace")[: unit * CHARS_MAX].decode(code, "ignore")


async def warm(services: Services, spaces: list[str]) -> None:
    """Make the texts of the threads that were used last, one in each of a few projects, and of these projects."""

    def newest(reader: Reader) -> list[ThreadRecord]:
        by_project: dict[str, ThreadRecord] = {}
        for _, thread in reader.records(ThreadRecord):
            project = projects.of_thread(thread)
            if project is not None and thread.message_count and not thread.subagent:
                last = by_project.get(project)
                by_project[project] = thread if last is None or last.updated_at < thread.updated_at else last
        return sorted(by_project.values(), key=lambda thread: thread.updated_at)[-_WARM_MAX:]

    for space in spaces:
        for thread in reversed(await read(services, space, newest)):
            await asyncio.wait(services.made(SessionTexts).make_all(services, space, thread.id))
