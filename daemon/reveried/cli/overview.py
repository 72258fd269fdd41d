"""What `reverie` says when it is asked nothing: what it is for, and the first things to type."""

from __future__ import annotations

from reverie.errors import ReverieError
from reveried.cli import daemon_handle
from reveried.cli.output import say

__all__ = ["overview"]

_TEXT = """\
Reverie gives AI agents a memory that survives. It keeps the thread of long work when an agent's
context runs full, learns from what was done, and writes what it learnt into plain markdown files
that you can read.

  See it work      reverie demo
  Start            reverie up                          ends with: reverie down
  Bring sessions   reverie import claude-code ~/.claude/projects
  Look around      reverie threads    reverie memories    reverie status
  Ask              reverie recall "how do we run the tests?"
  Go on            reverie context THREAD
  Take back        reverie log    reverie undo
  Everything       reverie --help
"""


def overview() -> None:
    """The text, and whether the daemon is running."""
    say(_TEXT)
    say(_daemon())


def _daemon() -> str:
    try:
        with daemon_handle.client() as client:
            health = client.health()
    except ReverieError as error:
        now = _sentence(f"Now: {error.message}")
        return f"{now} {_sentence(f'Next: {error.hint}')}" if error.hint else now
    return f"Now: the daemon is running (version {health.version}, process {health.pid})."


def _sentence(text: str) -> str:
    """One full stop at its end, whoever wrote it."""
    return text if text.endswith((".", "?", "!")) else text + "."
