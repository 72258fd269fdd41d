"""Somebody who edits a file with an editor of their own, as fast as they can: run as a program, it knows nothing of us.

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

__all__ = ["words"]

PAUSE_S = 0.004


def words(seed: int, saves: int) -> list[str]:
    """What it writes, one word a save."""
    return [f"theirs{seed}n{number}" for number in range(saves)]


def main(path: Path, saves: int, seed: int, how: str, diary: Path) -> None:
    """Reads into a buffer, thinks, adds a line somewhere, saves; again and again."""
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
    """Opened before it is emptied, or in one step; written at once or in two."""
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
