"""Spaces and access tokens: create and list both, and revoke a token. Of a token only its SHA-256 is stored."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from reverie import wire
from reverie.decode import mapped
from reverie.errors import Conflict, NotFound, ValidationError
from reverie.store import Kind, Reader, SpaceRecord, TokenRecord, Writer
from reverie.usecases.by import OWN_AUTHORS, By, writes

DEFAULT_SPACE: Final = "default"
"""The space of callers without a token. It is always there, and has no record."""

_ID_PREFIX: Final = "tok_"
_ID_HASH_CHARS: Final = 16
"""Characters of the hash in a token's id. They say nothing of the token, and 64 bits name each of many millions."""

_AFTER_ALL: Final = "~"
"""Greater than every hexadecimal digit: `ab~` is a key behind all hashes that begin with `ab`."""


def space_names(reader: Reader) -> list[str]:
    """Return the names of all spaces in order; `reader` is of the system space."""
    return sorted({DEFAULT_SPACE, *(str(key[0]) for key in reader.keys(Kind.SPACE))})


@writes("space.create", answers=str)
def create_space(to: Writer, _: By, name: str) -> str:
    """Create a space and return its name. Raises Conflict if the name is taken."""
    if _exists(to, name):
        raise Conflict(f"there is a space {name} already", hint="reverie space list shows the spaces")
    to.save(SpaceRecord(created_at=to.at), (name,))
    return name


@writes("token.create", answers=wire.Token)
def create_token(to: Writer, _: By, token_sha256: str, *, space: str, agent: str | None) -> wire.Token:
    """Make a token valid, and return its listing, without the secret.

    Raises:
        NotFound: there is no such space.
        ValidationError: the agent's name is that of an author that is no agent, such as `owner`.
    """
    if agent is not None and agent.casefold() in OWN_AUTHORS:
        raise ValidationError(
            f"no agent can be called {agent}: that name is in the history for what is done by Reverie or its owner",
            hint="choose another name, such as the program's",
        )
    if not _exists(to, space):
        raise NotFound(f"there is no space {space}", hint=f"reverie space create {space}")
    record = TokenRecord(space=space, agent=agent, created_at=to.at)
    to.save(record, (token_sha256,))
    return _answer(token_sha256, record)


def tokens(reader: Reader, *, after: str | None = None) -> Iterator[wire.Token]:
    """Yield the valid tokens, without secrets, after the id `after`; `reader` is of the system space."""
    start = None if after is None else (after.removeprefix(_ID_PREFIX) + _AFTER_ALL,)
    return (_answer(str(key[0]), record) for key, record in reader.records(TokenRecord, after=start))


@writes("token.revoke")
def revoke_token(to: Writer, _: By, token_id: str) -> None:
    """Delete a token. Raises NotFound if no token has the id."""
    keys = [key for key in to.keys(Kind.TOKEN) if _id_of(str(key[0])) == token_id]
    if not keys:
        raise NotFound(f"there is no token {token_id}", hint="reverie token list shows the ids")
    for key in keys:
        to.delete(Kind.TOKEN, key)


def _exists(writer: Writer, name: str) -> bool:
    return name == DEFAULT_SPACE or writer.exists(Kind.SPACE, (name,))


def _answer(token_sha256: str, record: TokenRecord) -> wire.Token:
    return mapped(record, wire.Token, id=_id_of(token_sha256), created_at=record.created_at or None, token=wire.ABSENT)


def _id_of(token_sha256: str) -> str:
    return _ID_PREFIX + token_sha256[:_ID_HASH_CHARS]
