"""Progress of an import: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reveried.cli.output import clean, console

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["import_progress", "steps", "working"]

STEPS_SHOWN_FROM = 3  # fewer are over before a bar is read

_NAME_CHARS = 30
_UNPACKED = 6  # packed transcripts grow about so many times; it only scales the bar


@contextmanager
def import_progress(paths: list[Path], *, quiet: bool) -> Iterator[Callable[[Path], Callable[[int], None]]]:
    """Gives a function that begins a file and gives one that is told the bytes dealt with so far in it."""
    if quiet or not sys.stderr.isatty():
        yield lambda _path: lambda _bytes: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console(to_stderr=True), transient=True) as bar:
        expected = {path: _expected(path) for path in paths}
        whole = bar.add_task("Importing", total=sum(expected.values()))
        done = 0

        def begin(path: Path) -> Callable[[int], None]:
            nonlocal done
            before, done = done, done + expected[path]
            bar.update(whole, completed=before, description=clean(path.name)[:_NAME_CHARS])
            return lambda at: bar.update(whole, completed=before + min(at, expected[path]))

        yield begin


@contextmanager
def steps(what: str, count: int, *, quiet: bool = False) -> Iterator[Callable[[], None]]:
    """A bar of `count` steps; gives a function that says that one more is done."""
    if quiet or count < STEPS_SHOWN_FROM or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console(to_stderr=True), transient=True) as bar:
        task = bar.add_task(clean(what), total=count)
        yield lambda: bar.advance(task)


@contextmanager
def working(what: str, *, quiet: bool = False) -> Iterator[None]:
    """A turning mark with a few words while something long happens."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    with console(to_stderr=True).status(clean(what)):
        yield


def _expected(path: Path) -> int:
    size = path.stat().st_size
    return size * _UNPACKED if path.suffix == ".gz" else size
