"""Pages of a copied LMDB file: unused bytes are cleared, and both meta pages refer to all records.

A page of a B-tree has free room between the list of its nodes and the nodes. LMDB does not clear it: where a node was
deleted or moved, its bytes stay there, and a compacted copy has them too. The same holds behind the end of a long
value, which has pages of its own. The layout is that of `struct MDB_page` and `struct MDB_node` of lmdb's mdb.c.

The first two pages are the meta pages, and each commit writes the older one. Which of them is the newest, LMDB reads
from the lock file as long as any process has that open, an odd number meaning the second page. So when a copy takes the
place of the store's file while `reverie check`, say, has the store open, the number is that of the file before, and the
wrong page of a copy would be an empty store.
"""

from __future__ import annotations

import mmap
import os
import struct

_META_PAGES = 2
_TRANSACTION = struct.Struct("<Q")  # number of the commit that wrote a meta page
_TRANSACTION_AT = 144  # bytes from the beginning of a meta page: the head has 16, all other fields of a meta page 128
_HEAD = struct.Struct("<QHHHH")  # number, padding, flags, end of the list of nodes, beginning of the nodes
_LONG_HEAD = struct.Struct("<QHHI")  # of a long value's first page: number, padding, flags, how many pages it has
_NODE = struct.Struct("<HHHH")  # size of the value (low, high), flags, size of the key
_PAGE_NUMBER = struct.Struct("<Q")
_OFFSET_BYTES = 2  # of one entry in the list of nodes
_LEAF, _LONG = 0x02, 0x04  # flags of a page
_IN_LONG_PAGES = 0x01  # flag of a node: its value is the number of a long value's first page


def clear_unused_bytes(fd: int, page_bytes: int) -> int:
    """Overwrite what belongs to no record with zeros; return how many bytes were not zero.

    The file must be a compacted copy that nobody has open in LMDB: it has no free pages. The caller flushes it.
    """
    size = os.fstat(fd).st_size
    if size <= _META_PAGES * page_bytes:
        return 0
    cleared = 0
    with mmap.mmap(fd, size) as data:
        long_values: list[tuple[int, int]] = []  # first page of each, and its size in bytes
        page = _META_PAGES
        while page * page_bytes < size:
            at = page * page_bytes
            _, _, flags, lower, upper = _HEAD.unpack_from(data, at)
            if flags & _LONG:
                page += max(1, _LONG_HEAD.unpack_from(data, at)[3])
                continue
            if _HEAD.size <= lower <= upper <= page_bytes:
                if flags & _LEAF:
                    long_values += _long_values(data, at, lower)
                cleared += _clear(data, at + lower, at + upper)
            page += 1
        for first, length in long_values:
            at = first * page_bytes
            pages = _LONG_HEAD.unpack_from(data, at)[3]
            cleared += _clear(data, at + _HEAD.size + length, at + pages * page_bytes)
    return cleared


def repeat_meta_page(fd: int, page_bytes: int) -> None:
    """Make the older meta page of a copy refer to the same records as the newer; its page and transaction numbers stay.

    Nobody may have the file open in LMDB. The caller flushes it.
    """
    pages = [bytearray(os.pread(fd, page_bytes, number * page_bytes)) for number in range(_META_PAGES)]
    commits: list[int] = [_TRANSACTION.unpack_from(page, _TRANSACTION_AT)[0] for page in pages]
    older = commits.index(min(commits))
    repeated = pages[1 - older]
    repeated[: _PAGE_NUMBER.size] = pages[older][: _PAGE_NUMBER.size]
    _TRANSACTION.pack_into(repeated, _TRANSACTION_AT, commits[older])
    os.pwrite(fd, repeated, older * page_bytes)


def _long_values(data: mmap.mmap, at: int, lower: int) -> list[tuple[int, int]]:
    """Return first page and size of the long values that the leaf page at offset `at` refers to."""
    page_runs = []
    for entry in range(at + _HEAD.size, at + lower, _OFFSET_BYTES):
        node = at + int.from_bytes(data[entry : entry + _OFFSET_BYTES], "little")
        low, high, flags, key_bytes = _NODE.unpack_from(data, node)
        if flags & _IN_LONG_PAGES:
            (first,) = _PAGE_NUMBER.unpack_from(data, node + _NODE.size + key_bytes)
            page_runs.append((first, low | high << 16))
    return page_runs


def _clear(data: mmap.mmap, start: int, end: int) -> int:
    """Overwrite the bytes from `start` to `end` with zeros; return how many were not zero."""
    count = end - start - data[start:end].count(0)
    if count:
        data[start:end] = bytes(end - start)
    return count
