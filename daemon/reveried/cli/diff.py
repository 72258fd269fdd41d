"""`reverie diff`: the difference of documents between two operations."""

import difflib
import re
from typing import Annotated

import typer

from reveried.cli import local_daemon
from reveried.cli.options import Json
from reveried.cli.output import print_json, say

__all__ = ["diff"]

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
