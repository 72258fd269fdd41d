"""Transcript lines of every client: a line of JSON to an entry, by the format that the line itself shows, and back.

Nothing is thrown away: a line that cannot be read becomes a `bad` entry with its text in `raw` and the reason in
`extra["problem"]`. A line is read without the others, so a file can be read from any line on; what a client says once,
as the folder, stands on an earlier one.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from reverie.errors import ValidationError
from reverie.git import normalized_remote
from reverie.importers import claude_code, codex, pi
from reverie.importers.lines import LINE_BYTES_MAX, Problem, Unreadable, load, text_of
from reverie.models import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


class Format(Protocol):
    """What the module of a format has.

    Of an entry, `content` are blocks of the Messages API; the result of a failed call has `is_error`, and text that the
    client wrote, not the person, makes an entry of kind META: else it is learnt as the person's word.
    """

    def is_line(self, line: dict[str, Any]) -> bool:
        """Return True for a line of the format, and for the `extra` of an entry that was made of one."""
        ...

    def entry_of(self, value: dict[str, Any], number: int) -> tuple[Entry, Problem | None]:
        """Return the entry of a line and a problem to report or None; `extra` keeps what `is_line` looks at.

        Modifies `value`. `number` is the line's, from 1. Raises Unreadable.
        """
        ...

    def json_object_of(self, entry: Entry) -> dict[str, Any]:
        """Return the JSON object that an entry was made of."""
        ...


FORMATS: Final[Mapping[str, Format]] = {"codex": codex, "pi": pi, "claude-code": claude_code}
"""The importer module of each program's format, in the order in which they are asked; the most lenient is last."""

