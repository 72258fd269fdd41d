"""The commands that look back over documents: diff between two points, and a return to one of them."""

import difflib
import re
from typing import TYPE_CHECKING, Annotated

import typer

from reveried.cli import daemon_handle
from reveried.cli.options import Json
from reveried.cli.output import as_json, counted, say

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["diff", "rollback"]

_AFTER_LINE = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_SHOWN = {"\r\n": "\\r\\n", "\r": "\\r", "": " (no newline)"}


def diff(
    start: Annotated[str, typer.Argument(metavar="A", help="An operation's id; what came after it is shown.")],
    end: Annotated[str | None, typer.Argument(metavar="[B]", help="The last operation; the newest without it.")] = None,
    path: Annotated[str | None, typer.Option("--path", metavar="PATH", help="Only this document.")] = None,
    json: Json = False,
) -> None:
    """Show what changed in documents between two operations.

    Example: reverie diff OP
    """
    with daemon_handle.client() as client:
        found = client.difference(start, end, path=path)
    if json:
        as_json(found)
        return
    if not found.items:
        say(f"No document changed between operations {found.from_} and {found.to}.")
    for item in found.items:
        before, after = _lines(item.before or "", item.after or "")
        old = item.path if item.before is not None else "(not there)"
        new = item.path if item.after is not None else "(deleted)"
        ends = f"op {found.from_}", f"op {found.to}"
        lines = list(difflib.unified_diff(before, after, old, new, *ends, lineterm=""))
        for line in lines or [f"--- {old}\t{ends[0]}", f"+++ {new}\t{ends[1]}"]:  # an empty document has no lines
            say(line)


def rollback(
    operation: Annotated[
        str, typer.Argument(metavar="OP", help="The last operation whose work stays, as `reverie log` shows it.")
    ],
    path: Annotated[str | None, typer.Option("--path", metavar="PATH", help="Only this document.")] = None,
    memory: Annotated[str | None, typer.Option("--memory", metavar="ID", help="Only this memory.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Return documents, memories and notes to what they were after an operation; undo takes that back.

    Example: reverie rollback OP --yes
    """
    with daemon_handle.client() as client:
        if not yes and not json:
            _ask(client, operation, path=path, memory=memory)
        done = client.rollback(operation, path=path, memory=memory)
    if json:
        as_json(done)
        return
    if done.operation is None:
        say(f"Nothing to take back: {path or memory or 'all'} is as it was after operation {done.to}.")
        return
    say(
        f"Back at operation {done.to}: {counted(len(done.documents), 'document')} changed. "
        f"To take that back: reverie undo {done.operation}"
    )


def _lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines of both texts; where they do not end alike, ends other than a newline are shown.

    Else a change of line endings alone would be none that can be seen.
    """
    one, other = _split(before), _split(after)
    words = [line for line, _ in one], [line for line, _ in other]
    alike = not one or not other or {end for _, end in one} == {end for _, end in other}
    if alike and words[0] != words[1]:
        return words
    return [line + _SHOWN.get(end, "") for line, end in one], [line + _SHOWN.get(end, "") for line, end in other]


def _split(text: str) -> list[tuple[str, str]]:
    """The lines of a text, each with what it ends in."""
    bare = ((line, line.rstrip("\r\n")) for line in _AFTER_LINE.split(text) if line)
    return [(words, line[len(words) :]) for line, words in bare]


def _ask(client: "Client", operation: str, *, path: str | None, memory: str | None) -> None:
    """Says what would go back, and ends the command unless that is meant."""
    if operation != "0":
        client.operation(operation)
    if memory is not None:
        say(f"Memory {memory} would go back to operation {operation}.")
    else:
        changed = client.difference(operation, path=path).items
        say(f"{counted(len(changed), 'document')} would go back: {', '.join(item.path for item in changed[:10])}")
    typer.confirm("Go back?", abort=True)
