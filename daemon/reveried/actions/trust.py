"""Files of the space's folder that agents wrote by tools of their own: their memories have an agent's trust.

A save does not say who made it, so it counts as a person's. The agent's thread shows its calls. What is saved in the
folder between a call of a tool that can write and its result is the agent's, if the call names the folder or runs
there; so is what is saved later in words that the call has. Nothing of a command is parsed: `cat a.md >> facts/b.md`
and `make -C ~/Reverie/default notes` are the same. The price is that a person's save in that very time counts as the
agent's. A client records a call before it runs the tool, so the calls without a result are looked at again with what
the thread records next.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from reverie.distill.tools import COMMAND_KEYS, FOLDER_KEYS, NEW_TEXT_KEYS, PATCH_KEYS, PATH_KEYS, SEVERAL_KEYS
from reverie.doubts import without_correction
from reverie.importers.chunks import plan_chunk
from reverie.importers.detect import folder_of
from reverie.lazy_regex import lazy_regex
from reverie.store import DocumentRecord, Kind, MemoriesCursor, MemoryRecord, OperationRecord, Writer
from reverie.usecases.by import By, writes
from reverie.usecases.forgotten import forgotten_again, learn_replaced, removed_by_agent
from reverie.usecases.origins import casefolded
from reverie.usecases.review import WHY_HELD, move_to_review
from reverie.usecases.sync import WHY as SAVED
from reveried.clock import text_of
from reveried.drive import write
from reveried.services import Services

UNDATED = timedelta(minutes=10)  # before now: when a call without a time may have been made
CLOCKS = timedelta(seconds=2)  # by which the client's clock may be ahead of ours
COARSE = timedelta(milliseconds=10)  # by which the time that the kernel gives a file may be too early: one tick
# Arguments of a tool that can write: a command, a script, a patch, or the new words of a file. Other tools (reading,
# searching, asking the person, starting another agent) have none of them.
_WRITTEN = (*COMMAND_KEYS, *NEW_TEXT_KEYS, *SEVERAL_KEYS, *PATCH_KEYS, "script", "chars", "insert_text", "new_source")
_FILE = lazy_regex(r"\w\.(?:md|txt)\b")
_OPEN_MAX = 20  # calls of a thread without a result: a client runs a few at a time
_THREADS_MAX = 64  # with such calls; those of the thread that wrote first are left out
_OPERATIONS_MAX = 5_000  # that are looked at for saves


class _Call(NamedTuple):
    """A call that may have written into the folder.

    `at` is the time that its message has, `words` its arguments; `path` is the file that one of these names.
    """

    id: str
    words: str
    at: str | None
    path: str = ""


class OpenCalls:
    """Writing calls of threads that have no result yet, by space and author; in memory alone."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], list[_Call]] = {}

    def has(self, space: str, who: str) -> bool:
        """Return True if writing calls of this author are still without a result."""
        return (space, who) in self._calls

    def join(self, space: str, who: str, calls: Iterable[_Call], results: dict[str, Any], *, now: str) -> list[_Call]:
        """Return the calls with the earlier ones that had no result; keep those that have none now.

        Of those that came alone the time is known where a message does not have it: `now` is that of a call which is
        kept, and that of its result.
        """
        earlier = self._calls.pop((space, who), [])
        results.update({call.id: now for call in earlier if not isinstance(results.get(call.id, now), str)})
        every = list(dict.fromkeys([*earlier, *calls]))
        waiting = [call if call.at else call._replace(at=now) for call in every if call.id and call.id not in results]
        if waiting:
            self._calls[space, who] = waiting[-_OPEN_MAX:]
            if len(self._calls) > _THREADS_MAX:
                self._calls.pop(next(iter(self._calls)))
        return every


async def attribute_lines(services: Services, space: str, data: bytes, *, who: str, folder: str | None) -> None:
    """Give memories that tool calls in these lines of a transcript wrote into the folder an agent's trust.

    `folder` is where the client was before them.
    """
    root = _root(services, space)
    hints = {orjson.dumps(name)[1:-1] for name in _names(root)}
    if not (
        services.made(OpenCalls).has(space, who)
        or _is_inside(folder or "", root)
        or any(hint in data for hint in hints)
    ):
        return
    messages = []
    for entry in plan_chunk(data, first_line=1, final=True, tokens=False).entries:
        folder = folder_of(entry.extra) or folder
        messages.append((entry.content, entry.at, folder or ""))
    await _attribute(services, space, messages, who=who)


