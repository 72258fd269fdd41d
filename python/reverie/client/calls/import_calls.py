"""The import protocol's two calls; the order in which they are made is told in `reverie.wire.imports`."""

from __future__ import annotations

from typing import Literal

from reverie import wire
from reverie.client.call import Call, reading, send, target

__all__ = ["send_chunk", "start_import"]


def start_import(
    client: Literal["claude-code"],
    session: str,
    *,
    source: str | None = None,
) -> Call[wire.ImportPlace]:
    """How far this session's file was taken in before."""
    body = wire.StartImport(client=client, session=session, source=source)
    return send("POST", target("imports"), wire.ImportPlace, body)


def send_chunk(
    import_id: str, data: bytes, *, offset: int, first_line: int, final: bool = False
) -> Call[wire.ChunkAnswer]:
    """Hand over the bytes from `offset` on, where line `first_line` begins; at most wire.CHUNK_MAX_BYTES."""
    path = target("imports", import_id, "chunks", offset=offset, firstLine=first_line, final=int(final))
    headers = {"Content-Type": "application/octet-stream"}
    return Call("PUT", path, reading(wire.ChunkAnswer), data, headers)
