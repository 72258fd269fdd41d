"""What can go wrong before an answer is there, in the words of the error tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.errors import Busy, DaemonNotRunning, Forbidden, ReverieError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NOBODY", "late", "lost", "unreachable"]

NOBODY = (FileNotFoundError, ConnectionRefusedError)
"""What connecting raises where no daemon listens."""


def unreachable(socket_path: Path, error: OSError) -> ReverieError:
    """Why no connection could be made."""
    if isinstance(error, NOBODY):
        return DaemonNotRunning("the daemon is not running: nobody answers at its socket", hint="run `reverie up`")
    if isinstance(error, PermissionError):
        return Forbidden(
            f"the socket {socket_path} may not be opened by this user",
            hint="run the command as the user whose daemon it is",
        )
    return DaemonNotRunning(
        f"the socket {socket_path} cannot be reached: {error.strerror}", hint="run `reverie doctor`"
    )


def lost() -> ReverieError:
    """The connection ended before the answer."""
    return DaemonNotRunning(
        "the daemon closed the connection before it answered",
        hint="run `reverie logs` to see why, then `reverie up`",
    )


def late(timeout_s: float) -> ReverieError:
    """No answer in time; the work may still be done."""
    return Busy(f"the daemon did not answer within {timeout_s:g} s", hint="run `reverie status`, then try again")
