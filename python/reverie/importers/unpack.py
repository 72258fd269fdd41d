"""Packed transcripts unpacked as their bytes are read."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Gunzip"]

_PACKED_BYTES: Final = 64 * 1024
_GZIP_WINDOW: Final = 31  # zlib's word for "the largest window, with a gzip header"


class Gunzip:
    """Streaming gzip reader over `packed(size)`, member by member, limited to `limit` output bytes.

    When it ends early, `problem` says why, and what was readable was given.
    """

    def __init__(self, packed: Callable[[int], bytes], *, limit: int) -> None:
        self.problem: str | None = None
        self._packed = packed
        self._limit = limit
        self._given = 0
        self._waiting = b""  # packed bytes not taken in yet
        self._ready = b""  # unpacked bytes that were looked at before they were asked for
        self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)
        self._begun = False  # inside a member, so that the end of the file is too early

    def read(self, size: int) -> bytes:
        """Return up to `size` uncompressed bytes; fewer only at the end."""
        pieces = [self._ready[:size]]
        self._ready = self._ready[size:]
        missing = size - len(pieces[0])
        while missing > 0:
            piece = self._unpack(missing)
            if not piece:
                break
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def peek(self, size: int) -> bytes:
        """Return the next bytes without consuming them."""
        if len(self._ready) < size:
            self._ready += self.read(size)
        return self._ready[:size]

    def skip(self, size: int) -> None:
        """Discard the next uncompressed bytes."""
        while size > 0 and (piece := self.read(min(size, _PACKED_BYTES * 16))):
            size -= len(piece)

    def _unpack(self, size: int) -> bytes:
        """Return some uncompressed bytes, or none at the end of the file."""
        while self.problem is None:
            if not self._waiting:
                self._waiting = self._packed(_PACKED_BYTES)
            if not self._waiting and not self._begun:
                return b""  # the end, where it may be
            piece = self._step(size)
            if piece:
                return piece
        return b""

    def _step(self, size: int) -> bytes:
        """Feed input to the decompressor once; may return nothing although more follows."""
        size = min(size, self._limit + 1 - self._given)
        before = self._member.copy()
        try:
            piece = self._member.decompress(self._waiting, size)
        except zlib.error as error:
            self.problem = f"the gzip stream is damaged ({error}); the part before the damage was read"
            return self._rescue(before, size)
        if not piece and not self._waiting:
            self.problem = "the gzip stream is cut off; the part before the cut was read"
        self._begun = not self._member.eof
        if self._member.eof:
            # Members may follow one another; zeros behind the last are padding.
            self._waiting = self._member.unused_data.lstrip(b"\0")
            self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)
        else:
            self._waiting = self._member.unconsumed_tail
        self._given += len(piece)
        if self._given > self._limit:
            self.problem = f"it unpacks to more than {self._limit} bytes; the part before that was read"
            return b""
        return piece

    def _rescue(self, member: zlib._Decompress, size: int) -> bytes:
        """Recover output up to a damaged byte by feeding the input byte by byte."""
        pieces: list[bytes] = []
        for index in range(len(self._waiting)):
            try:
                pieces.append(member.decompress(self._waiting[index : index + 1]))
            except zlib.error:
                break
        return b"".join(pieces)[:size]
