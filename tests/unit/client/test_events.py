"""Tests of the event streams of both clients: a broken stream is resumed after the last complete event."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie import errors, wire
from reverie.client import AsyncClient, Client
from support.fake_daemon import Answer, Request, always, envelope, fake_daemon


def sse(*events: tuple[int, str, str]) -> bytes:
    """Return the bytes of a stream that breaks off after the last event."""
    body = b": hello\n\n" + b"".join(
        f"id: {seq}\nevent: {kind}\ndata: {data}\n\n".encode() for seq, kind, data in events
    )
    return (
        b"HTTP/1.1 200 OK\r\nReverie-Protocol: 1\r\n"
        b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in (body[:17], body[17:]))
    )


def take(path: Path, count: int, after: int | None, kind: str) -> list[wire.Event]:
    """Return the first `count` events of a client's stream."""
    if kind == "blocking":
        with Client(path) as client:
            stream: Iterator[wire.Event] = client.events(after)
            return [next(stream) for _ in range(count)]

    async def run() -> list[wire.Event]:
        found: list[wire.Event] = []
        async with AsyncClient(path) as client:
            async for event in client.events(after):
                found.append(event)
                if len(found) == count:
                    break
        return found

    return asyncio.run(run())


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_events_resume_where_they_broke(path: Path, kind: str) -> None:
    """A broken stream is resumed after the last complete event; a partial event is neither lost nor repeated."""
    streams: Iterator[bytes | Answer] = iter(
        [
            sse((4, "memory.written", '{"memoryId":"m"}'), (5, "x", "{}")) + b"a\r\nid: 6\nevent: half",
            envelope("starting", status=503),
            sse((6, "workspace.updated", '{"path":"MEMORY.md","version":2}')) + b"0\r\n\r\n",
        ]
    )

    def respond(_: Request) -> Answer:
        turn = next(streams)
        return turn if isinstance(turn, Answer) else Answer(raw=turn)

    with fake_daemon(path, respond) as daemon:
        found = take(path, 3, 3, kind)
    assert [(event.seq, event.type) for event in found] == [(4, "memory.written"), (5, "x"), (6, "workspace.updated")]
    assert found[2].data == {"path": "MEMORY.md", "version": 2}
    assert [request.headers["last-event-id"] for request in daemon.requests] == ["3", "5", "5"]
    assert daemon.requests[0].query == {"after": "3"}


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_events_from_now_on_resume_where_they_began(path: Path, kind: str) -> None:
    """A stream from now on that broke before its first event is resumed after the number that it began with."""
    began = sse().removesuffix(b"0\r\n\r\n") + b"8\r\nid: 20\n\n\r\n"
    streams = iter([began, sse((21, "x", "{}"))])
    with fake_daemon(path, lambda _: Answer(raw=next(streams))) as daemon:
        found = take(path, 1, None, kind)
    assert [event.seq for event in found] == [21]
    assert [request.headers.get("last-event-id") for request in daemon.requests] == [None, "20"]


@pytest.mark.parametrize("kind", ["blocking", "asyncio"])
def test_events_that_are_gone(path: Path, kind: str) -> None:
    """An expired cursor is raised to the caller, because events would be missing."""
    with fake_daemon(path, always(envelope("cursor_expired", status=410))), pytest.raises(errors.CursorExpired):
        take(path, 1, 3, kind)
