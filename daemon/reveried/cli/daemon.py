"""Commands for the daemon process: serve, up, down, status, logs, version; and starting and stopping that process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from reverie.client import Client
from reverie.errors import Busy, DaemonNotRunning, NotFound, ReverieError, Starting, StorageFailed
from reverie.private_folder import make_private
from reveried import PROTOCOL, __version__
from reveried.cli import daemon_client
from reveried.cli.command import Answer, Argument, Json, Option
from reveried.cli.output import say, spinner
from reveried.cli.status import print_status

if TYPE_CHECKING:
    from typing import BinaryIO

    from reverie import wire

START_MAX_S = 30.0  # a start after an unclean stop checks the whole store first
STOP_MAX_S = 30.0  # for a daemon that shows no sign of stopping
STOP_SAID_S = 1.0  # a stop that takes longer says what it waits for
POLL_S = 0.05
LOG_MAX_BYTES = 5 * 1024 * 1024  # rotated at start beyond this; one older file is kept
_LOG_TAIL_BYTES = 4096  # of the log: enough for the last line, which says why the daemon ended
# LMDB asserts, or follows a wild page number in its map: a crash is what a damaged store looks like.
_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
_DAMAGE_HINT = "`reverie check` lists what is damaged, `reverie restore FILE` brings back a backup"
_LOGS_TAIL_BYTES = 1024 * 1024  # of the log that `reverie logs` reads
_FOLLOW_S = 0.2  # poll interval of `reverie logs --follow`


def demo(
    paths: Annotated[
        list[Path] | None, Argument("[PATH...]", "Session files; default: your newest session, else a sample.")
    ] = None,
    keep: Annotated[bool, Option("--keep", help="Leave the daemon running and the folder in place.")] = False,
    json: Json = False,
) -> None:
    """Show what Reverie does with one session, in a temporary folder.

    Example: reverie demo
    """
    from reveried.demo import run_demo  # noqa: PLC0415 - only this command needs it

    run_demo(paths or [], keep=keep, json=json)


def mcp() -> int:
    """Serve the tools of agents to a client of the Model Context Protocol, over standard input and output.

    Example: reverie mcp
    """
    from reveried.mcp.stdio import run as run_bridge  # noqa: PLC0415 - only this command needs it

    return run_bridge()


def serve() -> int:
    """Run the daemon in the foreground.

    Example: reverie serve
    """
    from reveried.app import run_in_foreground  # noqa: PLC0415 - only this command loads the daemon itself

    return run_in_foreground()


def up() -> Answer:
    """Start the daemon in the background and wait until it answers.

    Example: reverie up
    """
    with daemon_client.client(with_token=False, timeout_s=daemon_client.HEALTH_S) as client:
        try:
            started = start_daemon(client, daemon_client.log_file(), os.environ)
        except Starting:
            raise
        except Busy as error:
            raise daemon_client.hanging() from error
        pid = started.health.pid
        yield {"started": started.is_new, "pid": pid, "version": started.health.version}
        if not started.is_new:
            say(f"The daemon is already running (process {pid}).")
            return
        say(f"The daemon is running (process {pid}).")
        say(f"Memories are files in {daemon_client.root()}.")
        if not client.threads(limit=1).items:
            say("Next: reverie import claude-code ~/.claude/projects")


def down() -> Answer:
    """Stop the daemon after it has finished its work.

    Example: reverie down
    """
    try:
        pid = daemon_client.health().pid
    except DaemonNotRunning:
        yield {"stopped": False}
        say("The daemon is not running.")
        return
    stop_daemon(pid)
    yield {"stopped": True, "pid": pid}
    say(f"The daemon has stopped (it was process {pid}).")


def status() -> Answer:
    """Show what is stored, the schedules, and what needs attention.

    Example: reverie status
    """
    try:
        health = daemon_client.health()
        with daemon_client.client() as client:
            daemon_status = client.status()
    except DaemonNotRunning as error:
        raise _not_running(error) from error
    yield {"health": health, "status": daemon_status}
    print_status(health, daemon_status)


def logs(
    follow: Annotated[bool, Option("--follow", "-f", help="Print new lines until Ctrl-C.")] = False,
    lines: Annotated[int, Option("--lines", "-n", min=1, help="How many of the last lines to show.")] = 50,
) -> Answer:
    """Show the daemon's log.

    Example: reverie logs -f
    """
    path = daemon_client.log_file()
    if not path.exists():
        if _is_service():
            raise click.exceptions.Exit(_print_journal(lines, follow=follow))
        raise NotFound(f"there is no log at {path} yet", hint="run `reverie up`; a service writes to journalctl --user")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LOGS_TAIL_BYTES))
        tail = file.read().decode("utf-8", "replace").splitlines()[-lines:]
        yield {"path": str(path), "lines": tail}
        for line in tail:
            say(line)
        if follow:
            _follow(file)


def version() -> Answer:
    """Show the version of the program and of its protocol.

    Example: reverie version
    """
    yield {"version": __version__, "protocol": PROTOCOL, "python": sys.version.split()[0]}
    say(f"reverie {__version__} (protocol {PROTOCOL}, Python {sys.version.split()[0]})")


def _follow(file: "BinaryIO") -> None:
    """Print what is appended to the file until interrupted."""
    sys.stdout.flush()
    while True:
        data = file.read()
        if data:
            say(data.decode("utf-8", "replace").rstrip("\n"))
            sys.stdout.flush()
        else:
            time.sleep(_FOLLOW_S)


def _is_service() -> bool:
    """Return True if the systemd service is installed."""
    from reveried.cli.service import unit_file  # noqa: PLC0415 - only where there is no log file

    return unit_file().exists()


def _print_journal(lines: int, *, follow: bool) -> int:
    """Print the service's log with journalctl and return its exit code."""
    command = ["journalctl", "--user", "--unit", "reverie", "--lines", str(lines), *(["--follow"] if follow else [])]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - a fixed command


