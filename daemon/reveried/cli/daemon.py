"""Commands for the daemon process: serve, up, down, status, logs, version, service; and starting and stopping it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from reverie import files
from reverie.api.endpoint import BadAnswer
from reverie.client import Client
from reverie.errors import (
    Busy,
    Conflict,
    DaemonNotRunning,
    NotFound,
    ProtocolMismatch,
    ReverieError,
    Starting,
    StorageFailed,
)
from reverie.private_folder import make_private
from reveried import PROTOCOL, __version__
from reveried.cli import daemon_client, waiting
from reveried.cli.command import Answer, Option
from reveried.cli.output import print_fields, say, spinner

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


def mcp() -> int:
    """Serve the tools of agents to a client of the Model Context Protocol, over standard input and output.

    Example: reverie mcp
    """
    from reveried.mcp.stdio import run as run_bridge

    return run_bridge()


def serve() -> int:
    """Run the daemon in the foreground.

    Example: reverie serve
    """
    from reveried.app import run_in_foreground

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
        root = daemon_client.root()
        if root.exists() or not client.sync_status().documents:
            say(f"Memories are files in {root}.")
        else:  # moved, not mounted, or another one in the settings
            say(f"{root} is not there: nothing is synced. Next: reverie sync status")
        if not client.threads(limit=1).items:
            say("Next: reverie import claude-code ~/.claude/projects")


def down() -> Answer:
    """Stop the daemon after it has finished its work.

    Example: reverie down
    """
    pid = daemon_client.running()
    if pid is None:
        yield {"stopped": False}
        say("The daemon is not running.")
        return
    # One that hangs is not waited for. Another may have no socket, a full disk, another version, or a store to open.
    with contextlib.suppress(DaemonNotRunning, StorageFailed, ProtocolMismatch, BadAnswer, Starting):
        daemon_client.health()
    stop_daemon(pid)
    yield {"stopped": True, "pid": pid}
    say(f"The daemon has stopped (it was process {pid}).")


def logs(
    follow: Annotated[bool, Option("--follow", "-f", help="Print new lines until Ctrl-C.")] = False,
    lines: Annotated[int, Option("--lines", "-n", min=1, help="How many of the last lines to show.")] = 50,
) -> Answer:
    """Show the daemon's log.

    Example: reverie logs -f
    """
    path = daemon_client.log_file()
    if unit_file().exists() and (not path.exists() or _active_state("reverie.service") == "active"):
        raise click.exceptions.Exit(_print_journal(lines, follow=follow))  # a file is of an earlier `reverie up`
    if not path.exists():
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


def _follow(file: BinaryIO) -> None:
    """Print what is appended to the file until interrupted."""
    sys.stdout.flush()
    while True:
        data = file.read()
        if data:
            say(data.decode("utf-8", "replace").rstrip("\n"))
            sys.stdout.flush()
        else:
            time.sleep(_FOLLOW_S)


def _print_journal(lines: int, *, follow: bool) -> int:
    command = ["journalctl", "--user", "--unit", "reverie", "--lines", str(lines), *(["--follow"] if follow else [])]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - a fixed command


@dataclass(frozen=True, slots=True)
class Started:
    """Health of a running daemon; `is_new` if `start_daemon` started it and did not find it running."""

    health: wire.Health
    is_new: bool


def start_daemon(client: Client, log_file: Path, environment: Mapping[str, str]) -> Started:
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


def _health_once_open(client: Client) -> wire.Health:
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
        StorageFailed: it does not begin to stop within STOP_MAX_S, or says for so long no more what it waits for.
    """
    from reveried.stop_note import StopNote

    data_dir, said = daemon_client.layout().data_dir, ""
    os.kill(pid, signal.SIGTERM)
    began = noted = time.monotonic()
    while is_alive(pid):
        now = time.monotonic()
        waits_for = StopNote.read(data_dir)
        noted = now if waits_for else noted  # the note is gone some moments before the process is
        if waits_for and waits_for != said and now - began > STOP_SAID_S:
            said = waits_for
            sys.stderr.write(f"Waiting for {waits_for}; Ctrl-C leaves it to end by itself.\n")
        if now - noted > STOP_MAX_S:
            says = "has not begun to stop" if noted == began else "has not ended"
            raise StorageFailed(
                f"the daemon (process {pid}) {says} after {STOP_MAX_S:g} s: it hangs, or was stopped",
                hint=waiting.wake_hint(str(pid)),
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


def _rotate_log(log_file: Path) -> int:
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


def _spawn(log_file: Path, environment: Mapping[str, str]) -> int:
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


def _exited(status: int, log_file: Path, log_bytes: int) -> ReverieError:
    """Return the error for a daemon that exited before it answered; its log lines begin at `log_bytes`.

    `status` is negative if a signal ended the process. It then had no time to log why, so the signal is the reason.
    """
    if -status in _CRASHES:
        name = signal.Signals(-status).name
        return StorageFailed(
            f"the daemon was ended by {name} while it read its store, which is probably damaged", hint=_DAMAGE_HINT
        )
    from reveried.app import EXIT_CONFIG

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


def not_running(error: DaemonNotRunning) -> DaemonNotRunning:
    """Return the error, with the reason if the store shows it: it is truncated, or its daemon did not close it."""
    from reverie.store import needs_check, truncated_at

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


UNITS = ("reverie.service", "reverie.socket")
_SHIPPED_COMMAND = "%h/.local/bin/reverie"  # the ExecStart of the shipped unit, replaced by this installation's
_SHIPPED_SOCKET = "%t/reverie/reverie.sock"  # the ListenStream, likewise
# What `Layout.from_env` reads: a service has none of the shell's variables.
_PLACES = ("REVERIE_HOME", "REVERIE_SOCKET", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
_OF_NAMESPACE = (
    "PrivateUsers=yes\n",
    "CapabilityBoundingSet=\n",
)  # a service that may not have one ends with 217 or 218
# unshare(CLONE_NEWUSER), then prctl(PR_CAPBSET_DROP): some systems allow the first alone.
_NAMESPACE_CHECK = (
    "import ctypes, sys; c = ctypes.CDLL(None); sys.exit(c.unshare(0x10000000) or c.prctl(24, 0, 0, 0, 0))"
)


def service_install() -> Answer:
    """Let systemd start the daemon at the first call, also after a reboot.

    Example: reverie service install
    """
    # Fails without a user session: nothing would ever start the units, so none is written.
    systemctl("show", "--property=Version", "--value")
    # Another daemon would make its socket anew in the place of systemd's, and the service's end at each start.
    pid = daemon_client.running()
    if pid is not None and systemctl("show", "--property=MainPID", "--value", UNITS[0]) != str(pid):
        hint = "reverie down, then reverie service install"
        raise Conflict(f"a daemon runs that is not of the service (process {pid})", hint=hint)
    folder = unit_folder()
    make_private(folder)
    for unit in UNITS:
        files.write_atomic(folder / unit, unit_text(unit).encode(), mode=0o644)
    systemctl("daemon-reload")
    systemctl("enable", "--now", "reverie.socket")
    yield {"installed": [str(folder / unit) for unit in UNITS], "command": command_line()}
    say(f"Installed in {folder}. The daemon starts with the first call, such as: reverie status")


def service_uninstall() -> Answer:
    """Stop the service and remove its units; memories are not touched.

    Example: reverie service uninstall
    """
    folder = unit_folder()
    paths = [folder / unit for unit in UNITS if (folder / unit).exists()]
    failure = _try_systemctl("disable", "--now", "reverie.socket", "reverie.service") if paths else None
    for path in paths:
        path.unlink(missing_ok=True)
    if paths:
        failure = _try_systemctl("daemon-reload") or failure
    yield {"removed": [str(path) for path in paths], "systemd": failure}
    say("The service is removed; memories are not touched." if paths else "The service is not installed.")
    if failure:
        say(f"systemd did not stop it ({failure}); if the daemon is still running: reverie down")


def service_status() -> Answer:
    """Show whether the service is installed and running.

    Example: reverie service status
    """
    installed = unit_file().exists() and socket_file().exists()
    service, socket = _active_state("reverie.service"), _active_state("reverie.socket")
    yield {"installed": installed, "service": service, "socket": socket, "path": str(unit_file())}
    print_fields(
        ("Installed", str(unit_file()) if installed else "no; reverie service install"),
        ("Service", service),
        ("Socket", socket),
    )


def _try_systemctl(*words: str) -> str | None:
    """Run systemctl and return its error message, or None: uninstalling removes the unit files in either case."""
    try:
        systemctl(*words)
    except ReverieError as error:
        return error.message
    return None


def _active_state(unit: str) -> str:
    """Return systemd's ActiveState of a unit: `active`, `inactive`, `failed`; `unknown` without a user session."""
    with contextlib.suppress(ReverieError):
        return systemctl("show", "--property=ActiveState", "--value", unit) or "unknown"
    return "unknown"


def unit_folder() -> Path:
    """Return the folder from which systemd reads a user's units."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    config = Path(base) if Path(base).is_absolute() else Path.home() / ".config"
    return config / "systemd" / "user"


def unit_file() -> Path:
    """Return the path of the service unit."""
    return unit_folder() / UNITS[0]


def socket_file() -> Path:
    """Return the path of the socket unit."""
    return unit_folder() / UNITS[1]


def unit_text(unit: str) -> str:
    """Return the shipped unit with command line and places of this installation, without what this system refuses."""
    text = resources.files("reveried.cli").joinpath("systemd", unit).read_text(encoding="utf-8")
    for line in () if has_namespaces() else _OF_NAMESPACE:
        text = text.replace(line, "")
    places = [f"{name}={os.environ[name]}" for name in _PLACES if os.environ.get(name)]
    environment = "".join(f"Environment={_quoted(place)}\n" for place in places)
    text = text.replace("ExecStart=", environment + "ExecStart=").replace(_SHIPPED_COMMAND, command_line())
    return text.replace(_SHIPPED_SOCKET, str(daemon_client.socket_path()).replace("%", "%%"))


def has_namespaces() -> bool:
    """Return True where a process of this user may have a user namespace, and drop capabilities in it."""
    command = [sys.executable, "-IS", "-c", _NAMESPACE_CHECK]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603


def command_line() -> str:
    """Return this `reverie` as an ExecStart value: its script, or the interpreter if it was started as a module."""
    started = Path(sys.argv[0])
    if started.name == "reverie" and started.exists():
        return _quoted(started.absolute())
    script = Path(sys.executable).with_name("reverie")
    return _quoted(script) if script.exists() else f"{_quoted(Path(sys.executable))} -m reveried.cli"


def systemctl(*words: str) -> str:
    """Run `systemctl --user` and return what it prints.

    Raises:
        NotFound: this system has no systemd.
        StorageFailed: systemctl failed, with its reason.
    """
    program = shutil.which("systemctl")
    if program is None:
        raise NotFound("there is no systemctl here", hint="start the daemon with `reverie up` instead")
    process = subprocess.run([program, "--user", *words], check=False, capture_output=True, text=True)  # noqa: S603
    if process.returncode != 0:
        raise _systemctl_failed(words, process.stderr.strip() or process.stdout.strip())
    return process.stdout.strip()


def _systemctl_failed(words: tuple[str, ...], message: str) -> ReverieError:
    reason = message.splitlines()[0] if message else "it gave no reason"
    return StorageFailed(
        f"systemctl --user {' '.join(words)} failed: {reason}",
        hint="without a systemd user session, start the daemon with `reverie up`",
    )


def _quoted(path: Path | str) -> str:
    """Quote a path for a systemd unit: `%` doubled, in quotes if it contains a space."""
    text = str(path).replace("%", "%%")
    return f'"{text}"' if " " in text else text
