"""The redacted view of a file, and the mapping of edits of that view back to raw bytes.

The store has `[REDACTED:<kind>]` markers in place of secrets, so agents and engines edit the redacted text. When such
an edit reaches the file, every marker has to become the secret again that it stands for, in whichever line it is now.
Two promises: no secret of the file is lost, and none appears where the redacted text did not have it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.redact import Redactor, Span

_MARKER = lazy_regex(r"\[REDACTED:[^\[\]\s]*\]")
_BOM = "\ufeff"
_CANDIDATES_MAX = 50
"""Lines with the same markers that an edited line is compared with: bounds the cost in a file of many equal secrets."""


@dataclass(frozen=True)
class RedactionView:
    """A person's raw text and the spans of its secrets: character ranges, in order and disjoint."""

    raw: str
    spans: tuple[Span, ...] = ()

    @classmethod
    def of(cls, raw: str, redactor: Redactor) -> RedactionView:
        """Return the view of a text through a redactor. Raises ValidationError for half of a surrogate pair."""
        return cls(raw, tuple(redactor.spans(raw)))

    @cached_property
    def text(self) -> str:
        """The redacted text: `raw` with `[REDACTED:<kind>]` for each secret; the same object if there is none."""
        if not self.spans:
            return self.raw
        ends = [0, *(span.end for span in self.spans)]
        pieces = [f"{self.raw[end : span.start]}{_marker(span)}" for end, span in zip(ends, self.spans, strict=False)]
        return "".join((*pieces, self.raw[ends[-1] :]))

    @property
    def secrets(self) -> frozenset[str]:
        """The secrets themselves, which stay in the person's file."""
        return frozenset(self.raw[span.start : span.end] for span in self.spans)

    @property
    def markers(self) -> frozenset[str]:
        """The markers that `text` has for the secrets."""
        return frozenset(_marker(span) for span in self.spans)

    def leaks(self, text: str) -> bool:
        """Return True if `text` has a secret of this file more often than the redacted text does.

        Example: an edit parts a secret from the word "password:" by which it was found; then redaction misses it.
        """
        return any(text.count(secret) > self.text.count(secret) for secret in self.secrets)

    def apply(self, target: str) -> str | None:
        """Return the raw text with the edits from `text` to `target`, secrets included; None if one would be lost.

        A line with markers is found again by its markers, wherever it was moved and whatever else of it was edited. A
        line that `target` no longer has stays at its place: the redacted result then has it too. Example: `text` is
        "a / key [REDACTED:k] / b" and `target` is "b / a": the result is "b / a / key SECRET".
        """
        if not self.spans:
            return target
        rows, lines = list(self._rows()), target.removeprefix(_BOM).split("\n")
        matches = _matched_lines(rows, [line.removesuffix("\r") for line in lines])
        bodies = [f"{matches[at].raw}{_line_ending(line)}" if at in matches else line for at, line in enumerate(lines)]
        _reinsert(rows, matches, bodies)
        after = _leading_bom(target) + "\n".join(bodies)
        return after if all(after.count(secret) >= self.raw.count(secret) for secret in self.secrets) else None

    def _rows(self) -> Iterator[_Row]:
        """Yield the lines of the redacted text, each with its counterpart in the raw text.

        A secret may have line breaks (a private key), so one redacted line may be several raw ones.
        """
        waiting = deque(self.spans)
        start = raw_start = len(_leading_bom(self.raw))
        shift = 0  # from an offset in `raw` to the same place in `text`
        for at, line in enumerate(self.text[start:].split("\n")):
            secrets = {}
            while waiting and waiting[0].start + shift < start + len(line):
                span = waiting.popleft()
                secrets[span.start + shift - start] = self.raw[span.start : span.end]
                shift += len(_marker(span)) - (span.end - span.start)
            raw_end = start + len(line) - shift
            ending = _line_ending(line)
            # A marker without a secret is one that the person wrote: it stands for itself.
            values = [secrets.get(marker.start(), marker[0]) for marker in _MARKER.finditer(line)]
            raw = self.raw[raw_start:raw_end].removesuffix(ending)
            yield _Row(at, line.removesuffix(ending), raw, ending, tuple(values))
            start, raw_start = start + len(line) + 1, raw_end + 1


