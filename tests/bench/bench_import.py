"""Benchmark of import steps: megabytes per second on one core, over recorded sessions or a generated one.

Run it by itself: `python tests/bench/bench_import.py [FOLDER]`. Each step is timed alone in processor time, best of
three; the last line is what all of them together leave. Memory is the peak of this process, read piece by piece.
"""

from __future__ import annotations

import gzip
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import orjson

from reverie.importers.chunks import plan_chunk
from reverie.importers.entry import with_token_counts
from reverie.importers.find import CHUNK_BYTES, find_transcripts, read_chunks
from reverie.importers.join import main_line
from reverie.models import Entry
from reverie.redact import Redactor
from reverie.store.codec import seal

_SESSIONS = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "transcripts" / "claude-code"
_GOAL_MB_PER_S = 20
_ROUNDS = 3
T = TypeVar("T")


def main() -> None:
    """Print one line per step."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = (
            Path(sys.argv[1])
            if len(sys.argv) > 1
            else _SESSIONS
            if _SESSIONS.exists()
            else generated_transcript(Path(scratch))
        )
        paths = find_transcripts([folder])
        reading_s, size = best(lambda: sum(plan.consumed for path in paths for plan in read_chunks(path, tokens=False)))
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        pieces = [piece for path in paths for piece in cut(read_transcript(path))]
    mb = size / 1e6
    print(f"{len(paths)} files, {mb:.1f} MB unpacked, pieces of {CHUNK_BYTES >> 20} MiB")
    print(f"read from disk, unpack and plan   {mb / reading_s:7.1f} MB/s   peak memory {peak_mb:.0f} MB")
    steps = {
        "plan_chunk, no tokens": lambda: [plan(piece) for piece in pieces],
        "token counts": lambda: [with_token_counts(plan(piece)) for piece in pieces],
        "redaction alone": lambda: [redacted(plan(piece)) for piece in pieces],
        "seal (redaction included)": lambda: [sealed(plan(piece)) for piece in pieces],
        "join": lambda: [main_line(plan(piece)) for piece in pieces],
    }
    seconds = {name: best(step)[0] for name, step in steps.items()}
    planning_s = seconds["plan_chunk, no tokens"]
    for name, spent_s in seconds.items():
        alone_s = spent_s if name.startswith("plan") else max(spent_s - planning_s, 1e-9)
        print(f"{name:33s} {mb / alone_s:7.1f} MB/s")
    path_s = seconds["token counts"] + seconds["seal (redaction included)"] - planning_s
    ratio = mb / path_s / _GOAL_MB_PER_S
    print(f"{'plan + tokens + seal':33s} {mb / path_s:7.1f} MB/s   {ratio:.1f} x the goal of {_GOAL_MB_PER_S} MB/s")


def best(step: Callable[[], T]) -> tuple[float, T]:
    """Return the minimum processor time of a few rounds, and the step's result."""
    rounds = [timed(step) for _ in range(_ROUNDS)]
    return min(seconds for seconds, _ in rounds), rounds[-1][1]


def timed(step: Callable[[], T]) -> tuple[float, T]:
    """Return the processor time of one round, and its result."""
    start = time.process_time()
    value = step()
    return time.process_time() - start, value


def plan(piece: bytes) -> tuple[Entry, ...]:
    return plan_chunk(piece, first_line=1, final=True, tokens=False).entries


def redacted(entries: tuple[Entry, ...]) -> int:
    redactor = Redactor()
    return sum(redactor.value([entry.content, entry.extra])[1] for entry in entries)


def sealed(entries: tuple[Entry, ...]) -> int:
    redactor = Redactor()
    return sum(seal(record(entry), redactor) is not None for entry in entries)


def record(entry: Entry) -> dict[str, object]:
    """Return roughly the record that the store keeps of an entry."""
    return {name: getattr(entry, name) for name in entry.__struct_fields__ if getattr(entry, name) is not None}


def read_transcript(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def cut(data: bytes) -> list[bytes]:
    """Yield chunks of whole lines."""
    pieces = []
    while data:
        end = data.find(b"\n", CHUNK_BYTES) + 1 or len(data)
        pieces.append(data[:end])
        data = data[end:]
    return pieces


def generated_transcript(folder: Path) -> Path:
    """Return a generated transcript where the recorded ones are absent."""
    chance = random.Random(1)
    words = ["path/to/file.py", "error", "the", "test", "fixed", "return", "value", "{", "}", "\n", "import", "42"]
    with (folder / "made.jsonl").open("wb") as file:
        for number in range(10_000):
            text = " ".join(chance.choices(words, k=500))
            role = ("user", "assistant")[number % 2]
            line = {"type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}", "timestamp": None}
            message = {"role": role, "content": [{"type": "text", "text": text}]}
            file.write(orjson.dumps(line | {"message": message}) + b"\n")
    return folder


if __name__ == "__main__":
    main()
