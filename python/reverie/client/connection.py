"""One blocking connection to the daemon's socket: bytes out, an answer back."""

from __future__ import annotations

import select
import socket
from typing import TYPE_CHECKING, TypeVar

from reverie.client.framing import LINE, LINE_MAX_BYTES, REST, read_body, read_head, read_part

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.client.framing import Head, Reading

__all__ = ["Line"]

T = TypeVar("T")


class Line:
    """An open connection. Any OSError from its methods means that it is of no more use."""

    def __init__(self, socket_path: Path, timeout_s: float) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(socket_path))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def close(self) -> None:
        """Let go of the connection."""
        self._file.close()
        self._socket.close()

    def is_fresh(self) -> bool:
        """Whether it can take another request: an idle connection has nothing to read unless the other end closed."""
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def send(self, data: bytes, timeout_s: float) -> Head:
        """Send a request and read the head of its answer."""
        self._socket.settimeout(timeout_s)
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            # A request that is refused from its head is answered before its body is read: the answer says why.
            return self._read(read_head())
        return self._read(read_head())

    def body(self, head: Head) -> bytes:
        """The whole body of the answer that `head` began."""
        return self._read(read_body(head))

    def part(self, head: Head) -> bytes | None:
        """The next piece of a stream, or None at its end."""
        return self._read(read_part(head))

    def _read(self, reading: Reading[T]) -> T:
        """Give a reading the bytes it asks for."""
        try:
            want = next(reading)
            while True:
                want = reading.send(self._bytes(want))
        except StopIteration as done:
            value: T = done.value
            return value

    def _bytes(self, want: int) -> bytes:
        if want == REST:
            return self._file.read()
        data = self._file.readline(LINE_MAX_BYTES) if want == LINE else self._file.read(want)
        if len(data) < want or (want == LINE and not data.endswith(b"\n")):
            raise ConnectionResetError("the other end closed in the middle of its answer")
        return data
