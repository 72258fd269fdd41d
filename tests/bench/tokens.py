"""Benchmark of token counting, beside tiktoken and rs_bpe, timed alternately, each with its goal.

Seen texts are counted again and again; unseen ones once, sixteen in a turn, after others of their kind. English is
technical documentation (unseen also: conversations), code is Python's standard library. There are two multilingual
corpora: real lines of documents in which at least a fifth of the bytes is not ASCII, each line once; and made ones,
words put together from the vocabulary's own tokens beyond Latin, the lower their rank the more often. Without
`../shared` only what Python brings along is measured.
"""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import rs_bpe.bpe

from bench.run import DATA, compare, in_turns, ratio, row
from reverie import tokenizer
from support.vocabulary import oracle

STDLIB = Path(sysconfig.get_path("stdlib"))
ROUNDS = 7
TEXT = 32_000
ITEM = 480
TURN = 16

# Loads a vocabulary in a fresh process; prints seconds of processor time and bytes of memory that it took.
LOAD = """
import sys, time
from reverie import _native
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
before, started = resident(), time.process_time()
_native.count("Hello, world", sys.argv[1])
print(time.process_time() - started, resident() - before)
"""


def size(texts: Iterable[str]) -> int:
    """Return the bytes of UTF-8."""
    return sum(len(text.encode()) for text in texts)


def cut(texts: Iterable[str], length: int) -> list[str]:
    """Return the texts in pieces of `length` characters."""
    return [text[at : at + length] for text in texts for at in range(0, len(text), length)]


def english() -> list[str]:
    """Return technical documentation from the measurement data where it is present, else Python's own sources."""
    return [path.read_text() for path in sorted((DATA / "prose").glob("*.txt"))] or code("*.py")


def talk() -> list[str]:
    """Return messages of long conversations from the measurement data; none where it is absent."""
    path = DATA / "locomo" / "locomo5.json"
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
    path = DATA / "merges" / "histories.jsonl"
    if not path.exists():
        return []
    lines: dict[str, None] = {}
    for history in path.read_text().splitlines():
        for version in json.loads(history)["versions"]:
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


def count_all(texts: Sequence[str], encoding: tokenizer.Encoding) -> dict[str, Callable[[], object]]:
    """Return both sides of counting texts one by one."""
    encode = oracle(encoding).encode_ordinary
    return {
        "ours": lambda: [tokenizer.count(text, encoding) for text in texts],
        "theirs": lambda: [len(encode(text)) for text in texts],
    }


def seen(title: str, texts: Sequence[str], encoding: tokenizer.Encoding, goal: float) -> None:
    """Print how much faster than the other tokenizer we count the same texts again and again."""
    sides = count_all(texts, encoding)
    compare(f"{encoding} {title}", sides["ours"], sides["theirs"], size=size(texts), rounds=ROUNDS, least=goal)


def once(title: str, texts: Sequence[str], encoding: tokenizer.Encoding, goal: float) -> None:
    """Print the speed of counting each text once, after a warm-up with a third of them."""
    third = len(texts) // 3
    for side in count_all(texts[:third], encoding).values():
        side()
    turns = [texts[at : at + TURN] for at in range(third, len(texts), TURN)]
    taken = [in_turns(count_all(some, encoding), 1, warm=False) for some in turns]
    ours, theirs = (sum(one[side][0] for one in taken) for side in ("ours", "theirs"))
    row(f"{encoding} {title}", size(texts[third:]) / 1000 / ours, "MB/s", times=theirs / ours, least=goal)


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
        sides = {"theirs": partial(counter.count, text), "ours": partial(tokenizer.count, text, encoding)}
        times = in_turns(sides, ROUNDS)
        slower = ratio(times["theirs"], times["ours"])
        row(f"{encoding} 200 KB of {title}, time to rs_bpe's", min(times["ours"]), "ms", times=slower, most=2)


def load(encoding: str) -> None:
    """Print the time and the memory that loading a vocabulary takes, each in a new process."""
    command = [sys.executable, "-c", LOAD, encoding]
    runs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split() for _ in range(3)]
    seconds = statistics.median(float(run[0]) for run in runs)
    memory = max(int(run[1]) for run in runs)
    row(f"{encoding} load", seconds, "s", most=0.15)
    row(f"{encoding} load", memory / 1e6, "MB", most=16)


def many() -> None:
    """Print the speed of counting many texts in one call, and of `fits` with a low limit, compared with `count`."""
    texts = cut(english() * 2, ITEM)
    sides = {
        "many": lambda: tokenizer.count_many(texts),
        "each": lambda: [tokenizer.count(text) for text in texts],
    }
    times = in_turns(sides, ROUNDS, clock=time.perf_counter)
    row("count_many, to counting each", min(times["many"]), "ms", times=ratio(times["many"], times["each"]))
    text = "".join(english())
    limit = len(text) // 100
    compare("fits with a limit far below, to count", lambda: tokenizer.fits(text, limit), lambda: tokenizer.count(text))


def counts() -> None:
    """Print every goal: texts counted for the first time, before any other measurement, then seen ones."""
    for encoding in get_args(tokenizer.Encoding):
        load(encoding)
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
            if len(mixed) > 3:
                once(f"unseen, {title}, 32 KB texts", mixed, encoding, goal)
        for title, texts in {"English": english(), "code": code("*.py")}.items():
            seen(f"seen, {title}, 32 KB texts", cut(texts, TEXT), encoding, 15)
            seen(f"items of 480 B one at a time, {title}", cut(texts, ITEM), encoding, 12)
        unsplit(encoding)


CASES = {"counts": counts, "many": many}
