"""Arguments and results of route handlers: `Call`, `Reply` and `Stream`, independent of the transport."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import orjson

from reverie import wire
from reverie.canonical_json import check_json
from reverie.errors import Forbidden, ValidationError
from reverie.lazy_regex import lazy_regex
from reverie.usecases.by import By

if TYPE_CHECKING:
    from reverie.models import Json
    from reveried.services import Services

PATH_PARAMETER = lazy_regex(r"\{(\w+)(:path)?\}")  # in the path of an endpoint: name, and `:path` or nothing
KEY_BYTES_MAX = 255

T = TypeVar("T")


class Reply(msgspec.Struct, frozen=True):
    """One response. `json` is anything orjson or msgspec can encode; `body` (bytes) is sent instead where it is set.

    `sent` is called once the response was handed to the transport, or dropped because the peer has left.
    """

    json: Any = None
    status: int = 200
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    body: bytes | None = None
    media: str = "application/json"
    sent: Callable[[], None] | None = None

    def encoded(self) -> bytes:
        """Return the body as bytes; empty for 204."""
        if self.body is not None:
            return self.body
        if self.status == 204:
            return b""
        return orjson.dumps(self.json, default=msgspec.to_builtins)


class Stream(msgspec.Struct, frozen=True):
    """A response of unknown length: each item is sent when it is produced (server-sent events).

    `ended` is called once when the stream is over, even if no item was ever requested.
    """

    items: AsyncGenerator[bytes, None]
    ended: Callable[[], None]
    media: str = "text/event-stream"
    headers: Mapping[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request. `space` and `agent` come from the credential, never from the body."""

    method: str
    path: str
    space: str
    agent: str | None  # None for a person
    params: Mapping[str, str]
    query: Any  # the route's wire struct of query parameters
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    services: Services
    token: str | None = None  # the hash of the caller's token, None for the owner of the daemon

    @property
    def is_owner(self) -> bool:
        """Return True for the owner of the daemon, who needs no token and alone manages spaces and tokens."""
        return self.token is None

    def is_revoked(self) -> bool:
        """Return True if the caller's token was revoked since the request began."""
        return self.token is not None and self.services.callers(self.token) is None

    @property
    def who(self) -> str:
        """Return the author to record in operations: the agent, or `owner`."""
        return self.agent if self.agent is not None else "owner"

    def agent_of(self, named: str | None) -> str | None:
        """Return the agent that new records belong to: the token's, else the one that the request names.

        Raises:
            Forbidden: the request names another agent than the token's.
        """
        if self.agent is not None and named not in (None, self.agent):
            raise Forbidden("the token belongs to another agent", hint="leave `agent` out: the token names the agent")
        return self.agent or named

    def json(self) -> Json:
        """Decode the body as JSON. No body is `{}`; an empty body with a Content-Type is refused.

        Raises:
            ValidationError: with `details.reason` of `reverie.canonical_json.check_json`.
        """
        if not self.body and "content-type" not in self.headers:
            return {}
        check_json(self.body)
        try:
            return orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            raise ValidationError(
                f"The body is not JSON that can be served: {error.msg}.",
                hint="Send one JSON value as UTF-8.",
                reason="malformed",
                offset=error.pos,
            ) from error

    def into(self, kind: type[T]) -> T:
        """Decode the body as `kind`, a wire struct.

        Raises:
            ValidationError: naming the field that does not fit.
        """
        return wire.parse(kind, self.json())

    def query_as(self, kind: type[T]) -> T:
        """Return the parsed query parameters. Raises TypeError if they are not of the route's query type `kind`."""
        if not isinstance(self.query, kind):
            raise TypeError(f"the query of {self.path} is no {kind.__name__}")
        return self.query

    @property
    def by(self) -> By:
        """Return whose writes this request makes; a POST with an `Idempotency-Key` makes them once."""
        key = self.idempotency if self.method == "POST" else None
        return By(self.space, self.who, new_id=self.services.new_id, key=key)

    @property
    def idempotency(self) -> tuple[str, str] | None:
        """Return the `Idempotency-Key` and the hash of method, path, body and an agent's name; None without the header.

        Two agents that count their steps have the same keys: then the second one is refused, and not given the answer
        of the first.

        Raises:
            ValidationError: the key is empty, too long or not printable ASCII.
        """
        key = self.headers.get("idempotency-key")
        if key is None:
            return None
        if not key or len(key) > KEY_BYTES_MAX or not key.isascii() or not key.isprintable():
            raise ValidationError(
                f"`Idempotency-Key` must be 1 to {KEY_BYTES_MAX} printable ASCII characters.",
                hint="A random UUID is a good key.",
            )
        parts = [self.method.encode(), self.path.encode(), self.body]
        if self.agent is not None:
            parts.append(self.agent.encode())
        return key, hashlib.sha256(b"\x00".join(parts)).hexdigest()
