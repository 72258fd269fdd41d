"""The import protocol: a file's bytes go in by chunks, and only what is new is added.

1. `POST /v1/imports` tells where a session's file stands: how many bytes (`offset`) and lines were taken in so far,
   and the SHA-256 of the last chunk, the bytes from `checkFrom` to `offset`. A caller whose file holds other bytes
   there begins again at offset 0; what the thread already holds is then counted as duplicates.
2. `PUT /v1/imports/{id}/chunks?offset=N&firstLine=L&final=0|1`, body = bytes from `offset` on, at most
   CHUNK_MAX_BYTES. The answer's `offset` is after the last whole line; the caller goes on from there. A chunk of
   CHUNK_MAX_BYTES without a line end is part of a line beyond the limit: it is reported, skipped, and so is the rest
   of that line.
"""

from typing import Annotated, Literal

from msgspec import Meta, field

from reverie.wire.base import Count, Reply, Request

__all__ = ["CHUNK_MAX_BYTES", "ChunkAnswer", "ChunkQuery", "ImportPlace", "Problem", "StartImport"]

CHUNK_MAX_BYTES = 32 * 1024 * 1024


class StartImport(Request):
    """`POST /v1/imports`. `session` names the thread at its source; `source` is where it was read from, for people."""

    client: Literal["claude-code"]
    session: Annotated[str, Meta(min_length=1, max_length=200)]
    source: Annotated[str, Meta(max_length=4096)] | None = None


class ImportPlace(Reply):
    """How far a session's file was taken in: `offset` bytes, `lines` lines.

    `sha256` (hex) is of the bytes from `checkFrom` to `offset`; empty where nothing was taken in yet.
    """

    id: str
    thread: str
    offset: int
    lines: int
    check_from: int = 0
    sha256: str = ""


class ChunkQuery(Request):
    """Where a chunk's bytes stand. `final=1`: no more bytes follow now, so a whole last line needs no newline."""

    offset: Count
    first_line: Annotated[int, Meta(ge=1)]
    final: bool = False


class Problem(Reply):
    """A line that could not be read; it is kept raw and the rest goes on."""

    line: int
    why: str


class ChunkAnswer(Reply):
    """What a chunk added. `offset` and `lines` are totals of the file so far, the others count this chunk alone."""

    offset: int
    lines: int
    added: int
    duplicates: int
    redacted: int
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
