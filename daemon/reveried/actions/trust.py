"""Files of the space's folder that agents wrote by tools of their own: their memories have an agent's trust.

A save does not say who made it, so it counts as a person's. The agent's thread does: a call of a file tool with a path
in the folder, and the words, or a shell command that names a file of the folder and has the words. What came into the
store by a save at that time or later, in these words, is the agent's. So is all that a file's next save brought where a
shell command may have written the file with words that it does not have: `cat a.md >> facts/b.md`. Where the command
names a place of the folder instead of a file (`git -C ROOT pull`), or runs there, it is all that was saved meanwhile. A
client records a call before it runs the tool, so the calls without a result are looked at again with what the thread
records next.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from reverie.lazy_regex import lazy_regex
from reverie.store import DocumentRecord, Kind, MemoriesCursor, MemoryRecord, OperationRecord, Write
from reverie.usecases.forgotten_saves import WHY, move_to_review
from reverie.usecases.forgotten_writes import forgotten_again
from reverie.usecases.origins import casefolded
from reverie.usecases.sync import WHY as SAVED
from reveried.actions.shell_files import paths_with_unknown_words, spellings
from reveried.clock import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reverie.store import Writer
    from reveried.services import Services

UNDATED = timedelta(minutes=10)  # before now: when a call without a time may have been made
CLOCKS = timedelta(seconds=2)  # by which the client's clock may be ahead of ours
_WORDS_OF_EDITS = ("content", "new_string", "new_str", "insert_text", "file_text", "new_source")
_FILE = lazy_regex(r"[\w./~@+-]+\.md\b")
_PATHS = ("file_path", "path", "notebook_path")
_OPEN_MAX = 20  # calls of a thread without a result: a client runs a few at a time
_OPERATIONS_MAX = 5_000  # that are looked at for saves while a command ran
COARSE = timedelta(milliseconds=10)  # by which the time that the kernel gives a file may be too early: one tick
_WORKING_FOLDERS = ("workdir", "cwd")  # of a call, as Codex names it
_THREADS_MAX = 64  # with such calls; those of the thread that wrote first are left out


@dataclass(frozen=True, slots=True)
class _Edit:
    """Words that a call wrote to a path of the folder; `at` is the call's time as its message has it.

    The words are None where a shell command wrote others than its own: the output of a program, another file. A path
    with a slash at its end is a place, of which the command may have written any file.
    """

    call: str
    path: str
    words: str | None
    at: str | None


class OpenCalls:
    """Writing calls of threads that have no result yet, by space and author; in memory alone."""

    def __init__(self) -> None:
        self._edits: dict[tuple[str, str], list[_Edit]] = {}

    def has(self, space: str, who: str) -> bool:
        """Return True if writing calls of this author are still without a result."""
        return (space, who) in self._edits

    def join(self, space: str, who: str, edits: Iterable[_Edit], answered: set[str]) -> list[_Edit]:
        """Return the edits with the earlier ones whose calls had no result; keep those that are not `answered`."""
        every = list(dict.fromkeys([*self._edits.pop((space, who), ()), *edits]))
        waiting = [edit for edit in every if edit.call and edit.call not in answered]
        if waiting:
            self._edits[space, who] = waiting[-_OPEN_MAX:]
            if len(self._edits) > _THREADS_MAX:
                self._edits.pop(next(iter(self._edits)))
        return every


async def attribute_lines(services: Services, space: str, data: bytes, *, who: str) -> None:
    """Give memories that tool calls in these lines of a transcript wrote into the folder an agent's trust."""
    roots = _roots(services, space)
    hints = {orjson.dumps(name)[1:-1] for name in _named(roots) | _named_above(roots)}
    if not services.open_calls.has(space, who) and not any(hint in data for hint in hints):
        return
    messages = []
    folder: Any = ""
    for line in data.splitlines():
        try:
            entry = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(entry, dict):
            message = entry.get("message")
            content = message.get("content") if isinstance(message, dict) else _codex_content(entry.get("payload"))
            payload = entry.get("payload")
            folder = entry.get("cwd") or (payload.get("cwd") if isinstance(payload, dict) else None) or folder
            messages.append((content, entry.get("timestamp"), folder if isinstance(folder, str) else ""))
    await _attribute(services, space, messages, roots, who=who)


def _codex_content(payload: Any) -> list[dict[str, Any]] | None:
    """Return a call of Codex, or its output, as a block of a message; None for any other payload."""
    kind = payload.get("type") if isinstance(payload, dict) else None
    if kind in {"function_call_output", "custom_tool_call_output"}:
        return [{"type": "tool_result", "tool_use_id": payload.get("call_id")}]
    if kind == "custom_tool_call":  # a patch
        return [{"type": "tool_use", "id": payload.get("call_id"), "input": {"command": payload.get("input")}}]
    if kind != "function_call":
        return None
    try:
        given = orjson.loads(payload.get("arguments") or "null")
    except (orjson.JSONDecodeError, TypeError):
        return None
    if isinstance(given, dict) and "cmd" in given:
        given["command"] = given["cmd"]
    return [{"type": "tool_use", "id": payload.get("call_id"), "input": given}]


