"""Vectors of messages, searched one by one: 8 bits for each number, in memory and in one file."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from reverie.errors import EmbedderFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

INSTALL: Final = "pip install 'reverie[embed]'"
MAGIC: Final = b"RVVECTR1"
DIGEST_BYTES: Final = 32
NO_TIME: Final = -(2**63)
BLOCK: Final = 8192  # rows compared at once: what they take as float32 fits a cache
ROOM: Final = 1024  # rows that an empty table has room for


def numpy() -> Any:
    """Return the module numpy. Raises EmbedderFailed, with the command that installs it, where it is not there."""
    try:
        import numpy as np  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise EmbedderFailed("embeddings need numpy, which is not installed", hint=INSTALL) from error
    return np


def unit_rows(np: Any, rows: Any) -> Any:
    """Return the rows of an array divided by their lengths; zeros where a length is 0 or no number."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.divide(rows, lengths, out=np.zeros_like(rows), where=(lengths > 0) & np.isfinite(lengths))


class Vectors:
    """A table of vectors, each of a message: its thread, number and time in milliseconds. Not thread-safe."""

    def __init__(self, np: Any, name: str, dimensions: int) -> None:
        """Create a table without a vector. `np` is the module numpy, `name` that of the embedder."""
        self._np = np
        self.name = name
        self.dimensions = dimensions
        self._threads: list[str] = []  # by their numbers
        self._numbers: dict[str, int] = {}
        self._size = 0
        self._rows = np.zeros((ROOM, dimensions), np.int8)
        self._scales = np.zeros(ROOM, np.float32)
        self._keys = np.zeros((ROOM, 3), np.int64)  # number of the thread, number of the message, time

    def __len__(self) -> int:
        """Return the number of vectors in this table."""
        return self._size

    def add(self, thread: str, messages: Iterable[tuple[int, int | None]], vectors: Any) -> None:
        """Add the vectors (float32, a row each) of messages of a thread, given as (number, time or None)."""
        np = self._np
        keys = [(seq, NO_TIME if at is None else at) for seq, at in messages]
        end = self._size + len(keys)
        if end > len(self._rows):
            more = max(end - len(self._rows), len(self._rows))
            self._rows = np.concatenate([self._rows, np.zeros((more, self.dimensions), np.int8)])
            self._scales = np.concatenate([self._scales, np.zeros(more, np.float32)])
            self._keys = np.concatenate([self._keys, np.zeros((more, 3), np.int64)])
        number = self._numbers.setdefault(thread, len(self._threads))
        if number == len(self._threads):
            self._threads.append(thread)
        scales = np.abs(vectors).max(axis=1, initial=1e-9) / 127.0
        self._rows[self._size : end] = np.rint(vectors / scales[:, None]).astype(np.int8)
        self._scales[self._size : end] = scales
        self._keys[self._size : end] = [(number, seq, at) for seq, at in keys]
        self._size = end

    def remove(self, threads: Collection[str]) -> int:
        """Remove all vectors of some threads, and overwrite them in memory; return how many they were."""
        np = self._np
        gone = [self._numbers[thread] for thread in threads if thread in self._numbers]
        kept = ~np.isin(self._keys[: self._size, 0], gone)
        before, self._size = self._size, int(kept.sum())
        for column in (self._rows, self._scales, self._keys):
            column[: self._size] = column[:before][kept]
            column[self._size : before] = 0
        return before - self._size

    def near(
        self,
        vector: Any,
        limit: int,
        *,
        threads: Collection[str] | None = None,
        since: int | None = None,
        before: int | None = None,
    ) -> list[tuple[str, float]]:
        """Return ids (`thread/number`) and cosines of the nearest messages, the nearest first; equal ones by id.

        `threads` are those that are looked at, None: all. `since <= time < before`, in milliseconds, where given.
        """
        np = self._np
        keys = self._keys[: self._size]
        accepted = np.ones(self._size, bool)
        if threads is not None:
            accepted &= np.isin(keys[:, 0], [self._numbers[name] for name in threads if name in self._numbers])
        if since is not None or before is not None:
            accepted &= keys[:, 2] >= (since if since is not None else NO_TIME + 1)
            accepted &= keys[:, 2] < (before if before is not None else 2**63 - 1)
        cosines = np.full(self._size, -2.0, np.float32)
        for start in range(0, self._size, BLOCK):
            end = min(start + BLOCK, self._size)
            if accepted[start:end].any():
                cosines[start:end] = (self._rows[start:end].astype(np.float32) @ vector) * self._scales[start:end]
        cosines[~accepted] = -2.0
        count = min(limit, int(accepted.sum()))
        best = np.argpartition(-cosines, count - 1)[:count] if count else []
        hits = [(f"{self._threads[keys[at, 0]]}/{keys[at, 1]}", float(cosines[at])) for at in best]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def encoded(self, state: Mapping[str, Any]) -> bytes:
        """Return the table as the content of a file, with a JSON object that `decoded` returns."""
        used = sorted({int(number) for number in self._keys[: self._size, 0]})
        renumbered = self._np.zeros(max(used, default=0) + 1, self._np.int64)
        renumbered[used] = range(len(used))
        keys = self._keys[: self._size].copy()
        keys[:, 0] = renumbered[keys[:, 0]] if self._size else keys[:, 0]
        head = json.dumps(
            {
                "name": self.name,
                "dimensions": self.dimensions,
                "size": self._size,
                "threads": [self._threads[number] for number in used],
                "state": state,
            }
        ).encode()
        parts = (keys.tobytes(), self._scales[: self._size].tobytes(), self._rows[: self._size].tobytes())
        body = b"".join((MAGIC, len(head).to_bytes(8, "little"), head, *parts))
        return body + hashlib.sha256(body).digest()

    @classmethod
    def decoded(cls, np: Any, data: bytes, name: str) -> tuple[Vectors, dict[str, Any]] | None:
        """Return the table in a file and the JSON object with it; None for a damaged one, or of another embedder."""
        body, digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
        if not body.startswith(MAGIC) or hashlib.sha256(body).digest() != digest:
            return None
        start = len(MAGIC) + 8
        end = start + int.from_bytes(body[len(MAGIC) : start], "little")
        head = json.loads(body[start:end])
        if head["name"] != name:
            return None
        table, size, width = cls(np, name, head["dimensions"]), head["size"], head["dimensions"]
        keys = np.frombuffer(body, np.int64, count=3 * size, offset=end)
        scales = np.frombuffer(body, np.float32, count=size, offset=end + 24 * size)
        rows = np.frombuffer(body, np.int8, count=width * size, offset=end + 28 * size)
        table._keys, table._scales, table._rows = (
            keys.reshape(-1, 3).copy(),
            scales.copy(),
            rows.reshape(-1, width).copy(),
        )
        table._threads = head["threads"]
        table._numbers = {thread: number for number, thread in enumerate(table._threads)}
        table._size = size
        return table, head["state"]
