"""Packed bytes: JSON texts compressed with a dictionary of the store, edits of texts, and records with either.

`ZstdDecoder` unpacks the streams of other programs.
"""

from __future__ import annotations

from reverie import _native
from reverie._native import ZstdDecoder

__all__ = ["BYTES_MAX", "ZstdDecoder", "apply_edit", "edit", "pack", "unpack", "verified_bodies", "verified_body"]

BYTES_MAX = 1 << 30  # bytes of content: more than any record has, and little enough to be allocated


def pack(data: bytes) -> bytes | None:
    """Return `data` compressed with the store's dictionary (zstd); None if there is not enough memory for it."""
    return _native.pack(data)


def unpack(packed: bytes) -> bytes | None:
    """Return the data that `pack` compressed, or None if the bytes are not valid."""
    return _native.unpack(packed, BYTES_MAX)


def edit(base: bytes, data: bytes) -> bytes | None:
    """Return the edit that turns `base` into `data`, without their common parts; None for lack of memory."""
    return _native.pack_edit(base, data)


def apply_edit(base: bytes, edit: bytes) -> bytes | None:
    """Return the text that an edit makes of `base`, or None for bytes that are no edit.

    An edit of another base may make other bytes: compare the result with a checksum.
    """
    return _native.apply_edit(base, edit, BYTES_MAX)


def verified_body(key: bytes, record: bytes) -> bytes | None:
    """Return the JSON text in the record that the store has under `key`, its checksums verified, unpacked.

    None where a checksum does not fit, and where the body is of another form or elsewhere: `store.codec.decode_record`
    and `record_body` find out which.
    """
    return _native.verified_body(key, record, BYTES_MAX)


def verified_bodies(records: list[tuple[bytes, bytes]]) -> list[bytes | None]:
    """Return what `verified_body` returns for each key and record, in order: one call for many is quicker."""
    return _native.verified_bodies(records, BYTES_MAX)
