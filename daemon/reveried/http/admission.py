"""Who may connect, and how much all connections together may hold: decided before a byte is parsed."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie.errors import Busy
from reveried.log import logger
from reveried.platform import peer_of

if TYPE_CHECKING:
    from reveried.http.limits import Limits

__all__ = ["Gate"]

ROOT_UID = 0


@dataclass(slots=True)
class Gate:
    """Shared by all connections of one daemon.

    The rule: the daemon's own uid may connect, and root, which could read its files anyway and is logged; every other
    uid is refused. TCP has no peer uid: its callers need a token.
    """

    limits: Limits
    own_uid: int = field(default_factory=os.getuid)
    held_bytes: int = 0
    open_connections: int = 0
    accepted: int = 0
    refused: dict[str, int] = field(default_factory=dict)

    def admits(self, connection: socket.socket) -> bool:
        """Whether the peer's uid may talk to us. Anything but a Unix socket passes: it is checked by its token."""
        if connection.family != socket.AF_UNIX:
            return True
        peer = peer_of(connection)
        log = logger("reveried.gate")
        if peer.uid not in (self.own_uid, ROOT_UID):
            self.count("peer_uid")
            log.warning("connection refused: another user", uid=peer.uid, pid=peer.pid)
            return False
        if peer.uid != self.own_uid:
            log.info("connection of root accepted by rule", pid=peer.pid)
        return True

    def count(self, why: str) -> None:
        """Adds one to the connections refused for this reason."""
        self.refused[why] = self.refused.get(why, 0) + 1

    def hold(self, size: int) -> None:
        """Takes room for `size` bytes of a body.

        Raises:
            Busy: the bodies being received fill what the daemon gives to them.
        """
        if self.held_bytes + size > self.limits.bodies_bytes:
            raise Busy("Too many large requests at once.", hint="Try again in a moment.", retryAfter=1, reason="bodies")
        self.held_bytes += size

    def release(self, size: int) -> None:
        """Gives back what `hold` took."""
        self.held_bytes -= size
