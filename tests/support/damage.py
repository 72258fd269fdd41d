"""Bit flips in a store's file, anywhere or in the pages that all others depend on."""

from __future__ import annotations

import random
import struct
from pathlib import Path

PAGE_BYTES = 4096
HEAD_BYTES = 16  # of a page: number, flags, and the bounds of its free space
META_BYTES = HEAD_BYTES + 136  # magic, form, address, size of the map, the two databases, last page, transaction
FREE_ROOT = HEAD_BYTES + 24 + 40  # where a meta page names the root of the tree of free pages
MAIN_ROOT = FREE_ROOT + 48  # and that of everything else
LAST_PAGE = HEAD_BYTES + 24 + 96
TRANSACTION = LAST_PAGE + 8
NO_PAGE = 2**64 - 1
BRANCH = 0x01


def flip(path: Path, bit: int) -> None:
    """Flip one bit of a file, counted from its beginning."""
    with path.open("r+b") as file:
        file.seek(bit // 8)
        (byte,) = file.read(1)
        file.seek(bit // 8)
        file.write(bytes((byte ^ (1 << (bit % 8)),)))


def target_bit(data: bytes, chance: random.Random, number: int) -> tuple[str, int]:
    """Return the region and the bit that trial `number` flips: by turns meta page, free list, page head, anywhere."""
    match number % 8:
        case 0:
            return "meta", 8 * (_meta(data) + chance.randrange(META_BYTES)) + chance.randrange(8)
        case 1:
            return "free list", _used_bit(data, chance.choice(_tree(data, FREE_ROOT)), chance)
        case 2:
            page = chance.choice(_tree(data, MAIN_ROOT))
            return "page head", 8 * (page * PAGE_BYTES + chance.randrange(64)) + chance.randrange(8)
        case 3 | 4 | 5:
            return "page", _used_bit(data, chance.choice(_tree(data, MAIN_ROOT)), chance)
        case _:
            return "anywhere", chance.randrange(8 * len(data))


def last_page_bits(bit: int) -> list[int]:
    """Return the positions of bit `bit` of the last page's number in both meta pages, which LMDB maps by."""
    return [8 * (page * PAGE_BYTES + LAST_PAGE) + bit for page in (0, 1)]


def bits_within(data: bytes, wanted: bytes) -> list[int]:
    """Return the lowest bit of the last byte of each occurrence of `wanted`, in free pages as well."""
    found, at = [], -1
    while (at := data.find(wanted, at + 1)) >= 0:
        found.append(8 * (at + len(wanted) - 1))
    return found


def _meta(data: bytes) -> int:
    """Return the offset of the valid meta page: the one of the later transaction."""
    return max((0, PAGE_BYTES), key=lambda at: struct.unpack_from("<Q", data, at + TRANSACTION)[0])


def _tree(data: bytes, root_at: int) -> list[int]:
    """Return the numbers of every branch and leaf page of a tree."""
    (root,) = struct.unpack_from("<Q", data, _meta(data) + root_at)
    found, waiting = [], [root] if root != NO_PAGE else []
    while waiting:
        page = waiting.pop()
        found.append(page)
        start = page * PAGE_BYTES
        flags, lower = struct.unpack_from("<HH", data, start + 10)
        if flags & BRANCH:
            nodes = struct.unpack_from(f"<{(lower - HEAD_BYTES) // 2}H", data, start + HEAD_BYTES)
            waiting += [int.from_bytes(data[start + node : start + node + 6], "little") for node in nodes]
    assert found, "the tree is empty"
    return found


def _used_bit(data: bytes, page: int, chance: random.Random) -> int:
    """Return a random bit of a page outside its free space."""
    start = page * PAGE_BYTES
    lower, upper = struct.unpack_from("<HH", data, start + 12)
    byte = chance.choice([*range(lower), *range(upper, PAGE_BYTES)])
    return int(8 * (start + byte) + chance.randrange(8))