async def attribute_messages(
    services: Services, space: str, messages: Iterable[tuple[Any, str | None]], *, who: str
) -> None:
    """Give memories that tool calls in these messages (content and time) wrote into the folder an agent's trust."""
    await _attribute(services, space, [(content, at, "") for content, at in messages], who=who)


def _root(services: Services, space: str) -> str:
    return str(services.sync_service.root_of(space))


def _names(root: str) -> set[str]:
    """Return how a call may name the folder, or the one above it (`~/Reverie/*/facts`), as a part of its arguments."""
    home = str(Path.home())
    names = set()
    for path in {root, os.path.realpath(root)}:
        above = os.path.dirname(path)  # noqa: PTH120 - a string in and out
        name = path if above in {"/", home} else f"{above}/"
        names.add(name)
        if name.startswith(f"{home}/"):
            names |= {f"{short}{name.removeprefix(home)}" for short in ("~", "$HOME", "${HOME}")}
    return names


def _is_inside(folder: str, root: str) -> bool:
    return any(f"{folder}/".startswith(f"{path}/") for path in (root, os.path.realpath(root)))


def _calls(messages: Iterable[tuple[Any, Any, str]], root: str) -> tuple[list[_Call], dict[str, Any]]:
    """Return the calls that may have written into the folder, and the time of each result by the id of its call.

    A message is its content, its time, and the folder in which the client runs its tools.
    """
    names = _names(root)
    calls, results = [], {}
    for content, at, cwd in messages:
        for block in content if isinstance(content, list) else ():
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_result":
                results[str(block.get("tool_use_id"))] = at
            given = block.get("input") if block.get("type") == "tool_use" else None
            if not isinstance(given, dict):
                continue
            words = "\n".join(text for name in _WRITTEN for text in _texts(given.get(name)))
            folder, path = (
                next((given[name] for name in keys if isinstance(given.get(name), str)), "")
                for keys in (FOLDER_KEYS, (*PATH_KEYS, "notebook_path"))
            )
            is_inside = _is_inside(os.path.join(cwd, folder), root)  # noqa: PTH118 - a string in and out
            if words and (is_inside or any(name in text for name in names for text in (words, path))):
                moment = at if isinstance(at, str) else None
                calls.append(_Call(str(block.get("id") or ""), casefolded(words), moment, casefolded(path)))
    return calls, results


def _texts(value: Any) -> Iterator[str]:
    """Yield the new texts in an argument: a text, the parts of a command as one, or those of a list of edits."""
    match value:
        case str():
            yield value
        case [str(), *_]:
            yield " ".join(part for part in value if isinstance(part, str))
        case list():
            for edit in value:
                if isinstance(edit, dict):
                    yield from (edit[name] for name in _WRITTEN if isinstance(edit.get(name), str))
        case _:
            return


async def _attribute(services: Services, space: str, messages: Iterable[tuple[Any, Any, str]], *, who: str) -> None:
    """Commit the saves of the folder, then give the memories of these calls an agent's trust.

    Those that say what a person forgot are removed again and wait in review, as those that an agent writes by a call.
    """
    root = _root(services, space)
    new, results = _calls(messages, root)
    calls = services.made(OpenCalls).join(space, who, new, results, now=services.clock())
    if not calls:
        return
    await services.sync_service.read_saves(space, None)
    now = datetime.fromisoformat(services.clock())
    said = [(call.words, _since(call.at, now)) for call in calls]
    spans = [(*span, f"{call.words}\n{call.path}") for call in calls if (span := _span(call, results)) is not None]
    times = await asyncio.to_thread(_change_times, Path(root)) if spans else {}
    await write(services, _give_to_agent, By(space, who), said, spans, times)


