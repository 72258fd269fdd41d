"""Split a transcript chunk into entries: whole lines only; an incomplete last line is completed by the next chunk."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from reverie.errors import ValidationError, failure_of
from reverie.importers.detect import bad_entry, is_record, read_line
from reverie.importers.entry import with_token_counts
from reverie.importers.lines import LINE_BYTES_MAX, Problem, Unreadable, load
from reverie.lazy_regex import lazy_regex
from reverie.models import EntryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reverie.errors import ReverieError
    from reverie.models import Entry


_PADDING: Final = b"\0 \t\r\n"
_PAD: Final = lazy_regex(r"[\0 \t\r\n]*")
_MARK: Final = re.compile(rb'["{}]')  # noqa: TID251 - bytes
_BLOCK_BYTES: Final = 64 * 1024
_BACKSLASH: Final = ord("\\")


def glued_parts(line: bytes, is_record: Callable[[bytes], bool]) -> list[bytes]:
    """Return the records on a line and what is left between them, in order, without padding.

    What a stub ends with may be a whole object too, a block of a message: it is part of the stub, unless `is_record`.
    """
    before, rest = _objects_at_the_beginning(line.strip(_PADDING))
    after: list[bytes] = []
    end = len(rest)
    while (start := _start_of_last(rest, end)) is not None and is_record(rest[start:end]):
        after.append(rest[start:end])
        end = start
        while end > 0 and rest[end - 1] in _PADDING:
            end -= 1
    return [*before, *([rest[:end]] if end else []), *reversed(after)]


def _objects_at_the_beginning(line: bytes) -> tuple[list[bytes], bytes]:
    """Return the whole JSON objects that a line begins with, and the rest of it."""
    text = line.decode("utf-8", "surrogateescape")
    decoder = json.JSONDecoder(strict=False)
    found: list[bytes] = []
    at = 0
    while text.startswith("{", at):
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            break
        found.append(text[at:end].encode("utf-8", "surrogateescape"))
        padding = _PAD.match(text, end)
        at = padding.end() if padding else end
    return found, text[at:].encode("utf-8", "surrogateescape")


def _start_of_last(line: bytes, end: int) -> int | None:
    """Return where the object begins whose last byte is the one before `end`; None if there is none."""
    if not line.endswith(b"}", 0, end):
        return None
    depth, in_text = 0, False
    for at, mark in _marks_before(line, end):
        if mark == b'"':
            if not (in_text and _is_escaped(line, at)):
                in_text = not in_text
        elif not in_text:
            depth += 1 if mark == b"}" else -1
            if depth == 0:
                return at
    return None


def _marks_before(line: bytes, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the place of each quote and brace before `end`, the last one first, with few of them in memory."""
    for stop in range(end, 0, -_BLOCK_BYTES):
        found = _MARK.finditer(line, max(0, stop - _BLOCK_BYTES), stop)
        yield from reversed([(match.start(), match.group()) for match in found])


def _is_escaped(line: bytes, at: int) -> bool:
    """Return True if a character has an odd number of backslashes before it."""
    first = at
    while first > 0 and line[first - 1] == _BACKSLASH:
        first -= 1
    return (at - first) % 2 == 1


