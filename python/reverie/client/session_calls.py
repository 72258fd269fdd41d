"""The operations on sessions of agents' clients, their hooks and privacy, as functions that build their calls."""

from __future__ import annotations

from reverie import wire
from reverie.client.protocol import Call, discard, get, request, target

__all__ = [
    "change_privacy",
    "compact_conversation",
    "end_session",
    "prepare_compaction",
    "privacy",
    "sessions",
    "start_session",
]


def start_session(body: wire.StartSession) -> Call[wire.Session]:
    """Record a session that begins or continues; the daemon imports its transcript as it grows."""
    return request("POST", target("sessions"), wire.Session, body)


def end_session(client: str, session: str) -> Call[wire.Session]:
    """Record the end of a session."""
    return request("POST", target("sessions", client, session, "end"), wire.Session)


def sessions(
    *,
    client: wire.AgentClient | None = None,
    pid: int | None = None,
    open: bool | None = None,  # noqa: A002 - the parameter's name on the wire
    limit: int = wire.LIMIT_DEFAULT,
    after: str | None = None,
) -> Call[wire.Page[wire.Session]]:
    """Return one page of the sessions, the one that was heard of last first; of one client or process."""
    return get(wire.Page[wire.Session], "sessions", client=client, pid=pid, open=open or None, limit=limit, after=after)


def compact_conversation(body: wire.CompactConversation) -> Call[wire.Compaction]:
    """Return the text that takes the place of a client's conversation; nothing is stored."""
    return request("POST", target("compactions"), wire.Compaction, body)


def prepare_compaction() -> Call[None]:
    """Make the daemon ready for a compaction that may follow within a minute."""
    return Call("POST", target("compactions", "prepare"), discard)


def privacy() -> Call[wire.Privacy]:
    """Return the privacy settings."""
    return get(wire.Privacy, "privacy")


def change_privacy(body: wire.ChangePrivacy) -> Call[wire.Privacy]:
    """Pause the recording of sessions or go on, ignore a folder or no longer."""
    return request("PATCH", target("privacy"), wire.Privacy, body)
