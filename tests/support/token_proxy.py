"""A TCP port in front of the daemon's, which adds the token that a test program cannot send; all else is passed on."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def token_proxy(port: int, token: str) -> Iterator[int]:
    """Yield the port of a proxy to `127.0.0.1:port`: one request on each connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_serve, args=(listener, port, token), daemon=True).start()
        yield int(listener.getsockname()[1])


def _serve(listener: socket.socket, port: int, token: str) -> None:
    with suppress(OSError):  # closed at the end of the test
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=_pass_on, args=(peer, port, token), daemon=True).start()


def _pass_on(peer: socket.socket, port: int, token: str) -> None:
    """Pass one request on with the token added, and its answer back; close both connections."""
    with peer, socket.create_connection(("127.0.0.1", port)) as daemon, suppress(OSError):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = peer.recv(1 << 16)
            if not piece:
                return
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        sizes = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
        while len(body) < sum(sizes):
            body += peer.recv(1 << 16)
        kept = [line for line in lines if not line.lower().startswith((b"connection:", b"authorization:"))]
        added = [b"Authorization: Bearer " + token.encode(), b"Connection: close"]
        daemon.sendall(b"\r\n".join([first, *kept, *added, b"", b""]) + body)
        threading.Thread(target=_until_closed, args=(peer, daemon), daemon=True).start()
        while piece := daemon.recv(1 << 16):
            peer.sendall(piece)


def _until_closed(peer: socket.socket, daemon: socket.socket) -> None:
    """Close the daemon's side when the peer is gone: a stream ends with its reader."""
    with suppress(OSError):
        peer.recv(1)
        daemon.shutdown(socket.SHUT_RDWR)
