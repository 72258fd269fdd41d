"""Answer the hooks that agents' clients run: read the input of one hook, return the text that it prints.

A hook is never an error for its client and never waits long: what is not ready when a session starts is shown with the
very next prompt, or not at all; a compaction of which something was late is named there. What a hook prints enters a
prompt, so it is framed as remembered data.

A request says until when its answer is read. One that was answered later has done all that it does in the store, and
what it would have shown counts as not shown: this process may have been stopped while it waited in the socket.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson

from reverie import wire
from reverie.decode import from_json
from reverie.errors import NotFound, ReverieError, ValidationError
from reverie.importers import detect, find
from reverie.store import SessionRecord
from reverie.usecases import imported, sessions
from reverie.usecases.follow import Kept
from reveried.actions import projects
from reveried.actions.sessions import begin, end, real_folder
from reveried.compaction_hint import COMPACTION_HINT
from reveried.execute import read
from reveried.follower import Follower, is_own_file
from reveried.log import logger
from reveried.services import Services
from reveried.session_texts import CHARS_MAX, PARTS, SessionTexts, fitted, size
from reveried.start_texts import EMPTY, TOOLS, Start
from reveried.supervise import failures_logged

CLIENTS: Final = ("claude-code", "codex")
WAIT_S: Final = 0.22  # for what is being made; the hook's program gives up after 0.3 s
WAY_S: Final = 0.03  # from the end of that wait to the client
TWICE_S: Final = 60.0  # a client that compacts may start the session twice, as `resume` and as `compact`
SESSIONS_MAX: Final = 500
COMPACTIONS_MAX: Final = 20  # of a space, of which something was late
LATE_CHARS: Final = 300  # for the line that names one of them

_TITLES: Final = {"state": "working state and notes", "summary": "summary of earlier work", "excerpts": "excerpts"}


class HookInput(msgspec.Struct):
    """The fields of a hook's input that are read; clients send more."""

    session_id: str
    hook_event_name: str
    cwd: str | None = None
    transcript_path: str | None = None
    source: str | None = None
    prompt: str | None = None


@dataclass(slots=True)
class _Shown:
    """What a session was shown: parts (with their time), the text of its start; and parts that were late.

    `is_fork` where its transcript begins with another session's, `is_new` where neither that nor its source says so.
    `making` makes the texts for after a compaction, from its beginning until a turn has ended.
    """

    is_new: bool = False
    prompted: bool = False
    is_fork: bool = False
    start: asyncio.Task[Start] | None = None
    making: asyncio.Task[None] | None = None
    parts: dict[str, float] = field(default_factory=dict)
    missed: dict[str, asyncio.Task[str | None]] = field(default_factory=dict)


@dataclass(slots=True)
class _Late:
    """The hooks of a space that were answered too late, and by thread the compactions of which something was late."""

    count: int = 0
    last_at: str | None = None
    compactions: dict[str, wire.LateCompaction] = field(default_factory=dict)


