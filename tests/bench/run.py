"""Run benchmarks: `run.py [BENCH[.CASE] [WORD...]] [--beside TREE [--rounds N]]`; without a name all of them.

A benchmark is a file of this folder with a table `CASES` of functions, which print rows; the words go to the function.
Sides that are compared take turns, after a warm-up, and a ratio is the median of those of each turn: what else the
machine does meets both sides alike.

With `--beside`, each round runs the benchmark in the virtual environment of another checkout too, `TREE/.venv`, the
sides in turns, each in a process of its own; printed are the medians of each figure and their ratio. The files are
those of this tree, so only benchmarks that say `OUTSIDE = True` can run so: they use the command line and HTTP alone.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.daemon import Daemon, cpu_seconds
from support.shared import SHARED
from support.waiting import wait_until

Daemon.forks = False
DATA = SHARED / "data"
HERE = Path(__file__).parent
ROUNDS = 3  # of both sides, with --beside
WIDTH = 70
T = TypeVar("T")
Work = Callable[[], object]
_figures: list[tuple[str, float, str]] = []  # what was printed: title, value and unit


def timed(work: Callable[[], T], clock: Callable[[], float] = time.perf_counter) -> tuple[float, T]:
    """Return the milliseconds of a call, and what it returned."""
    began = clock()
    value = work()
    return 1000 * (clock() - began), value


def ms_of(work: Work, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the milliseconds of a call."""
    return timed(work, clock)[0]


def in_turns(
    sides: Mapping[str, Work],
    rounds: int,
    *,
    clock: Callable[[], float] = time.process_time,
    passes: int = 1,
    warm: bool = True,
) -> dict[str, list[float]]:
    """Return the milliseconds of one pass of each side in each round, by default of processor time."""
    for side in sides.values() if warm else ():
        side()
    times: dict[str, list[float]] = {name: [] for name in sides}
    with without_collector():
        for _ in range(rounds):
            for name, side in sides.items():
                began = clock()
                for _ in range(passes):
                    side()
                times[name].append(max(1000 * (clock() - began) / passes, 1e-6))
    return times


@contextmanager
def without_collector() -> Iterator[None]:
    """Collect garbage now, and none during the block."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def ratio(these: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of how many times longer `others` took than `these`, turn by turn."""
    return statistics.median(other / this for this, other in zip(these, others, strict=True))


def compare(
    title: str,
    ours: Work,
    theirs: Work,
    *,
    size: int = 0,
    rounds: int = 15,
    passes: int = 1,
    least: float | None = None,
) -> None:
    """Print our speed (of `size` bytes) or time, and how many times longer the other side takes (goal: `least`)."""
    times = in_turns({"ours": ours, "theirs": theirs}, rounds, passes=passes)
    ours_ms = min(times["ours"])
    value, unit = (size / 1000 / ours_ms, "MB/s") if size else (ours_ms, "ms")
    row(title, value, unit, times=ratio(times["ours"], times["theirs"]), least=least)


def row(
    title: str,
    value: float,
    unit: str,
    *,
    times: float | None = None,
    most: float | None = None,
    least: float | None = None,
    note: str = "",
) -> None:
    """Print a figure, and how many times that of another side it is; `most` or `least` is the goal of the last one."""
    _figures.append((title, value, unit))
    shown = f"{title:<{WIDTH}} {_shown(value):>11} {unit:<5}"
    last = value
    if times is not None:
        _figures.append((f"{title}, times", times, "x"))
        shown += f" {times:8.2f} x"
        last = times
    if most is not None:
        shown += f"  goal <= {most:g}  {'ok' if last <= most else 'MISSED'}"
    if least is not None:
        shown += f"  goal >= {least:g}  {'ok' if last >= least else 'MISSED'}"
    print(f"{shown}  {note}".rstrip(), flush=True)


def _shown(value: float) -> str:
    return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}" if abs(value) < 10_000 else f"{value:,.0f}"


def spread(title: str, times_ms: Sequence[float], *, most: float | None = None, to: float | None = None) -> None:
    """Print the median of some milliseconds (beside `to`) and their 99th percentile."""
    p50 = statistics.median(times_ms)
    row(f"{title}, p50", p50, "ms", times=None if to is None else p50 / to, most=most, note=f"p99 {p99(times_ms):.2f}")


