"""Transport `spool`: requests are files in a folder, and answers are taken when they appear there.

For models that are asked by hand, at night or on another machine, and to see what would be sent. `requests/ID.json` has
the request; the answer goes into `answers/ID.json` as a program of transport `command` would print it. A request whose
answer was taken is removed, the answer stays. What was learnt from is remembered in the request file, so that an answer
that comes after hours, or after a restart, is learnt from when it appears. A dream and a distillation do not wait that
long: their requests are removed once an answer is there, and when they have not been asked again for a month.

An applied consolidation changes the memories that the others of its space were asked about. So one thread of a space at
a time has an open `consolidate` request; `waiting/` has a file for each thread whose turn is next.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from reverie.errors import ModelFailed, NotFound, ReverieError
from reverie.language_model.requests import ANSWER_BYTES_MAX
from reverie.language_model.tool_turn import FACTS_HEADING
from reverie.private_folder import make_private
from reveried.log import logger
from reveried.models.command import prompt_text, read_output
from reveried.models.transport import COMES_LATER, NOT_SENT
from reveried.supervise import failures_logged

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from reverie.language_model.requests import ModelAnswer, ModelRequest

LEARNT_FROM: ContextVar[tuple[str, str] | None] = ContextVar("learnt_from", default=None)
"""Space and thread that are being learnt from; they go into the request file, which is the transport's alone."""

POLL_S = 0.25
QUIET_S = 0.5  # an answer is read when its file has not changed for so long: it may be written in place
LEARNING_WAITS_S = 1.0  # of one call: imports wait for it; whenever the answer comes later, it is learnt from then
PICK_UP_S = 2.0  # between two looks for answers that nobody waits for
STALE_S = 30 * 86_400.0  # after a dream or a distillation has asked last; each time it asks, the file is written again
ENDINGS: Final = (".json", ".txt", ".md")


class SpoolTransport:
    """Transport that writes each request to a file, and waits for the file with its answer."""

    def __init__(self, folder: Path, *, models: Mapping[str, str]) -> None:
        """`models` are the names that requests carry by role."""
        self.folder = folder
        self._models = dict(models)
        self._taken: set[str] = set()

    async def answer(self, request: ModelRequest, deadline_s: float) -> ModelAnswer:
        """Write a request to the folder; return the answer found within `deadline_s` seconds. Raises ModelFailed."""
        model = self._models.get(request.role, "")
        if LEARNT_FROM.get() is not None:
            deadline_s = min(deadline_s, LEARNING_WAITS_S)
        try:
            if request.purpose == "consolidate" and await asyncio.to_thread(_waits_for_turn, self.folder, request.id):
                raise ModelFailed(
                    "The consolidation of another thread of this space is asked first.",
                    reason="timeout",
                    hint=f"It is asked when the open one in {self.folder / 'requests'} is answered.",
                    **{NOT_SENT: True, COMES_LATER: True},
                )
            await asyncio.to_thread(write_request, self.folder, request, model)
            async with asyncio.timeout(deadline_s):
                data = await self._wait(request.id)
        except TimeoutError:
            raise ModelFailed(
                "The answer is not there yet.",
                reason="timeout",
                hint=_hint(self.folder / "answers" / f"{request.id}.json"),
                **{NOT_SENT: True, COMES_LATER: LEARNT_FROM.get() is not None},
            ) from None
        except OSError as error:
            raise ModelFailed(
                f"{self.folder} cannot be used: {error.strerror}.",
                reason="unreachable",
                hint="Check distiller.spoolFolder and its permissions.",
                **{NOT_SENT: True},
            ) from error
        if len(data) > ANSWER_BYTES_MAX:
            raise ModelFailed(f"The answer has more than {ANSWER_BYTES_MAX:,} bytes.", reason="unparseable")
        (self.folder / "requests" / f"{request.id}.json").unlink(missing_ok=True)
        answer = await asyncio.to_thread(read_output, data, request, model or "spool")
        if request.id in self._taken:  # it was counted; an extraction is read again when its consolidation is there
            return msgspec.structs.replace(answer, input_tokens=0, output_tokens=0, cached_tokens=0)
        self._taken.add(request.id)
        return answer

    async def close(self) -> None:
        """Do nothing: the files stay."""

    async def _wait(self, request_id: str) -> bytes:
        """Wait until the answer to a request is in the folder, and return its bytes."""
        while True:
            path = await asyncio.to_thread(_answer_file, self.folder, request_id)
            if path is not None:
                return await asyncio.to_thread(_read, path)
            await asyncio.sleep(POLL_S)


def _hint(answer: Path) -> str:
    """Return the hint for a missing answer: the file to put it into, and whether to try again then."""
    if LEARNT_FROM.get() is not None:
        return f"It is learnt from when {answer} appears."
    return f"Put it into {answer}, and try again."


