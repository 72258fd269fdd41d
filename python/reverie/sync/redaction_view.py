"""A file as the store may know it: with a marker for each secret, and the way back for edits of the other bytes."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.redact import Redactor, Span

__all__ = ["Veil", "is_veiled"]

_MARKER = re.compile(r"\[REDACTED:[^\[\]\s]*\]")
_BOM = "\ufeff"
_CHOICE_MAX = 50
"""How many lines with the same markers an edited line is held against."""


@dataclass(frozen=True)
class Veil:
    """A person's text `raw` and its secrets `spans`: characters of it, in order and apart."""

    raw: str
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, raw: str, redactor: Redactor) -> Veil:
        """The text seen through a redactor. Raises ValidationError for half of a surrogate pair."""
        return cls(raw, tuple(redactor.spans(raw)))

    @cached_property
    def text(self) -> str:
        """`raw` with each secret replaced by `[REDACTED:<kind>]`; the same object if there is none."""
        if not self.spans:
            return self.raw
        ends = [0, *(span.end for span in self.spans)]
        pieces = [f"{self.raw[end : span.start]}{_marker(span)}" for end, span in zip(ends, self.spans, strict=False)]
        return "".join((*pieces, self.raw[ends[-1] :]))

    @property
    def secrets(self) -> frozenset[str]:
        """The secrets themselves: they stay in the person's file."""
        return frozenset(self.raw[span.start : span.end] for span in self.spans)

    @property
    def markers(self) -> frozenset[str]:
        """What stands in `text` for the secrets."""
        return frozenset(_marker(span) for span in self.spans)

    def leaks(self, text: str) -> bool:
        """Whether `text` shows a secret of this file more often than the veiled file does."""
        return any(text.count(secret) > self.text.count(secret) for secret in self.secrets)

    def apply(self, target: str) -> str | None:
        """The person's text with the edits that lead from `text` to `target`, and with every secret still in it.

        A line with secrets is found again by its markers, wherever it stands and whatever else of it was edited. One
        that is not in `target` any more stays at its place: the result, veiled, says so. None if that would lose a
        secret nevertheless.
        """
        if not self.spans:
            return target
        rows, lines = list(self._rows()), target.removeprefix(_BOM).split("\n")
        found = _found(rows, [line.removesuffix("\r") for line in lines])
        bodies = [f"{found[at].raw}{_ending(line)}" if at in found else line for at, line in enumerate(lines)]
        _keep(rows, found, bodies)
        after = _mark(target) + "\n".join(bodies)
        return after if all(after.count(secret) >= self.raw.count(secret) for secret in self.secrets) else None

    def _rows(self) -> Iterator[_Row]:
        """The lines of `text`, each with what stands for it in `raw`."""
        waiting = deque(self.spans)
        start = raw_start = len(_mark(self.raw))
        shift = 0  # from a place in `raw` to the same in `text`
        for at, line in enumerate(self.text[start:].split("\n")):
            secrets = {}
            while waiting and waiting[0].start + shift < start + len(line):
                span = waiting.popleft()
                secrets[span.start + shift - start] = self.raw[span.start : span.end]
                shift += len(_marker(span)) - (span.end - span.start)
            raw_end = start + len(line) - shift
            ending = _ending(line)
            values = [secrets.get(marker.start(), marker[0]) for marker in _MARKER.finditer(line)]
            raw = self.raw[raw_start:raw_end].removesuffix(ending)
            yield _Row(at, line.removesuffix(ending), raw, ending, tuple(values))
            start, raw_start = start + len(line) + 1, raw_end + 1


@dataclass(frozen=True, slots=True)
class _Row:
    """A veiled line, and what stands for it in the file: one line or more.

    `values` are what stands there for its markers: secrets, and markers that the person wrote.
    """

    at: int
    line: str
    raw: str
    ending: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """The row that a line of the new text carries on, and that line with its secrets."""

    row: int
    raw: str


def is_veiled(text: str) -> bool:
    """Whether something may stand in the text for a secret."""
    return _MARKER.search(text) is not None


def _found(rows: Sequence[_Row], lines: Sequence[str]) -> dict[int, _Found]:
    """By index, the lines that carry on a row with markers: unchanged among the same lines, unchanged, then edited."""
    waiting = {row.at: row for row in rows if row.values}
    old = [row.line for row in rows]
    found: dict[int, _Found] = {}
    marked = [at for at, line in enumerate(lines) if _MARKER.search(line)]
    for before, after in ((1, 1), (1, 0), (0, 1), (0, 0)):
        free: dict[tuple[str, ...], deque[_Row]] = defaultdict(deque)
        for row in waiting.values():
            free[_around(old, row.at, before, after)].append(row)
        for at in marked:
            same = None if at in found else free.get(_around(lines, at, before, after))
            if same:
                row = same.popleft()
                del waiting[row.at]
                found[at] = _Found(row.at, row.raw)
    for at in marked:
        edited = None if at in found else _nearest(lines[at], list(waiting.values()))
        if edited is not None:
            del waiting[edited.at]
            found[at] = _Found(edited.at, _unveiled(lines[at], edited.values))
    return found


def _keep(rows: Sequence[_Row], found: dict[int, _Found], lines: list[str]) -> None:
    """Puts rows with secrets that no line carries on back among the lines: each behind the row that it stood behind."""
    met = {each.row: at for at, each in found.items()}
    places = {line.removesuffix("\r"): at for at, line in reversed(list(enumerate(lines))) if line.strip()}
    place, missing = -1, []
    for row in rows:
        if row.at in met:
            place = met[row.at]
        elif row.raw != row.line:
            missing.append((place, row))
        elif row.line.strip():
            place = places.get(row.line, place)
        elif place + 2 < len(lines) and not lines[place + 1].strip():
            place += 1
    for place, row in reversed(missing):
        lines.insert(place + 1, row.raw + (_ending(lines[place]) if place >= 0 else row.ending))


def _around(lines: Sequence[str], at: int, before: int, after: int) -> tuple[str, ...]:
    """A line with so many of its neighbours."""
    return tuple(lines[max(at - before, 0) : at + after + 1])


def _nearest(line: str, rows: list[_Row]) -> _Row | None:
    """The row with the same markers that shares most words with the line."""
    markers, words = _MARKER.findall(line), set(line.split())
    same = [row for row in rows if _MARKER.findall(row.line) == markers]
    return max(same[:_CHOICE_MAX], key=lambda row: len(words.intersection(row.line.split())), default=None)


def _unveiled(line: str, values: Sequence[str]) -> str:
    """A line with these values for its markers."""
    texts = _MARKER.split(line)
    return "".join((*(f"{text}{value}" for text, value in zip(texts, values, strict=False)), texts[-1]))


def _marker(span: Span) -> str:
    return f"[REDACTED:{span.kind}]"


def _mark(text: str) -> str:
    """The byte order mark that a text begins with, or nothing."""
    return _BOM if text.startswith(_BOM) else ""


def _ending(line: str) -> str:
    """What ends a line beside the newline."""
    return "\r" if line.endswith("\r") else ""
