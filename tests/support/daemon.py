"""A real daemon under a scratch REVERIE_HOME, forked or executed, raw HTTP clients of it, and checks of answers."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from io import FileIO
from pathlib import Path
from typing import Any, ClassVar, Self

TEMPLATE = """
import faulthandler, json, os, runpy, signal, socket, sys, time
import reveried.__main__, reveried.background, reveried.sync.service, reveried.sync.loop, reveried.watcher, uvloop
import reverie.distill.facts, reverie.distill.next_step, watchdog.observers.inotify
from reveried.routes import FREQUENT, routes_of
from reverie.redact import Redactor
from reverie.tokenizer import count
for noun in FREQUENT:
    routes_of(noun)
for encoding in ("o200k_base", "cl100k_base"):  # tables are built at their first use, which takes as long as a start
    count(Redactor().text("word"), encoding)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
ours = socket.socket(fileno=0)
while True:
    data, given, *_ = socket.recv_fds(ours, 1 << 20, 2)
    if not data:
        sys.exit()
    log, told = given
    if os.fork() == 0:  # this process waits for the daemon, and tells of its end
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ours.close()
        daemon = os.fork()
        if daemon:
            os.write(told, b"%d\\n" % daemon)
            os.close(log)
            os.write(told, b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(daemon, 0)[1]))
            os._exit(0)
        os.close(told)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.close(log)
        os.environ.clear()
        os.environ.update(json.loads(data))
        time.tzset()
        if "PYTHONFAULTHANDLER" in os.environ:
            faulthandler.enable()
        sys.argv = ["reveried"]
        del sys.modules["reveried.__main__"]  # runpy warns of a module that it is to run
        runpy.run_module("reveried", run_name="__main__")
    os.close(log)
    os.close(told)
"""


class Forked:
    """A forked daemon, with the methods of a `subprocess.Popen` that tests use."""

    def __init__(self, told: int) -> None:
        self._told = FileIO(told)
        self._lock = threading.Lock()
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def __del__(self) -> None:
        self._told.close()

    def poll(self) -> int | None:
        """Return the exit status if the process has ended."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process and return its exit status; raise TimeoutExpired after some seconds."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("reveried", timeout or 0.0)
        return status

    def send_signal(self, number: int) -> None:
        """Send a signal unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send SIGKILL unless the process has ended."""
        self.send_signal(signal.SIGKILL)

    def _ended(self, most_s: float | None) -> int | None:
        if self.returncode is None:
            with suppress(ValueError):  # closed by another thread
                _is_readable(self._told, most_s)  # without the lock: another thread may ask meanwhile, or kill it
        with self._lock:
            if self.returncode is None and _is_readable(self._told, 0.0):
                self.returncode = int(self._told.readline())
                self._told.close()
            return self.returncode


def _is_readable(file: FileIO, most_s: float | None) -> bool:
    """Return whether there is something to read, after waiting for it as long as that, or None for ever."""
    watch = select.poll()
    watch.register(file, select.POLLIN)
    return bool(watch.poll(None if most_s is None else most_s * 1_000))


def forked(env: Mapping[str, str], log: Path) -> Forked:
    """Start a daemon with this environment, which appends to this log."""
    told, tells = os.pipe()
    with log.open("ab") as file:
        socket.send_fds(_template(), [json.dumps(dict(env)).encode()], [file.fileno(), tells])
    os.close(tells)
    return Forked(told)


def may_be_forked(env: Mapping[str, str]) -> bool:
    """Return whether the variables that an interpreter reads at its start are those here, and no lines are counted."""
    read = ("PYTHON", "COVERAGE_")
    names = {name for name in (*env, *os.environ) if name.startswith(read)} - {"PYTHONFAULTHANDLER"}
    is_counted = any(name.startswith("COVERAGE_") for name in names)
    return not is_counted and all(env.get(name) == os.environ.get(name) for name in names)


@cache
def _template() -> socket.socket:
    """Start the process that forks, which ends with this one; return the connection to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        words = [sys.executable, "-c", TEMPLATE]
        os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 0)])
    atexit.register(ours.close)
    return ours


MODULE = ("-m", "reveried")
START_S = 60.0
STOP_S = 60.0
CRASHES = frozenset((-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGILL, -signal.SIGFPE))
ANSWER_S = 60.0  # far above what an answer takes, on a machine with much else to do too


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer: status, headers and the body's bytes."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the body as JSON."""
        return json.loads(self.body)


