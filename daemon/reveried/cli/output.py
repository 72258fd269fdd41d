"""Output of the commands: JSON, tables, sentences, progress bars, and errors with the next step."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Literal

    from rich.console import Console
    from rich.text import Text

    from reverie.errors import ReverieError

AS_JSON: ContextVar[bool] = ContextVar("as_json", default=False)  # True while a command runs that prints JSON
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
PLAIN_WIDTH = 10_000  # columns of a pipe: one row is one line, for grep
STEPS_SHOWN_FROM = 3  # fewer steps are over before a bar can be read
_KIB = 1024
_GAP = 2  # blanks between two columns
_PADDED_MAX = 80  # characters: one memory of 1,000 would pad every row of `reverie memories | grep` to as many
_INDENT = "    "  # of what is below a text in a list
_WRAP_MIN = 20  # characters: a column of text narrower than this is no longer readable
_JOINERS = "\u200c\u200d\u200e\u200f"
_NAME_CHARS = 30  # of a file name beside a progress bar
_PACKED_RATIO = 6  # packed transcripts unpack to about so many times their size; it only scales the bar


def print_json(value: Any) -> None:
    """Write one JSON document and a newline to standard output; msgspec structs as the wire names their fields."""
    import orjson

    from reverie import wire

    def plain(part: Any) -> Any:
        if isinstance(part, Path):
            return str(part)
        return list(part) if isinstance(part, Iterator) else wire.plain(part)

    sys.stdout.write(orjson.dumps(value, default=plain, option=orjson.OPT_INDENT_2).decode() + "\n")


def console(*, to_stderr: bool = False) -> Console:
    """Return a rich console: styled on a terminal without NO_COLOR, plain text elsewhere."""
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() else PLAIN_WIDTH
    style: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False, color_system=style)


def is_terminal() -> bool:
    """Return True if standard output is a terminal and not a pipe or file."""
    return sys.stdout.isatty()


def terminal_width() -> int | None:
    """Return the columns of the terminal that standard output is, or of COLUMNS; None for a pipe or file."""
    if not is_terminal():
        return None
    import shutil  # with all its formats of archives

    return shutil.get_terminal_size().columns


def wrapped(text: str, indent: str = "") -> str:
    """Return the text in indented lines that fit the terminal, broken between words; a pipe gets it in one line."""
    width = terminal_width()
    if width is None or len(indent + text) <= width:
        return indent + text
    from textwrap import TextWrapper

    lines = TextWrapper(max(width, _WRAP_MIN), indent, indent, break_long_words=False, break_on_hyphens=False)
    return lines.fill(text)


def say(text: str = "", *, keep: str = "\n") -> None:
    """Print text and a newline; control characters except those in `keep` become spaces or `?`."""
    sys.stdout.write(clean(text, keep=keep) + "\n")


def print_text(text: str | bytes) -> None:
    """Write a text as it is, byte for byte."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode())
    sys.stdout.flush()


def print_table(columns: str, rows: Iterable[Sequence[Any]], *, drop: Sequence[int] | None = None) -> None:
    """Print a table with columns such as `Id, Size>, Text*`: `>` is right-aligned, `*` may go over several lines.

    On a terminal that is too narrow those with `*` go over several lines and the columns with the numbers of `drop` are
    left out, the first named first; without `drop` each row is printed as a list: its text, and its other cells with
    their headings below. The others stay whole, so that an id can be copied. A pipe gets every column, and cells
    are padded to those of at most 80 characters: a longer one shifts the rest of its own row alone.
    """
    from rich.table import Table
    from rich.text import Text

    named = columns.split(", ")
    headings = [name.rstrip(">*") for name in named]
    right = [number for number, name in enumerate(named) if name.endswith(">")]
    wraps = [number for number, name in enumerate(named) if name.endswith("*")]
    cells = [[Text(clean(str(cell))) for cell in row] for row in rows]
    widths = [max([len(heading), *(row[column].cell_len for row in cells)]) for column, heading in enumerate(headings)]
    if not is_terminal():
        for row in [[Text(heading) for heading in headings], *cells]:
            _write_row(row, [min(width, _PADDED_MAX) for width in widths], right)
        return
    out = console()
    if drop is None and _least_width(widths, range(len(widths)), wraps) > out.width:
        _print_as_list(headings, cells, wraps[-1] if wraps else 0)
        return
    shown = _columns_that_fit(widths, out.width, wraps, drop or ())
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
    with out.capture() as captured:
        # A row that is too wide even so is broken by the terminal itself: copied from there, an id stays in one piece.
        out.width = max(out.width, _least_width(widths, shown, wraps))
        out.print(grid, crop=False)
    sys.stdout.write("".join(line.rstrip() + "\n" for line in captured.get().splitlines()))


def _write_row(row: Sequence[Text], widths: Sequence[int], right: Sequence[int]) -> None:
    blanks = [" " * max(0, width - cell.cell_len) for cell, width in zip(row, widths, strict=True)]
    cells = [
        blank + str(cell) if at in right else f"{cell}{blank}"
        for at, (cell, blank) in enumerate(zip(row, blanks, strict=True))
    ]
    sys.stdout.write((" " * _GAP).join(cells).rstrip() + "\n")