async def attribute_messages(
    services: Services, space: str, messages: Iterable[tuple[Any, str | None]], *, who: str
) -> None:
    """Give memories that tool calls in these messages (content and time) wrote into the folder an agent's trust."""
    placed = [(content, at, "") for content, at in messages]
    await _attribute(services, space, placed, _roots(services, space), who=who)


def _roots(services: Services, space: str) -> set[str]:
    root = str(services.sync_service.root_of(space))
    return {root, os.path.realpath(root)}


def _named(roots: Iterable[str]) -> set[str]:
    return {spelling for root in roots for spelling in spellings(root)}


def _named_above(roots: Iterable[str]) -> set[str]:
    """Return the spellings of the folders above the roots, for patterns such as `~/Reverie/*/facts`."""
    above = {str(Path(root).parent) for root in roots} - {"/", str(Path.home())}
    return {f"{name}/" for name in _named(above)}


def _blocks(messages: Iterable[tuple[Any, Any, str]]) -> Iterator[tuple[dict[str, Any], Any, str]]:
    """Yield each content block with its message's time and the folder in which the client runs its tools."""
    for content, at, folder in messages:
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                yield block, at, folder


def _edits(block: Mapping[str, Any], at: Any, folder: str, roots: set[str]) -> Iterator[_Edit]:
    """Yield what a tool call writes into the folder; `folder` is where the client runs its tools."""
    given = block.get("input") if block.get("type") == "tool_use" else None
    if not isinstance(given, dict):
        return
    call, at = str(block.get("id") or ""), at if isinstance(at, str) else None
    command = _command(given)
    folder = next((given[name] for name in _WORKING_FOLDERS if isinstance(given.get(name), str)), folder)
    is_inside = any(folder == root or folder.startswith(root + "/") for root in roots)
    if command and (is_inside or any(name in command for name in _named(roots) | _named_above(roots))):
        yield from (_Edit(call, relative, casefolded(command), at) for relative in _files(command, roots))
        yield from (_Edit(call, path, None, at) for path in paths_with_unknown_words(command, roots, folder))
    path = next((given[name] for name in _PATHS if isinstance(given.get(name), str)), "")
    root = next((root for root in roots if path.startswith(root + "/")), None)
    if root is not None and ".." not in path:
        relative = str(Path(os.path.normpath(path)).relative_to(root))
        yield from (_Edit(call, relative, casefolded(text), at) for text in _texts(given))


def _command(given: Mapping[str, Any]) -> str:
    """Return the shell command of a call; empty for another call."""
    command = given.get("command")
    if isinstance(command, list):
        command = " ".join(part for part in command if isinstance(part, str))
    return command if isinstance(command, str) else ""


def _files(command: str, roots: set[str]) -> Iterator[str]:
    """Yield each file of the folder that a shell command names: its words are what it may write there."""
    for name in dict.fromkeys(_FILE.findall(command)):
        path = next((name[len(root) + 1 :] for root in _named(roots) if name.startswith(root + "/")), name)
        if not path.startswith("/") and ".." not in path:
            yield os.path.normpath(path)


def _texts(given: Mapping[str, Any]) -> Iterator[str]:
    edits = given.get("edits")
    for edit in (given, *(edits if isinstance(edits, list) else ())):
        if isinstance(edit, dict):
            yield from (edit[name] for name in _WORDS_OF_EDITS if isinstance(edit.get(name), str))


