"""Listening sockets (Unix, loopback TCP), and the server that accepts their connections and drains them at the end."""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie import private_folder
from reverie.errors import Conflict, ReverieError, Starting, ValidationError
from reverie.places import SOCKET_PATH_BYTES_MAX
from reveried.http.connection import Connection, OpenConnections
from reveried.http.message import send_error
from reveried.log import logger
from reveried.process_lock import ProcessLock

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from reveried.http.limits import Admission
    from reveried.http.message import Handler, Request, Response

BACKLOG = 1024  # connections that the kernel queues before they are accepted
ACCEPTED_AT_ONCE = 256  # connections that are accepted before the requests of others go on
REST_S = 0.5  # before accepting goes on where the process or the system has no descriptors or memory left
ANSWER_S = 1.0  # for the answers of requests whose work has ended
SOCKET_CHECK_S = 2.0  # between two looks whether the file of the socket is there
CLOSING_TURNS = 5  # turns of the event loop; closing a transport and its socket takes two
LOOPBACK = frozenset({"127.0.0.1", "::1"})


def bind_unix(path: Path) -> socket.socket:
    """Return a listening Unix socket of mode 0600 in a folder of mode 0700. The caller has locked `<path>.lock`.

    Raises:
        ValidationError: the path is too long, or its folder belongs to another user.
        Conflict: another process listens at the path, or it is no socket.
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


class OwnSocket:
    """The Unix socket of a daemon, with the lock beside it; what removes its file does not end it.

    A login session that ends takes its runtime directory with it, and old files in /tmp are cleaned up.
    """

    def __init__(self, path: Path) -> None:
        """Lock the path and listen at it. Raises what `bind_unix` and ProcessLock do."""
        self._path = path
        self._lock: ProcessLock | None = None
        self._file: tuple[int, int] | None = None
        self.listener = self._bind()

    def _bind(self) -> socket.socket:
        # The lock's file may be gone as well, and then another process can have its own there.
        self._release()
        # The socket has a lock beside that of the data folder: two stores may be configured with one socket.
        self._lock = ProcessLock(self._path.with_name(self._path.name + ".lock"))
        listener = bind_unix(self._path)
        self._file = _file_at(self._path)
        return listener

    async def keep(self, server: Server) -> None:
        """Listen again, for ever, where the file of the socket is gone; connections that are open stay so."""
        log, why = logger("reveried.server"), ""
        while True:
            await asyncio.sleep(SOCKET_CHECK_S)
            if _file_at(self._path) == self._file:
                continue
            try:
                removed, self.listener = self.listener, self._bind()
            except (OSError, ReverieError) as error:
                if str(error) != why:
                    why = str(error)
                    log.warning("the socket was removed, and cannot be made again yet", why=why)
                continue
            why = ""
            server.listen(self.listener, instead_of=removed)
            log.warning("the socket was removed, and is made again", path=str(self._path))

    def close(self) -> None:
        """Remove the socket, unless another one is there by now, and release the lock."""
        if self._file is not None and _file_at(self._path) == self._file:
            self._path.unlink(missing_ok=True)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _file_at(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at a path, None if there is none."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def bind_tcp(address: str) -> socket.socket:
    """Return a listening TCP socket on a loopback address, `host:port`.

    Raises:
        ValidationError: not a loopback address, or the port is in use.
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
    """Create the folder with mode 0700, or check that it is owned by this user and remove the access of others.

    Raises:
        ValidationError: it belongs to another user.
    """
    private_folder.make_private(folder)
    status = folder.stat()
    if status.st_uid != os.getuid():
        raise ValidationError(f"{folder} belongs to another user.", hint="Set daemon.socket to a folder of your own.")
    if status.st_mode & 0o077:
        # A folder that was created by hand has the umask's mode: it is corrected instead of refused.
        folder.chmod(0o700)


def _remove_stale(path: Path) -> None:
    """Remove the socket of a process that has ended, never another kind of file. The caller has locked the path."""
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
    """The listeners and connections of one daemon. `handler` is None while the daemon starts.

    Connections are accepted here and not by the loop's own servers: those of uvloop accept one in each turn of the
    loop, so that beside hundreds of busy clients a new one waited for hundreds of turns.
    """

    admission: Admission
    handler: Handler | None = None
    open: OpenConnections = field(default_factory=OpenConnections)
    _listeners: list[socket.socket] = field(default_factory=list)
    _opening: set[asyncio.Task[Any]] = field(default_factory=set)

    def listen(self, listener: socket.socket, *, instead_of: socket.socket | None = None) -> None:
        """Serve connections of a socket that is already listening."""
        if instead_of is not None:
            self._close(instead_of)
            self._listeners.remove(instead_of)
        listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
        self._listeners.append(listener)
        self._watch(listener)

    def _watch(self, listener: socket.socket) -> None:
        """Accept what waits at a listener whenever something does, unless it was closed meanwhile."""
        if listener in self._listeners:
            asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    def _close(self, listener: socket.socket) -> None:
        asyncio.get_running_loop().remove_reader(listener)
        listener.close()

    def _accept(self, listener: socket.socket) -> None:
        """Accept the connections that wait, up to ACCEPTED_AT_ONCE; out of descriptors or memory, rest for a moment."""
        loop = asyncio.get_running_loop()
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                peer, _address = listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                # They wait in the kernel's queue meanwhile. Without a rest the loop would do nothing but try.
                logger("reveried.server").error("no connection can be accepted", why=str(error))
                loop.remove_reader(listener)
                loop.call_later(REST_S, self._watch, listener)
                return
            peer.setblocking(False)  # noqa: FBT003 - the standard library's signature
            opening = loop.create_task(loop.connect_accepted_socket(self._connection, peer))
            self._opening.add(opening)
            opening.add_done_callback(self._opened)

    def _opened(self, opening: asyncio.Task[Any]) -> None:
        """Remove the finished task that opened a connection; log the error if it failed."""
        self._opening.discard(opening)
        if not opening.cancelled() and (error := opening.exception()) is not None:
            logger("reveried.server").error("a connection was not opened", kind=type(error).__name__, why=str(error))

    def _connection(self) -> Connection:
        return Connection(self._handle, self.open, self.admission)

    async def _handle(self, request: Request, response: Response) -> None:
        """Answer one request; 503 `starting` until the handler is set."""
        if self.handler is None:
            await send_error(Starting("The daemon is opening its store.", hint="Try again.", retryAfter=1), response)
        else:
            await self.handler(request, response)

    async def drain(self, seconds: float, work: Callable[[], Awaitable[None]] | None = None) -> bool:
        """Accept no more connections, answer the running requests, then close; return False if time ran out.

        `work` is awaited where requests are late: what it ends, they can still answer.
        """
        for listener in self._listeners:
            self._close(listener)
        self._listeners.clear()
        if self._opening:
            await asyncio.wait(tuple(self._opening))
        for connection in list(self.open.connections):
            connection.shutdown()
        finished = True
        if self.open.tasks:
            _, late = await asyncio.wait(tuple(self.open.tasks), timeout=seconds)
            if late and work is not None:
                await work()
                _, late = await asyncio.wait(late, timeout=ANSWER_S)
            finished = not late
            for task in late:
                task.cancel()
        for connection in list(self.open.connections):
            connection.close()
        # Closing takes effect in the next turns of the loop: let the peers see the end before the process ends.
        for _ in range(CLOSING_TURNS):
            await asyncio.sleep(0)
        return finished
