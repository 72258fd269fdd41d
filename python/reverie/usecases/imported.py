"""Threads that imports and sessions made: their ids and titles, and the marks of those that a person deleted.

Such a thread could be made again from its file at any time. Its mark stays when it is deleted, so that it is not, until
a person asks for it. A mark has two hashes and a time, and nothing of the session: a purge leaves it too.
"""

from __future__ import annotations

import re
from typing import Final

from reverie import ids
from reverie.errors import Conflict
from reverie.lazy_regex import lazy_regex
from reverie.store import ImportRecord, Reader, SessionsCursor, Writer
from reverie.tagged_spans import without_tagged
from reverie.usecases import sessions

_CHARS_MAX: Final = 80  # two thirds of a wide terminal's line, beside a project and a time
_WORDS_MIN: Final = 3  # `yes`, `ok go on` and `hi` say nothing about a thread; `fix lint errors` does
_WIDE_CHARS_MIN: Final = 5  # letters of a script without spaces that say as much as three words
_PASTED_LINES: Final = (
    8  # a message with a heading and so many lines is a pasted plan: its heading says what it is about
)

_COMMAND = lazy_regex(r"<command-name>\s*(/[^<\s]+)\s*</command-name>")
_COMMAND_ARGUMENTS = lazy_regex(r"<command-args>([^<]+)</command-args>")
# What clients put into a person's message: reminders, outputs of local commands, names of opened files.
_CLIENT_TEXT = lazy_regex(
    r"<(system-reminder|local-command-\w+|bash-\w+|ide_\w+|task-notification|command-\w+)\b[^>]{0,500}>"
)
_INTERRUPTED = lazy_regex(r"\[Request interrupted by user[^\]]*\]")
_HEADING = lazy_regex(
    r"^#{1,3}\s+(?:(?:implementation )?plan\s*[:\u2013\u2014-]\s*)?(.+?)\s*#*\s*$", re.IGNORECASE | re.MULTILINE
)
# Of an answer such as "ok, do both please", which says nothing without the question before it.
_AGREEING: Final = lazy_regex(
    r"(?:(?:yes|yeah|yep|no|ok|okay|sure|fine|good|great|thanks|please|do|it|that|this|both|all|and|then|go|on|ahead"
    r"|continue|proceed)\b\W*)+",
    re.IGNORECASE,
)
_WIDE = lazy_regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def thread_id(client: str, session: str) -> str:
    """Return the id of the thread that a session of a client is imported into."""
    return ids.of_session("thr", client, session)


def import_id(client: str, session: str) -> str:
    """Return the id of the import of a client's session."""
    return ids.of_session("imp", client, session)


def leave_mark(writer: Writer, thread: str) -> None:
    """Mark the imports of a thread as forgotten, and remove the sessions that work in it; part of its deletion."""
    for key, record in list(writer.records(ImportRecord)):
        if record.thread == thread and record.forgotten is None:
            mark = ImportRecord(
                id=record.id, source=record.id, client="", session="", thread=thread, forgotten=writer.at
            )
            writer.save(mark, key)
    records = sessions.known(writer)
    left = [session for session in records if session.thread != thread]
    if len(left) < len(records):
        writer.save(SessionsCursor(sessions=left), SessionsCursor.KEY)


def is_forgotten(reader: Reader, client: str, session: str) -> bool:
    """Return True if a person deleted the thread of this session, and has not asked for it since."""
    record = reader.load(ImportRecord, (import_id(client, session),))
    return record is not None and record.forgotten is not None


def refusal() -> Conflict:
    """Return the Conflict for an import into a thread that a person deleted, marked by `forgotten` in its details."""
    return Conflict(
        "the thread of this session was deleted",
        hint="`reverie import PROGRAM PATH --again` brings it back",
        forgotten=True,
    )


def title_of(text: str) -> str | None:
    r"""Return a title of at most 80 characters for a thread with this message, None if the message says too little.

    Examples: "yes", "do both please" and "[Request interrupted by user]" are None; a pasted plan
    "Do this:\n\n# Plan: Rename it\n…" is "Rename it"; the command `/review` with the argument 158 is "/review 158".
    """
    command = _COMMAND.search(text)
    arguments = _COMMAND_ARGUMENTS.search(text)
    if command is not None and arguments is not None and arguments[1].strip():
        return _clipped(f"{command[1]} {arguments[1]}")
    said = _INTERRUPTED.sub("", without_tagged(text, _CLIENT_TEXT)).strip()
    heading = _HEADING.search(said)
    if heading is not None and said.count("\n") >= _PASTED_LINES:
        return _clipped(heading[1])
    says_enough = len(said.split()) >= _WORDS_MIN or len(_WIDE.findall(said)) >= _WIDE_CHARS_MIN
    return _clipped(said) if says_enough and _AGREEING.fullmatch(said) is None else None


def _clipped(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _CHARS_MAX else words[: _CHARS_MAX - 1].rsplit(" ", 1)[0] + "…"
