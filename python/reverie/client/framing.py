"""HTTP/1.1 as both clients speak it: a request to bytes, and the bytes of an answer back, without any I/O.

The reading functions are generators that ask for bytes (`LINE`, or a number of them, or `REST`) and are sent them, so
that a blocking socket and an asyncio stream share one reading of the protocol (RFC 9112).
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from reverie.errors import ReverieError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LINE", "REST", "BadAnswer", "Head", "Reading", "read_body", "read_head", "read_part", "request_bytes"]

LINE = -1  # bytes up to and with the next newline
REST = -2  # bytes until the other end closes
LINE_MAX_BYTES = 65_536
HEADERS_MAX = 100
BODY_MAX_BYTES = 512 * 1024 * 1024

T = TypeVar("T")
Reading: TypeAlias = Generator[int, bytes, T]


class BadAnswer(ReverieError):
    """Whoever answers at the socket does not speak HTTP as the daemon does, or stopped in the middle."""

    code = "bad_answer"


@dataclass(frozen=True, slots=True)
class Head:
    """Status and headers of an answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]

    @property
    def keeps_alive(self) -> bool:
        """Whether another request may follow on this connection."""
        return self.headers.get("connection", "").lower() != "close" and self._has_end

    @property
    def _has_end(self) -> bool:
        return self.status in (204, 304) or "content-length" in self.headers or self.is_chunked

    @property
    def is_chunked(self) -> bool:
        """Whether the body comes in chunks of stated size."""
        return self.headers.get("transfer-encoding", "").lower() == "chunked"


def request_bytes(method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """One request, whole. `target` is already percent-encoded ASCII."""
    lines = [f"{method} {target} HTTP/1.1", "Host: reverie"]
    lines.extend(f"{name}: {value}" for name, value in headers.items())
    if body is not None or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body or b'')}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.encode("latin-1") + (body or b"")


def read_head() -> Reading[Head]:
    """The status line and the headers.

    Raises:
        BadAnswer: when they are not such.
    """
    line = yield LINE
    parts = line.split(None, 2)
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit():
        raise _bad("the first line is not one of HTTP/1.1")
    status = int(parts[1])
    headers: dict[str, str] = {}
    for _ in range(HEADERS_MAX):
        line = (yield LINE).rstrip(b"\r\n")
        if not line:
            if 100 <= status < 200:  # an interim answer: the real one follows
                return (yield from read_head())
            return Head(status, headers)
        name, colon, value = line.partition(b":")
        if not colon:
            raise _bad("a header has no colon")
        headers[name.decode("latin-1").lower()] = value.strip().decode("latin-1")
    raise _bad(f"more than {HEADERS_MAX} headers")


def read_body(head: Head) -> Reading[bytes]:
    """The whole body.

    Raises:
        BadAnswer: when its length is not stated as it should, or is beyond BODY_MAX_BYTES.
    """
    if head.status in (204, 304):
        return b""
    if head.is_chunked:
        parts: list[bytes] = []
        while (part := (yield from read_part(head))) is not None:
            parts.append(part)
        return b"".join(parts)
    length = head.headers.get("content-length")
    if length is None:
        return (yield REST)
    if not length.isdigit() or int(length) > BODY_MAX_BYTES:
        raise _bad(f"a body of {length} bytes")
    return (yield int(length))


def read_part(head: Head) -> Reading[bytes | None]:
    """The next piece of a body that is sent as it comes, or None at its end."""
    if not head.is_chunked:
        return (yield LINE) or None
    size = (yield LINE).split(b";")[0].strip()
    try:
        length = int(size, 16)
    except ValueError:
        raise _bad("a chunk without its size") from None
    if not 0 <= length <= BODY_MAX_BYTES:
        raise _bad(f"a chunk of {length} bytes")
    part = yield length
    yield LINE  # the line that ends the chunk, or the empty trailer of the last one
    return part if length else None


def _bad(what: str) -> BadAnswer:
    return BadAnswer(f"the answer at the socket cannot be read: {what}", hint="run `reverie doctor`")
