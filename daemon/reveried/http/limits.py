"""Limits of connections and requests: how many, the peer's uid, the memory of request bodies, and deadlines.

The uid and the number of connections are checked before a byte is parsed, the size of a body before it is received.
"""

from __future__ import annotations

import os
import socket

import msgspec

from reverie.errors import Busy, TooLarge, ValidationError
from reveried.linux import peer_of
from reveried.log import logger

ROOT_UID = 0
KIB = 1024
MIB = 1024 * KIB


class Limits(msgspec.Struct, frozen=True):
    """Limits of one connection and of all connections together; each name carries its unit."""

    header_bytes: int = 32 * KIB  # request line and headers together, trailers included
    body_bytes: int = 32 * MIB
    bodies_bytes: int = 256 * MIB  # bodies of all connections in memory at one moment
    connections: int = 512
    pipelined: int = 1024  # requests that wait behind another on one connection
    header_s: float = 5.0  # from a request's first byte to the end of its head
    body_s: float = 10.0  # within which a body must advance by `progress_bytes`, or be complete
    progress_bytes: int = 16 * KIB
    idle_s: float = 60.0  # a connection without a request
    write_s: float = 30.0  # a client that reads nothing of its answer


class Admission(msgspec.Struct):
    """Admission control and its counters, shared by all connections of one daemon.

    The rule for a Unix socket: the daemon's own uid may connect, and root, which could read its files anyway and is
    logged; every other uid is refused. TCP has no peer uid: its callers need a token.
    """

    limits: Limits
    own_uid: int = msgspec.field(default_factory=os.getuid)
    reserved_bytes: int = 0  # for the bodies of all requests that are not answered yet
    open_connections: int = 0
    accepted: int = 0
    refused: dict[str, int] = msgspec.field(default_factory=dict)  # by reason

    def admits(self, connection: socket.socket) -> bool:
        """Return True if the peer's uid may connect; always True for TCP, which is authenticated by token instead."""
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

    def count(self, reason: str) -> None:
        """Increment the counter of refusals for `reason`."""
        self.refused[reason] = self.refused.get(reason, 0) + 1

    def reserve(self, size: int) -> None:
        """Reserve `size` bytes of memory for a request body; without so many left raise Busy at once.

        Raises:
            Busy: the bodies of all connections would exceed `limits.bodies_bytes`.
        """
        if self.reserved_bytes + size > self.limits.bodies_bytes:
            raise Busy("Too many large requests at once.", hint="Try again in a moment.", retryAfter=1, reason="bodies")
        self.reserved_bytes += size

    def release(self, size: int) -> None:
        """Return `size` bytes that `reserve` took."""
        self.reserved_bytes -= size

    # Refusals of the connection, each with its counter

    def too_many_connections(self) -> Busy:
        """Count a connection beyond the limit, and return the error for it."""
        self.count("connections")
        return Busy("Too many connections.", hint="Close idle connections, or try again.", retryAfter=1)

    def head_too_large(self) -> TooLarge:
        """Count a request head beyond `header_bytes`, and return the error for it."""
        self.count("header_bytes")
        limit = self.limits.header_bytes
        return TooLarge(
            f"The head of the request is larger than {limit} bytes.",
            hint="Put what is long into the body.",
            limit=limit,
        )

    def body_too_large(self) -> TooLarge:
        """Count a body beyond `body_bytes`, and return the error for it."""
        self.count("body_bytes")
        most = self.limits.body_bytes
        return TooLarge(f"The body is larger than {most} bytes.", hint="Send it in several requests.", limit=most)

    def head_late(self) -> ValidationError:
        """Count a head that was not complete within `header_s`, and return the error for it."""
        self.count("header_deadline")
        return _late(f"The head of the request was not complete within {self.limits.header_s:g} s.")

    def body_late(self) -> ValidationError:
        """Count a body without progress within `body_s`, and return the error for it."""
        self.count("body_deadline")
        return _late(f"The body stood still for {self.limits.body_s:g} s.")


def malformed(message: str) -> ValidationError:
    """Return the error for bytes that are not a request this daemon serves."""
    return ValidationError(message, hint="Send HTTP/1.1 with JSON; see /v1/openapi.json.", reason="protocol")


def _late(message: str) -> ValidationError:
    return ValidationError(message, hint="Send the request in one go.", reason="deadline")
