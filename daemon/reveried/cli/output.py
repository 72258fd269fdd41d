"""What a command prints: JSON for machines, a table or a sentence for people, and errors with the next step."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal

import orjson

from reverie import wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from reverie.errors import ReverieError

__all__ = [
    "as_json",
    "clean",
    "clip",
    "complain",
    "console",
    "counted",
    "fields",
    "is_terminal",
    "say",
    "size",
    "table",
    "when",
]

PLAIN_WIDTH = 10_000  # a pipe has no width: one row is one line, for grep
_KIB = 1024
_GAP = 2  # blanks between two columns
_WRAP_MIN = 20  # columns of text narrower than this are no longer read


def as_json(value: Any) -> None:
    """One JSON document and a newline on standard output."""
    sys.stdout.write(orjson.dumps(value, default=wire.plain, option=orjson.OPT_INDENT_2).decode() + "\n")


def console(*, to_stderr: bool = False) -> Console:
    """Where tables and progress go: in colour and bold on a terminal without NO_COLOR, plain text elsewhere."""
    from rich.console import Console  # noqa: PLC0415 - commands that print one sentence do without it

    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    style: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, color_system=style)


def is_terminal() -> bool:
    """Whether a person looks at standard output, and not a pipe."""
    return sys.stdout.isatty()


def say(text: str = "", *, keep: str = "\n") -> None:
    """One sentence on standard output, without control characters but those to `keep`."""
    sys.stdout.write(clean(text, keep=keep) + "\n")


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Sequence[int] = (),
    wraps: Sequence[int] = (),
    drop: Sequence[int] | None = None,
) -> None:
    """A table; the columns numbered in `right` hold numbers.

    On a terminal that is too narrow the columns of `drop` are left out, the first named first (by default from the
    right), and those of `wraps` go over several lines; the others stay whole, so that an id can be copied. A pipe gets
    them all.
    """
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    cells = [[Text(clean(str(cell))) for cell in row] for row in rows]
    widths = [max([len(heading), *(row[column].cell_len for row in cells)]) for column, heading in enumerate(headings)]
    out = console()
    leave = () if not is_terminal() else range(len(headings) - 1, 0, -1) if drop is None else drop
    shown = _columns(widths, out.width, wraps, leave)
    grid = Table(box=None, pad_edge=False, header_style="bold", show_edge=False)
    for column in shown:
        grid.add_column(
            headings[column],
            justify="right" if column in right else "left",
            overflow="fold",
            no_wrap=column not in wraps,
            min_width=None if column in wraps else widths[column],
        )
    for row in cells:
        grid.add_row(*(row[column] for column in shown))
    with out.capture() as drawn:
        # What is too wide even so is broken by the terminal itself, which keeps an id in one piece when it is copied.
        out.width = max(out.width, _least(widths, shown, wraps))
        out.print(grid, crop=False)
    sys.stdout.write("".join(line.rstrip() + "\n" for line in drawn.get().splitlines()))


def _columns(widths: Sequence[int], room: int, wraps: Sequence[int], drop: Iterable[int]) -> list[int]:
    """The columns that there is room for."""
    shown = list(range(len(widths)))
    for column in drop:
        if _least(widths, shown, wraps) <= room:
            break
        shown.remove(column)
    return shown


def _least(widths: Sequence[int], shown: Sequence[int], wraps: Sequence[int]) -> int:
    """How wide these columns are when those that wrap are as narrow as they can be read."""
    each = (min(widths[column], _WRAP_MIN) if column in wraps else widths[column] for column in shown)
    return sum(each) + _GAP * (len(shown) - 1)


def fields(pairs: Iterable[tuple[str, Any]]) -> None:
    """Names and values, one pair a line; pairs without a value are left out."""
    shown = [(name, str(value)) for name, value in pairs if value is not None and value != ""]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        say(f"{name:<{width}}  {value}")


def complain(what: str, error: ReverieError, *, json: bool) -> None:
    """An error: `<what>: <why>` and the next step on standard error, or its envelope on standard output."""
    if json:
        as_json({"error": error.code, "message": error.message, "details": error.details})
        return
    sys.stderr.write(f"{what}: {clean(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"next: {clean(error.hint)}\n")


def clean(text: str, *, keep: str = "") -> str:
    """Text that cannot move the cursor or colour the terminal: what is remembered was written by others."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in keep else " " if character.isspace() else "?"
        for character in text
    )


def clip(text: str, most_chars: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= most_chars else line[: most_chars - 1].rstrip() + "…"


def counted(number: int, one: str, many: str | None = None) -> str:
    """`1 line`, `2 lines`, `3,000 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(count: float) -> str:
    """Bytes as people read them: `320 B`, `1.2 KiB`."""
    for unit in ("B", "KiB", "MiB"):
        if count < _KIB:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= _KIB
    return f"{count:.1f} GiB"


def when(at: str | None) -> str:
    """`2026-11-21 09:30` of a time on the wire (UTC); a dash for none."""
    return at[:16].replace("T", " ") if at else "-"
