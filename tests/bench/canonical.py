"""Benchmark of canonical JSON and its hash, beside orjson with hashlib and rfc8785, timed alternately.

The records are memories as they are stored, about 750 bytes each: one by one, the same few hundred again and again, and
as one list of several megabytes. The counterpart for JSON text first has to read it. `check_json` stands beside
`orjson.loads`, which makes values of the text; its goal is a speed.
"""

from __future__ import annotations

import gzip
import hashlib
import random
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import rfc8785

from bench.run import DATA, compare, in_turns, row
from reverie import _native

FEW = 300
MANY = 6000
AT_LEAST_MB_S = 300


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
    files = sorted((DATA / "transcripts" / "claude-code").glob("*.gz"))[:10]
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


def beside(
    title: str,
    data: Sequence[Any],
    ours: Callable[[Any], object],
    theirs: Callable[[Any], object],
    least: float | None = None,
) -> None:
    """Print how much faster we are with every item; the items' size is that of their JSON text."""
    size = sum(len(item if isinstance(item, bytes) else orjson.dumps(item)) for item in data)
    passes = max(1, 1_000_000 // size)
    compare(title, call_each(ours, data), call_each(theirs, data), size=size, passes=passes, least=least)


def values() -> None:
    """Print canonical bytes and hashes of Python values, and of JSON text, which the counterpart first has to read."""
    many = memories(MANY)
    for name, data in ("records", memories(FEW)), (f"a list of {len(orjson.dumps(many)) / 1e6:.1f} MB", [many]):
        beside(f"sha256 of {name}, to orjson sorted + hashlib", data, _native.sha256_canonical, sorted_hash, 0.8)
        beside(f"canonical {name}, to orjson sorted", data, _native.canonical, sorted_bytes)
        beside(f"canonical {name}, to rfc8785", data, _native.canonical, rfc8785.dumps, 40)
        text = texts(data)
        read_and_hash = lambda one: sorted_hash(orjson.loads(one))  # noqa: E731
        beside(f"sha256 of text, {name}, to orjson", text, _native.sha256_canonical, read_and_hash, 0.8)
        read_and_write = lambda one: rfc8785.dumps(orjson.loads(one))  # noqa: E731
        beside(f"canonical text, {name}, to orjson + rfc8785", text, _native.canonical, read_and_write)


def check() -> None:
    """Print the strict check of JSON from outside, beside `orjson.loads`; the goal is a speed."""
    for name, data in {
        "records": texts(memories(FEW)),
        "transcript lines": lines(),
        "a list of numbers": [orjson.dumps([number / 7 for number in range(20_000)])],
        "a list of short lists": [orjson.dumps([[number, [], {}, True] for number in range(20_000)])],
    }.items():
        size = sum(map(len, data))
        beside(f"check_json of {name}, to orjson.loads", data, _native.check_json, orjson.loads)
        ms = min(in_turns({"": call_each(_native.check_json, data)}, 15)[""])
        row(f"check_json of {name}", size / 1000 / ms, "MB/s", least=AT_LEAST_MB_S)


CASES = {"values": values, "check": check}
