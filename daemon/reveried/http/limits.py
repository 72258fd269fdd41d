"""Every limit of the wire, each with its unit in its name: nothing that comes in is without one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]

KIB = 1024
MIB = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """What one connection, and all of them together, may take of the daemon."""

    header_bytes: int = 32 * KIB  # request line and headers together, trailers included
    body_bytes: int = 32 * MIB
    bodies_bytes: int = 256 * MIB  # bodies of all connections held at one moment
    connections: int = 512
    pipelined: int = 1024  # requests that wait behind another on one connection
    header_s: float = 5.0  # from a request's first byte to the end of its head
    body_s: float = 10.0  # within which a body must move on by `progress_bytes`, or be complete
    progress_bytes: int = 16 * KIB
    idle_s: float = 60.0  # a connection on which nothing is asked
    write_s: float = 30.0  # a client that takes nothing of its answer
