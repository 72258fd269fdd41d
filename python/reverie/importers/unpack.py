"""Packed transcripts (gzip, zstd) unpacked as their bytes are read."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final, Protocol

from reverie import compression

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKED_BYTES: Final = 64 * 1024
_ROOM_BYTES: Final = 1024 * 1024  # of one step of zstd
_GZIP: Final = b"\x1f\x8b"
_GZIP_WINDOW: Final = 31  # zlib's word for "the largest window, with a gzip header"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


class _Damaged(Exception):
    """Raised for bytes that cannot be unpacked: the reason, and what was unpacked before it in the same step."""

    def __init__(self, why: str, before: bytes = b"") -> None:
        super().__init__(why)
        self.before = before


class _Codec(Protocol):
    """Unpacks one stream, whose parts (members, frames) may follow one another."""

    name: str

    def step(self, packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
        """Return up to `size` unpacked bytes, the packed ones not taken in, and whether a part ended. Raises _Damaged.

        It may return nothing although more follows.
        """
        ...


class _Gzip:
    """The members of a gzip stream."""

    name = "gzip"

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)

    def step(self, packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
        before = self._member.copy()
        try:
            piece = self._member.decompress(packed, size)
        except zlib.error as error:
            raise _Damaged(str(error), _rescued(before, packed)[:size]) from error
        if not self._member.eof:
            return piece, self._member.unconsumed_tail, False
        left = self._member.unused_data.lstrip(b"\0")  # zeros behind the last member are padding
        self._member = zlib.decompressobj(wbits=_GZIP_WINDOW)
        return piece, left, True


def _rescued(member: zlib._Decompress, packed: bytes) -> bytes:
    """Return what is unpacked up to a damaged byte, by feeding the input byte by byte."""
    pieces: list[bytes] = []
    for index in range(len(packed)):
        try:
            pieces.append(member.decompress(packed[index : index + 1]))
        except zlib.error:
            break
    return b"".join(pieces)


class _Zstd:
    """The frames of a zstd stream."""

    name = "zstd"

    def __init__(self) -> None:
        self._decoder = compression.ZstdDecoder()

    def step(self, packed: bytes, size: int) -> tuple[bytes, bytes, bool]:
        step = self._decoder.step(packed, min(size, _ROOM_BYTES))
        if step is None:
            raise _Damaged("no frame, or a damaged one")
        taken, piece, ended = step
        return piece, packed[taken:], ended


class Unpacked:
    """Streaming reader over `packed(size)`, limited to `limit` output bytes.

    When it ends early, `problem` says why, and what was readable was given.
    """

    def __init__(self, codec: _Codec, packed: Callable[[int], bytes], *, limit: int) -> None:
        self.problem: str | None = None
        self._codec = codec
        self._packed = packed
        self._limit = limit
        self._given = 0
        self._waiting = b""  # packed bytes not taken in yet
        self._ready = b""  # unpacked bytes that were looked at before they were asked for
        self._begun = False  # inside a part, so that the end of the file is too early

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
        """Feed input to the codec once; may return nothing although more follows."""
        name, fed = self._codec.name, bool(self._waiting)
        try:
            piece, self._waiting, ended = self._codec.step(self._waiting, min(size, self._limit + 1 - self._given))
        except _Damaged as damage:
            self.problem = f"the {name} stream is damaged ({damage}); the part before the damage was read"
            return damage.before
        if not piece and not fed:
            self.problem = f"the {name} stream is cut off; the part before the cut was read"
        self._begun = not ended
        self._given += len(piece)
        if self._given > self._limit:
            self.problem = f"it unpacks to more than {self._limit} bytes; the part before that was read"
            return b""
        return piece


def unpacked(head: bytes, packed: Callable[[int], bytes], *, limit: int) -> Unpacked | None:
    """Return the unpacked stream of a file that begins with `head`; None for one that is not packed."""
    if head.startswith(_GZIP):
        return Unpacked(_Gzip(), packed, limit=limit)
    return Unpacked(_Zstd(), packed, limit=limit) if head.startswith(_ZSTD) else None
