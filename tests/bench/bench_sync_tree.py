"""Benchmark of a folder of 10,000 documents: first scan, reading, second scan, and writing one file."""

from __future__ import annotations

import hashlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable, Iterable

from reverie import files as reverie_files
from reverie.sync.root import Root
from reverie.sync.scan import FileContent, read_file, scan
from reverie.sync.swap import Written, write_file
from support.spaces import open_root

FILES = 10_000
FILE_BYTES = 2000
ROUNDS = 7
WRITES = 200


def main() -> None:
    """Print one line a measure: best and median of several rounds, taken alternately in one process."""
    with tempfile.TemporaryDirectory() as name, open_root(Path(name) / "space") as root:
        fill(root.real)
        measure(root)


def fill(folder: Path) -> None:
    for number in range(FILES):
        path = folder / f"topic-{number % 20:02}" / f"note-{number:05}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"# Note {number}\n".encode() + b"- A fact about the project\n" * (FILE_BYTES // 27))


def measure(root: Root) -> None:
    stamps = scan(root, known={}).stamps
    assert len(stamps) == FILES
    durations: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for title, work in (
            ("plain os.scandir and stat", lambda: plain(root.real)),
            ("first scan", lambda: scan(root, known={})),
            ("unchanged rescan", lambda: scan(root, known=stamps)),
            ("plain open, read, SHA-256", lambda: plainly_read(root.real, stamps)),
            ("first scan, read, SHA-256", lambda: read_all(root)),
        ):
            durations.setdefault(title, []).append(timed(work))
    for title, times in durations.items():
        print(f"{FILES} files of {FILE_BYTES} bytes: {title:28} {min(times) * 1e3:7.1f} ms best, ", end="")
        print(f"{statistics.median(times) * 1e3:7.1f} ms middle")
    write(root, list(stamps))


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def plain(folder: Path) -> int:
    """Time the lower bound: a directory walk without any rule."""
    files = 0
    for entry in os.scandir(folder):
        if entry.is_dir():
            for file in os.scandir(entry.path):
                files += file.stat(follow_symlinks=False).st_size > 0
    return files


def plainly_read(folder: Path, paths: Iterable[str]) -> int:
    return sum(len(hashlib.sha256((folder / path).read_bytes()).hexdigest()) for path in paths)


def read_all(root: Root) -> None:
    for path in scan(root, known={}).stamps:
        assert isinstance(read_file(root, path, limit=1 << 20), FileContent)


def write(root: Root, paths: list[str]) -> None:
    """Time durable writes of one document after another: by exchange, and by a plain atomic write."""
    exchanged, replaced, settled = [], [], []
    for path in paths[:WRITES]:
        content = read_file(root, path, limit=1 << 20)
        assert isinstance(content, FileContent)
        began = time.perf_counter()
        outcome = write_file(root, path, content.data + b"- One more\n", expected=content.sha256)
        exchanged.append(time.perf_counter() - began)
        assert isinstance(outcome, Written)
        assert outcome.displaced
        began = time.perf_counter()
        outcome.displaced.settle()
        settled.append(time.perf_counter() - began)
        began = time.perf_counter()
        reverie_files.write_atomic(root.real / path, content.data)
        replaced.append(time.perf_counter() - began)
    for title, times in (("exchange", exchanged), ("atomic write", replaced), ("settle", settled)):
        middle, worst = statistics.median(times) * 1e3, max(times) * 1e3
        print(f"{WRITES} documents: {title:14} {middle:7.2f} ms middle, {worst:.2f} ms worst")


if __name__ == "__main__":
    main()
