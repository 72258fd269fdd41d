"""A gzip stream unpacked piece by piece: as far as it can be read, and never beyond a stated size."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UNPACKED_BYTES_MAX", "Gunzip"]

UNPACKED_BYTES_MAX: Final = 2 * 1024 * 1024 * 1024
"""One gzipped transcript gives at most this much. 42 KiB can unpack to 4 GiB; the longest real session is 0.1 GiB."""

_PACKED_BYTES: Final = 64 * 1024
_GZIP_WINDOW: Final = 31  # zlib's word for "the largest window, with a gzip header"


class Gunzip:
    """Reads member after member with `packed(size)`, which gives b"" at its end; gives no more than `limit` bytes.

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
        """Up to `size` unpacked bytes; fewer only at the end, none after it."""
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
        """The next bytes, which stay to be read."""
        if len(self._ready) < size:
            self._ready += self.read(size)
        return self._ready[:size]

    def skip(self, size: int) -> None:
        """Passes over bytes that were read another time."""
        while size > 0 and (piece := self.read(min(size, _PACKED_BYTES * 16))):
            size -= len(piece)

    def _unpack(self, size: int) -> bytes:
        """Some unpacked bytes, or none at the end."""
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
        """Feeds the member once; may give nothing although more follows."""
        size = min(size, self._limit + 1 - self._given)
        before = self._member.copy()
        try:
            piece = self._member.decompress(self._waiting, size)
        except zlib.error as error:
            self.problem = f"the gzip stream is damaged ({error}); what stands before the damage was read"
            return self._rescue(before, size)
        if not piece and not self._waiting:
            self.problem = "the gzip stream is cut off; what stands before the cut was read"
        self._begun = not self._member.eof
        if self._member.eof:
            # Members may follow one another; zeros behind the last are padding.
            self._waiting = self._member.unused_data.lstrip(b"\0")
            self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)
        else:
            self._waiting = self._member.unconsumed_tail
        self._given += len(piece)
        if self._given > self._limit:
            self.problem = f"it unpacks to more than {self._limit} bytes; what stands before that was read"
            return b""
        return piece

    def _rescue(self, member: zlib._Decompress, size: int) -> bytes:
        """What the packed bytes give up to the damage: fed one by one, since a failing call gives nothing."""
        pieces: list[bytes] = []
        for place in range(len(self._waiting)):
            try:
                pieces.append(member.decompress(self._waiting[place : place + 1]))
            except zlib.error:
                break
        return b"".join(pieces)[:size]