def _print_as_list(headings: Sequence[str], rows: Iterable[Sequence[Text]], first: int) -> None:
    """Print the cell of column `first` of each row on its own line, and below it the others that are not empty."""
    for row in rows:
        named = zip(headings, map(str, row), strict=True)
        others = [f"{name} {cell}" for at, (name, cell) in enumerate(named) if at != first and cell.strip("- ")]
        say(wrapped(str(row[first]) or "-"))
        if others:
            say(wrapped(" · ".join(others), _INDENT))


def _columns_that_fit(widths: Sequence[int], width: int, wraps: Sequence[int], drop: Iterable[int]) -> list[int]:
    """Return the columns left after dropping as many of `drop` as `width` demands."""
    shown = list(range(len(widths)))
    for column in drop:
        if _least_width(widths, shown, wraps) <= width:
            break
        shown.remove(column)
    return shown


def _least_width(widths: Sequence[int], shown: Sequence[int], wraps: Sequence[int]) -> int:
    """Return the width of these columns when those that wrap are as narrow as is readable."""
    least = (min(widths[column], _WRAP_MIN) if column in wraps else widths[column] for column in shown)
    return sum(least) + _GAP * (len(shown) - 1)


def print_fields(*pairs: tuple[str, Any]) -> None:
    """Print names and values, one pair a line; pairs without a value are left out."""
    shown = [(name, str(value)) for name, value in pairs if value is not None and value != ""]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        say(f"{name:<{width}}  {value}")


def print_error(command: str, error: ReverieError, *, json: bool) -> None:
    """Print `<command>: <why>` and the next step to standard error; as JSON, the error envelope to standard output."""
    if json:
        print_json({"error": error.code, "message": error.message, "details": error.details})
        return
    sys.stderr.write(f"{command}: {clean(error.message)}\n")
    if error.hint:
        sys.stderr.write(f"next: {clean(error.hint)}\n")


def broken_pipe() -> int:
    """Return the exit code where the reader of our output has closed the pipe; the flush at the end must not fail."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1


def clean(text: str, *, keep: str = "") -> str:
    """Replace control characters: memories come from other programs and must not move the cursor or set colours.

    Nor may they turn a line round or hide words in it. Letters need their joiners and marks of direction, and emoji
    theirs; what this Python's tables do not name yet is the next year's emoji.
    """
    if text.isprintable():
        return text
    import unicodedata

    def shown(char: str) -> str:
        if char.isprintable() or char in keep or char in _JOINERS or unicodedata.category(char) == "Cn":
            return char
        return " " if char.isspace() else "?"

    return "".join(map(shown, text))


def clip(text: str, max_chars: int) -> str:
    """Return the text on one line, cut to `max_chars` characters."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: `1 line`, `2 lines`, `3,000 memories`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(count: float) -> str:
    """Format a number of bytes: `320 B`, `1.2 KiB`."""
    for unit in ("B", "KiB", "MiB"):
        if count < _KIB:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= _KIB
    return f"{count:.1f} GiB"


def when(at: str | None) -> str:
    """Format a wire timestamp (UTC) in local time as `2026-11-21 10:30`; None as a dash."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M") if at else "-"


def zoned(at: str | None) -> str:
    """Format a wire timestamp as `when` does, with the zone of this machine: a schedule may be in another one."""
    return "-" if at is None else f"{when(at)} {datetime.fromisoformat(at).astimezone().tzname()}"


@contextmanager
def import_progress(paths: list[Path], *, quiet: bool = False) -> Iterator[Callable[[Path], Callable[[int], None]]]:
    """Show a bar over the bytes of all files; yield a function that begins a file and returns its byte callback."""
    if quiet or AS_JSON.get() or not sys.stderr.isatty():
        yield lambda _path: lambda _bytes: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(to_stderr=True), transient=True) as bar:
        expected = {path: _unpacked_size(path) for path in paths}
        task = bar.add_task("Importing", total=sum(expected.values()))
        done = 0

        def begin(path: Path) -> Callable[[int], None]:
            nonlocal done
            before, done = done, done + expected[path]
            bar.update(task, completed=before, description=clean(path.name)[:_NAME_CHARS])
            return lambda at: bar.update(task, completed=before + min(at, expected[path]))

        yield begin


@contextmanager
def step_progress(description: str, count: int, *, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """Show a bar of `count` steps; yield a function that advances it by one."""
    if quiet or AS_JSON.get() or count < STEPS_SHOWN_FROM or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console(to_stderr=True), transient=True) as bar:
        task = bar.add_task(clean(description), total=count)
        yield lambda: bar.advance(task)


@contextmanager
def spinner(description: str, *, quiet: bool = False) -> Iterator[None]:
    """Show a spinner with a description while the block runs."""
    if quiet or AS_JSON.get() or not sys.stderr.isatty():
        yield
        return
    with console(to_stderr=True).status(clean(description)):
        yield


def _unpacked_size(path: Path) -> int:
    byte_count = path.stat().st_size
    return byte_count * _PACKED_RATIO if path.suffix in {".gz", ".zst"} else byte_count
