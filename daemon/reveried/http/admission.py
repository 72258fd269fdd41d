"""Admission of connections and callers: limits, the peer's uid, the memory of request bodies, and tokens.

The uid and the number of connections are checked before a byte is parsed, the size of a body before it is received,
and the token once the head of a request is known.
"""

from __future__ import annotations

import hashlib
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie.errors import Busy, Forbidden, TooLarge, Unauthenticated, ValidationError
from reverie.usecases.spaces_and_tokens import DEFAULT_SPACE
from reveried.linux import peer_of
from reveried.log import logger

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Admission", "Caller", "Limits", "caller_of", "malformed", "token_hash"]

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
ROOT_UID = 0
KIB = 1024
MIB = 1024 * KIB
_CREDENTIAL_HINT = "reverie token create makes a token, and reverie token list shows the valid ones."


@dataclass(frozen=True, slots=True)
class Limits:
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


@dataclass(slots=True)
class Admission:
    """Admission control and its counters, shared by all connections of one daemon.

    The rule for a Unix socket: the daemon's own uid may connect, and root, which could read its files anyway and is
    logged; every other uid is refused. TCP has no peer uid: its callers need a token.
    """

    limits: Limits
    own_uid: int = field(default_factory=os.getuid)
    reserved_bytes: int = 0  # for the bodies of all requests that are not answered yet
    open_connections: int = 0
    accepted: int = 0
    refused: dict[str, int] = field(default_factory=dict)  # by reason

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
        """Reserve `size` bytes of memory for a request body.

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


@dataclass(frozen=True, slots=True)
class Caller:
    """Identity of a caller, from its credential.

    `agent` is None for a person. `token` is the hash of its token, None for the owner of the daemon.
    """

    space: str
    agent: str | None
    token: str | None = None


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token in hex, as the store keeps it (a token is 256 random bits, so it needs no salt)."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def caller_of(
    headers: Mapping[str, str],
    *,
    over_tcp: bool,
    callers: Callable[[str], Caller | None],
    local_pages: bool = False,
) -> Caller:
    """Authenticate one request by its token, or as the owner if it came over the Unix socket without one.

    `callers` returns the caller of a token by the token's hash, or None. `local_pages`: a page of this machine may
    send it, as it may a message of the Model Context Protocol.

    Raises:
        Unauthenticated: an unknown token, or none on TCP.
        Forbidden: a web page sent the request, or it named a host that is not this machine.
    """
    if over_tcp:
        _refuse_browsers(headers, local_pages=local_pages)
    credential = headers.get("authorization")
    if credential is None:
        if over_tcp:
            raise Unauthenticated("A token is needed on TCP.", hint=_CREDENTIAL_HINT)
        return Caller(DEFAULT_SPACE, None)
    scheme, _, token = credential.partition(" ")
    caller = callers(token_hash(token.strip())) if scheme.lower() == "bearer" and token.strip() else None
    if caller is None:
        raise Unauthenticated("The token is not known.", hint=_CREDENTIAL_HINT)
    return caller


def _refuse_browsers(headers: Mapping[str, str], *, local_pages: bool) -> None:
    """Refuse requests of web pages on the loopback port, including DNS rebinding (a foreign name that resolves to it).

    A browser sends `Origin` with every request that a page makes across origins, and the page's own host name as
    `Host`; a local program sends neither.
    """
    origin = headers.get("origin")
    from_page = origin is not None and not (local_pages and _is_local(origin.rpartition("//")[2]))
    if from_page or not _is_local(headers.get("host", "")):
        raise Forbidden("Only programs of this machine may ask here.", hint="Use http://127.0.0.1 and send no Origin.")


def _is_local(host: str) -> bool:
    """Return True if a host, with or without a port, is this machine by its name."""
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    return name.lower() in LOOPBACK_NAMES


def malformed(message: str) -> ValidationError:
    """Return the error for bytes that are not a request this daemon serves."""
    return ValidationError(message, hint="Send HTTP/1.1 with JSON; see /v1/openapi.json.", reason="protocol")


def _late(message: str) -> ValidationError:
    return ValidationError(message, hint="Send the request in one go.", reason="deadline")