class SessionMemory(Kept):
    """Everything that this process has shown to each session; the oldest sessions are forgotten."""

    def __init__(self) -> None:
        self._shown: OrderedDict[tuple[str, str], _Shown] = OrderedDict()
        self._late: dict[str, _Late] = {}
        self.clearings = 0
        self.tasks: set[asyncio.Task[Any]] = set()

    def of(self, space: str, thread: str) -> _Shown:
        """Return the record of what a session was shown, by its thread; a new one for a session not seen before."""
        shown = self._shown.setdefault((space, thread), _Shown())
        self._shown.move_to_end((space, thread))
        if len(self._shown) > SESSIONS_MAX:
            self._shown.popitem(last=False)
        return shown

    def forget(self, space: str) -> None:
        """Drop the texts that sessions of a space are still to be shown, after a purge; hooks under way show none."""
        self.clearings += 1
        for (of, _), shown in self._shown.items():
            if of == space:
                shown.start = None
                shown.missed.clear()

    def late_of(self, space: str) -> _Late:
        """Return the record of a space's late hooks since this process began."""
        return self._late.setdefault(space, _Late())

    def late(self, space: str) -> wire.LateHooks | None:
        """Return a space's late hooks and compactions for its status; None without any."""
        late = self.late_of(space)
        if not late.count and not late.compactions:
            return None
        return wire.LateHooks(count=late.count, last_at=late.last_at, compactions=list(late.compactions.values()))

    async def close(self) -> None:
        """Wait for the tasks that hooks have begun."""
        await asyncio.gather(*self.tasks, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class _Hook:
    """One call of a hook in a session: its input, the caller, and the time by which it must answer."""

    services: Services
    space: str
    client: str
    event: HookInput
    query: wire.HookQuery
    until: float  # of the loop's time
    agent: str | None = None  # of the caller's token
    if_read: list[Callable[[], None]] = field(default_factory=list)  # what holds once the answer was read,
    if_late: list[Callable[[], None]] = field(default_factory=list)  # or once it was not

    @property
    def thread(self) -> str:
        return imported.thread_id(self.client, self.event.session_id)

    @property
    def shown(self) -> _Shown:
        return self.memory.of(self.space, self.thread)

    @property
    def memory(self) -> SessionMemory:
        return self.services.made(SessionMemory)

    @property
    def texts(self) -> SessionTexts:
        return self.services.made(SessionTexts)

    @property
    def key(self) -> tuple[str, str, str]:
        return self.space, self.client, self.event.session_id


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook prints, and what is to be called once that was sent."""

    text: str
    sent: Callable[[], None]


async def run(
    services: Services, space: str, client: str, data: bytes, query: wire.HookQuery, *, agent: str | None = None
) -> HookAnswer:
    """Return what a hook prints, for the bytes of its input; `agent` is that of the caller's token.

    Raises:
        ValidationError: the input is no JSON object of a hook, or of an event that no hook is for.
    """
    try:
        event = from_json(data, HookInput)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValidationError(
            f"the input is not that of a hook: {error}", hint="send a hook's standard input"
        ) from None
    handler = _HANDLERS.get(event.hook_event_name)
    if handler is None:
        raise ValidationError(
            f"there is no hook for {event.hook_event_name[:80]!r}", hint=f"the events are {', '.join(_HANDLERS)}"
        )
    wait_s = WAIT_S if query.until is None else min(WAIT_S, _left_s(query.until) - WAY_S)
    until = asyncio.get_running_loop().time() + wait_s
    hook = _Hook(services, space, client, event, query, until=until, agent=agent)
    text = ""
    clearings = hook.memory.clearings
    with failures_logged("hooks", event_name=event.hook_event_name):
        try:
            text = "" if await _is_kept_out(hook) else await handler(hook)
        except ReverieError as error:
            logger("reveried.hooks").warning(
                "a hook has nothing to show", event_name=event.hook_event_name, code=error.code
            )
    if clearings != hook.memory.clearings:  # made before a purge, as what is still to be shown
        text = ""
        for step in hook.if_late:
            step()
        hook.if_late.clear()
        hook.if_read.clear()
        hook.shown.missed.clear()
    if text and event.hook_event_name != "PreCompact":
        shown = {"hookEventName": event.hook_event_name, "additionalContext": text}
        text = orjson.dumps({"hookSpecificOutput": shown}).decode()
    return HookAnswer(text, lambda: _sent(hook))


def _left_s(until: int) -> float:
    return until / 1000 - time.time()


def _sent(hook: _Hook) -> None:
    """Note whether the answer was read. It lay in the socket before its reader gave up if it is not late now."""
    is_late = hook.query.until is not None and _left_s(hook.query.until) < 0
    for step in hook.if_late if is_late else hook.if_read:
        step()
    if is_late:
        late = hook.memory.late_of(hook.space)
        late.count, late.last_at = late.count + 1, hook.services.clock()
        logger("reveried.hooks").warning("a hook was answered too late", event_name=hook.event.hook_event_name)


async def _is_kept_out(hook: _Hook) -> bool:
    """Return True in a pause or an ignored folder, where nothing is recorded. Raises ValidationError for a bad path."""
    settings = await read(hook.services, hook.space, sessions.privacy_of)
    folder = None if hook.event.cwd is None else real_folder(hook.event.cwd)
    return sessions.is_paused(settings.pauses) or sessions.is_ignored(folder, settings.ignored)


async def _session_start(hook: _Hook) -> str:
    """Begin the session, and return the part that this hook shows."""
    part, shown, now = hook.query.part, hook.shown, asyncio.get_running_loop().time()
    source = hook.event.source or "startup"
    if part == "state":
        if source in {"startup", "clear"} and shown.start is None:
            shown.start = await _start(hook)
        await _in_time(hook, _background(hook, _begin(hook)))
        await _look_for_parents(hook)
    if source in {"startup", "clear", "fork"}:
        shown.is_new = source != "fork" and not shown.is_fork
        # A fork has the conversation, and what was shown in it.
        return await _opening(hook, shown.start) if shown.is_new and shown.start and part == "state" else ""
    if now - shown.parts.get(part, -TWICE_S) < TWICE_S and part not in shown.missed:
        return ""
    if source == "compact" and shown.making is None:  # the hook of its beginning never came
        shown.making = _background(hook, _prepare(hook))
    if shown.making is None and part != "state":
        return ""  # the conversation itself comes back
    shown.parts[part] = now
    return await _now_or_next(hook, part, _background(hook, _part(hook, part)))


async def _now_or_next(hook: _Hook, part: str, task: asyncio.Task[str | None]) -> str:
    """Return the text of a part; where it takes too long, an empty text, and the next prompt's hook may show it."""
    shown, is_compacted = hook.shown, hook.shown.making is not None

    def missed() -> None:
        shown.missed[part] = task
        if is_compacted and _late_compaction(hook) is None:
            compactions = hook.memory.late_of(hook.space).compactions
            compactions.pop(hook.thread, None)
            compactions[hook.thread] = wire.LateCompaction(hook.client, hook.event.session_id, hook.services.clock())
            if len(compactions) > COMPACTIONS_MAX:
                del compactions[next(iter(compactions))]

    def read() -> None:
        shown.missed.pop(part, None)
        if not shown.missed:
            _name(hook)

    text: str | None = await _in_time(hook, task)
    if text is None:
        missed()
        return ""
    hook.if_late.append(missed)
    hook.if_read.append(read)
    return text


def _late_compaction(hook: _Hook) -> wire.LateCompaction | None:
    """Return the session's compaction of which something was late, until it is named."""
    compaction = hook.memory.late_of(hook.space).compactions.get(hook.thread)
    return None if compaction is None or compaction.named_at is not None else compaction


def _name(hook: _Hook) -> None:
    """Note that what was late of a compaction was shown, or the compaction named."""
    if (compaction := _late_compaction(hook)) is not None:
        named = msgspec.structs.replace(compaction, named_at=hook.services.clock())
        hook.memory.late_of(hook.space).compactions[hook.thread] = named


async def _start(hook: _Hook) -> asyncio.Task[Start]:
    """Return the task that makes the start text of the hook's project, at once where it is current."""
    starts, project = hook.texts.starts, await _project(hook)

    async def made() -> Start:
        if project is None:
            return EMPTY
        current = starts.current(hook.services, hook.space, project)
        start = current or await starts.make(hook.services, hook.space, project)
        if start.last and hook.texts.current(hook.services, hook.space, start.last.thread) is None:
            hook.texts.make(hook.services, hook.space, start.last.thread)  # for a first prompt that goes on with it
        return start

    return _background(hook, made())


async def _opening(hook: _Hook, task: asyncio.Task[Start]) -> str:
    """Return the text for a new session: as it is now, or where that takes too long, as it was made last."""
    await _in_time(hook, task)
    project = None if task.done() else await _project(hook)
    last = None if project is None else hook.texts.starts.ready(hook.space, project)

    async def text() -> str:
        return fitted((last or await task).text, in_bytes=hook.client == "codex")

    return await _now_or_next(hook, "state", _background(hook, text()))


async def _part(hook: _Hook, part: str) -> str | None:
    """Return a part of the session's own thread below its label, None where it could not be made now.

    After a compaction it is of all that was said before. The state also says what the agent can do.
    """
    services, space, making = hook.services, hook.space, hook.shown.making
    if making is not None:
        await making
    ready = hook.texts.current(services, space, hook.thread, may_have_grown=making is not None)
    text = (ready or await hook.texts.make(services, space, hook.thread)).get(part)
    if not text:
        return text
    lines = [f"# Reverie, part {PARTS.index(part) + 1} of {len(PARTS)}: {_TITLES[part]}"]
    lines += [TOOLS] if part == "state" else []
    return fitted("\n\n".join([*lines, "From this thread:", text]), in_bytes=hook.client == "codex")


async def _look_for_parents(hook: _Hook) -> None:
    """Find the sessions that this one was forked from: what they were shown, it has."""
    shown = hook.shown
    ids = await _in_time(hook, _background(hook, asyncio.to_thread(_parents, hook)))
    shown.is_fork = bool(ids)
    for session in ids or ():
        thread = imported.thread_id(hook.client, session)
        shown.start = shown.start or hook.memory.of(hook.space, thread).start


def _parents(hook: _Hook) -> tuple[str, ...]:
    """Return the sessions whose lines a session's transcript begins with; none where a token's agent names the file."""
    path = Path(hook.event.transcript_path or "")
    if hook.agent is not None or path.suffix != ".jsonl" or not is_own_file(path):
        return ()
    try:
        with find.open_transcript(path) as stream:
            return detect.parents(stream.read(detect.FORK_HEAD_BYTES), hook.event.session_id)
    except NotFound:
        return ()  # the client is still to write it


async def _begin(hook: _Hook) -> None:
    """Record in the store that the session begins or continues, and follow its transcript."""
    event, services = hook.event, hook.services
    sources = ("startup", "resume", "clear", "compact", "fork")
    request = wire.parse(
        wire.StartSession,
        {
            "client": hook.client,
            "session": event.session_id,
            "project": event.cwd or "/",
            "source": event.source if event.source in sources else "startup",
        }
        | ({} if event.transcript_path is None else {"transcript": event.transcript_path})
        | ({} if hook.query.pid is None else {"pid": hook.query.pid}),
    )
    await begin(services, hook.space, request, agent=hook.agent)


async def _prompt(hook: _Hook) -> str:
    """Return the text to add to a prompt; most get none.

    A part that was late comes now or never: later it would be about another moment. The first prompt of a new session
    gets the state of the last one where it says that it goes on with it.
    """
    await _ensure_begun(hook)
    shown, prompt = hook.shown, (hook.event.prompt or "").strip()
    texts = await _late(hook)
    if not shown.prompted:
        shown.prompted = True
        await _look_for_parents(hook)  # by now the client has written them
        if shown.is_new and not shown.is_fork:
            texts.append(await _last_state(hook, prompt))
    return _joined(texts, in_bytes=hook.client == "codex")


async def _late(hook: _Hook) -> list[str]:
    """Return the parts that were late; of a compaction behind a line that names it, and what is still missing of it."""
    shown, in_bytes = hook.shown, hook.client == "codex"
    missed, shown.missed, compaction = shown.missed, {}, _late_compaction(hook)
    hook.if_late.append(lambda: shown.missed.update(missed | shown.missed))
    texts = [(part, await _in_time(hook, missed[part])) for part in PARTS if part in missed]
    if compaction is None:
        return [text for _, text in texts if text]
    hook.if_read.append(lambda: _name(hook))
    lines = [f"Reverie was late when this conversation was compacted ({compaction.at[:16]}Z)."]
    rest: list[str] = []
    for part, text in texts:
        if text and sum(size(line, in_bytes=in_bytes) for line in (*lines, text)) <= CHARS_MAX - LATE_CHARS:
            lines.append(text)
        elif text != "":
            rest.append(_TITLES[part])
    if rest:
        lines[0] += f" `search` finds what is not shown: {', '.join(rest)}."
    return ["\n\n".join(lines)] if rest or len(lines) > 1 or not texts else []


def _joined(texts: Iterable[str | None], *, in_bytes: bool) -> str:
    """Return the texts, one below the other, without those for which the client has no room."""
    joined = ""
    for text in filter(None, texts):
        longer = f"{joined}\n\n{text}" if joined else text
        joined = longer if size(longer, in_bytes=in_bytes) <= CHARS_MAX else joined
    return joined


async def _last_state(hook: _Hook, prompt: str) -> str:
    """Return the state of the project's last session where the first prompt of a new one goes on with it."""
    start = await _told(hook)
    if start is None or start.last is None or not sessions.goes_on(prompt, start.last, start.brief):
        return ""
    services, space, last = hook.services, hook.space, start.last
    made = hook.texts.current(services, space, last.thread)
    parts = made or await _in_time(hook, hook.texts.make(services, space, last.thread))
    state = "" if parts is None else parts.get("state", "")
    head = f"# Reverie: where the last session of this project stopped ({last.agent}, {last.at[:16]}Z)"
    return f"{head}\n\n{state}" if state else ""


async def _told(hook: _Hook) -> Start | None:
    """Return what the session was told at its start; before this process began that was much as it is now."""
    if (task := hook.shown.start) is not None:
        start: Start | None = await _in_time(hook, task)
        return start
    project = await _project(hook)
    return None if project is None else hook.texts.starts.ready(hook.space, project)


async def _project(hook: _Hook) -> str | None:
    return await projects.known_project(hook.services, hook.space, hook.event.cwd or "/")


async def _stop(hook: _Hook) -> str:
    """Import the ended turn, and make the thread's texts later unless another turn follows; return an empty text."""
    hook.shown.making = None
    await _ensure_begun(hook)
    hook.texts.make_later(hook.services, hook.space, hook.thread)
    return ""


async def _pre_compact(hook: _Hook) -> str:
    """Precompute the texts for after the compaction; return a request for the content that the summary must keep."""
    hook.shown.parts.clear()
    hook.shown.making = _background(hook, _prepare(hook))
    await _in_time(hook, hook.shown.making)
    return COMPACTION_HINT if hook.client == "claude-code" else ""


async def _prepare(hook: _Hook) -> None:
    """Make the texts for after a compaction, in a session that may not have begun yet."""
    await _begin_unknown(hook)
    await _make_now(hook)


async def _make_now(hook: _Hook) -> None:
    """Import the new lines of the transcript, and make the texts of the thread; those of its project are begun."""
    await hook.services.made(Follower).catch_up(hook.services, hook.key)
    await asyncio.wait(hook.texts.make_all(hook.services, hook.space, hook.thread)[:1])


async def _post_compact(hook: _Hook) -> str:
    """Import the transcript, which stores the client's own summary of the compaction."""
    await _ensure_begun(hook)
    return ""


async def _session_end(hook: _Hook) -> str:
    """End the session, and make the texts for the next one of the project."""
    hook.shown.making = None
    # One that no hook was answered for has its file; without a process, whose next session may have begun already.
    if await _known(hook) is None:
        hook = replace(hook, query=msgspec.structs.replace(hook.query, pid=None))
    if await _known(hook) is not None or is_own_file(Path(hook.event.transcript_path or "")):
        _background(hook, _end(hook))
    return ""


async def _end(hook: _Hook) -> None:
    if await _known(hook) is None:
        await _begin(hook)
    await end(hook.services, hook.space, hook.client, hook.event.session_id)
    await _make_now(hook)
    hook.texts.make_later(hook.services, hook.space, hook.thread)  # with what was learnt from its end


async def _ensure_begun(hook: _Hook) -> None:
    """Begin a session that is not known or has ended, and have its transcript read."""
    await _in_time(hook, _background(hook, _begin_unknown(hook)))
    hook.services.made(Follower).poll(hook.key)


async def _begin_unknown(hook: _Hook) -> None:
    session = await _known(hook)
    is_followed = hook.event.transcript_path is None or hook.services.made(Follower).follows(hook.key)
    if session is None or session.ended_at is not None or not is_followed:
        await _begin(hook)


async def _known(hook: _Hook) -> SessionRecord | None:
    records = await read(hook.services, hook.space, sessions.known)
    return sessions.find(records, hook.client, hook.event.session_id)


def _background(hook: _Hook, work: Awaitable[Any]) -> asyncio.Task[Any]:
    """Return a task that outlives the hook; its failure is logged."""

    async def run() -> Any:
        try:
            return await work
        except ReverieError as error:
            logger("reveried.hooks").warning("a hook's work failed", code=error.code, why=error.message)
            return None

    task = asyncio.get_running_loop().create_task(run())
    tasks = hook.memory.tasks
    tasks.add(task)
    task.add_done_callback(tasks.discard)
    return task


async def _in_time(hook: _Hook, task: asyncio.Task[Any]) -> Any:
    """Return the result of a task, None if it takes longer than a hook waits."""
    await asyncio.wait((task,), timeout=max(0.0, hook.until - asyncio.get_running_loop().time()))
    return task.result() if task.done() else None


_HANDLERS: Final[dict[str, Callable[[_Hook], Awaitable[str]]]] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PreCompact": _pre_compact,
    "PostCompact": _post_compact,
    "SessionEnd": _session_end,
}
