"""The commands about the daemon itself: serve, up, down, status, logs, version."""

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from reverie.errors import DaemonNotRunning, NotFound
from reveried import PROTOCOL, __version__
from reveried.cli import daemon_handle, process
from reveried.cli.options import Json
from reveried.cli.output import as_json, counted, fields, say, when

if TYPE_CHECKING:
    from typing import BinaryIO

    from reverie import wire

__all__ = ["down", "logs", "serve", "status", "up", "version"]

_FOLLOW_S = 0.2
_TAIL_BYTES = 1024 * 1024


def serve() -> None:
    """Run the daemon in the foreground.

    Example: reverie serve
    """
    from reveried.cli.serve import serve as run  # noqa: PLC0415 - the daemon is loaded by this command alone

    raise typer.Exit(run())


def up(json: Json = False) -> None:
    """Start the daemon in the background and wait until it answers.

    Example: reverie up
    """
    with daemon_handle.client() as client:
        started = process.start(client, daemon_handle.log_file(), os.environ)
    health = started.health
    if json:
        as_json({"started": started.is_new, "pid": health.pid, "version": health.version})
        return
    if not started.is_new:
        say(f"The daemon is already running (process {health.pid}).")
        return
    say(f"The daemon is running (process {health.pid}).")
    say(f"Your memory is kept in {daemon_handle.root()}. Next: reverie import claude-code ~/.claude/projects")


def down(json: Json = False) -> None:
    """Let the daemon finish its work and stop it.

    Example: reverie down
    """
    with daemon_handle.client() as client:
        try:
            pid = client.health().pid
        except DaemonNotRunning:
            as_json({"stopped": False}) if json else say("The daemon is not running.")
            return
        client.close()
        process.end(pid, client)
    as_json({"stopped": True, "pid": pid}) if json else say(f"The daemon has stopped (it was process {pid}).")


def status(json: Json = False) -> None:
    """Show what is stored, what runs by itself and what wants your eye.

    Example: reverie status
    """
    with daemon_handle.client() as client:
        health, found = client.health(), client.status()
    if json:
        as_json({"health": health, "status": found})
        return
    _print_status(health, found)


def logs(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on as new lines come.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many of the last lines to show.")] = 50,
    json: Json = False,
) -> None:
    """Show what the daemon wrote to its log.

    Example: reverie logs -f
    """
    path = daemon_handle.log_file()
    if not path.exists():
        if _is_service():
            raise typer.Exit(_journal(lines, follow=follow))
        raise NotFound(f"there is no log at {path} yet", hint="run `reverie up`; a service writes to journalctl --user")
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        last = file.read().decode("utf-8", "replace").splitlines()[-lines:]
        if json:
            as_json({"path": str(path), "lines": last})
            return
        for line in last:
            say(line)
        if follow:
            _follow(file)


def version(json: Json = False) -> None:
    """Show the version of the program and of its protocol.

    Example: reverie version
    """
    if json:
        as_json({"version": __version__, "protocol": PROTOCOL, "python": sys.version.split()[0]})
        return
    say(f"reverie {__version__} (protocol {PROTOCOL}, Python {sys.version.split()[0]})")


def _print_status(health: "wire.Health", found: "wire.Status") -> None:
    tokens = found.spend
    pairs: list[tuple[str, object]] = [
        (
            "Daemon",
            f"{health.status}, version {health.version}, process {health.pid}, up {_age(health.uptime_seconds)}",
        ),
        ("Folder", found.root),
        ("Holds", ", ".join(f"{number:,} {kind}" for kind, number in found.counts.items()) or "nothing yet"),
        ("Decides", found.model.name or f"{found.model.engine} (built in, no network)"),
        ("Tokens used", f"{tokens.total:,} so far, {tokens.today:,} today"),
    ]
    if found.last_dream is not None:
        pairs.append(("Last dream", f"{when(found.last_dream.at)} UTC ({found.last_dream.id})"))
    pairs.extend(("Dreams", f"{row.cron} {row.timezone}, next {when(row.next_run)} UTC") for row in found.schedules)
    if found.open_conflicts:
        pairs.append(("Conflicts", f"{counted(found.open_conflicts, 'conflict')}; reverie sync conflicts"))
    if found.sync is not None and found.sync.state == "stopped":
        pairs.append(("Sync", f"stopped: {found.sync.reason}; reverie sync status"))
    elif found.sync is not None and found.sync.refused:
        pairs.append(("Sync", f"{counted(len(found.sync.refused), 'file')} not read; reverie sync status"))
    fields(pairs)


def _age(seconds: float) -> str:
    minutes, hours = int(seconds // 60), int(seconds // 3600)
    if minutes < 1:
        return counted(int(seconds), "second")
    return counted(minutes, "minute") if hours < 1 else counted(hours, "hour") if hours < 48 else f"{hours // 24} days"


def _follow(file: "BinaryIO") -> None:
    """Print what is appended until interrupted."""
    sys.stdout.flush()
    while True:
        piece = file.read()
        if piece:
            say(piece.decode("utf-8", "replace").rstrip("\n"))
            sys.stdout.flush()
        else:
            time.sleep(_FOLLOW_S)


def _is_service() -> bool:
    from reveried.cli.units import unit_file  # noqa: PLC0415 - only where there is no log file

    return unit_file().exists()


def _journal(lines: int, *, follow: bool) -> int:
    command = ["journalctl", "--user", "--unit", "reverie", "--lines", str(lines), *(["--follow"] if follow else [])]
    return subprocess.run(command, check=False).returncode  # noqa: S603 - a fixed command
