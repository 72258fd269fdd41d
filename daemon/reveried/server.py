"""Listens: the Unix socket, the inherited sockets and the loopback port, and ends all connections in good order."""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict, Starting, ValidationError
from reveried.http.endpoint import send_error
from reveried.http.protocol import Connection
from reveried.http.uvicorn_shim import Config as UvicornConfig
from reveried.http.uvicorn_shim import ServerState

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from reveried.http.admission import Gate

__all__ = ["Front", "Server", "bind_tcp", "bind_unix"]

BACKLOG = 1024
SOCKET_PATH_BYTES_MAX = 107
CLOSING_TURNS = 5
LOOPBACK = frozenset({"127.0.0.1", "::1"})


@dataclass(slots=True)
class Front:
    """The ASGI application that is there from the first connection: it says `starting` until the real one is."""

    app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 503 `starting`, or hands on."""
        if self.app is None:
            await send_error(Starting("The daemon is opening its store.", hint="Try again.", retryAfter=1), send)
        else:
            await self.app(scope, receive, send)


def bind_unix(path: Path) -> socket.socket:
    """A listening Unix socket, 0600 in a folder of 0700 that is ours. The caller holds the lock beside it.

    Raises:
        ValidationError: the path is too long, or its folder belongs to somebody else or is open to others.
        Conflict: somebody answers at the path.
    """
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES_MAX:
        raise ValidationError(
            f"The socket's path is longer than {SOCKET_PATH_BYTES_MAX} bytes.", hint="Set a shorter daemon.socket."
        )
    make_private(path.parent)
    _remove_stale(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        # The mode is right from the first moment: chmod after bind would leave a gap.
        before = os.umask(0o177)
        try:
            listener.bind(os.fspath(path))
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return listener


def bind_tcp(address: str) -> socket.socket:
    """A listening TCP socket on a loopback address, `host:port`.

    Raises:
        ValidationError: anything but a loopback address, or a port that is taken.
    """
    host, _, port = address.rpartition(":")
    host = host.strip("[]")
    if host not in LOOPBACK or not port.isdigit() or int(port) > 65535:
        raise ValidationError("daemon.tcp must be a loopback address and a port.", hint='Write "127.0.0.1:8377".')
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, int(port)))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ValidationError(f"Cannot listen on {address}: {error.strerror}.", hint="Choose another port.") from error
    listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return listener


def make_private(folder: Path) -> None:
    """Makes the folder with mode 0700, or checks that it is ours and nobody else may enter.

    Raises:
        ValidationError: it belongs to another user, or group or others may write to it.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.getuid():
        raise ValidationError(f"{folder} belongs to another user.", hint="Set daemon.socket to a folder of your own.")
    if status.st_mode & 0o077:
        # A folder that was made by hand, or by an older tool, is closed rather than complained about.
        folder.chmod(0o700)


def _remove_stale(path: Path) -> None:
    """Removes a socket that nobody answers at; only a socket, and only while the caller holds the lock."""
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_socket() or path.is_symlink():
        raise Conflict(f"{path} is there and is not a socket.", hint="Move it away, or set daemon.socket.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.fspath(path))
        except OSError:
            path.unlink()
            return
    raise Conflict(f"Somebody answers at {path}.", hint="reverie status; reverie down")


@dataclass(slots=True)
class Server:
    """The listeners and connections of one daemon."""

    front: Front
    gate: Gate
    state: ServerState = field(default_factory=ServerState)
    _listeners: list[asyncio.AbstractServer] = field(default_factory=list)
    _config: UvicornConfig | None = None

    def _connection(self) -> Connection:
        assert self._config is not None
        return Connection(config=self._config, server_state=self.state, gate=self.gate, loop=asyncio.get_running_loop())

    async def listen(self, listener: socket.socket) -> None:
        """Serves connections of an already listening socket."""
        if self._config is None:
            self._config = UvicornConfig(self.front, log_config=None, ws="none", lifespan="off", interface="asgi3")
            self._config.load()
        loop = asyncio.get_running_loop()
        make: Any = loop.create_unix_server if listener.family == socket.AF_UNIX else loop.create_server
        self._listeners.append(await make(self._connection, sock=listener, backlog=BACKLOG))

    async def drain(self, seconds: float) -> bool:
        """Takes no more connections, answers what is running, closes the rest. False when time ran out."""
        for listener in self._listeners:
            listener.close()
        for connection in list(self.state.connections):
            connection.shutdown()
        finished = True
        if self.state.tasks:
            _, late = await asyncio.wait(tuple(self.state.tasks), timeout=seconds)
            finished = not late
            for task in late:
                task.cancel()
        for connection in list(self.state.connections):
            connection.transport.close()
        # Closing takes effect in the next turns of the loop: let the peers see the end before the process ends.
        for _ in range(CLOSING_TURNS):
            await asyncio.sleep(0)
        return finished