@dataclass(frozen=True, slots=True)
class _Row:
    """A redacted line, and the raw line or lines that it was made from.

    `values` are the raw texts of its markers: secrets, and markers that the person wrote.
    """

    at: int
    line: str
    raw: str
    ending: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Match:
    """The index of the row that a line of the new text continues, and that line with its secrets."""

    row: int
    raw: str


def has_marker(text: str) -> bool:
    """Return True if the text has a redaction marker."""
    return _MARKER.search(text) is not None


def _matched_lines(rows: Sequence[_Row], lines: Sequence[str]) -> dict[int, _Match]:
    """Return, by index, the new lines that continue a row with markers.

    Passes from certain to uncertain: an equal line between equal neighbours, with the one before, with the one after,
    with none; then an edited line. The neighbours tell equal lines apart: of two lines "- key [REDACTED:k]", each gets
    the secret that its own section had, also after one section was moved.
    """
    waiting = {row.at: row for row in rows if row.values}  # each row is continued by one line at most
    old = [row.line for row in rows]
    matches: dict[int, _Match] = {}
    marked = [at for at, line in enumerate(lines) if _MARKER.search(line)]
    for before, after in ((1, 1), (1, 0), (0, 1), (0, 0)):
        free: dict[tuple[str, ...], deque[_Row]] = defaultdict(deque)
        for row in waiting.values():
            free[_with_neighbours(old, row.at, before, after)].append(row)
        for at in marked:
            same = None if at in matches else free.get(_with_neighbours(lines, at, before, after))
            if same:
                row = same.popleft()
                del waiting[row.at]
                matches[at] = _Match(row.at, row.raw)
    # What is left was edited: the markers in it, in their order, tell which secrets it has.
    for at in marked:
        edited = None if at in matches else _most_similar(lines[at], list(waiting.values()))
        if edited is not None:
            del waiting[edited.at]
            matches[at] = _Match(edited.at, _with_secrets(lines[at], edited.values))
    return matches


def _reinsert(rows: Sequence[_Row], matches: dict[int, _Match], lines: list[str]) -> None:
    """Insert the rows with secrets that no line continues back into `lines`, each after the row that it followed."""
    # Walk the old rows and keep the position of the last one that the new text still has, by its match or by its equal
    # line. A missing row with a secret goes right behind that position.
    met = {match.row: at for at, match in matches.items()}
    positions = {line.removesuffix("\r"): at for at, line in reversed(list(enumerate(lines))) if line.strip()}
    position, missing = -1, []
    for row in rows:
        if row.at in met:
            position = met[row.at]
        elif row.raw != row.line:
            missing.append((position, row))
        elif row.line.strip():
            position = positions.get(row.line, position)
        elif position + 2 < len(lines) and not lines[position + 1].strip():
            position += 1  # an empty line in both: stay behind it, so that paragraphs are not joined
    for position, row in reversed(missing):  # from the end, so that positions before it stay valid
        lines.insert(position + 1, row.raw + (_line_ending(lines[position]) if position >= 0 else row.ending))


def _with_neighbours(lines: Sequence[str], at: int, before: int, after: int) -> tuple[str, ...]:
    """Return a line with `before` lines before it and `after` lines after it."""
    return tuple(lines[max(at - before, 0) : at + after + 1])


def _most_similar(line: str, rows: list[_Row]) -> _Row | None:
    """Return the row with the same markers that shares most words with the line, or None."""
    markers, words = _MARKER.findall(line), set(line.split())
    same = [row for row in rows if _MARKER.findall(row.line) == markers]
    return max(same[:_CANDIDATES_MAX], key=lambda row: len(words.intersection(row.line.split())), default=None)


def _with_secrets(line: str, values: Sequence[str]) -> str:
    texts = _MARKER.split(line)
    return "".join((*(f"{text}{value}" for text, value in zip(texts, values, strict=False)), texts[-1]))


def _marker(span: Span) -> str:
    return f"[REDACTED:{span.kind}]"


def _leading_bom(text: str) -> str:
    return _BOM if text.startswith(_BOM) else ""


def _line_ending(line: str) -> str:
    return "\r" if line.endswith("\r") else ""
