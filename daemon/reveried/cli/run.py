"""Runs the command tree and turns every error into words and an exit code; the only place that does."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from typer.exceptions import Abort, TyperException

from reverie.errors import ReverieError, StorageFailed, ValidationError
from reveried.cli.output import complain
from reveried.cli.tree import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["guarded", "run"]

INTERRUPTED = 130


def run(arguments: Sequence[str]) -> int:
    """The exit code of one command line."""
    what = _named(arguments)
    return guarded(what, lambda: tree()(args=list(arguments), prog_name="reverie", standalone_mode=False), arguments)


def guarded(what: str, action: object, arguments: Sequence[str]) -> int:
    """Do it, and say in words what went wrong."""
    assert callable(action)
    json = "--json" in arguments
    try:
        done = action()
    except ReverieError as error:
        complain(what, error, json=json)
        return error.exit_status
    except TyperException as error:
        wrong = ValidationError(error.format_message().rstrip("."), hint=f"{what} --help shows how it is used")
        complain(what, wrong, json=json)
        return wrong.exit_status
    except Abort:
        wrong = ValidationError("that was not confirmed, and nothing was changed", hint="answer y, or give --yes")
        complain(what, wrong, json=json)
        return 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; the interpreter must not complain about it at its end.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        failed = StorageFailed(f"{error.strerror or error}{where}", hint="reverie doctor checks places and permissions")
        complain(what, failed, json=json)
        return failed.exit_status
    return done if isinstance(done, int) else 0


def _named(arguments: Sequence[str]) -> str:
    """`reverie` and the command's words, as far as they are known: `reverie archives list`."""
    known = tree().commands
    words = ["reverie"]
    for argument in arguments[:2]:
        if argument not in known:
            break
        words.append(argument)
        known = getattr(known[argument], "commands", {})
    return " ".join(words)