class Wire:
    """One raw connection to the daemon's socket: sends bytes and reads answers."""

    def __init__(self, path: Path, timeout: float = ANSWER_S) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        try:
            self.socket.connect(os.fspath(path))
        except OSError:
            self.socket.close()
            raise
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send all of `data`; an error is ignored if the other end has closed the connection."""
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            return

    def answer(self) -> Answer | None:
        """Return the next answer, or None if the other end closed without one."""
        while b"\r\n\r\n" not in self._buffer:
            if not self._more():
                return None
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = int(headers.get("content-length", "0"))
        while len(self._buffer) < length and self._more():
            pass
        body, self._buffer = self._buffer[:length], self._buffer[length:]
        return Answer(int(lines[0].split()[1]), headers, body)

    def closed(self) -> bool:
        """Return True if the other end closes within the timeout."""
        try:
            return self._buffer == b"" and not self._more()
        except TimeoutError:
            return False

    def _more(self) -> bool:
        try:
            piece = self.socket.recv(1 << 16)
        except ConnectionResetError:
            return False
        self._buffer += piece
        return bool(piece)


def request(method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of one request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: reverie"]
    if body is not None:
        lines += [f"Content-Length: {len(body)}", "Content-Type: application/json"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


@dataclass(slots=True)
class Daemon:
    """A daemon process for tests, with its home and environment."""

    home: Path
    env: dict[str, str]
    process: subprocess.Popen[bytes] | Forked | None = None
    prefix: Sequence[str] = ()
    arguments: Sequence[str] = MODULE
    log: Path = field(init=False)
    forks: ClassVar[bool] = True  # benchmarks start daemons as people do

    def __post_init__(self) -> None:
        self.log = self.home / "log"

    @property
    def socket(self) -> Path:
        """Return the path of the daemon's socket."""
        return self.home / "run" / "reverie.sock"

    @property
    def folder(self) -> Path:
        """Return the folder of the default space."""
        return self.home / "root" / "default"

    @property
    def store(self) -> Path:
        """Return the folder of the store."""
        return self.home / "data" / "store"

    @property
    def pid(self) -> int:
        """Return the process id of the daemon."""
        assert self.process is not None
        return self.process.pid

    def start(self) -> Self:
        """Start the process and wait until it is healthy."""
        self.launch()
        self.wait_ready()
        return self

    def launch(self) -> None:
        """Start the process without waiting; it is forked unless something of its start is special."""
        if self.forks and not self.prefix and self.arguments == MODULE and may_be_forked(self.env):
            self.process = forked(self.env, self.log)
            return
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self.prefix, sys.executable, *self.arguments], env=self.env, stdout=log, stderr=log
            )

    def wait_ready(self) -> None:
        """Return when health is `ok`; fail with the log when the process ends or takes too long."""
        assert self.process is not None
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                break
            try:
                if self.ask("GET", "/v1/health").status == 200:
                    return
            except (OSError, AssertionError):
                pass
            time.sleep(0.01)
        raise AssertionError(f"the daemon did not become ready:\n{self.log_text()}")

    def log_text(self) -> str:
        """Return the text of the daemon's log so far."""
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""

    def wire(self, timeout: float = ANSWER_S) -> Wire:
        """Open a new raw connection to the daemon."""
        return Wire(self.socket, timeout)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = ANSWER_S,
    ) -> Answer:
        """Make one request on a new connection; `body` is bytes or any JSON value."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        with self.wire(timeout) as wire:
            wire.send(request(method, path, data, headers))
            answer = wire.answer()
        assert answer is not None, "the daemon closed without an answer"
        return answer

    def stop(self) -> int:
        """Stop the daemon by SIGTERM; return its exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)

    def kill(self) -> None:
        """End the daemon by SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(STOP_S)

    def anonymous_rss(self) -> int:
        """Return the bytes of anonymous memory of the daemon (without LMDB's map)."""
        return status_bytes(self.pid, "RssAnon")

    def open_files(self) -> int:
        """Return the number of file descriptors that the daemon has open."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))


def status_bytes(pid: int, name: str) -> int:
    """Return a size of /proc/PID/status in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text("ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"/proc/{pid}/status has no {name}")


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def compute_processes(pid: int) -> Iterator[int]:
    """Yield the compute processes of a daemon.

    One that is being started runs the daemon's program still, and is left alone: while it is between vfork and exec the
    daemon waits for it, so a stop of the child alone would stop both for ever.
    """
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            for child in map(int, (task / "children").read_text("ascii").split()):
                if b"reveried.compute" in Path(f"/proc/{child}/cmdline").read_bytes():
                    yield child


@contextmanager
def scratch_home() -> Iterator[Path]:
    """Yield a folder with a path short enough for a socket, removed afterwards."""
    home = Path(tempfile.mkdtemp(prefix="rv-"))
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def set_clock(home: Path, now_ms: int) -> None:
    """Set the time of a daemon under this home."""
    beside = home / "clock-next"
    beside.write_text(datetime.fromtimestamp(now_ms / 1000, UTC).isoformat())
    beside.replace(home / "clock")


def environment(home: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a daemon under `home`: ours without REVERIE_*, and `settings` unchanged."""
    base = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    return {**base, "REVERIE_HOME": str(home), **settings}


def _end_of(daemon: Daemon) -> str:
    """Return as text whether the daemon's process runs or with what status it ended, and the end of its log.

    A crashing process closes its sockets first and can be waited for a moment later: a test may fail before it ended.
    """
    status = None
    if daemon.process is not None:
        with suppress(subprocess.TimeoutExpired):
            status = daemon.process.wait(1.0)
    state = "runs" if status is None else f"ended with {status}"
    return f"the daemon {state}; the end of its log:\n{daemon.log_text()[-20_000:]}"


@contextmanager
def running_daemon(home: Path | None = None, **settings: str) -> Iterator[Daemon]:
    """Yield a running daemon; assert that SIGTERM ends it with 0.

    `settings` are environment variables, such as `REVERIE_DAEMON_HEADER_SECONDS="0.3"`. A test that kills or stops the
    process by itself is left alone; one whose daemon crashed fails with its log, which has the stacks of all threads.
    """
    with scratch_home() as scratch:
        folder = home or scratch
        daemon = Daemon(folder, {**environment(folder, **settings), "PYTHONFAULTHANDLER": "1"})
        try:
            yield daemon.start()
            if daemon.process is not None and daemon.process.poll() is None:
                status = daemon.stop()
                assert status == 0, f"SIGTERM ended the daemon with {status}:\n{daemon.log_text()}"
            ended = None if daemon.process is None else daemon.process.returncode
            assert ended not in CRASHES, f"the daemon crashed with {ended}:\n{daemon.log_text()}"
        except Exception as error:
            error.add_note(_end_of(daemon))
            raise
        finally:
            if daemon.process is not None and daemon.process.poll() is None:
                daemon.kill()


@contextmanager
def daemon_on_copy(original: Path, **settings: str) -> Iterator[Daemon]:
    """Yield a running daemon whose home is a copy of that of one which has stopped."""
    with scratch_home() as scratch:
        home = shutil.copytree(original, scratch / "home", ignore=shutil.ignore_patterns("run", "log"))
        with running_daemon(home, **settings) as daemon:
            yield daemon


def free_port() -> int:
    """Return a port of the loopback address that no process uses.

    Below those that the kernel gives to other sockets by itself, so that none of them takes it before it is used.
    """
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class TcpCaller:
    """One kept connection over which requests with one token are sent."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Send one request and return its answer; `body` is any JSON value."""
        sent = {**self._headers, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        self.connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = self.connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


BODY_BYTES = 1 << 20
LIMITED: dict[str, Any] = {"REVERIE_DAEMON_BODY_BYTES": str(BODY_BYTES)}
"""A small body limit, so that tests need not send much."""

QUICK: dict[str, Any] = LIMITED | {
    "REVERIE_DAEMON_HEADER_SECONDS": "0.4",
    "REVERIE_DAEMON_BODY_SECONDS": "0.5",
    "REVERIE_DAEMON_IDLE_SECONDS": "1.5",
    "REVERIE_DAEMON_WRITE_SECONDS": "0.6",
}
"""Deadlines so short that a test can wait for them; only for tests that a pause of the machine cannot lead there."""

HEALTH = request("GET", "/v1/health")


def check_refused(answer: Answer | None, status: int, code: str, reason: str | None = None) -> None:
    """Assert that an answer is an error envelope with this status and code."""
    assert answer is not None, "closed without an answer"
    assert (answer.status, answer.json()["error"]) == (status, code), answer.body
    assert set(answer.json()) == {"error", "message", "details"}
    assert answer.json()["details"]["hint"]
    assert answer.headers["reverie-protocol"] == "1"
    if reason is not None:
        assert answer.json()["details"]["reason"] == reason


def check_serving(daemon: Daemon) -> None:
    """Assert that the daemon answers a health request."""
    assert daemon.ask("GET", "/v1/health").status == 200


def serves(daemon: Daemon) -> bool:
    """Return whether the daemon serves a new connection now, rather than closing it."""
    with daemon.wire() as wire:
        wire.send(HEALTH)
        answer = wire.answer()
    return answer is not None and answer.status == 200


def bearer(token: str) -> dict[str, str]:
    """Return the authorization header of a token."""
    return {"Authorization": f"Bearer {token}"}
