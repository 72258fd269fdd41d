"""Commands over points in the history: diff between two operations, and rollback to one."""

import difflib
import re
from typing import TYPE_CHECKING, Annotated

import typer

from reveried.cli import local_daemon
from reveried.cli.options import Json, Yes, confirm
from reveried.cli.output import counted, print_json, say

if TYPE_CHECKING:
    from reverie.client import Client

__all__ = ["diff", "rollback"]

_PATHS_SHOWN = 10  # of documents that a rollback would change
_LINE_BREAK = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")
_VISIBLE_END = {"\r\n": "\\r\\n", "\r": "\\r", "": " (no newline)"}


def diff(
    start: Annotated[str, typer.Argument(metavar="A", help="An operation's id; changes after it are shown.")],
    end: Annotated[str | None, typer.Argument(metavar="[B]", help="The last operation; default: the newest.")] = None,
    path: Annotated[str | None, typer.Option("--path", metavar="PATH", help="Only this document.")] = None,
    json: Json = False,
) -> None:
    """Show what changed in documents between two operations.

    Example: reverie diff OP
    """
    with local_daemon.client() as client:
        difference = client.difference(start, end, path=path)
    if json:
        print_json(difference)
        return
    if not difference.items:
        say(f"No document changed between operations {difference.from_} and {difference.to}.")
    for item in difference.items:
        before, after = _comparable_lines(item.before or "", item.after or "")
        old = item.path if item.before is not None else "(not there)"
        new = item.path if item.after is not None else "(deleted)"
        labels = f"op {difference.from_}", f"op {difference.to}"
        lines = list(difflib.unified_diff(before, after, old, new, *labels, lineterm=""))
        for line in lines or [f"--- {old}\t{labels[0]}", f"+++ {new}\t{labels[1]}"]:  # an empty document has no lines
            say(line)


def rollback(
    operation: Annotated[
        str, typer.Argument(metavar="OP", help="The last operation that stays in effect, as `reverie log` shows it.")
    ],
    path: Annotated[str | None, typer.Option("--path", metavar="PATH", help="Only this document.")] = None,
    memory: Annotated[str | None, typer.Option("--memory", metavar="ID", help="Only this memory.")] = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Restore documents, memories and notes to an earlier operation; undo reverts that.

    Example: reverie rollback OP --yes
    """
    with local_daemon.client() as client:
        if not yes:
            _confirm(client, operation, path=path, memory=memory, json=json)
        answer = client.rollback(operation, path=path, memory=memory)
    if json:
        print_json(answer)
        return
    if answer.operation is None:
        say(f"Nothing to roll back: {path or memory or 'everything'} is as it was after operation {answer.to}.")
        return
    say(
        f"Rolled back to operation {answer.to}: {counted(len(answer.documents), 'document')} changed. "
        f"To revert that: reverie undo {answer.operation}"
    )


def _comparable_lines(before: str, after: str) -> tuple[list[str], list[str]]:
    r"""Return the lines of both texts for a diff, with visible line endings if only the endings differ.

    Example: "a\n" and "a\r\n" have the same words; without a visible `\r\n` the diff would be empty.
    """
    one, other = _split_lines(before), _split_lines(after)
    words = [line for line, _ in one], [line for line, _ in other]
    same_endings = not one or not other or {end for _, end in one} == {end for _, end in other}
    if same_endings and words[0] != words[1]:
        return words
    return [line + _VISIBLE_END.get(end, "") for line, end in one], [
        line + _VISIBLE_END.get(end, "") for line, end in other
    ]


def _split_lines(text: str) -> list[tuple[str, str]]:
    """Split a text into lines, each with its line ending."""
    stripped = ((line, line.rstrip("\r\n")) for line in _LINE_BREAK.split(text) if line)
    return [(words, line[len(words) :]) for line, words in stripped]


def _confirm(client: "Client", operation: str, *, path: str | None, memory: str | None, json: bool) -> None:
    """Print what a rollback would change and ask."""
    if operation != "0":
        client.operation(operation)  # raises NotFound before anything is asked
    if memory is not None:
        preview = f"Memory {memory} would be restored to operation {operation}."
    else:
        changed = client.difference(operation, path=path).items
        paths = ", ".join(item.path for item in changed[:_PATHS_SHOWN])
        preview = f"{counted(len(changed), 'document')} would be restored: {paths}"
    confirm(preview, "Roll back?", json=json)