@dataclass(frozen=True, slots=True)
class Started:
    """Health of a running daemon; `is_new` if `start_daemon` started it and did not find it running."""

    health: "wire.Health"
    is_new: bool


def start_daemon(client: Client, log_file: "Path", environment: Mapping[str, str]) -> Started:
    """Start the daemon in the background unless it is running; return when it answers.

    After an unclean stop it checks its store first, 20 s for 100,000 records: that is waited for, if it takes minutes.

    Raises:
        StorageFailed: it exited before it answered; the message says why.
    """
    try:
        return Started(_health_once_open(client), is_new=False)
    except DaemonNotRunning:
        log_bytes = _rotate_log(log_file)
        pid = _spawn(log_file, environment)
    deadline = time.monotonic() + START_MAX_S
    while time.monotonic() < deadline:
        exited_pid, status = os.waitpid(pid, os.WNOHANG)
        if exited_pid:
            raise _exited(os.waitstatus_to_exitcode(status), log_file, log_bytes)
        try:
            return Started(_health_once_open(client), is_new=True)
        except DaemonNotRunning:
            time.sleep(POLL_S)
    os.kill(pid, signal.SIGTERM)
    raise StorageFailed(
        f"the daemon did not answer within {START_MAX_S:g} s and was stopped", hint=f"read {log_file}, then try again"
    )


def _health_once_open(client: Client) -> "wire.Health":
    """Return the health of a daemon; while it opens its store, which can take minutes, wait and say so.

    Raises:
        DaemonNotRunning: there is none, or it ended.
    """
    with ExitStack() as waiting:
        is_first = True
        while True:
            try:
                return client.health()
            except Starting:
                if is_first:
                    waiting.enter_context(spinner("The daemon checks its store after an unclean stop"))
                is_first = False


