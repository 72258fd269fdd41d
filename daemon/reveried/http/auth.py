"""Authentication of a request by its token, or as the owner over the Unix socket; web pages are refused on TCP."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from reverie.errors import Forbidden, Unauthenticated
from reverie.usecases.spaces import DEFAULT_SPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})
_CREDENTIAL_HINT = "reverie token create makes a token, and reverie token list shows the valid ones."


class Caller(msgspec.Struct, frozen=True):
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
