"""Records on a line that is no JSON: a client was killed while it wrote, and the next record stands behind the stub.

A stub may end anywhere, within a text too, so that it cannot be read; the record behind it ends where the line ends. So
braces are counted back from there. Example: `{"id":1,"text":"one {"id":2,"text":"two"}` is a stub up to `one ` and a
record. Disks that lost their power leave NUL bytes in place of a stub.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