def stop_daemon(pid: int) -> None:
    """Send SIGTERM to the daemon, and return when its process has exited, however long its work goes on.

    What it waits for is said on standard error.

    Raises:
        StorageFailed: it does not begin to stop within STOP_MAX_S.
    """
    from reveried.stop_note import StopNote  # noqa: PLC0415 - only to stop a daemon

    data_dir, said = daemon_client.layout().data_dir, ""
    os.kill(pid, signal.SIGTERM)
    began = time.monotonic()
    while is_alive(pid):
        seconds = time.monotonic() - began
        waits_for = StopNote.read(data_dir)
        if waits_for and waits_for != said and seconds > STOP_SAID_S:
            said = waits_for
            sys.stderr.write(f"Waiting for {waits_for}; Ctrl-C leaves it to end by itself.\n")
        if not waits_for and seconds > STOP_MAX_S:
            raise StorageFailed(
                f"the daemon (process {pid}) has not begun to stop after {STOP_MAX_S:g} s: it hangs, or was stopped",
                hint=daemon_client.wake_hint(str(pid)),
            )
        time.sleep(POLL_S)


def is_alive(pid: int) -> bool:
    """Return True if the process is running; a child process that has exited is reaped."""
    try:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return False
    except ChildProcessError:
        pass  # not our child: signal 0 decides
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def _rotate_log(log_file: "Path") -> int:
    """Create the log file, rotated if it is too large; return its size in bytes, at which the daemon's lines begin.

    Opened here as well, since an error in the child would name the interpreter and not the log. Raises OSError.
    """
    make_private(log_file.parent)
    if log_file.exists() and log_file.stat().st_size > LOG_MAX_BYTES:
        log_file.replace(log_file.with_name(log_file.name + ".1"))
    fd = os.open(log_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def _spawn(log_file: "Path", environment: Mapping[str, str]) -> int:
    """Start `reverie serve` in a session of its own, so that closing the terminal does not stop it; return its pid."""
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", "reveried.cli", "serve"],
        environment,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log_file), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def _exited(status: int, log_file: "Path", log_bytes: int) -> ReverieError:
    """Return the error for a daemon that exited before it answered; its log lines begin at `log_bytes`.

    `status` is negative if a signal ended the process. It then had no time to log why, so the signal is the reason.
    """
    if -status in _CRASHES:
        name = signal.Signals(-status).name
        return StorageFailed(
            f"the daemon was ended by {name} while it read its store, which is probably damaged", hint=_DAMAGE_HINT
        )
    from reveried.app import EXIT_CONFIG  # noqa: PLC0415 - the daemon's modules are loaded only for this error

    with log_file.open("rb") as file:
        file.seek(max(log_bytes, log_file.stat().st_size - _LOG_TAIL_BYTES))
        lines = file.read().decode("utf-8", "replace").strip().splitlines()
    last = lines[-1].strip().removeprefix("reveried: ") if lines else "it logged nothing"
    if status < 0:
        message = f"the daemon was ended by {signal.Signals(-status).name} before it answered: {last}"
        return StorageFailed(message, hint="run `reverie up` again; SIGKILL often means no memory")
    if status == EXIT_CONFIG:  # a damaged store or invalid settings
        hint = "reverie config validate" if daemon_client.valid_settings()[1] else _DAMAGE_HINT
        return StorageFailed(f"the daemon did not start: {last}", hint=hint)
    return StorageFailed(f"the daemon exited at once with status {status}: {last}", hint="run `reverie doctor`")


def _not_running(error: DaemonNotRunning) -> DaemonNotRunning:
    """Return the error, with the reason if the store shows it: it is truncated, or its daemon did not close it."""
    from reverie.store import needs_check, truncated_at  # noqa: PLC0415 - only if there is no daemon

    store = daemon_client.layout().store_dir
    try:
        truncated = truncated_at(store / "data.mdb")
        is_unclean = needs_check(store)
    except OSError:
        return error  # there is no store yet, or it cannot be read: `reverie doctor` says so
    if truncated is not None:
        size, needed = truncated
        why = f"the store in {store} is truncated, it has {size:,} of {needed:,} bytes"
        return DaemonNotRunning(f"{error.message}; {why}", hint=_DAMAGE_HINT)
    if is_unclean:
        hint = "run `reverie up`, which checks the store first"
        return DaemonNotRunning(f"{error.message}; it ended without closing its store", hint=hint)
    return error
