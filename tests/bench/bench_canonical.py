"""Benchmark of canonical JSON and its hash, beside orjson with hashlib and rfc8785, timed alternately.

The records are memories as they are stored, about 750 bytes each: one by one, the same few hundred again and again, and
as one list of several megabytes. The counterpart for JSON text first has to read it. `check_json` stands beside
`orjson.loads`, which makes values of the text; its goal is a speed.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
import rfc8785

from reverie import _native

SHARED: Final = Path(__file__).resolve().parents[2].parent / "shared" / "data"
ROUNDS: Final = 15
FEW: Final = 300
MANY: Final = 6000
AT_LEAST_MB_S: Final = 300


def timed(work: Callable[[], object], passes: int) -> float:
    """Return the processor seconds of one pass, after a warm-up pass."""
    work()
    started = time.process_time()
    for _ in range(passes):
        work()
    return max((time.process_time() - started) / passes, 1e-9)


def compare(
    title: str, size: int, ours: Callable[[], object], theirs: Callable[[], object], goal: float | None = None
) -> None:
    """Time our function and another one alternately; print our speed, the median ratio, and if it reaches the goal."""
    passes = max(1, 1_000_000 // size)
    gc.collect()
    gc.disable()
    pairs = [(timed(ours, passes), timed(theirs, passes)) for _ in range(ROUNDS)]
    gc.enable()
    ratio = statistics.median(other / our for our, other in pairs)
    speed = size / 1e6 / min(our for our, _ in pairs)
    verdict = "" if goal is None else f"  goal >= {goal:g}x  {'ok' if ratio >= goal else 'MISSED'}"
    print(f"{title:<68} {speed:7.0f} MB/s {ratio:7.2f}x{verdict}")


def memories(count: int) -> list[dict[str, Any]]:
    """Return memory records, each with its own strings, as decoding a file gives them."""
    pick = random.Random(1)
    words = [f"{pick.choice(('re', 'un', 'in', 'sub'))}{number:x}" for number in range(2000)]
    records = [
        {
            "id": f"mem_{number:020x}",
            "type": pick.choice(("fact", "preference", "procedure", "event")),
            "content": " ".join(pick.choices(words, k=50)),
            "tags": pick.choices(words, k=4),
            "document": f"projects/{pick.choice(words)}.md",
            "createdAt": f"2026-11-{number % 28 + 1:02}T09:30:00.000Z",
            "updatedAt": f"2026-11-{number % 28 + 1:02}T10:15:42.123Z",
            "accessCount": number,
            "lastAccessedAt": None,
            "trust": "engine",
            "provenance": {"thread": f"thr_{number:020x}", "project": "demo", "seqs": [number, number + 1, number + 7]},
            "title": None,
            "fields": [["Context", " ".join(pick.choices(words, k=4))]],
            "order": number % 50,
        }
        for number in range(count)
    ]
    return [orjson.loads(orjson.dumps(record)) for record in records]


def lines() -> list[bytes]:
    """Return lines of recorded sessions if there are any, else generated memory records as JSON."""
    files = sorted((SHARED / "transcripts" / "claude-code").glob("*.gz"))[:10]
    return [line for path in files for line in gzip.decompress(path.read_bytes()).splitlines()] or texts(memories(FEW))


def texts(values: Sequence[Any]) -> list[bytes]:
    """Return each value as JSON text, with its keys in their order."""
    return [orjson.dumps(value) for value in values]


def call_each(function: Callable[[Any], object], items: Sequence[Any]) -> Callable[[], None]:
    """Return a function that calls `function` with every item."""

    def work() -> None:
        for item in items:
            function(item)

    return work


def sorted_bytes(value: Any) -> bytes:
    """Return JSON with sorted keys by orjson, its closest form to canonical JSON."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def sorted_hash(value: Any) -> str:
    """Return the SHA-256 of `sorted_bytes`."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def bench_values(name: str, values: Sequence[Any]) -> None:
    """Time canonical bytes and hashes of Python values."""
    size = sum(map(len, texts(values)))
    ours, canonical = call_each(_native.sha256_canonical, values), call_each(_native.canonical, values)
    compare(f"sha256 of {name}, to orjson sorted + hashlib", size, ours, call_each(sorted_hash, values), 0.8)
    compare(f"canonical {name}, to orjson sorted", size, canonical, call_each(sorted_bytes, values))
    compare(f"canonical {name}, to rfc8785", size, canonical, call_each(rfc8785.dumps, values), 40)
    theirs = call_each(rfc8785.dumps, values)
    compare(f"orjson sorted of {name}, to rfc8785", size, call_each(sorted_bytes, values), theirs)


def bench_texts(name: str, data: Sequence[bytes]) -> None:
    """Time canonical bytes and hashes of JSON text."""
    size = sum(map(len, data))

    def read_and_hash(text: bytes) -> str:
        return sorted_hash(orjson.loads(text))

    def read_and_write(text: bytes) -> bytes:
        return rfc8785.dumps(orjson.loads(text))

    ours = call_each(_native.sha256_canonical, data)
    compare(
        f"sha256 of text, {name}, to orjson read, sorted + hashlib", size, ours, call_each(read_and_hash, data), 0.8
    )
    ours = call_each(_native.canonical, data)
    compare(f"canonical text, {name}, to orjson read + rfc8785", size, ours, call_each(read_and_write, data))


def bench_check(name: str, data: Sequence[bytes]) -> None:
    """Time the strict check of JSON from outside."""
    size = sum(map(len, data))
    compare(
        f"check_json of {name}, to orjson.loads",
        size,
        call_each(_native.check_json, data),
        call_each(orjson.loads, data),
    )
    best = min(timed(call_each(_native.check_json, data), 1) for _ in range(ROUNDS))
    speed = size / 1e6 / best
    verdict = "ok" if speed >= AT_LEAST_MB_S else "MISSED"
    print(f"{f'check_json of {name}':<68} {speed:7.0f} MB/s           goal >= {AT_LEAST_MB_S} MB/s  {verdict}")


if __name__ == "__main__":
    FEW_MEMORIES, MANY_MEMORIES = memories(FEW), memories(MANY)
    SIZE = len(orjson.dumps(MANY_MEMORIES))
    for values in ("records", FEW_MEMORIES), (f"a list of {SIZE / 1e6:.1f} MB", [MANY_MEMORIES]):
        bench_values(*values)
        bench_texts(values[0], texts(values[1]))
    bench_check("records", texts(FEW_MEMORIES))
    bench_check("transcript lines", lines())
    bench_check("a list of numbers", [orjson.dumps([number / 7 for number in range(20_000)])])
    bench_check("a list of short lists", [orjson.dumps([[number, [], {}, True] for number in range(20_000)])])
