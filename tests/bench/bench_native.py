"""How fast the native core is beside what it replaces: both sides timed in turns, in one process."""

from __future__ import annotations

import gc
import gzip
import hashlib
import json
import random
import statistics
import sys
import sysconfig
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import rfc8785

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUNDS = 7
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"


def timed(work: Callable[[], object]) -> float:
    """Seconds of processor time that `work` takes."""
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)


def compare(title: str, size: int, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Times both in turns and prints our speed and the median of the ratios."""
    gc.collect()
    gc.disable()
    pairs = [(timed(ours), timed(theirs)) for _ in range(ROUNDS)]
    gc.enable()
    ratio = statistics.median(other / our for our, other in pairs)
    best = min(our for our, _ in pairs)
    print(f"{title:<64} {size / 1e6 / best:8.1f} MB/s  {ratio:6.2f}x")


def pieces(texts: Sequence[str], length: int) -> list[str]:
    """The texts in pieces of `length` characters."""
    return [text[at : at + length] for text in texts for at in range(0, len(text), length)]


def english() -> list[str]:
    """Technical documentation where it is at hand, else what Python's own sources say."""
    return [path.read_text() for path in sorted((SHARED / "prose").glob("*.txt"))] or code()


def code() -> list[str]:
    """Sources of Python's standard library."""
    files = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))[:80]
    return [path.read_text(errors="replace") for path in files]


def transcript_lines() -> list[bytes]:
    """Lines of real sessions where they are at hand, else records of a similar shape."""
    files = sorted((SHARED / "transcripts" / "claude-code").glob("*.gz"))[:10]
    lines = [line for path in files for line in gzip.decompress(path.read_bytes()).splitlines()]
    made = ({"type": "user", "uuid": f"{number:032x}", "message": {"content": text}} for number, text in
            enumerate(pieces(code(), 2000)))  # fmt: skip
    return lines or [orjson.dumps(record) for record in made]


def memories() -> list[dict[str, Any]]:
    """Records as the store keeps them: about 750 bytes, strings and whole numbers."""
    pick = random.Random(1)
    words = " ".join(english()[:1])[:200_000].split()
    return [
        {
            "id": f"mem_{number:08x}",
            "type": "fact",
            "content": " ".join(pick.choices(words, k=80)),
            "tags": pick.choices(words, k=4),
            "accessCount": number,
            "trust": {"author": "agent", "at": "2026-11-21T09:30:00.000Z"},
        }
        for number in range(3000)
    ]


def each(function: Callable[[Any], object], items: Sequence[Any]) -> Callable[[], None]:
    """The work of calling `function` on every item."""

    def work() -> None:
        for item in items:
            function(item)

    return work


def bench_json() -> None:
    """Canonical bytes and hash of Python values, and the strict check of text."""
    records = memories()
    size = len(orjson.dumps(records))

    def sorted_and_hashed(record: dict[str, Any]) -> str:
        return hashlib.sha256(orjson.dumps(record, option=orjson.OPT_SORT_KEYS)).hexdigest()

    title = "sha256 of canonical memories, to orjson sorted + hashlib"
    compare(title, size, each(_native.sha256_canonical, records), each(sorted_and_hashed, records))
    compare("canonical memories, to rfc8785", size, each(_native.canonical, records), each(rfc8785.dumps, records))
    lines = transcript_lines()
    title = "check_json of transcript lines, to json.loads"
    compare(title, sum(map(len, lines)), each(_native.check_json, lines), each(json.loads, lines))


if __name__ == "__main__":
    bench_json()
