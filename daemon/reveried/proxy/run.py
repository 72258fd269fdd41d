"""The proxy's event loop, alone in a process or beside the client that it was started for."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from reveried.proxy.server import ProxyServer

_FORWARDED: Final = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
)
_OF_TERMINAL: Final = frozenset({signal.SIGINT, signal.SIGQUIT})  # which the client gets from it as well
_PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
_LOOPBACK: Final = "127.0.0.1,localhost"


def serve(make: Callable[[], ProxyServer], started: Callable[[ProxyServer], None]) -> None:
    """Run a proxy until SIGINT or SIGTERM, after `started` was called with it; raises what `make` raises."""

    def on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)

    asyncio.run(_served(make, started, on_signals))


async def _served(
    make: Callable[[], ProxyServer],
    started: Callable[[ProxyServer], None],
    stopping: Callable[[asyncio.AbstractEventLoop, Callable[[], None]], None],
) -> None:
    """Run a proxy until the function is called that `stopping` gets with the loop."""
    server, stop = make(), asyncio.Event()
    stopping(asyncio.get_running_loop(), stop.set)
    await server.start()
    started(server)
    await stop.wait()
    await server.close()


def run_client(
    words: Sequence[str], make: Callable[[], ProxyServer], env: Callable[[ProxyServer], Mapping[str, str]]
) -> int:
    """Run a client with a proxy of its own in this process; return its exit code, 128 + n where signal n ended it.

    `env` is the client's environment. Signals go on to the client; where a terminal stops it, this process stops too.
    Raises what `make` raises, and OSError where the client cannot be started.
    """
    with in_thread(make) as server, _signals() as pass_to:
        client = subprocess.Popen(list(words), env=dict(env(server)))  # noqa: S603 - what the person has typed
        pass_to(client)
        code = _end_of(client)
    return code if code >= 0 else 128 - code


def no_proxy_for_loopback(env: Mapping[str, str]) -> dict[str, str]:
    """Return `no_proxy` variables that let a client reach this proxy without the environment's own proxy."""
    if not any(env.get(name) or env.get(name.upper()) for name in _PROXIES):
        return {}
    given = env.get("no_proxy") or env.get("NO_PROXY") or ""
    value = f"{given},{_LOOPBACK}" if given else _LOOPBACK
    return {"no_proxy": value, "NO_PROXY": value}


@contextlib.contextmanager
def in_thread(make: Callable[[], ProxyServer]) -> Iterator[ProxyServer]:
    """Run a proxy in a thread; yield it once it listens. Raises what `make` raises."""
    ready: Future[ProxyServer] = Future()
    stops: list[Callable[[], object]] = []

    def from_here(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> None:
        stops.append(lambda: loop.call_soon_threadsafe(stop))

    def main() -> None:
        try:
            asyncio.run(_served(make, ready.set_result, from_here))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            if not ready.done():
                ready.set_exception(error)

    thread = threading.Thread(target=main, name="proxy")
    thread.start()
    try:
        server = ready.result()
    except BaseException:
        thread.join()
        raise
    try:
        yield server
    finally:
        stops[0]()
        thread.join()


@contextlib.contextmanager
def _signals() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Pass signals on to the client that the yielded function is called with; earlier signals are kept for it."""
    client: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def send(to: subprocess.Popen[bytes], number: int) -> None:
        # Not `send_signal`: it takes the status of a client that has just ended, for which `_end_of` waits.
        if to.returncode is None:
            with contextlib.suppress(ProcessLookupError):  # its status was taken a moment ago
                os.kill(to.pid, number)

    def pass_on(number: int, _: FrameType | None) -> None:
        if number in _OF_TERMINAL and _in_foreground():
            return
        if client:
            send(client[0], number)
        else:
            early.append(number)

    def pass_to(started: subprocess.Popen[bytes]) -> None:
        client.append(started)
        for number in early:
            send(started, number)

    before = {number: signal.signal(number, pass_on) for number in _FORWARDED}
    try:
        yield pass_to
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end_of(client: subprocess.Popen[bytes]) -> int:
    """Wait for the end of a client, and return its status as `Popen.returncode` has it."""
    while True:
        _, status = os.waitpid(client.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            client.returncode = os.waitstatus_to_exitcode(status)
            return client.returncode
        if _in_foreground():
            # The shell gets its terminal back only when its own child, this process, has stopped.
            os.kill(os.getpid(), signal.SIGSTOP)


def _in_foreground() -> bool:
    """Return True if this process is in the group that a terminal sends its signals to."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError, AttributeError):
        return False
