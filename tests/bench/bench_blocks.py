"""Benchmark of blocks: parsing, aligning, changing and patching documents, beside difflib and plain Python."""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable, Sequence

from reverie import _native, markdown_blocks
from support.edit_history import COMMON

SHARED: Final = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ROUNDS: Final = 7
BLOCKS: Final = 100_000
GOAL_MS: Final = 150


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds of `work`."""
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)


def speed(title: str, size: int, work: Callable[[], object]) -> None:
    """Print one line: megabytes per second."""
    best = min(timed(work) for _ in range(ROUNDS))
    print(f"{title:<56} {size / 1e6 / best:8.1f} MB/s {best * 1e3:9.2f} ms")


def compare(title: str, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Print one line: how many times faster we are, both sides timed alternately."""
    pairs = [(timed(ours), timed(theirs)) for _ in range(3)]
    ratio = statistics.median(other / our for our, other in pairs)
    print(f"{title:<56} {min(our for our, _ in pairs) * 1e3:8.2f} ms {ratio:8.1f}x")


def items(pick: random.Random, count: int) -> list[list[str]]:
    """Return the words of items of about 80 bytes."""
    words = COMMON + ["".join(pick.choices("abcdefghijklmnop", k=pick.randint(3, 9))) for _ in range(5000)]
    return [pick.choices(words, k=12) for _ in range(count)]


def text(words: Sequence[str]) -> bytes:
    """Return words as one item of a markdown list."""
    return f"- {' '.join(words)}\n".encode()


def edited(pick: random.Random, words: Sequence[str]) -> bytes:
    """Return an item with one word replaced."""
    new = list(words)
    new[pick.randrange(len(new))] = "edited"
    return text(new)


def parse_all(documents: Sequence[bytes]) -> None:
    """Parse every document."""
    for document in documents:
        _native.parse_blocks(document)


def equal_blocks(old: Sequence[bytes], new: Sequence[bytes]) -> None:
    """Run difflib's search for equal blocks, the slower side of the comparison."""
    SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()


def bench_parse() -> None:
    """Time parsing: real documents, many items, many sections, prose."""
    path = SHARED / "merges" / "histories.jsonl"
    rows = path.read_text().splitlines() if path.exists() else []
    real = [version.encode() for row in rows for version in json.loads(row)["versions"]]
    facts = b"# T\n\n> Summary: s\n\n" + b"".join(map(text, items(random.Random(1), BLOCKS)))
    section = b"## Fix\n- Summary: pipe leak\n- Date: 2026-02-24\n- Problem: the file was leaking\n\n"
    documents = {
        "real markdown": real,
        "100,000 items": [facts],
        "20,000 sections": [section * 20_000],
        "prose": [b"words and words and words and words\n" * 50_000],
        "a line of 1 MB": [b"- " + b"word " * 200_000],
    }
    for name, data in documents.items():
        size = sum(map(len, data))
        speed(f"parse, {name}, binding", size, partial(parse_all, data))
    speed("parse, 100,000 items, face", len(facts), lambda: markdown_blocks.parse(facts))


def bench_align() -> None:
    """Time carrying over 100,000 ids: the goal is less than 150 ms for each case."""
    pick = random.Random(2)
    words = items(pick, BLOCKS)
    old = [(f"mem_{number:08x}", text(block)) for number, block in enumerate(words)]
    same = [block for _, block in old]
    few = [edited(pick, block) if pick.random() < 0.05 else text(block) for block in words]
    half = [edited(pick, block) if pick.random() < 0.5 else text(block) for block in words]
    for name, new in {
        "unchanged": same,
        "5 % edited": few,
        "half edited": half,
        "shuffled": pick.sample(same, len(same)),
        "shuffled, 5 % edited": pick.sample(few, len(few)),
    }.items():
        times = sorted(timed(partial(_native.align, old, new)) * 1e3 for _ in range(ROUNDS))
        verdict = "ok" if times[ROUNDS // 2] < GOAL_MS else "MISSED"
        title = f"align 100,000 blocks, {name}"
        print(f"{title:<56} {times[0]:8.1f} ms, median {times[ROUNDS // 2]:.1f} ms, goal < {GOAL_MS} ms  {verdict}")
    small, changed = same[:3000], few[:3000]
    shuffled = pick.sample(changed, len(changed))
    for name, new in {"5 % edited": changed, "shuffled": shuffled}.items():
        compare(
            f"align 3,000 blocks, {name}, to difflib (equal ones only)",
            partial(_native.align, old[:3000], new),
            partial(equal_blocks, small, new),
        )


def bench_changes() -> None:
    """Time changing one item in a hundred of a document, and patching as many lines."""
    pick = random.Random(3)
    words = items(pick, 20_000)
    document = b"# T\n\n" + b"".join(map(text, words))
    spans = [(str(number), start, end) for number, (_, start, end, *_) in enumerate(_native.parse_blocks(document)[2:])]
    changes = [("update", str(number), edited(pick, words[number]).decode()) for number in range(0, 20_000, 100)]
    speed("apply 200 updates to 20,000 items", len(document), lambda: _native.apply_changes(document, spans, changes))
    source = document.decode()
    lines = [text(item).decode() for item in words]
    for count in (1, 200, 5000):
        patches = [(line, line.upper()) for line in pick.sample(lines, count)]
        speed(f"patch {count} texts of 20,000 lines", len(document), partial(_native.patch, source, patches))
    patches = [(line, line.upper()) for line in pick.sample(lines, 200)]

    def plain() -> str:
        """Replace by plain Python without an index."""
        result = source
        for old, new in patches:
            if source.count(old) == 1:
                result = result.replace(old, new)
        return result

    compare("patch 200 texts of 20,000 lines, to str.count and replace", lambda: _native.patch(source, patches), plain)


if __name__ == "__main__":
    for bench in (bench_parse, bench_align, bench_changes):
        bench()
