"""Benchmark of token counting, beside tiktoken and rs_bpe, timed alternately, each with its goal.

Seen texts are counted again and again; unseen ones once, sixteen in a turn, after others of their kind. English is
technical documentation (unseen also: conversations), code is Python's standard library. There are two multilingual
corpora: real lines of documents in which at least a fifth of the bytes is not ASCII, each line once; and made ones,
words put together from the vocabulary's own tokens beyond Latin, the lower their rank the more often. Without
`../shared` only what Python brings along is measured.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import subprocess
import sys
import sysconfig
import time
from functools import partial
from pathlib import Path
from typing import Final, get_args

import rs_bpe.bpe

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable, Iterable, Sequence

from reverie import tokenizer
from support.vocabulary import oracle

SHARED: Final = Path(__file__).resolve().parents[2].parent / "shared" / "data"
STDLIB: Final = Path(sysconfig.get_path("stdlib"))
ROUNDS: Final = 7
TEXT: Final = 32_000
ITEM: Final = 480
TURN: Final = 16

# Loads a vocabulary in a fresh process; prints seconds of processor time and bytes of memory that it took.
LOAD: Final = """
import sys, time
from reverie import _native
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
before, started = resident(), time.process_time()
_native.count("Hello, world", sys.argv[1])
print(time.process_time() - started, resident() - before)
"""


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds of `work`."""
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)


def report(title: str, ratio: float, goal: float, speed: str = "", *, most: bool = False) -> None:
    """Print one line: what was measured, its ratio, and whether it reaches the goal."""
    reached = ratio <= goal if most else ratio >= goal
    sign = "<=" if most else ">="
    print(f"{title:<62} {speed:>12} {ratio:7.2f}x  goal {sign} {goal:g}x  {'ok' if reached else 'MISSED'}")


def size(texts: Iterable[str]) -> int:
    """Return the bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)


def cut(texts: Iterable[str], length: int) -> list[str]:
    """Return the texts in pieces of `length` characters."""
    return [text[at : at + length] for text in texts for at in range(0, len(text), length)]


def english() -> list[str]:
    """Return technical documentation from the measurement data where it is present, else Python's own sources."""
    return [path.read_text() for path in sorted((SHARED / "prose").glob("*.txt"))] or code("*.py")


def talk() -> list[str]:
    """Return messages of long conversations from the measurement data; none where it is absent."""
    path = SHARED / "locomo" / "locomo5.json"
    texts: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, dict):
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)
        elif isinstance(value, str):
            texts.append(value + "\n")

    collect(json.loads(path.read_text()) if path.exists() else None)
    return texts


def code(pattern: str) -> list[str]:
    """Return sources of Python's standard library."""
    return [path.read_text(errors="replace") for path in sorted(STDLIB.glob(pattern))]


def real_lines() -> list[str]:
    """Return unique lines of documents in several languages, at least a fifth of their bytes beyond ASCII."""
    path = SHARED / "merges" / "histories.jsonl"
    if not path.exists():
        return []
    lines: dict[str, None] = {}
    for row in path.read_text().splitlines():
        for version in json.loads(row)["versions"]:
            lines |= dict.fromkeys(version.splitlines(keepends=True))
    return [line for line in lines if (data := line.encode()) and sum(byte > 127 for byte in data) * 5 >= len(data)]


def generated_lines(encoding: str, seed: int, count: int) -> list[str]:
    """Return generated lines of non-Latin tokens of the vocabulary, word beginnings and continuations."""
    first: list[str] = []
    more: list[str] = []
    for token in oracle(encoding).token_byte_values():
        text = token.decode(errors="ignore")
        if text.encode() == token and text.strip().isalpha() and min(text.strip()) > "\u0370":
            (first if text[0] == " " or text[0] > "\u0e00" else more).append(text)
    pick = random.Random(seed)
    weights = [[1 / (rank + 50) for rank in range(len(words))] for words in (first, more)]
    starts = pick.choices(first, weights[0], k=count * 12)
    ends = pick.choices(more, weights[1], k=count * 12)
    words = [start + end if pick.random() < 0.5 else start for start, end in zip(starts, ends, strict=True)]
    return ["".join(words[at : at + 12]) + "\n" for at in range(0, len(words), 12)]


def count_repeatedly(title: str, texts: Sequence[str], encoding: tokenizer.Encoding, goal: float) -> None:
    """Report how much faster than the other tokenizer we count the same texts again and again."""
    encode = oracle(encoding).encode_ordinary

    def ours() -> None:
        for text in texts:
            tokenizer.count(text, encoding)

    def theirs() -> None:
        for text in texts:
            len(encode(text))

    ours()
    gc.disable()
    pairs = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]
    gc.enable()
    speed = f"{size(texts) / 1e6 / min(our for our, _ in pairs):.0f} MB/s"
    report(f"{encoding} {title}", statistics.median(other / our for our, other in pairs), goal, speed)


