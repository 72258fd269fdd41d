"""The import protocol: a transcript file is sent in chunks, and only its new lines are appended.

1. `POST /v1/imports` answers the position in a session's file: how many bytes (`offset`) and lines were imported so
   far, and the SHA-256 of the last chunk, the bytes from `checkFrom` to `offset`. A caller whose file has other bytes
   there begins again at offset 0; lines that the thread already has are then counted as duplicates.
2. `PUT /v1/imports/{id}/chunks?offset=N&firstLine=L&final=0|1`, body = bytes from `offset` on, at most
   CHUNK_MAX_BYTES. The answer's `offset` is after the last whole line; the caller continues from there. A chunk of
   CHUNK_MAX_BYTES without a line end is part of a line beyond the limit: it is reported, skipped, and so is the rest
   of that line.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, field

from reverie.wire.base import Count, Reply, Request

__all__ = ["CHUNK_MAX_BYTES", "ChunkAnswer", "ChunkQuery", "ImportClient", "ImportPlace", "Problem", "StartImport"]

ImportClient: TypeAlias = Literal["claude-code", "codex", "pi", "chatgpt"]
"""The program that wrote a session. The form of each line tells how it is read; this tells whose session it is."""

CHUNK_MAX_BYTES = 32 * 1024 * 1024


class StartImport(Request):
    """`POST /v1/imports`. `session` names the thread at its source; `source` is where it was read from, for people.

    For a session whose thread a person deleted the answer is a `conflict` with `details.forgotten`; `again` brings it
    back; an agent's token may not.
    """

    client: ImportClient
    session: Annotated[str, Meta(min_length=1, max_length=200)]
    source: Annotated[str, Meta(max_length=4096)] | None = None
    again: bool = False


class ImportPlace(Reply):
    """The position of an import in its file: `offset` bytes, `lines` lines.

    `sha256` (hex) is of the bytes from `checkFrom` to `offset`; empty at the beginning.
    """

    id: str
    thread: str
    offset: int
    lines: int
    check_from: int = 0
    sha256: str = ""


class ChunkQuery(Request):
    """The position of a chunk. `final=1`: no bytes follow, so the last line needs no newline."""

    offset: Count
    first_line: Annotated[int, Meta(ge=1)]
    final: bool = False


class Problem(Reply):
    """A line that could not be parsed; it is stored raw."""

    line: int
    why: str


class ChunkAnswer(Reply):
    """The result of a chunk. `offset` and `lines` are totals of the file so far, the others count this chunk alone."""

    offset: int
    lines: int
    added: int
    duplicates: int
    redacted: int
    counts: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
