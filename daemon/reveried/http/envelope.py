"""The one form in which a failure leaves the daemon: `{error, message, details}` and its status."""

from __future__ import annotations

import http
from typing import TYPE_CHECKING, Any

import orjson

from reverie.errors import ReverieError
from reveried import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["MethodNotAllowed", "body_of", "envelope_of", "headers_of", "raw_response"]

RETRY_AFTER_S = 1


class MethodNotAllowed(ReverieError):
    """The path is known, the method is not one of its own."""

    code = "method_not_allowed"
    status = 405
    exit_status = 2

    def __init__(self, method: str, allowed: Iterable[str]) -> None:
        names = ", ".join(sorted(allowed))
        super().__init__(f"{method} is not served here.", hint=f"Use {names}.", allow=names)


def envelope_of(error: ReverieError) -> dict[str, Any]:
    """The closed envelope: these three keys and never another."""
    return {"error": error.code, "message": error.message, "details": error.details}


def body_of(error: ReverieError) -> bytes:
    """The closed envelope as JSON; details that JSON cannot hold are written as text."""
    return orjson.dumps(envelope_of(error), default=str)


def headers_of(error: ReverieError) -> list[tuple[bytes, bytes]]:
    """The headers that go with a failure: `Retry-After` (whole seconds, at least 1) where trying again may help."""
    headers = [(b"content-type", b"application/json"), (b"reverie-protocol", str(PROTOCOL).encode())]
    if error.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
        after = error.details.get("retryAfter", RETRY_AFTER_S)
        seconds = max(RETRY_AFTER_S, int(after)) if isinstance(after, int | float) else RETRY_AFTER_S
        headers.append((b"retry-after", str(seconds).encode()))
    if error.status == http.HTTPStatus.METHOD_NOT_ALLOWED:
        headers.append((b"allow", str(error.details.get("allow", "")).encode()))
    if error.status == http.HTTPStatus.UNAUTHORIZED:
        headers.append((b"www-authenticate", b"Bearer"))
    return headers


def raw_response(error: ReverieError) -> bytes:
    """A whole response, for a connection on which no request could be understood; it says that it closes."""
    body = body_of(error)
    phrase = http.HTTPStatus(error.status).phrase.encode()
    lines = [b"HTTP/1.1 %d %b" % (error.status, phrase)]
    lines += [b"%b: %b" % header for header in headers_of(error)]
    lines += [b"content-length: %d" % len(body), b"connection: close", b"", body]
    return b"\r\n".join(lines)
