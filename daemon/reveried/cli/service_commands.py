"""`reverie service`: the daemon as a systemd user service that starts with the first call."""

import contextlib

from reverie import files
from reverie.errors import ReverieError
from reveried.cli import units
from reveried.cli.options import Json
from reveried.cli.output import as_json, fields, say

__all__ = ["service_install", "service_status", "service_uninstall"]


def service_install(json: Json = False) -> None:
    """Let systemd start the daemon at the first call, now and after a restart.

    Example: reverie service install
    """
    # Without a user session nothing would ever start the units: none is written.
    units.systemctl("show", "--property=Version", "--value")
    folder = units.unit_folder()
    folder.mkdir(parents=True, exist_ok=True)
    for unit in units.UNITS:
        files.write_atomic(folder / unit, units.text_of(unit).encode(), mode=0o644)
    units.systemctl("daemon-reload")
    units.systemctl("enable", "--now", "reverie.socket")
    if json:
        as_json({"installed": [str(folder / unit) for unit in units.UNITS], "command": units.command_line()})
        return
    say(f"Installed in {folder}. The daemon starts with the first call, such as: reverie status")


def service_uninstall(json: Json = False) -> None:
    """Stop the service and remove its units; memories stay.

    Example: reverie service uninstall
    """
    folder = units.unit_folder()
    there = [folder / unit for unit in units.UNITS if (folder / unit).exists()]
    untold = _told("disable", "--now", "reverie.socket", "reverie.service") if there else None
    for path in there:
        path.unlink(missing_ok=True)
    if there:
        untold = _told("daemon-reload") or untold
    if json:
        as_json({"removed": [str(path) for path in there], "systemd": untold})
        return
    say("The service is removed. What is remembered stays." if there else "The service is not installed.")
    if untold:
        say(f"systemd could not be told ({untold}); if the daemon still runs: reverie down")


def service_status(json: Json = False) -> None:
    """Show whether the service is installed and running.

    Example: reverie service status
    """
    installed = units.unit_file().exists() and units.socket_file().exists()
    service, socket = _state("reverie.service"), _state("reverie.socket")
    if json:
        as_json({"installed": installed, "service": service, "socket": socket, "path": str(units.unit_file())})
        return
    fields(
        [
            ("Installed", str(units.unit_file()) if installed else "no; reverie service install"),
            ("Service", service),
            ("Socket", socket),
        ]
    )


def _told(*words: str) -> str | None:
    """What kept systemd from doing it; the units' files go even so."""
    try:
        units.systemctl(*words)
    except ReverieError as error:
        return error.message
    return None


def _state(unit: str) -> str:
    """`active`, `inactive`, `failed`, or `unknown` without a user session."""
    with contextlib.suppress(ReverieError):
        return units.systemctl("show", "--property=ActiveState", "--value", unit) or "unknown"
    return "unknown"
