"""The operations on spaces and access tokens, as functions that build their calls; `calls` has all operations."""

from __future__ import annotations

from reverie import wire
from reverie.client.protocol import Call, discard, get, request, target

__all__ = ["create_space", "create_token", "revoke_token", "spaces", "tokens"]


def spaces(*, after: str | None = None, limit: int = wire.LIMIT_DEFAULT) -> Call[wire.Page[wire.Space]]:
    """Return the spaces and the folders of their documents; with a token only its own space."""
    return get(wire.Page[wire.Space], "spaces", after=after, limit=limit)


def create_space(name: str, *, key: str | None = None) -> Call[wire.Space]:
    """Create a space; only for the owner, who has no token."""
    return request("POST", target("spaces"), wire.Space, wire.CreateSpace(id=name), key=key)


def tokens(*, after: str | None = None, limit: int = wire.LIMIT_DEFAULT) -> Call[wire.Page[wire.Token]]:
    """Return the valid access tokens without their secrets; only for the owner."""
    return get(wire.Page[wire.Token], "tokens", after=after, limit=limit)


def create_token(space: str = "default", *, agent: str | None = None) -> Call[wire.Token]:
    """Create an access token for a space; its secret is `token` of this answer and nowhere else."""
    return request("POST", target("tokens"), wire.Token, wire.CreateToken(space=space, agent=agent))


def revoke_token(token_id: str) -> Call[None]:
    """Revoke an access token at once."""
    return Call("DELETE", target("tokens", token_id), discard)
