"""Benchmark of three-way merges, beside PyPI merge3 and diffy, timed alternately in one process."""

from __future__ import annotations

import importlib.util
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import merge3 as oracle

from bench.run import in_turns, ratio, row
from reverie import _native

ROOT = Path(__file__).resolve().parents[2]
PROSE = (
    "the daemon keeps a memory of every session and writes it to one file while agents read what was decided about "
    "deploys tests names paths budgets and people before they begin to work on the next change of the project"
)
WORDS = PROSE.split()


def diffy() -> Any:
    """Return the oracle module with diffy, built on demand; None without cargo."""
    crate = ROOT / "rust" / "oracle"
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "oracle"
    cargo = shutil.which("cargo")
    if cargo is None:
        return None
    command = [cargo, "build", "--release", "--quiet", "--manifest-path", str(crate / "Cargo.toml")]
    subprocess.run(
        [*command, "--target-dir", str(target)], check=True, env=os.environ | {"PYO3_PYTHON": sys.executable}
    )
    built = target / "release" / "libreverie_oracle.so"
    spec = importlib.util.spec_from_file_location("reverie_oracle", built)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def document(size: int, pick: random.Random) -> list[str]:
    """Return lines of a memory document of about `size` bytes: sections with items, some with a second line."""
    lines = ["# Memory\n"]
    length = 0
    while length < size:
        lines += ["\n", f"## Topic {len(lines)}\n", "\n"]
        for _ in range(pick.randint(4, 12)):
            lines.append("- " + " ".join(pick.choices(WORDS, k=pick.randint(5, 14))) + f" #{pick.choice(WORDS)}\n")
            if pick.random() < 0.2:
                lines.append("  " + " ".join(pick.choices(WORDS, k=6)) + "\n")
        length = sum(map(len, lines))
    return lines


def edited(lines: Sequence[str], edits: int, places: Sequence[int], pick: random.Random) -> str:
    """Return the lines as a text with `edits` of those at `places` changed, removed or followed by a new one."""
    changed = list(lines)
    for position in pick.sample(list(places), edits):
        word = pick.choice(WORDS)
        changed[position] = pick.choice(
            [
                "",
                lines[position] + f"- new {word} {position}\n",
                f"- changed {word} {position}\n",
                lines[position].replace(" ", f" {word} ", 1),
            ]
        )
    return "".join(changed)


def shuffled(lines: Sequence[str], pick: random.Random) -> str:
    """Return the text with its sections in another order."""
    sections: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("## "):
            sections.append([])
        sections[-1].append(line)
    head, *rest = sections
    pick.shuffle(rest)
    return "".join("".join(section) for section in [head, *rest])


def merged_by_oracle(base: list[str], ours: list[str], theirs: list[str]) -> str:
    """Return the merge of PyPI merge3."""
    return "".join(oracle.Merge3(base, ours, theirs).merge_lines())


def cases() -> list[tuple[str, str, str, str]]:
    """Return title, base, ours and theirs of each case."""
    rows = []
    for size, edits in ((6_000, 6), (60_000, 40), (600_000, 300)):
        pick = random.Random(size)
        lines = document(size, pick)
        base = "".join(lines)
        even, odd = range(0, len(lines), 8), range(4, len(lines), 8)
        disjoint = edited(lines, edits, even, pick), edited(lines, edits, odd, pick)
        near = range(0, len(lines), 3)
        overlap = edited(lines, edits, near, pick), edited(lines, edits, near, pick)
        title = f"{size // 1000} KB"
        rows += [
            (f"{title} disjoint", base, *disjoint),
            (f"{title} overlap", base, *overlap),
            (f"{title} shuffled", base, shuffled(lines, pick), disjoint[1]),
        ]
    return rows


def merge() -> None:
    """Print our time, and how many times longer the others take."""
    other = diffy()
    ordered = 1e-9
    for title, base, ours, theirs in cases():
        lines = [text.splitlines(keepends=True) for text in (base, ours, theirs)]
        sides: dict[str, Callable[[], object]] = {
            "ours": partial(_native.merge3, base, ours, theirs),
            "merge3": partial(merged_by_oracle, *lines),
        }
        if other is not None:
            sides["diffy"] = partial(other.diffy_merge, base, ours, theirs)
        times = in_turns(sides, 15, passes=max(1, 200_000 // len(base)))
        ours_ms = times.pop("ours")
        best = min(ours_ms)
        conflicts = len(_native.merge3(base, ours, theirs)[1])
        row(f"merge {title}", best, "ms", note=f"{conflicts} conflicts")
        for name, taken in times.items():
            row(f"  {name}, to ours", min(taken), "ms", times=ratio(ours_ms, taken))
        if title.endswith("disjoint"):
            ordered = best
        if title.endswith("shuffled"):
            row("  shuffled, to ordered", best, "ms", times=best / ordered)


CASES = {"merge": merge}
