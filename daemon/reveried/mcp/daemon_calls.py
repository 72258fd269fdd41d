"""Requests to the daemon on a connection of their own, with the standard library alone."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

from reverie.errors import DaemonNotRunning, ReverieError, from_code
from reveried import PROTOCOL

__all__ = ["ask"]

TIMEOUT_S = 60.0  # as of the client
_TOKEN = "REVERIE_TOKEN"  # noqa: S105 - the name of a variable
_DOWN = "run `reverie up` in a terminal to start it, then call the tool again"


def ask(method: str, target: str, body: dict[str, Any] | None = None) -> Any:
    """Return the JSON of the daemon's answer.

    A connection for each request means that one which cannot be made has sent nothing: no request is made twice.

    Raises:
        DaemonNotRunning: no daemon listens, or it ended before its answer.
        ReverieError: the daemon's own error, with its code.
    """
    request = _request(method, target, body)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(TIMEOUT_S)
        try:
            peer.connect(_socket_path())
        except OSError as error:
            raise DaemonNotRunning("the Reverie daemon is not running", hint=_DOWN) from error
        try:
            peer.sendall(request)
            head, _, answer = _read_all(peer).partition(b"\r\n\r\n")
        except OSError as error:
            raise DaemonNotRunning(
                "the Reverie daemon did not answer",
                hint="what was to be stored may be stored; `reverie logs` in a terminal says why",
            ) from error
    return _value(head.decode("latin-1").lower().split("\r\n"), answer)


def _value(head: list[str], answer: bytes) -> Any:
    """Return an answer's JSON. Raises its error, or DaemonNotRunning for one that is cut off."""
    if f"content-length: {len(answer)}" not in head:
        raise DaemonNotRunning(
            "the Reverie daemon ended before it answered",
            hint="what was to be stored may be stored; run `reverie up` in a terminal to start it again",
        )
    try:
        value = json.loads(answer)
    except ValueError:
        value = None
    if head[0].split(" ")[1:2] in (["200"], ["201"]) and value is not None:
        return value
    raise _error(value)


def _error(value: Any) -> ReverieError:
    """Return the error that an envelope describes."""
    envelope = value if isinstance(value, dict) else {}
    details = envelope.get("details")
    code, message = str(envelope.get("error", "bad_answer")), str(envelope.get("message", "an answer without JSON"))
    return from_code(code, message, details if isinstance(details, dict) else {})


def _request(method: str, target: str, body: dict[str, Any] | None) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", "Host: reverie", f"Reverie-Protocol: {PROTOCOL}", "Connection: close"]
    if token := _token():
        lines.append(f"Authorization: Bearer {token}")
    data = b"" if body is None else json.dumps(body).encode()
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + data


def _token() -> str | None:
    from reveried.cli.daemon_handle import access_token  # noqa: PLC0415 - not before the first answer

    return access_token() if os.environ.get(_TOKEN) else None


def _read_all(peer: socket.socket) -> bytes:
    pieces = []
    while piece := peer.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


def _socket_path() -> str:
    """Return the daemon's socket, which the settings may name."""
    from reveried.cli.daemon_handle import socket_path  # noqa: PLC0415 - not before the first answer

    return str(socket_path())