def write_request(folder: Path, request: ModelRequest, model: str = "") -> None:
    """Write a request, readable by the owner alone, as a whole or not at all. Raises OSError."""
    for name in ("requests", "answers"):
        make_private(folder / name)
    path = folder / "requests" / f"{request.id}.json"
    origin = LEARNT_FROM.get()
    content = {**msgspec.to_builtins(request), "model": model, "prompt": prompt_text(request)}
    if origin is not None:
        content["learntFrom"] = {"space": origin[0], "thread": origin[1]}
    _write_private(path, content)


def _write_private(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file that its owner alone can read, as a whole or not at all. Raises OSError."""
    partial = path.with_suffix(".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False, indent=1)
    partial.rename(path)


def answer_to(folder: Path, request: ModelRequest) -> ModelAnswer | None:
    """Return the answer that the folder has for a request, or None. Raises ModelFailed if it cannot be read."""
    path = _answer_file(folder, request.id)
    return None if path is None else read_output(_read(path), request, "spool")


async def learn_from_answers(folder: Path, learn: Callable[[str, str, bool], Awaitable[Any]]) -> None:
    """Call `learn(space, thread, reflects)` for each answer that has appeared in the folder; never returns.

    A thread that fails is tried again with the next answer to it: not at once, since it would fail again. An answer
    about memories that was not taken is to a question that has changed meanwhile, as they did: its request is removed.
    """
    failed: set[Path] = set()
    failed_turns: set[_Turn] = set()
    unreadable: set[Path] = set()
    while True:
        await asyncio.sleep(PICK_UP_S)
        with failures_logged("spool"):
            await asyncio.to_thread(remove_left_behind, folder, unreadable)
        for path, purpose, space, thread in await asyncio.to_thread(_answered, folder, unreadable):
            if path in failed:
                continue
            with failures_logged("spool", request=path.stem):
                try:
                    changes = await learn(space, thread, purpose == "reflect")
                    if purpose == "consolidate" and "over_ceiling" not in str(changes.fallback):
                        path.unlink(missing_ok=True)
                except NotFound:
                    path.unlink(missing_ok=True)  # the thread was deleted
                except ReverieError as error:
                    logger("reveried.models").warning("an answer in the spool was not learnt from", code=error.code)
            if path.exists():
                failed.add(path)
        for turn in await asyncio.to_thread(_next_turns, folder, failed_turns):
            failed_turns.add(turn)
            with failures_logged("spool", thread=turn.thread):
                try:
                    await learn(turn.space, turn.thread, False)  # noqa: FBT003 - as documented above: not a reflection
                except NotFound:
                    turn.path.unlink(missing_ok=True)  # the thread was deleted
                await asyncio.to_thread(turn.end)
                failed_turns.discard(turn)


class _Turn(NamedTuple):
    """A thread whose consolidation waits until no other of its space is open; `path` is its file, of `written_ns`."""

    path: Path
    written_ns: int
    space: str
    thread: str

    def end(self) -> None:
        """Remove the file, unless the thread has begun to wait again since it was read."""
        if self.path.exists() and self.path.stat().st_mtime_ns == self.written_ns:
            self.path.unlink()


def _waits_for_turn(folder: Path, request_id: str) -> bool:
    """Return True, and note that the thread waits, if another thread of its space has an open consolidation."""
    origin = LEARNT_FROM.get()
    if origin is None or _answer_file(folder, request_id) is not None:
        return False
    space, thread = origin
    if not any(at == space and by != thread for at, by in _open_consolidations(folder)):
        return False
    waiting = folder / "waiting"
    make_private(waiting)
    name = hashlib.blake2b(json.dumps(origin).encode(), digest_size=16).hexdigest()
    _write_private(waiting / f"{name}.json", {"space": space, "thread": thread})
    return True


def _next_turns(folder: Path, failed: Collection[_Turn]) -> list[_Turn]:
    """Return for each space without an open consolidation the thread that waits longest, without those that failed."""
    turns = sorted((turn for turn in _waiting(folder) if turn not in failed), key=lambda turn: turn.written_ns)
    if not turns:
        return []
    busy = {space for space, _ in _open_consolidations(folder)}
    first = {turn.space: turn for turn in reversed(turns) if turn.space not in busy}
    return list(first.values())


def _waiting(folder: Path) -> Iterator[_Turn]:
    """Yield the threads whose consolidation waits for its turn."""
    for path in (folder / "waiting").glob("*.json"):
        try:
            origin = json.loads(path.read_bytes())
            yield _Turn(path, path.stat().st_mtime_ns, str(origin["space"]), str(origin["thread"]))
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            continue  # it is gone meanwhile, or was edited: the thread is learnt from with its next message


def _open_consolidations(folder: Path) -> Iterable[tuple[str, str]]:
    """Return the space and thread of each consolidation that has no answer yet."""
    open_ones = []
    for path in (folder / "requests").glob("*.json"):
        try:
            origin = _consolidates(path, path.stat().st_mtime_ns)
        except OSError:
            continue  # it was answered and taken meanwhile
        if origin is not None and _answer_file(folder, path.stem) is None:
            open_ones.append(origin)
    return open_ones


@lru_cache(maxsize=4096)
def _consolidates(path: Path, _written_ns: int) -> tuple[str, str] | None:
    """Return the space and thread that a request consolidates, or None for any other request. Raises OSError."""
    try:
        request = json.loads(path.read_bytes())
        origin = request["learntFrom"]
        return (str(origin["space"]), str(origin["thread"])) if request["purpose"] == "consolidate" else None
    except (ValueError, RecursionError, TypeError, KeyError):
        return None


def remove_left_behind(folder: Path, unreadable: Collection[Path] = ()) -> None:
    """Remove requests that nothing learns from later and that have an answer, or were not sent for a month.

    The answers stay: who asks the same again has its answer at once. Files in `unreadable` are not looked at.
    """
    for path in (folder / "requests").glob("*.json"):
        try:
            is_old = time.time() - path.stat().st_mtime > STALE_S
            if path in unreadable or not (is_old or _answer_file(folder, path.stem) is not None):
                continue
            request = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue  # it was taken meanwhile; or it is damaged, which is logged where answers are looked for
        if isinstance(request, dict) and "purpose" in request and "learntFrom" not in request:
            path.unlink(missing_ok=True)


def remove_files_with(folder: Path, holds: Callable[[str], bool], *, space: str, thread: str | None) -> int:
    """Remove the requests and answers that have words of a purge, or learn from its thread; return how many files.

    `holds` says of a text whether it has such words. Of a request its messages are looked at, and the facts of a
    reflection: the instructions are the same in all. Raises OSError for a file that cannot be read or removed.
    """
    doomed = {path.stem for path in (folder / "requests").glob("*") if _request_has(path, holds, space, thread)}
    files = [path for name in ("requests", "answers") for path in (folder / name).glob("*") if path.is_file()]
    gone = 0
    for path in files:
        is_answer = path.parent.name == "answers"
        if path.stem in doomed or (is_answer and holds(path.read_text("utf-8", "replace"))):
            path.unlink(missing_ok=True)
            gone += 1
    for turn in _waiting(folder):
        if (turn.space, turn.thread) == (space, thread):
            turn.path.unlink(missing_ok=True)
    return gone


def _request_has(path: Path, holds: Callable[[str], bool], space: str, thread: str | None) -> bool:
    """Return True if a request learns from a thread, or has words of a purge; all of a damaged file is looked at."""
    text = path.read_text("utf-8", "replace")
    try:
        content = json.loads(text)
        # The instructions of a reflection end with facts, and its messages have calls and results beside the text.
        facts = content["system"].partition(FACTS_HEADING)[2] if content.get("tools") else ""
        said = "\n".join([facts, *_texts(content["messages"])])
    except (ValueError, RecursionError, TypeError, KeyError):
        return holds(text)
    origin = content.get("learntFrom")
    return holds(said) or (thread is not None and origin == {"space": space, "thread": thread})


def _texts(value: Any) -> Iterator[str]:
    """Yield every text inside a JSON value."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in value.values():
                yield from _texts(item)
        case _:
            pass


def _answered(folder: Path, unreadable: set[Path]) -> list[tuple[Path, str, str, str]]:
    """Return the requests with an answer: file, purpose, and the space and thread that learn from the answer.

    A file that is no JSON, or nested too deeply to be read, is left out, logged once, and added to `unreadable`.
    """
    answers = []
    for path in sorted((folder / "requests").glob("*.json")):
        try:
            if _answer_file(folder, path.stem) is None:
                continue
            request = json.loads(path.read_bytes())
            origin = request.get("learntFrom")
            answers.append((path, str(request.get("purpose")), str(origin["space"]), str(origin["thread"])))
        except (ValueError, RecursionError) as error:
            if path not in unreadable:
                unreadable.add(path)
                logger("reveried.models").warning(
                    "a request in the spool cannot be read", request=path.stem, kind=type(error).__name__
                )
        except (OSError, TypeError, KeyError, AttributeError):
            continue  # it is gone meanwhile, was edited, or belongs to a distillation, which does not wait
    return answers


def _answer_file(folder: Path, request_id: str) -> Path | None:
    """Return the file with the answer to a request, or None where there is none, or one that is still being written."""
    for ending in ENDINGS:
        path = folder / "answers" / f"{request_id}{ending}"
        if path.is_file():
            # A time in the future is that of another machine's clock: the file was copied as a whole.
            return path if not -QUIET_S < time.time() - path.stat().st_mtime < QUIET_S else None
    return None


def _read(path: Path) -> bytes:
    """Return the bytes of an answer's file, at most one more than the limit, so that a longer one is noticed."""
    with path.open("rb") as file:
        return file.read(ANSWER_BYTES_MAX + 1)