async def _attribute(
    services: Services, space: str, messages: Iterable[tuple[Any, Any, str]], roots: set[str], *, who: str
) -> None:
    """Commit the saves of these files, then give their memories in the agent's words an agent's trust.

    Those that say what a person forgot are removed again and wait in review, as those that an agent writes by a call.
    """
    blocks = list(_blocks(messages))
    new = [edit for block, at, folder in blocks for edit in _edits(block, at, folder, roots)]
    results = {str(block.get("tool_use_id")): at for block, at, _ in blocks if block.get("type") == "tool_result"}
    edits = services.open_calls.join(space, who, new, set(results))
    if not edits:
        return
    spans = [span for edit in edits if edit.path.endswith("/") and (span := _span(edit, results)) is not None]
    if spans:
        await services.sync_service.read_saves(space, None)
    edits = [edit for edit in edits if not edit.path.endswith("/")]
    await services.sync_service.read_saves(space, {edit.path for edit in edits})
    times = await asyncio.to_thread(_change_times, services.sync_service.root_of(space)) if spans else {}
    now = datetime.fromisoformat(services.clock())
    written: dict[str, list[_Edit]] = {}
    for edit in edits:
        written.setdefault(edit.path, []).append(edit)

    def body(writer: Writer) -> None:
        changed = False
        forgotten = []
        meanwhile = _saves_during(writer, spans, times)
        for path in dict.fromkeys([*written, *meanwhile]):
            calls = written.get(path, [])
            document = writer.load(DocumentRecord, (path,))
            said = [(edit.words, _since(edit.at, now)) for edit in calls if edit.words is not None]
            saves = {
                operation
                for edit in calls
                if edit.words is None and (edit.at is not None or edit.call in results)
                for operation in _saves_of(writer, path, edit.at, results.get(edit.call), now)
            } | meanwhile.get(path, set())
            for name in [] if document is None else document.ids:
                memory = writer.load(MemoryRecord, (name,))
                if memory is None:
                    continue
                words, came_at = casefolded(memory.content), _came_at(writer, memory)
                has_said = any(came_at >= since and words in text for text, since in said)
                if not has_said and not (saves and _came_by(writer, memory) in saves):
                    continue
                own = replace(memory, trust="agent", provenance={**memory.provenance, "by": who})
                candidate = forgotten_again(writer, own)
                if candidate is not None:
                    forgotten.append((own, candidate))
                elif memory.trust == "person":
                    changed |= writer.save(own, (name,))
        move_to_review(writer, forgotten)
        if changed:
            writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)

    await services.submit(Write(space, who, WHY, body))


@dataclass(frozen=True, slots=True)
class _Span:
    """The time from a call to its result, and the place of which it may have written any file."""

    place: str
    since: str
    until: str


def _span(edit: _Edit, results: Mapping[str, Any]) -> _Span | None:
    """Return the time in which a command ran; None without its own time or that of its result.

    The clocks agree: a client that runs a command in the folder is on the same machine.
    """
    try:
        since, until = datetime.fromisoformat(edit.at or ""), datetime.fromisoformat(results[edit.call])
        return _Span(edit.path.removeprefix("./"), text_of(since - COARSE), text_of(until))
    except (KeyError, TypeError, ValueError):
        return None


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


def _saves_during(writer: Writer, spans: list[_Span], times: Mapping[str, str]) -> dict[str, set[int]]:
    """Return the operations of the saves that were made while these commands ran, by path.

    A save is read a moment later, maybe after the command's end. So one that was stored after the end counts too, if
    the file is as it was at the end: of several the newest.
    """
    seqs: dict[str, set[int]] = {}
    seen: set[str] = set()
    if not spans:
        return seqs
    since = min(span.since for span in spans)
    for _, operation in writer.records(OperationRecord, reverse=True, limit=_OPERATIONS_MAX):
        if operation.at < since:
            break
        if operation.why != SAVED:
            continue
        for path in [str(change.key[0]) for change in operation.changes if change.kind is Kind.DOCUMENT]:
            at = operation.at if path in seen else min(operation.at, times.get(path, operation.at))
            seen.add(path)
            if any(path.startswith(span.place) and span.since <= at <= span.until for span in spans):
                seqs.setdefault(path, set()).add(operation.seq)
    return seqs


def _came_at(writer: Writer, memory: MemoryRecord) -> str:
    """Return when the words of a memory came into the store: if it was deleted, when they came back."""
    versions = writer.record_versions(MemoryRecord, (memory.id,))
    back = next((newer.at for newer, older in pairwise(versions) if older.value is None), "")
    return max(memory.updated_at, back)


def _saves_of(writer: Writer, path: str, at: str | None, answered_at: Any, now: datetime) -> list[int]:
    """Return the operations of the saves that a command made `at` may have caused: those up to its result.

    Without one among them it is the first one after, since a save may be read late. Of a command without a time it is
    the last one: the others of these minutes may be the person's.
    """
    since = _since(at, now)
    saves = []  # the newest first
    for version in writer.record_versions(DocumentRecord, (path,)):
        if version.at < since:
            break
        operation = writer.load(OperationRecord, (version.operation,))
        if operation is not None and operation.why == SAVED:
            saves.append(version)
    if at is None:
        return [version.operation for version in saves[:1]]
    try:
        until = text_of(datetime.fromisoformat(answered_at) + CLOCKS)
    except (TypeError, ValueError):
        until = ""
    meanwhile = [version.operation for version in saves if version.at <= until]
    return meanwhile or [version.operation for version in saves[-1:]]


def _came_by(writer: Writer, memory: MemoryRecord) -> int:
    """Return the operation by which the words of a memory came into the store."""
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
