"""Walks over the keys of an LMDB transaction that have one prefix, rising or falling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.store.record_keys import prefix_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    import lmdb

__all__ = ["backward", "forward"]


def forward(txn: lmdb.Transaction[bytes], prefix: bytes, beyond: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """Yield (key, value) pairs under `prefix` with keys greater than `beyond`, in rising order of keys."""
    end = prefix_end(prefix)
    cursor = txn.cursor()
    if not cursor.set_range(prefix if beyond is None else max(prefix, beyond + b"\0")):
        return
    for key, record in cursor.iternext(keys=True, values=True):
        if key >= end:
            return
        yield key, record


def backward(txn: lmdb.Transaction[bytes], prefix: bytes, beyond: bytes | None) -> Iterator[tuple[bytes, bytes]]:
    """Yield (key, value) pairs under `prefix` with keys less than `beyond`, in falling order of keys."""
    cursor = txn.cursor()
    at_end = not cursor.set_range(prefix_end(prefix) if beyond is None else min(beyond, prefix_end(prefix)))
    if not (cursor.last() if at_end else cursor.prev()):
        return
    for key, record in cursor.iterprev(keys=True, values=True):
        if key < prefix:
            return
        yield key, record
