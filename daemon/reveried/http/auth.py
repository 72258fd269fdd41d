"""Binds a request to a space and an agent: by its token, or by being the owner on the Unix socket."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.errors import Forbidden, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["DEFAULT_SPACE", "Caller", "caller_of", "token_hash"]

DEFAULT_SPACE = "default"
LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as the credential says."""

    space: str
    agent: str | None


def token_hash(token: str) -> str:
    """What the store keeps of a token: hex of its SHA-256 (a token is 256 random bits, so no salt is needed)."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def caller_of(
    headers: Mapping[str, str],
    server: tuple[str, int | None] | None,
    callers: Callable[[str], Caller | None],
) -> Caller:
    """The caller of one request. `server` is the address it came in by; a Unix socket has no port.

    `callers` knows whose a token is, by its hash.

    Raises:
        Unauthenticated: an unknown token, or none where one is needed.
        Forbidden: a web page asks, or a name that is not this machine's was used to reach it.
    """
    over_tcp = server is not None and server[1] is not None
    if over_tcp:
        _refuse_browsers(headers)
    credential = headers.get("authorization")
    if credential is None:
        if over_tcp:
            raise Unauthenticated("A token is needed on TCP.", hint="reverie token create --space S --agent A")
        return Caller(DEFAULT_SPACE, None)
    scheme, _, token = credential.partition(" ")
    caller = callers(token_hash(token.strip())) if scheme.lower() == "bearer" and token.strip() else None
    if caller is None:
        raise Unauthenticated("The token is not known.", hint="reverie token list shows those that are.")
    return caller


def _refuse_browsers(headers: Mapping[str, str]) -> None:
    """Keeps web pages out of the loopback port, also those that point a name of theirs at it (DNS rebinding)."""
    host = headers.get("host", "")
    name = host.rpartition(":")[0] if not host.endswith("]") and ":" in host else host
    if "origin" in headers or name.lower() not in LOOPBACK_NAMES:
        raise Forbidden("Only programs of this machine may ask here.", hint="Use http://127.0.0.1 and send no Origin.")