_FOLDER_NAME: Final = b'"cwd"'
_FOLDER: Final = re.compile(rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")')  # noqa: TID251 - bytes
_REQUEST_TOKENS_MAX = 1_000_000_000  # a larger number is a mistake, as in `window`


def read_line(line: bytes, number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of one line, also of an unreadable one, and a problem to report or None; never raises.

    `number` is the line's number, from 1.
    """
    if len(line) > LINE_BYTES_MAX:
        return bad_entry(line, number, f"longer than {LINE_BYTES_MAX} bytes")
    try:
        value, mended = load(line)
        entry, problem = _format_of(value).entry_of(value, number)
    except Unreadable as why:
        return bad_entry(line, number, str(why))
    return entry, Problem(number, mended) if mended else problem


def bad_entry(line: bytes, number: int, why: str) -> tuple[Entry, Problem]:
    """Return an entry for an unreadable line (its text in `raw`, the reason in `extra`), and the problem."""
    raw, encoding = text_of(line)
    extra = {"problem": why} if encoding is None else {"problem": why, "encoding": encoding}
    return Entry(kind=EntryKind.BAD, extra=extra, raw=raw, line=number), Problem(number, why)


def json_object_of(entry: Entry) -> dict[str, Any]:
    """Return the JSON object an entry was read from; ValidationError for a `bad` entry."""
    if entry.kind is EntryKind.BAD:
        raise ValidationError(
            f"line {entry.line} could not be read and has no JSON", hint="use its raw text", line=entry.line
        )
    return _format_of(entry.extra).json_object_of(entry)


def folder_of(extra: dict[str, Any]) -> str | None:
    """Return the folder in which the client was when it wrote a line, from the `extra` of its entry; or None.

    Claude Code names it on every line, pi on the first one, Codex in the payload of a session and of each turn.
    """
    match extra:
        case {"cwd": str(folder)} | {"payload": {"cwd": str(folder)}}:
            return folder
        case _:
            return None


def named_folders(data: bytes) -> set[str]:
    """Return the folders that whole lines name where `folder_of` looks, without parsing them; maybe some more."""
    found: set[bytes] = set()
    at = data.find(_FOLDER_NAME)
    while at >= 0:
        if (match := _FOLDER.match(data, at)) is not None:
            found.add(match[1])
        at = data.find(_FOLDER_NAME, at + len(_FOLDER_NAME))
    folders: set[str] = set()
    for text in found:
        with suppress(orjson.JSONDecodeError):
            folders.add(orjson.loads(text))
    return folders


def stated_remote(extra: dict[str, Any], folder: str | None) -> str:
    """Return the normalized remote that a client recorded of the session that began in `folder`; "" for other lines.

    Codex does in the first line. A forked session has the first line of the other one behind it, which may have been
    in another folder.
    """
    match extra:
        case {"type": "session_meta", "payload": {"git": {"repository_url": str(url)}, **payload}}:
            return normalized_remote(url) if payload.get("cwd") == folder else ""
        case _:
            return ""


def model_named_in(entry: Entry) -> str | None:
    """Return the model that a line names (a reply; of Codex the beginning of a turn), or None."""
    match entry.extra:
        case {"type": "turn_context", "payload": {"model": str(model)}}:
            return model
        case {"message": {"model": str(model)}} if entry.kind is EntryKind.SPEECH:
            return model
        case _:
            return None


def request_tokens_of(extra: dict[str, Any]) -> int:
    """Return the tokens of the last request and its reply, where a line of its own says so (Codex); else 0.

    Example: `{"type": "token_count", "info": {"last_token_usage": {"total_tokens": 54242}, …}}`. Its
    `total_token_usage` is the sum of all requests of the session.
    """
    match extra:
        case {
            "type": "event_msg",
            "payload": {"type": "token_count", "info": {"last_token_usage": {"total_tokens": tokens}}},
        } if type(tokens) is int and 0 < tokens <= _REQUEST_TOKENS_MAX:
            return tokens
        case _:
            return 0


def is_of_subagent(extra: dict[str, Any]) -> bool:
    """Return True for the first line of a session that another agent started (Codex); Claude Code's have a file name.

    Example: `{"type": "session_meta", "payload": {"source": {"subagent": {"thread_spawn": …}}}}`; a person's is "cli".
    """
    match extra:
        case {"type": "session_meta", "payload": {"source": {"subagent": _}}}:
            return True
        case _:
            return False


def program_of(lines: Iterable[bytes]) -> str | None:
    """Return the program (of `FORMATS`) that wrote a session, by the first of its lines that shows it, or None."""
    for line in lines:
        try:
            value, _ = load(line)
        except Unreadable:
            continue
        if (program := _program_of_line(value)) is not None:
            return program
    return None


def is_understood(entry: Entry) -> bool:
    """Return True for an entry of a session, be it data; other programs' JSON becomes entries of no known form too.

    Example: `{"type": "summary", "leafUuid": …}` is one, `{"type": "entity", "name": …}` is none.
    """
    if entry.role is not None:
        return True
    return _program_of_line(entry.extra if entry.id is None else {**entry.extra, "uuid": entry.id}) is not None


def is_record(line: bytes) -> bool:
    """Return True for a whole record of a known program; what is within one (`progress` has a message) is none."""
    try:
        value, _ = load(line)
    except Unreadable:
        return False
    program = _program_of_line(value)
    return "sessionId" in value if program == "claude-code" else program is not None


def _program_of_line(line: dict[str, Any]) -> str | None:
    return next((program for program, module in FORMATS.items() if module.is_line(line)), None)


def _format_of(line: dict[str, Any]) -> Format:
    """Return the importer module of a line's format; the fields that an entry keeps of its line suffice.

    A line of no known form, such as `{"role": "user", "content": "hello"}`, is read as Claude Code's.
    """
    return FORMATS[_program_of_line(line) or "claude-code"]


FORK_HEAD_BYTES: Final = 1 << 18  # of a transcript; Codex's first line has all of its instructions
_LINES: Final = 50


def parents(head: bytes, session: str) -> tuple[str, ...]:
    """Return the other sessions that the first lines of a session's transcript name, each once.

    Claude Code copies the lines, with the id that they had (`sessionId`) or with `forkedFrom: {sessionId}`; Codex puts
    the other's `session_meta` behind its own, which may have `forked_from_id`.
    """
    found: dict[str, None] = {}
    for line in head.split(b"\n")[:_LINES]:
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue  # the end of the head is in the middle of a line
        if isinstance(value, dict):
            found.update(dict.fromkeys(_ids(value)))
    found.pop(session, None)
    return tuple(found)


def _ids(line: dict[str, Any]) -> Iterator[str]:
    places: Iterable[tuple[object, tuple[str, ...]]] = [
        (line, ("sessionId",)),
        (line.get("forkedFrom"), ("sessionId",)),
        (line.get("payload") if line.get("type") == "session_meta" else None, ("id", "forked_from_id")),
    ]
    for place, keys in places:
        if isinstance(place, dict):
            yield from (name for key in keys if isinstance(name := place.get(key), str))
