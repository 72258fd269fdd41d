"""`reverie service`: install, remove and show the systemd user units that start the daemon at the first call."""

import contextlib
import os
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

from reverie import files
from reverie.errors import NotFound, ReverieError, StorageFailed
from reverie.private_folder import make_private
from reveried.cli.command import Answer
from reveried.cli.output import print_fields, say

UNITS = ("reverie.service", "reverie.socket")
_SHIPPED_COMMAND = "%h/.local/bin/reverie"  # the ExecStart of the shipped unit, replaced by this installation's
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
        [
            ("Installed", str(unit_file()) if installed else "no; reverie service install"),
            ("Service", service),
            ("Socket", socket),
        ]
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
    """Return the shipped unit with the command line of this installation, and without what this system refuses."""
    text = resources.files("reveried.cli").joinpath("systemd", unit).read_text(encoding="utf-8")
    for line in () if has_namespaces() else _OF_NAMESPACE:
        text = text.replace(line, "")
    return text.replace(_SHIPPED_COMMAND, command_line())


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
    """Return the error for a failed systemctl call."""
    reason = message.splitlines()[0] if message else "it gave no reason"
    return StorageFailed(
        f"systemctl --user {' '.join(words)} failed: {reason}",
        hint="without a systemd user session, start the daemon with `reverie up`",
    )


def _quoted(path: Path) -> str:
    """Quote a path for a systemd unit: `%` doubled, in quotes if it contains a space."""
    text = str(path).replace("%", "%%")
    return f'"{text}"' if " " in text else text