def count_once(
    title: str, warm: Sequence[str], texts: Sequence[str], encoding: tokenizer.Encoding, goal: float
) -> None:
    """Time counting each text once, after a warm-up with others."""
    encode = oracle(encoding).encode_ordinary

    def ours(some: Sequence[str]) -> None:
        for text in some:
            tokenizer.count(text, encoding)

    def theirs(some: Sequence[str]) -> None:
        for text in some:
            len(encode(text))

    ours(warm)
    theirs(warm)
    gc.disable()
    turns = [texts[at : at + TURN] for at in range(0, len(texts), TURN)]
    pairs = [(timed(partial(ours, some)), timed(partial(theirs, some))) for some in turns]
    gc.enable()
    our, other = (sum(side) for side in zip(*pairs, strict=True))
    report(f"{encoding} {title}", other / our, goal, f"{size(texts) / 1e6 / our:.0f} MB/s")


def unsplit(encoding: tokenizer.Encoding) -> None:
    """Time 200 KB in one piece, beside rs_bpe, whose merging takes linear time."""
    counter = getattr(rs_bpe.bpe.openai, encoding)()
    pick = random.Random(2)
    hostile = {
        "one letter": "a" * 200_000,
        "two letters": "ab" * 100_000,
        "random letters": "".join(pick.choices("abcdefghijklmnopqrstuvwxyz", k=200_000)),
        "spaces": " " * 200_000,
        "equals signs": "=" * 200_000,
        "random Han": "".join(chr(pick.randrange(0x4E00, 0x9FA0)) for _ in range(66_666)),
    }
    for title, text in hostile.items():
        ours, theirs = partial(tokenizer.count, text, encoding), partial(counter.count, text)
        pairs = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]
        ratio = statistics.median(our / other for our, other in pairs)
        speed = f"{min(our for our, _ in pairs) * 1e3:.1f} ms"
        report(f"{encoding} 200 KB of {title}, time to rs_bpe's", ratio, 2, speed, most=True)


def load(encoding: str) -> None:
    """Print the time and the memory that loading a vocabulary takes, each in a new process."""
    command = [sys.executable, "-c", LOAD, encoding]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(3)]
    seconds = statistics.median(float(run[0]) for run in runs)
    memory = max(int(run[1]) for run in runs)
    report(f"{encoding} load, seconds of 0.15", seconds / 0.15, 1, f"{seconds:.3f} s", most=True)
    report(f"{encoding} load, megabytes of 16", memory / 16e6, 1, f"{memory / 1e6:.1f} MB", most=True)


def many() -> None:
    """Print the speed of counting many texts in one call, and of `fits` with a low limit, compared with `count`."""
    texts = cut(english() * 2, ITEM)

    def wall(work: Callable[[], object]) -> float:
        started = time.perf_counter()
        work()
        return time.perf_counter() - started

    pairs = [
        (
            wall(lambda: tokenizer.count_many(texts)),
            wall(lambda: [tokenizer.count(text) for text in texts]),
        )
        for _ in range(ROUNDS)
    ]
    print(f"count_many to count, wall time: {statistics.median(one / all_ for all_, one in pairs):.2f}x")
    text = "".join(english())
    full, early = (
        timed(lambda: tokenizer.count(text)),
        timed(lambda: tokenizer.fits(text, len(text) // 100)),
    )
    print(f"count to fits with a limit far below, {len(text) / 1e6:.1f} MB: {full / early:.0f}x")


def bench(encoding: tokenizer.Encoding) -> None:
    """Measure every goal for one encoding."""
    prose, sources = english(), code("*.py")
    count_repeatedly("seen, English, 32 KB texts", cut(prose, TEXT), encoding, 15)
    count_repeatedly("seen, code, 32 KB texts", cut(sources, TEXT), encoding, 15)
    count_repeatedly("items of 480 B one at a time, English", cut(prose, ITEM), encoding, 12)
    count_repeatedly("items of 480 B one at a time, code", cut(sources, ITEM), encoding, 12)
    unsplit(encoding)


def bench_unseen(encoding: tokenizer.Encoding) -> None:
    """Measure texts counted for the first time, before any other measurement."""
    pick = random.Random(3)
    corpora = {
        "English": ([*cut(english(), TEXT), *talk()], 8.0),
        "code": (cut(code("*/*.py"), TEXT), 8.0),
        "multilingual, real lines": (real_lines(), 4.0),
        "multilingual, made lines": (generated_lines(encoding, 5, 20_000), 4.0),
    }
    for title, (texts, goal) in corpora.items():
        pick.shuffle(texts)
        mixed = cut(["".join(texts)], TEXT)
        third = len(mixed) // 3
        if third:
            count_once(f"unseen, {title}, 32 KB texts", mixed[:third], mixed[third:], encoding, goal)


if __name__ == "__main__":
    for name in get_args(tokenizer.Encoding):
        load(name)
        bench_unseen(name)
        bench(name)
    many()
