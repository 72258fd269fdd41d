"""The `reverie` command: two that must not load the command tree, then the tree."""

from __future__ import annotations

import codecs
import io
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0 done, 1 failed, 2 usage, 3 no daemon, 4 conflict, 5 refused."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and _raises_on_letters(stream):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows `?` where a traceback would be
    if not sys.platform.startswith("linux"):
        return _refused_platform(words)
    match words:
        case ["serve"]:
            # A client may be waiting for the daemon's first answer: load nothing that the daemon does not need.
            from reveried.app import run_in_foreground

            return run_in_foreground()
        case ["mcp"]:
            # A client may be waiting with its first prompt: the bridge loads the standard library alone.
            from reveried.mcp.stdio import run as run_bridge

            return run_bridge()
    from reveried.cli.tree import run

    return run(words)


def _raises_on_letters(stream: io.TextIOWrapper) -> bool:
    """Return True if a stream raises an error for a letter that its encoding lacks.

    In the C locale without UTF-8 mode the encoding is ASCII with `surrogateescape`, which raises one for every letter.
    """
    is_utf8 = codecs.lookup(stream.encoding).name == "utf-8"
    return stream.errors == "strict" or (stream.errors == "surrogateescape" and not is_utf8)


def _refused_platform(words: Sequence[str]) -> int:
    """Print why this system is refused, and return the exit code."""
    from reverie.errors import ReverieError
    from reveried.cli.output import print_error
    from reveried.linux import require_linux

    try:
        require_linux()
    except ReverieError as error:
        print_error("reverie", error, json="--json" in words)
        return error.exit_status
    raise AssertionError("this platform is supported")
