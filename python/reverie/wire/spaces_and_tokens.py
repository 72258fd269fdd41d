"""Spaces with their folders, and the access tokens that bind a caller to one of them."""

from typing import Annotated

from msgspec import Meta

from reverie.wire.base import Id, Reply, Request

__all__ = ["CreateSpace", "CreateToken", "Space", "SpaceName", "Token"]

SpaceName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[a-z0-9][a-z0-9_-]*(?!\n)$",
        description="A lower-case letter or digit, then such characters, `_` and `-`: also the name of its folder.",
    ),
]


class Space(Reply):
    """A space and the folder of its documents."""

    id: str
    root: str


class CreateSpace(Request):
    """`POST /v1/spaces`: the name of a new space. Its folder is beside that of the default space."""

    id: SpaceName


class Token(Reply):
    """An access token. `token` is the secret itself, only in the answer of the call that made it.

    `agent` is the author of what its holder writes; without one its holder is a person, who may purge too.
    """

    id: str
    space: str
    agent: str | None = None
    created_at: str | None = None
    token: str | None = None


class CreateToken(Request):
    """`POST /v1/tokens`: the space that the holder reads and writes, and the agent as which it writes."""

    space: SpaceName = "default"
    agent: Id | None = None
