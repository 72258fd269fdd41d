"""Sessions of agents' clients: which process works in which thread, and what it worked in before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reverie.store import SessionRecord, SessionsCursor
from reverie.usecases.by import By, writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, Writer

SESSIONS_MAX: Final = 200  # of a space; those that were heard of last


def known(reader: Reader) -> list[SessionRecord]:
    """Return the sessions of a space, the one that was reported last at the end."""
    return (reader.load(SessionsCursor, SessionsCursor.KEY) or SessionsCursor()).sessions


def find(sessions: Sequence[SessionRecord], client: str, session: str) -> SessionRecord | None:
    """Return the session of a client with this id, or None."""
    return next((record for record in sessions if (record.client, record.session) == (client, session)), None)


@writes("session.begin")
def begin(to: Writer, _: By, session: SessionRecord, *, cleared: bool = False) -> SessionRecord:
    """Record a session which begins or continues, and return it as stored.

    Another open session of the same process has ended: its client began this one in its place. Where the conversation
    was `cleared`, the client has ended that one already; else an ended one is of a process whose id was used again.
    """
    sessions, at = known(to), session.updated_at
    stored = find(sessions, session.client, session.session)
    others = [other for other in sessions if other is not stored]
    replaced = next(
        (
            other
            for other in reversed(others)
            if session.pid is not None and (other.client, other.pid) == (session.client, session.pid)
            if other.ended_at is None or (cleared and stored is None)
        ),
        None,
    )
    after = session
    if stored is not None:
        after = replace(
            session,
            started_at=stored.started_at,
            before=stored.before,
            project=session.project or stored.project,
            transcript=session.transcript or stored.transcript,
            pid=stored.pid if session.pid is None else session.pid,
        )
    if replaced is not None:
        after = replace(after, before=replaced.session)
        others = [replace(other, ended_at=other.ended_at or at) if other is replaced else other for other in others]
    to.save(SessionsCursor(sessions=[*others, after][-SESSIONS_MAX:]), SessionsCursor.KEY)
    return after


@writes("session.end")
def end(to: Writer, _: By, client: str, session: str) -> SessionRecord | None:
    """Record the end of a session, and return it, None for an unknown one."""
    sessions = known(to)
    stored = find(sessions, client, session)
    if stored is None or stored.ended_at is not None:
        return stored
    ended = replace(stored, ended_at=to.at, updated_at=to.at)
    changed = [ended if other is stored else other for other in sessions]
    to.save(SessionsCursor(sessions=changed), SessionsCursor.KEY)
    return ended
