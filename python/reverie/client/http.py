"""Calls as HTTP/1.1 requests and their answers as typed values (RFC 9112), and server-sent events; no I/O.

The functions that read an answer take `read`, a coroutine function that returns the bytes they ask for, so that a
blocking socket and an asyncio stream share one implementation of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import orjson

from reverie.api.endpoint import BadAnswer
from reverie.decode import from_json
from reverie.errors import ProtocolMismatch, ReverieError, from_code
from reverie.wire.base import PROTOCOL, PROTOCOL_HEADER, ErrorEnvelope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from reverie.api.endpoint import Call
    from reverie.wire.history import Event

LINE = -1  # asks `read` for the bytes up to and including the next newline
REST = -2  # asks `read` for the bytes until the other end closes
LINE_MAX_BYTES = 65_536  # twice the daemon's limit for a whole request head; the heads it sends are far shorter
HEADERS_MAX = 100
BODY_MAX_BYTES = 512 * 1024 * 1024  # pages and archives are far smaller: more is no answer of the daemon

Read: TypeAlias = "Callable[[int], Awaitable[bytes]]"

# Requests


def call_bytes(call: Call[Any], token: str | None) -> bytes:
    """Return the request as bytes, with the headers that every call has."""
    lines = [
        f"{call.method} {call.target} HTTP/1.1",
        "Host: reverie",
        f"{PROTOCOL_HEADER}: {PROTOCOL}",
        *(f"{name}: {value}" for name, value in call.headers.items()),
    ]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if call.body is not None or call.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(call.body or b'')}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.encode("latin-1") + (call.body or b"")


# Answers


class Head(msgspec.Struct, frozen=True):
    """Status and headers of an answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]

    @property
    def keeps_alive(self) -> bool:
        """True if another request may follow on this connection: it stays open, and the body has an end of its own."""
        delimited = self.status in (204, 304) or "content-length" in self.headers or self.is_chunked
        return delimited and self.headers.get("connection", "").lower() != "close"

    @property
    def is_chunked(self) -> bool:
        """True if the body is sent in chunks, each with its size."""
        return self.headers.get("transfer-encoding", "").lower() == "chunked"


async def read_head(read: Read) -> Head:
    """Read the status line and the headers; interim answers (1xx) before them are skipped.

    Raises:
        BadAnswer: they are malformed.
    """
    parts = (await read(LINE)).split(None, 2)
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit():
        raise _malformed("the first line is not one of HTTP/1.1")
    status = int(parts[1])
    headers: dict[str, str] = {}
    for _ in range(HEADERS_MAX):
        line = (await read(LINE)).rstrip(b"\r\n")
        if not line:
            return Head(status, headers) if not 100 <= status < 200 else await read_head(read)
        name, colon, value = line.partition(b":")
        if not colon:
            raise _malformed("a header has no colon")
        headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
    raise _malformed(f"more than {HEADERS_MAX} headers")


async def read_body(read: Read, head: Head) -> bytes:
    """Read the whole body.

    Raises:
        BadAnswer: its length is malformed, or greater than BODY_MAX_BYTES.
    """
    if head.status in (204, 304):
        return b""
    if head.is_chunked:
        pieces: list[bytes] = []
        while (piece := await read_piece(read, head)) is not None:
            pieces.append(piece)
        return b"".join(pieces)
    length = head.headers.get("content-length")
    if length is None:
        return await read(REST)
    if not length.isdigit() or int(length) > BODY_MAX_BYTES:
        raise _malformed(f"a body of {length} bytes")
    return await read(int(length))


async def read_piece(read: Read, head: Head) -> bytes | None:
    """Read the next chunk (or line, where the body is not chunked) of a streamed body; None at its end."""
    if not head.is_chunked:
        return await read(LINE) or None
    size = (await read(LINE)).split(b";")[0].strip()
    try:
        length = int(size, 16)
    except ValueError:
        raise _malformed("a chunk without its size") from None
    if not 0 <= length <= BODY_MAX_BYTES:
        raise _malformed(f"a chunk of {length} bytes")
    piece = await read(length)
    await read(LINE)  # the line end after the chunk, or the empty trailer of the last one
    return piece if length else None


def check_head(head: Head) -> None:
    """Refuse an answer of another protocol version; an error answer that names no version passes.

    Raises:
        ProtocolMismatch: the daemon speaks another protocol than this client.
    """
    version = head.headers.get(PROTOCOL_HEADER.lower())
    if version == str(PROTOCOL) or (version is None and head.status >= 400):
        return
    raise ProtocolMismatch(
        f"the daemon speaks protocol {version or 'unknown'}, this client {PROTOCOL}",
        hint="restart the daemon with `reverie down`, then `reverie up`; update the older of the two",
    )


def error_of(head: Head, body: bytes) -> ReverieError:
    """Return the error that an envelope describes, or BadAnswer if there is no envelope."""
    try:
        envelope = from_json(body, ErrorEnvelope)
    except (msgspec.ValidationError, msgspec.DecodeError):
        return BadAnswer(f"the daemon answered {head.status} without saying why", hint="run `reverie logs`")
    details = dict(envelope.details)
    if "retry-after" in head.headers:
        details.setdefault("retryAfter", head.headers["retry-after"])
    return from_code(envelope.error, envelope.message, details)


def _malformed(what: str) -> BadAnswer:
    return BadAnswer(f"the answer at the socket cannot be read: {what}", hint="run `reverie doctor`")


# Server-sent events


class EventParser:
    """Incremental parser of server-sent events (HTML standard, section 9.2).

    `last` is the sequence of the last complete event, or of an id without data that the stream began with: after it a
    broken stream is resumed.
    """

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self._rest = b""
        self._type = ""
        self._seq = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[Event]:
        """Return the events that this piece completes; comments (the stream's heartbeat) are skipped."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        events: list[Event] = []
        for line in lines:
            event = self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
            if event is not None:
                events.append(event)
        return events

    def reset(self) -> None:
        """Drop a partial event: after a reconnect the daemon sends it again."""
        self._rest, self._type, self._seq, self._data = b"", "", "", []

    def _line(self, line: str) -> Event | None:
        """Process one line; an empty line completes an event."""
        if not line:
            return self._complete()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._type = value
            case "data":
                self._data.append(value)
            case "id":
                self._seq = value
            case _:
                pass  # a comment, or a field that is not part of an event
        return None

    def _complete(self) -> Event | None:
        kind, seq, data = self._type, self._seq, "\n".join(self._data)
        self._type, self._seq, self._data = "", "", []
        if not seq.isdigit():
            return None
        self.last = int(seq)
        if not data:
            return None
        from reverie.wire.history import Event  # noqa: PLC0415 - most programs follow no events

        value: dict[str, Any] = orjson.loads(data)
        return Event(seq=self.last, type=kind, data=value)