@writes(WHY_HELD)
def _give_to_agent(
    to: Writer, by: By, said: list[tuple[str, str]], spans: list[tuple[str, str, str]], times: Mapping[str, str]
) -> None:
    since = min([*(at for _, at in said), *(begin for begin, _, _ in spans)])
    changed = False
    forgotten = []
    saves = _saves(to, since, spans, times)
    # What is gone from a file while a call names others, a person may have deleted.
    removals = {
        (path, number) for path, meanwhile in saves.items() for number, is_named in meanwhile.items() if is_named
    }
    removed_by_agent(to, removals, by.who)
    for path, meanwhile in saves.items():
        document = to.load(DocumentRecord, (path,))
        for name in [] if document is None else document.ids:
            memory = to.load(MemoryRecord, (name,))
            if memory is None:
                continue
            words, came_at = casefolded(memory.content), _came_at(to, memory)
            has_said = any(came_at >= begin and words in text for text, begin in said)
            if not has_said and not (meanwhile and _came_by(to, memory) in meanwhile):
                continue
            provenance = without_correction(memory.provenance)
            given = replace(memory, trust="agent", provenance={**provenance, "by": by.who})
            if provenance != memory.provenance:
                learn_replaced(to, memory, since=since)
            candidate = forgotten_again(to, given, removals)
            if candidate is not None:
                forgotten.append((given, candidate))
            elif memory.trust == "person":
                changed |= to.save(given, (name,))
    move_to_review(to, forgotten)
    if changed:
        to.save(MemoriesCursor(operation=to.number), MemoriesCursor.KEY)


def _span(call: _Call, results: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the time from a call to its result; None where one of them is not known.

    The clocks agree: a client that runs a tool in the folder is on the same machine.
    """
    try:
        begin, end = datetime.fromisoformat(call.at or ""), datetime.fromisoformat(results[call.id])
        return text_of(begin - COARSE), text_of(end)
    except (KeyError, TypeError, ValueError):
        return None


def _may_mean(words: str, path: str) -> bool:
    """Return True if the words of a call name a file, several by a pattern, or none at all."""
    return os.path.basename(path).casefold() in words or "*" in words or _FILE.search(words) is None  # noqa: PTH119 - a string


def _saves(
    writer: Writer, since: str, spans: list[tuple[str, str, str]], times: Mapping[str, str]
) -> dict[str, dict[int, bool]]:
    """Return the files that were saved since then, each with the operations of those saves that fall into a span.

    With each is whether a call of that time may mean the file.
    A save is read a moment later, maybe after the result. So one that was stored after it counts too, if the file is
    as it was then (`times`): of several the newest.
    """
    saves: dict[str, dict[int, bool]] = {}
    for _, operation in writer.records(OperationRecord, reverse=True, limit=_OPERATIONS_MAX):
        if operation.at < since:
            break
        if operation.why != SAVED:
            continue
        for path in [str(change.key[0]) for change in operation.changes if change.kind is Kind.DOCUMENT]:
            at = operation.at if path in saves else min(operation.at, times.get(path, operation.at))
            meanwhile = saves.setdefault(path, {})
            calls = [words for begin, end, words in spans if begin <= at <= end]
            if calls:
                meanwhile[operation.seq] = any(_may_mean(words, path) for words in calls)
    return saves


def _change_times(root: Path) -> dict[str, str]:
    """Return when each file of the folder was last changed or moved there, by its relative path (`st_ctime`)."""
    times = {}
    for folder, _, names in os.walk(root):
        for name in names:
            if name.endswith((".md", ".txt")):
                path = Path(folder, name)
                try:
                    changed = datetime.fromtimestamp(path.lstat().st_ctime, UTC)
                except OSError:
                    continue
                times[path.relative_to(root).as_posix()] = text_of(changed)
    return times


def _came_at(writer: Writer, memory: MemoryRecord) -> str:
    """Return when the words of a memory came into the store: if it was deleted, when they came back."""
    versions = writer.record_versions(MemoryRecord, (memory.id,))
    back = next((newer.at for newer, older in pairwise(versions) if older.value is None), "")
    return max(memory.updated_at, back)


def _came_by(writer: Writer, memory: MemoryRecord) -> int:
    came = 0
    for version in writer.record_versions(MemoryRecord, (memory.id,)):
        if version.value is None or version.value.content != memory.content:
            break
        came = version.operation
    return came


def _since(at: Any, now: datetime) -> str:
    """Return the earliest time of a save that a call made `at` may have caused; clocks may differ a little."""
    try:
        moment = datetime.fromisoformat(at) - CLOCKS
        return text_of(moment)
    except (TypeError, ValueError):
        return text_of(now - UNDATED)
