"""Here-documents of a shell command: where each one is, and its text. Takes time by the length of the command alone."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

__all__ = ["HereDocument", "here_documents", "without_here_documents"]

_OPENING = re.compile(r"<<-?[ \t]*(['\"]?)(?P<tag>\w+)\1\n")
_FIRST_WORD = re.compile(r"^[^\S\n]*(?P<word>\w+)", re.MULTILINE)


class HereDocument(NamedTuple):
    """A here-document: from `<<` to the end of the word that closes it, and the lines in between."""

    start: int
    end: int
    text: str


def here_documents(command: str) -> list[HereDocument]:
    """Return the here-documents of a command, in their order; one that is not closed is none.

    The name stands at the end of a line. It closes as the first word of a line, whatever follows: in `$(cat <<EOF` the
    bracket does.
    """
    openings = list(_OPENING.finditer(command))
    closings: dict[str, list[re.Match[str]]] = {opening["tag"]: [] for opening in openings}
    for first in _FIRST_WORD.finditer(command) if openings else ():
        if first["word"] in closings:
            closings[first["word"]].append(first)
    found: list[HereDocument] = []
    end = 0
    for opening in openings:
        of_tag = closings[opening["tag"]]
        at = bisect_left(of_tag, opening.end(), key=re.Match.start)
        if opening.start() >= end and at < len(of_tag):
            end = of_tag[at].end()
            found.append(HereDocument(opening.start(), end, command[opening.end() : of_tag[at].start()]))
    return found


def without_here_documents(command: str) -> str:
    """Return a command without its here-documents."""
    parts: list[str] = []
    at = 0
    for one in here_documents(command):
        parts.append(command[at : one.start])
        at = one.end
    return "".join([*parts, command[at:]])
