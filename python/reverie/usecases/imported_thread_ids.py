"""Threads that imports and sessions made: their ids, and the marks of those that a person deleted.

Such a thread could be made again from its file at any time. Its mark stays when it is deleted, so that it is not, until
a person asks for it. A mark has two hashes and a time, and nothing of the session: a purge leaves it too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import ids
from reverie.errors import Conflict
from reverie.store import ImportRecord, SessionsCursor
from reverie.usecases import sessions

if TYPE_CHECKING:
    from reverie.store import Reader, Writer

__all__ = ["import_id", "is_forgotten", "leave_mark", "refusal", "thread_id"]


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
    known = sessions.known(writer)
    left = [session for session in known if session.thread != thread]
    if len(left) < len(known):
        writer.save(SessionsCursor(sessions=left), SessionsCursor.KEY)


def is_forgotten(reader: Reader, client: str, session: str) -> bool:
    """Return True if a person deleted the thread of this session, and has not asked for it since."""
    record = reader.load(ImportRecord, (import_id(client, session),))
    return record is not None and record.forgotten is not None


def refusal() -> Conflict:
    """Return the error of an import into a thread that a person deleted: the one with `details["forgotten"]`."""
    return Conflict(
        "the thread of this session was deleted",
        hint="`reverie import PROGRAM PATH --again` brings it back",
        forgotten=True,
    )
