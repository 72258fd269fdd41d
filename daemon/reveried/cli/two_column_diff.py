"""Shows two texts beside each other on a terminal, line by line, with marks where they differ."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from reveried.cli.output import clean, console, say

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["rows", "side_by_side"]

CONTEXT_LINES = 2
WIDTH_MIN = 60
WIDTH_PIPE = 160
_GUTTER = 3


def side_by_side(left_name: str, left: str, right_name: str, right: str) -> None:
    """Both texts in two columns; long stretches that are the same are left out."""
    found = list(rows(left, right))
    width = min(max(console().width, WIDTH_MIN), WIDTH_PIPE)
    column = (width - _GUTTER) // 2
    say(f"{_padded(left_name, column)} | {right_name}".rstrip())
    say("-" * width)
    for mark, one, other in found:
        for first, second in _wrapped(one, other, column):
            say(f"{_padded(first, column)} {mark} {second}".rstrip())


def rows(left: str, right: str) -> Iterator[tuple[str, str, str]]:
    """Lines that belong together: a mark (` ` equal, `|` changed, `<` only left, `>` only right), left, right."""
    one, other = left.splitlines(), right.splitlines()
    for kind, i, i_end, j, j_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _equal(one[i:i_end])
            continue
        for first, second in zip_longest(one[i:i_end], other[j:j_end]):
            mark = "<" if second is None else ">" if first is None else "|"
            yield mark, first or "", second or ""


def _equal(lines: list[str]) -> Iterator[tuple[str, str, str]]:
    if len(lines) <= 2 * CONTEXT_LINES + 1:
        yield from ((" ", line, line) for line in lines)
        return
    yield from ((" ", line, line) for line in lines[:CONTEXT_LINES])
    left_out = f"… {len(lines) - 2 * CONTEXT_LINES} lines that are the same …"
    yield " ", left_out, left_out
    yield from ((" ", line, line) for line in lines[-CONTEXT_LINES:])


def _wrapped(one: str, other: str, width: int) -> Iterator[tuple[str, str]]:
    yield from zip_longest(_pieces(one, width), _pieces(other, width), fillvalue="")


def _pieces(line: str, width: int) -> list[str]:
    """A line in parts of at most `width` cells of a terminal: a Chinese character takes two."""
    from rich.cells import chop_cells  # noqa: PLC0415 - only where texts are shown

    return chop_cells(clean(line), width) or [""]


def _padded(text: str, width: int) -> str:
    """The text with spaces up to so many cells."""
    from rich.cells import cell_len  # noqa: PLC0415 - as above

    return text + " " * (width - cell_len(text))
