"""A program that edits and saves a file as fast as it can, independent of the project's code.

Arguments: the file, how many saves, a seed, how it saves (`rename`, `truncate` or `both`), and a folder for its diary.
Each save adds one line. For each the diary has a file, named by the SHA-256 of what is saved: what it was made from.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import time
from pathlib import Path

PAUSE_S = 0.004


def words(seed: int, saves: int) -> list[str]:
    """Return the words that it writes, one in each save."""
    return [f"theirs{seed}n{number}" for number in range(saves)]


def main(path: Path, saves: int, seed: int, how: str, diary: Path) -> None:
    """Read, wait, add a line, and save, again and again."""
    pick = random.Random(seed)
    for word in words(seed, saves):
        buffer = path.read_bytes()
        lines = buffer.splitlines(keepends=True)
        time.sleep(pick.random() * PAUSE_S)
        lines.insert(pick.choice((len(lines), pick.randint(1, max(1, len(lines))))), f"- {word}\n".encode())
        data = b"".join(lines)
        (diary / hashlib.sha256(data).hexdigest()).write_bytes(buffer)
        if how == "rename" or (how == "both" and pick.random() < 0.5):
            by_rename(path, data)
        else:
            in_place(path, data, pick)
        time.sleep(pick.random() * PAUSE_S)


def by_rename(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(data)
    temporary.replace(path)


def in_place(path: Path, data: bytes, pick: random.Random) -> None:
    """Save by truncation before or at opening, in one write or two."""
    at_once = pick.random() < 0.5
    handle = os.open(path, os.O_WRONLY | (os.O_TRUNC if at_once else 0))
    if not at_once:
        time.sleep(pick.random() * PAUSE_S)
        os.ftruncate(handle, 0)
    half = pick.randrange(len(data) + 1)
    os.write(handle, data[:half])
    time.sleep(pick.random() * PAUSE_S)
    os.write(handle, data[half:])
    os.close(handle)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], Path(sys.argv[5]))
