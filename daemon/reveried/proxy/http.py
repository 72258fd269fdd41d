"""Heads of requests and responses as bytes, and the errors that the proxy itself answers with."""

from __future__ import annotations

import http
from dataclasses import dataclass, field
from typing import Final

import orjson

_OF_CONNECTION: Final = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"proxy-authorization", b"te", b"upgrade", b"expect", b"host"}
)
"""Headers about one connection, which are not passed on (RFC 9110, 7.6.1); and `Host`, which is the provider's."""

_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})


@dataclass(slots=True)
class RequestHead:
    """The first part of a request; header names are as they were sent."""

    method: bytes = b""
    target: bytes = b""
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    def get(self, name: bytes) -> bytes | None:
        """Return the value of the first header with a name, which is in lower case."""
        return next((value for key, value in self.headers if key.lower() == name), None)

    def _all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def path(self) -> bytes:
        """Return the target without its query."""
        return self.target.partition(b"?")[0]

    @property
    def is_chunked(self) -> bool:
        """Return True if the body's length is not known from the head."""
        return any(b"chunked" in value.lower() for value in self._all(b"transfer-encoding"))

    def passed_on(self, authority: bytes, *, body_bytes: int | None = None) -> bytes:
        """Return the head to send to the provider; `body_bytes` is the length of a body that is sent in one piece."""
        lines = [b"%b %b HTTP/1.1" % (self.method, self.target), b"Host: " + authority]
        named = {name.strip().lower() for value in self._all(b"connection") for name in value.split(b",")}
        # Without its framing a body would be read as the next request.
        left_out = _OF_CONNECTION | named - _FRAMING | (_FRAMING if body_bytes is not None else frozenset())
        lines += [b"%b: %b" % header for header in self.headers if header[0].lower() not in left_out]
        if body_bytes is not None and (body_bytes or self.method not in {b"GET", b"HEAD", b"DELETE", b"OPTIONS"}):
            lines.append(b"Content-Length: %d" % body_bytes)
        return b"\r\n".join([*lines, b"", b""])


def response(status: int, media: bytes, body: bytes, *headers: tuple[bytes, bytes], close: bool = False) -> bytes:
    """Return a whole HTTP response as bytes: status line, headers and body."""
    lines = [b"HTTP/1.1 %d %b" % (status, http.HTTPStatus(status).phrase.encode()), b"Content-Type: " + media]
    lines += [b"Content-Length: %d" % len(body), *(b"%b: %b" % header for header in headers)]
    if close:
        lines.append(b"Connection: close")
    return b"\r\n".join([*lines, b"", body])


def error_response(status: int, kind: str, message: str) -> bytes:
    """Return an error in the form of the Messages API, after which the connection ends."""
    body = orjson.dumps({"type": "error", "error": {"type": kind, "message": message}})
    return response(status, b"application/json", body, close=True)
