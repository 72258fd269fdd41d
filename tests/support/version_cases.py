"""Versions of prose documents with typical edits, and pairs of concurrent edits with their common base."""

from __future__ import annotations

import functools
import random
from typing import Any, Final, NamedTuple

from support.prose import paragraph
from support.shared import shared_rows

HISTORIES: Final = 40  # documents
VERSIONS: Final = 12  # of each


class Triple(NamedTuple):
    """A base text and two edited versions of it."""

    base: str
    ours: str
    theirs: str


@functools.cache
def generated_histories() -> tuple[tuple[str, ...], ...]:
    """Return the versions of each generated document, oldest first."""
    return tuple(_history(seed) for seed in range(HISTORIES))


def history_sets() -> list[list[tuple[str, ...]]]:
    """Return the generated histories as one set, and the recorded ones as another where present."""
    recorded = [tuple(row["versions"]) for row in shared_rows("data/merges/histories.jsonl")]
    return [list(generated_histories()), *([recorded] if recorded else [])]


def recorded_triples() -> list[dict[str, Any]]:
    """Return the recorded merges: base, ours, theirs, and the text of the real merge."""
    return shared_rows("data/merges/triples.jsonl")


def _history(seed: int) -> tuple[str, ...]:
    pick = random.Random(seed)
    lines = ["# " + paragraph(pick, words=3), ""]
    for _ in range(pick.randint(3, 9)):
        lines += ["## " + paragraph(pick, words=4), "", *_block(pick), ""]
    versions = [lines]
    for _ in range(VERSIONS - 1):
        versions.append(_edited(versions[-1], pick, changes=pick.randint(1, 5)))
    ending = "\r\n" if seed % 10 == 9 else "\n"
    return tuple(ending.join(version) + ending for version in versions)


def _block(pick: random.Random) -> list[str]:
    """Return the lines of a list, a paragraph or a code block."""
    match pick.randrange(4):
        case 0 | 1:
            return [f"- {paragraph(pick, words=pick.randint(4, 14))}" for _ in range(pick.randint(2, 9))]
        case 2:
            return [paragraph(pick, words=pick.randint(9, 16)) for _ in range(pick.randint(2, 8))]
        case _:
            return ["```sh", *(f"make {paragraph(pick, words=2)}" for _ in range(pick.randint(1, 5))), "```"]


def _edited(lines: list[str], pick: random.Random, *, changes: int) -> list[str]:
    """Return `lines` after some typical changes."""
    lines = list(lines)
    for _ in range(changes):
        at = pick.randrange(2, len(lines))
        run = min(pick.choice((1, 1, 1, 2, 3, 5)), len(lines) - at)
        match pick.randrange(6):
            case 0:
                lines[at:at] = [f"- {paragraph(pick, words=8)}" for _ in range(run)]
            case 1 if len(lines) > 20:
                del lines[at : at + run]
            case 2:
                moved = lines[at : at + run]
                del lines[at : at + run]
                to = pick.randrange(2, len(lines) + 1)
                lines[to:to] = moved
            case 3:
                lines += ["", "## " + paragraph(pick, words=3), "", *_block(pick)]
            case _:
                lines[at : at + run] = [_reworded(line, pick) for line in lines[at : at + run]]
    return lines


def _reworded(line: str, pick: random.Random) -> str:
    """Return `line` with one word replaced, added or left out; an empty line with words."""
    words = line.split(" ")
    if len(words) < 3:
        return f"{line}{paragraph(pick, words=5)}"
    at = pick.randrange(1, len(words))
    words[at : at + pick.randint(0, 1)] = paragraph(pick, words=pick.randint(1, 2)).split(" ")
    return " ".join(words)
