"""A table of measured figures over sizes of a store, with the exponent by which each one grows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence


def print_table(
    of: str,
    sizes: Sequence[int],
    columns: Sequence[Mapping[str, float]],
    goals: Mapping[str, tuple[str, float | None]],
) -> None:
    """Print a row for each figure of `goals` (its unit and greatest value), a column for each size, exponent and goal.

    `of` names what `sizes` counts; `columns` has the figures of each size, NaN for a missing one.
    """
    print(f"{of:44s}" + "".join(f"{size:12,d}" for size in sizes) + "   exponent       goal")
    for name, (unit, goal) in goals.items():
        values = [column.get(name, math.nan) for column in columns]
        shown = "".join(f"{value:12.3f}" for value in values)
        wanted = "" if goal is None else f"<= {goal:g} {unit}"
        print(f"{name:44s}{shown} {exponent(sizes, values):10.2f}   {wanted:>10s}")


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the slope of log(value) against log(size): 0 is constant, 1 linear; NaN for one size or missing values."""
    if len(sizes) < 2 or any(map(math.isnan, values)):
        return math.nan
    pairs = [(math.log(size), math.log(max(value, 1e-6))) for size, value in zip(sizes, values, strict=True)]
    return statistics.linear_regression([x for x, _ in pairs], [y for _, y in pairs]).slope