def p99(times: Sequence[float]) -> float:
    """Return the 99th percentile."""
    return sorted(times)[len(times) * 99 // 100]


def table(
    of: str,
    sizes: Sequence[int],
    columns: Sequence[Mapping[str, float]],
    goals: Mapping[str, tuple[str, float | None]],
) -> None:
    """Print a row for each figure of `goals` (its unit and greatest value), a column for each size, exponent and goal.

    `of` names what `sizes` counts; `columns` has the figures of each size. The exponent is the slope of the logarithm
    of a figure against that of the size: 0 is constant, 1 linear.
    """
    print(f"{of:<{WIDTH - 12}}" + "".join(f"{size:12,d}" for size in sizes) + "   exponent       goal")
    for name, (unit, goal) in goals.items():
        values = [column.get(name, math.nan) for column in columns]
        shown = "".join(f"{value:12.3f}" for value in values)
        wanted = "" if goal is None else f"<= {goal:g} {unit}"
        print(f"{name:<{WIDTH - 12}}{shown} {exponent(sizes, values):10.2f}   {wanted:>10s}", flush=True)
        _figures.extend((f"{name}, {size:,} {of}", value, unit) for size, value in zip(sizes, values, strict=True))


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the slope of log(value) against log(size); NaN for one size or missing values."""
    if len(sizes) < 2 or any(map(math.isnan, values)):
        return math.nan
    pairs = [(math.log(size), math.log(max(value, 1e-6))) for size, value in zip(sizes, values, strict=True)]
    return statistics.linear_regression([x for x, _ in pairs], [y for _, y in pairs]).slope


def say(title: str, *values: float | str) -> None:
    """Print several figures, or words, in one row."""
    print(f"{title:<{WIDTH}} " + " ".join(one if isinstance(one, str) else f"{one:.4f}" for one in values), flush=True)
    _figures.extend((f"{title}, {at}", one, "") for at, one in enumerate(values, 1) if not isinstance(one, str))


def skipped(title: str, why: str) -> None:
    """Say that a figure needs what is not here."""
    print(f"{title:<{WIDTH}} skipped: {why}")


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()]


def tree_seconds(pid: int) -> float:
    """Return the processor time of a process and its children so far."""
    return sum(cpu_seconds(one) for one in (pid, *children(pid)))


def share_of_core(pid: int, seconds: float) -> float:
    """Return the percentage of one core that a process uses in the next seconds."""
    before, began = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return 100 * (cpu_seconds(pid) - before) / (time.monotonic() - began)


def settle(daemon: Daemon, seconds: float = 1.0, most_s: float = 600.0) -> None:
    """Wait until a daemon and its processes have used next to no processor time for some seconds."""

    def is_quiet() -> bool:
        before = tree_seconds(daemon.pid)
        time.sleep(seconds)
        return tree_seconds(daemon.pid) - before < seconds / 20

    wait_until(is_quiet, "the end of the daemon's work", most_s)


def program(*words: str) -> list[str]:
    """Return a command of `reverie` in the environment that runs this."""
    return [sys.executable, "-m", "reveried.cli", *words]


def benches() -> dict[str, Any]:
    """Return the benchmarks by name, as modules; one that has `OUTSIDE` runs in other checkouts too."""
    names = sorted(path.stem for path in HERE.glob("*.py"))
    modules = {
        name: importlib.import_module(f"bench.{name}") for name in names if name not in ("run", "similar_structs")
    }
    return {name: module for name, module in modules.items() if hasattr(module, "CASES")}


def run(bench: str, case: str, words: Sequence[str]) -> None:
    """Run the cases of one benchmark, or one; write the figures into the file in BENCH_FIGURES, if there is one."""
    cases = importlib.import_module(f"bench.{bench}").CASES
    if words and not case and len(cases) > 1:
        sys.exit(f"say for which case the words are: {', '.join(cases)}")
    for name in [case] if case else cases:
        print(f"== {bench}.{name}", flush=True)
        cases[name](*words)
    if path := os.environ.get("BENCH_FIGURES"):
        Path(path).write_text(json.dumps(_figures))


def beside(tree: Path, bench: str, case: str, words: Sequence[str], rounds: int) -> None:
    """Run a benchmark here and in another checkout in turns; print both medians of each figure, and their ratio."""
    sides = {"here": sys.executable, "there": str(tree / ".venv" / "bin" / "python")}
    found: dict[str, dict[tuple[str, str], list[float]]] = {name: {} for name in sides}
    name = f"{bench}.{case}" if case else bench
    with tempfile.TemporaryDirectory() as scratch:
        figures = Path(scratch) / "figures"
        env = {**os.environ, "BENCH_FIGURES": str(figures), "PYTHONDONTWRITEBYTECODE": "1"}
        for number in range(rounds):
            for side in list(sides) if number % 2 == 0 else list(sides)[::-1]:
                command = [sides[side], str(HERE / "run.py"), name, *words]
                subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
                for title, value, unit in json.loads(figures.read_text()):
                    found[side].setdefault((title, unit), []).append(value)
    print(f"== {name}, medians of {rounds}{'':<{WIDTH - len(name) - 17}} {'here':>11} {'there':>11}")
    for (title, unit), values in found["here"].items():
        if (title, unit) in found["there"]:
            here, there = statistics.median(values), statistics.median(found["there"][title, unit])
            by = f"{here / there:8.2f} x" if there else ""
            print(f"{title:<{WIDTH}} {_shown(here):>11} {_shown(there):>11} {unit:<5} {by}", flush=True)


def main() -> None:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", nargs="?", default="")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked, more = parser.parse_known_args()
    words = [*asked.words, *more]
    name, _, case = asked.bench.partition(".")
    chosen = [name] if name else list(benches())
    if asked.beside is None:
        for each in chosen:
            run(each, case, words)
        return
    outside = [each for each, module in benches().items() if getattr(module, "OUTSIDE", False)]
    if name and name not in outside:
        sys.exit(f"{name} uses what only this tree has; beside another one run: {', '.join(outside)}")
    for each in chosen if name else outside:
        beside(asked.beside, each, case, words, asked.rounds)


if __name__ == "__main__":
    importlib.import_module("bench.run").main()  # the module that the benchmarks import, not a second one
