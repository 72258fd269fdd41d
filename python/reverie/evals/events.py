"""Where a session lost its beginning, or may be taken to: what stood before, and what the work after it used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from reverie.evals.lines import lines_of
from reverie.evals.names import names, words_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.evals.lines import Line
    from reverie.models import Entry

__all__ = ["LEAST_GRAMS", "TURNS", "Event", "events", "grams"]

TURNS: Final = 20
"""Replies after the event that count as the work going on."""

LEAST_GRAMS: Final = 8
"""With fewer word sequences in what the person asked, an event says nothing about it."""

_LEAST_BEFORE: Final = 20  # lines
_LEAST_REPLIES: Final = 4
_LEAST_NEEDED: Final = 8  # names
_ASKED: Final = 6  # things that the person said last
_ASKED_CHARS: Final = 600
_LINE_CHARS: Final = 2_000  # longer lines are minified text, and everything stands beside everything in them
_GRAM: Final = 4  # words
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Event:
    """One cut through a session.

    `entries` are the file's entries before the cut, `before` the lines in them without earlier summaries. `needed` are
    the names that the work after the cut used and that stood before it; `near` holds for each the words that stood on
    a line with it. `asked` are the word sequences of the last things the person said. `summary` is what the client
    itself put in the place of the beginning; empty where the cut was chosen by us.
    """

    session: str
    entries: Sequence[Entry] = field(repr=False)
    before: Sequence[Line] = field(repr=False)
    summary: str = field(repr=False)
    needed: tuple[str, ...]
    near: dict[str, set[str]] = field(repr=False)
    asked: frozenset[str] = field(repr=False)


def events(session: str, entries: Sequence[Entry], *, cuts: int = 0, turns: int = TURNS) -> Iterator[Event]:
    """The events of one transcript: its compactions; in a session without any, `cuts` points spread evenly over it.

    A chosen point is the nearest line at which the person began to speak, so that nothing is cut in mid-turn. Events
    with too little before them or after them are passed over.
    """
    lines = lines_of(entries)
    places = [place for place, line in enumerate(lines) if line.summary] or _chosen(lines, cuts)
    for place, end in pairwise([*places, len(lines)]):
        head = lines[place]
        began = place + 1 if head.summary else place
        found = _weighed(lines[:place], lines[began:end], turns)
        if found is not None:
            needed, near, asked = found
            yield Event(
                session=session,
                entries=entries[: head.place],
                before=[line for line in lines[:place] if not line.summary],
                summary=head.text if head.summary else "",
                needed=needed,
                near=near,
                asked=asked,
            )


def grams(text: str) -> frozenset[str]:
    """The sequences of four words in `text`, in lower case."""
    words = _WORD.findall(text.lower())
    return frozenset(" ".join(words[at : at + _GRAM]) for at in range(len(words) - _GRAM + 1))


def _weighed(
    stood: Sequence[Line], after: Sequence[Line], turns: int
) -> tuple[tuple[str, ...], dict[str, set[str]], frozenset[str]] | None:
    """What was needed, what stood near it and what was asked; None where there is too little of anything."""
    before = [line for line in stood if not line.summary]
    work = list(_first_replies(after, turns))
    replies = {line.reply for line in work}
    if len(before) < _LEAST_BEFORE or len(replies) < _LEAST_REPLIES:
        return None
    told = "\n".join(line.text for line in stood)
    needed = tuple(name for name in names("\n".join(line.text for line in work)) if name in told)
    if len(needed) < _LEAST_NEEDED:
        return None
    return needed, _near(stood, needed), _asked(before)


def _first_replies(after: Sequence[Line], turns: int) -> Iterator[Line]:
    """The assistant's lines of the first `turns` replies."""
    replies: set[str] = set()
    for line in after:
        if line.role != "assistant":
            continue
        replies.add(line.reply)
        if len(replies) > turns:
            return
        yield line


def _near(stood: Sequence[Line], needed: Sequence[str]) -> dict[str, set[str]]:
    near: dict[str, set[str]] = {name: set() for name in needed}
    for line in stood:
        present = [name for name in needed if name in line.text]
        if not present:
            continue
        for row in line.text.split("\n"):
            if len(row) > _LINE_CHARS:
                continue
            for name in present:
                if name in row:
                    near[name] |= words_beside(row, name)
    return near


def _asked(before: Sequence[Line]) -> frozenset[str]:
    said = [line.said for line in before if line.role == "user" and line.said][-_ASKED:]
    return frozenset().union(*(grams(_beginning(words)) for words in said))


def _beginning(words: str) -> str:
    """As much as ends at a word within the first characters."""
    return words if len(words) <= _ASKED_CHARS else words[:_ASKED_CHARS].rsplit(None, 1)[0]


def _chosen(lines: Sequence[Line], cuts: int) -> list[int]:
    """Places of lines that the person spoke, nearest to even shares of the session, each once."""
    spoken = [place for place, line in enumerate(lines) if line.role == "user" and line.said]
    wanted = (len(lines) * share // (cuts + 1) for share in range(1, cuts + 1))
    nearest = {min(spoken, key=lambda place: abs(place - at)) for at in wanted} if spoken else set()
    return sorted(nearest)
