"""Requests to the daemon's `/mcp` on a connection of their own, with the standard library alone."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING, Any, NamedTuple

from reverie.errors import DaemonNotRunning, ReverieError, from_code
from reveried import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TIMEOUT_S = 60.0  # as of the client; a stream has a comment line at least every 15 s
_TOKEN = "REVERIE_TOKEN"  # noqa: S105 - the name of a variable
_DOWN = "run `reverie up` in a terminal to start it, then call the tool again"
_ENDED = "what was to be stored may be stored; run `reverie up` in a terminal to start it again"
_NO_ANSWER = "what was to be stored may be stored; `reverie logs` in a terminal says why"


class Answer(NamedTuple):
    """The daemon's answer to one request: the whole body, or for a stream its socket and the bytes read so far."""

    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes
    stream: socket.socket | None = None

    def error(self) -> ReverieError | None:
        """Return the error that the daemon's HTTP API answered; None for a success or an answer in JSON-RPC."""
        if self.status < 400:
            return None
        try:
            value = json.loads(self.body)
        except ValueError:
            value = {}
        if isinstance(value, dict) and "jsonrpc" in value:
            return None
        envelope: dict[str, Any] = value if isinstance(value, dict) else {}
        details = envelope.get("details")
        message = str(envelope.get("message", "an answer without JSON"))
        return from_code(
            str(envelope.get("error", "bad_answer")), message, details if isinstance(details, dict) else {}
        )


def send(method: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
    """Return the daemon's answer to a request.

    A connection for each request means that one which cannot be made has sent nothing: no request is made twice.

    Raises:
        DaemonNotRunning: no daemon listens, or it ended before its answer.
    """
    request = _request(method, body, headers)
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stays_open = False
    try:
        peer.settimeout(TIMEOUT_S)
        try:
            peer.connect(_socket_path())
        except OSError as error:
            raise DaemonNotRunning("the Reverie daemon is not running", hint=_DOWN) from error
        try:
            peer.sendall(request)
            answer = _answer(peer)
        except OSError as error:
            raise DaemonNotRunning("the Reverie daemon did not answer", hint=_NO_ANSWER) from error
        stays_open = answer.stream is not None
        return answer
    finally:
        if not stays_open:
            peer.close()


def ended_early() -> DaemonNotRunning:
    """Return the error for a daemon that ended before its answer was complete."""
    return DaemonNotRunning("the Reverie daemon ended before it answered", hint=_ENDED)


def events_of(answer: Answer) -> Iterator[bytes]:
    """Yield the data of each event of a stream, until it ends. Raises OSError."""
    text = b""
    for piece in _chunks(answer):
        text += piece
        *events, text = text.split(b"\n\n")
        for event in events:
            data = [line[5:].strip() for line in event.split(b"\n") if line.startswith(b"data:")]
            if data:
                yield b"".join(data)


def _chunks(answer: Answer) -> Iterator[bytes]:
    """Yield the chunks of a body in the transfer coding of HTTP/1.1 (RFC 9112, 7.1)."""
    assert answer.stream is not None
    data = answer.body
    while True:
        size, line, rest = data.partition(b"\r\n")
        if line:
            length = int(size, 16)
            if length == 0:
                return
            if len(rest) >= length + 2:
                yield rest[:length]
                data = rest[length + 2 :]
                continue
        piece = answer.stream.recv(1 << 16)
        if not piece:
            return
        data += piece


def _answer(peer: socket.socket) -> Answer:
    """Read the head of an answer, and its body unless it is a stream. Raises OSError and DaemonNotRunning."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = peer.recv(1 << 16)
        if not piece:
            raise ended_early()
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    status = int(first.split(" ")[1])
    if headers.get("transfer-encoding") == "chunked":
        return Answer(status, headers, body, peer)
    length = int(headers.get("content-length", "0"))
    pieces, size = [body], len(body)
    while size < length:
        piece = peer.recv(1 << 16)
        if not piece:
            raise ended_early()
        pieces.append(piece)
        size += len(piece)
    return Answer(status, headers, b"".join(pieces))


def _request(method: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
    lines = [f"{method} /mcp HTTP/1.1", "Host: reverie", f"Reverie-Protocol: {PROTOCOL}"]
    if token := _token():
        lines.append(f"Authorization: Bearer {token}")
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


def _token() -> str | None:
    from reveried.cli.daemon_client import access_token  # noqa: PLC0415 - not before the first answer

    return access_token() if os.environ.get(_TOKEN) else None


def _socket_path() -> str:
    """Return the daemon's socket, which the settings may name."""
    from reveried.cli.daemon_client import socket_path  # noqa: PLC0415 - not before the first answer

    return str(socket_path())