_BOM: Final = b"\xef\xbb\xbf"
# The mark of UTF-32LE begins with that of UTF-16LE, so it is looked for first.
_MARKS: Final = (
    (b"\xff\xfe\0\0", "UTF-32LE"),
    (b"\0\0\xfe\xff", "UTF-32BE"),
    (b"\xff\xfe", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16BE"),
)


class PartialLine(StrEnum):
    """State carried from one chunk to the next: how the bytes after `consumed` continue a line."""

    NOTHING = "nothing"  # the next byte begins a line
    TAKEN = "taken"  # the end of a line that is already an entry: only its line end is still to come
    OVERLONG = "overlong"  # the middle of a line beyond the limit, already reported: skipped to its end


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """Entries and problems of one chunk, with the bytes consumed.

    `consumed` bytes of the piece are dealt with; `lines` were begun in them, blank ones included, so the next piece is
    planned with `first_line + lines` and `inside`. `counts` are entries per kind.
    """

    entries: tuple[Entry, ...]
    consumed: int
    lines: int
    problems: tuple[Problem, ...] = ()
    counts: dict[EntryKind, int] = field(default_factory=dict)
    inside: PartialLine = PartialLine.NOTHING


def plan_chunk(
    data: bytes, *, first_line: int, final: bool, inside: PartialLine = PartialLine.NOTHING, tokens: bool = True
) -> ChunkPlan:
    """Return the entries of the whole lines in `data`.

    A last line without its end is left for next time; with `final` (nothing follows for now) it is taken if it already
    is a complete JSON object. A line beyond LINE_BYTES_MAX is reported once and skipped. Any cut between two calls
    gives the entries of one call over the whole. `tokens=False` leaves every count at 0. Raises ValidationError for a
    file in another encoding than UTF-8.
    """
    start, inside = _skip_rest(data, inside)
    if first_line == 1 and start == 0:
        start = _check_beginning(data)
    # What stands behind an object that was already taken is on the same line as that object.
    reading = _Reading(line=first_line - 2 if inside is PartialLine.TAKEN else first_line - 1)
    end = data.rfind(b"\n") + 1
    if end > start:
        for line in data[start : end - 1].split(b"\n"):
            reading.take(line)
        start, inside = end, PartialLine.NOTHING
    if inside is not PartialLine.OVERLONG:
        start, inside = _handle_partial_line(reading, data, start, inside, final=final)
    entries = _counted(reading.entries) if tokens else reading.entries
    counts = Counter(entry.kind for entry in entries)
    return ChunkPlan(
        tuple(entries), start, max(0, reading.line + 1 - first_line), tuple(reading.problems), dict(counts), inside
    )


@dataclass(slots=True)
class _Reading:
    """Entries and problems read so far; `line` is the last line's number."""

    line: int
    entries: list[Entry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def take(self, line: bytes) -> None:
        self.line += 1
        if line.endswith(b"\r"):
            line = line[:-1]
        if line and not line.isspace():
            read = _read(line, self.line)
            if read[0].kind is EntryKind.BAD and len(line) <= LINE_BYTES_MAX:
                self._take_parts(glued_parts(line, is_record), read)
            else:
                self.keep(read)

    def _take_parts(self, parts: list[bytes], whole: tuple[Entry, Problem | None]) -> None:
        """Keep the records on a line that is no record; the line itself where there are none."""
        before = len(self.problems)
        for part in parts:
            self.keep(whole if len(parts) == 1 and not is_record(part) else _read(part, self.line))
        if len(self.problems) == before:
            self.problems.append(Problem(self.line, "NUL bytes, or several records on one line; each was read"))

    def keep(self, read: tuple[Entry, Problem | None]) -> None:
        entry, problem = read
        self.entries.append(entry)
        if problem is not None:
            self.problems.append(problem)


def _read(line: bytes, number: int) -> tuple[Entry, Problem | None]:
    """Return the entry of a line; of one that a defect keeps from being read its text, and the problem."""
    try:
        return read_line(line, number)
    except BaseException as error:  # noqa: BLE001 - this line alone is not read
        return bad_entry(line, number, why_not(failure_of(error)))


def why_not(failure: ReverieError) -> str:
    """Return why a line was not taken: the code of the defect, and the function and line of code where it is known."""
    place = " ".join(str(failure.details[name]) for name in ("function", "kind", "at") if failure.details.get(name))
    return f"a defect of Reverie ({failure.code}{place and f': {place}'})"


def _counted(entries: list[Entry]) -> list[Entry]:
    """Return the entries with their tokens; one that a defect keeps from being counted counts as none."""
    try:
        return with_token_counts(entries)
    except BaseException as error:  # noqa: BLE001 - the others are counted one by one
        failure_of(error)
        return entries if len(entries) == 1 else [counted for entry in entries for counted in _counted([entry])]


def _skip_rest(data: bytes, inside: PartialLine) -> tuple[int, PartialLine]:
    """Return how many bytes of `data` are the rest of a handled line, and the PartialLine after them."""
    if inside is PartialLine.NOTHING:
        return 0, inside
    end = data.find(b"\n")
    rest = data if end < 0 else data[:end]
    if inside is PartialLine.TAKEN and rest.strip():
        # Something was written behind the object after all. It is read by itself, so that it is reported.
        return 0, inside
    return (len(data), inside) if end < 0 else (end + 1, PartialLine.NOTHING)


def _handle_partial_line(
    reading: _Reading, data: bytes, start: int, inside: PartialLine, *, final: bool
) -> tuple[int, PartialLine]:
    """Handle the last, incomplete line: return how many bytes are consumed and the state to carry."""
    last = data[start:]
    # One byte more may still be the first half of a line end.
    if len(last) > LINE_BYTES_MAX + 1:
        reading.line += 1
        reading.keep(bad_entry(last, reading.line, f"longer than {LINE_BYTES_MAX} bytes"))
        return len(data), PartialLine.OVERLONG
    if not final or len(last) > LINE_BYTES_MAX or not last.strip():
        return start, inside
    try:
        load(last)
    except Unreadable:
        if not any(map(is_record, glued_parts(last, is_record)[-1:])):
            return start, inside
    reading.take(last)
    return len(data), PartialLine.TAKEN


def _check_beginning(data: bytes) -> int:
    """Return the offset of the first line; refuse files that are not UTF-8 by their first bytes."""
    encoding = _other_encoding(data[:4])
    if encoding is not None:
        raise ValidationError(
            f"the transcript is {encoding}, not UTF-8",
            hint=f"convert it first: iconv -f {encoding} -t UTF-8 FILE",
            encoding=encoding,
        )
    return len(_BOM) if data.startswith(_BOM) else 0


def _other_encoding(head: bytes) -> str | None:
    """Return the name of a UTF-16 or UTF-32 encoding detected by its mark or zero bytes, or None."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    zeros = [byte == 0 for byte in head]
    if zeros == [False, True, False, True]:
        return "UTF-16LE"
    return "UTF-16BE" if zeros == [True, False, True, False] else None
