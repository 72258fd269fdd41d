"""One call of the surface as a value, and what its answer means."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from reverie import wire
from reverie.client.framing import BadAnswer, request_bytes
from reverie.errors import ProtocolMismatch, from_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reverie.client.framing import Head
    from reverie.errors import ReverieError

__all__ = [
    "Call",
    "answer",
    "call_bytes",
    "check_protocol",
    "failure",
    "get",
    "ignore",
    "nothing",
    "reading",
    "send",
    "target",
]

T = TypeVar("T")
QueryValue = str | int | bool | None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and how its answer is read. `long` calls may take minutes: they wait for a job's end."""

    method: str
    target: str
    read: Callable[[bytes], T]
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    long: bool = False

    @property
    def is_repeatable(self) -> bool:
        """Whether sending it twice does no more than sending it once."""
        return self.method == "GET" or "Idempotency-Key" in self.headers


def target(*segments: str, **query: QueryValue) -> str:
    """A path from its segments (a `/` inside one stays, as in a document's path) and what of the query is not None."""
    path = "/v1/" + "/".join(quote(segment, safe="/:@+") for segment in segments)
    pairs = {name: _query(value) for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(pairs)}" if pairs else path


def reading(kind: type[T]) -> Callable[[bytes], T]:
    """A reader of one wire type."""

    def read(body: bytes) -> T:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise BadAnswer(
                f"the daemon's answer is not the expected {kind.__name__}: {error}",
                hint="the daemon may be of another version: run `reverie down`, then `reverie up`",
            ) from None

    return read


def send(
    method: str,
    path: str,
    kind: type[T],
    body: wire.Request | None = None,
    *,
    key: str | None = None,
    long: bool = False,
    headers: Mapping[str, str] | None = None,
) -> Call[T]:
    """A call with a JSON body. `key` is its idempotency key: the same key and body are carried out once."""
    headers = {**(headers or {}), **({"Idempotency-Key": key} if key is not None else {})}
    encoded = msgspec.json.encode(body) if body is not None else None
    if encoded is not None:
        headers["Content-Type"] = "application/json"
    return Call(method, path, reading(kind), encoded, headers, long)


def get(kind: type[T], *segments: str, **query: QueryValue) -> Call[T]:
    """A read."""
    return Call("GET", target(*segments, **query), reading(kind))


def nothing(method: str, *segments: str) -> Call[None]:
    """A call whose answer carries nothing that a caller needs."""
    return Call(method, target(*segments), ignore)


def ignore(body: bytes) -> None:
    """Reads nothing out of an answer."""
    del body


def call_bytes(call: Call[T], token: str | None) -> bytes:
    """The request as it goes out, with the headers that every call has."""
    headers = {wire.PROTOCOL_HEADER: str(wire.PROTOCOL), **call.headers}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    return request_bytes(call.method, call.target, headers, call.body)


def answer(call: Call[T], head: Head, body: bytes) -> T:
    """The value of an answer.

    Raises:
        ReverieError: the error that the daemon named.
        ProtocolMismatch: when the daemon speaks another protocol than this client.
    """
    check_protocol(head)
    if head.status >= 400:
        raise failure(head, body)
    return call.read(body)


def check_protocol(head: Head) -> None:
    """Refuse an answer of another protocol; an error without the header is left to say itself what is wrong."""
    theirs = head.headers.get(wire.PROTOCOL_HEADER.lower())
    if theirs == str(wire.PROTOCOL) or (theirs is None and head.status >= 400):
        return
    raise ProtocolMismatch(
        f"the daemon speaks protocol {theirs or 'unknown'}, this client {wire.PROTOCOL}",
        hint="restart the daemon with `reverie down`, then `reverie up`; update the older of the two",
    )


def failure(head: Head, body: bytes) -> ReverieError:
    """The error in an envelope, or one that shows what came instead."""
    try:
        envelope = msgspec.json.decode(body, type=wire.ErrorEnvelope)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return BadAnswer(f"the daemon answered {head.status} without saying why", hint="run `reverie logs`")
    details = dict(envelope.details)
    if "retry-after" in head.headers:
        details.setdefault("retryAfter", head.headers["retry-after"])
    return from_code(envelope.error, envelope.message, details)


def _query(value: QueryValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
