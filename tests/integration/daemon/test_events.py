"""Tests of `GET /v1/events`: order, no content, resuming, and the end of streams."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import CursorExpired
from support.daemon import Daemon, Wire, check_refused, request, running_daemon
from support.waiting import wait_until


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    """One daemon for the module."""
    with running_daemon() as running:
        yield running


class Stream:
    """One reader of the event stream."""

    def __init__(self, wire: Wire, path: str = "/v1/events", headers: dict[str, str] | None = None) -> None:
        self._socket = wire.socket
        self._text = b""
        wire.send(request("GET", path, None, headers))
        while (began := re.search(rb": following\n\nid: (\d+)\n\n", self._text)) is None:
            self._more()
        self.began = int(began[1])
        self._text = self._text[began.end() :]

    def take(self, count: int) -> list[dict[str, Any]]:
        """Return the next `count` events."""
        events: list[dict[str, Any]] = []
        while len(events) < count:
            while b"\n\n" not in self._text:
                self._more()
            frame, _, self._text = self._text.partition(b"\n\n")
            # Each piece comes as an HTTP chunk: sizes and line ends stand around the frames.
            fields = dict(line.split(": ", 1) for line in frame.decode().splitlines() if ": " in line)
            if "id" in fields:
                events.append({"id": int(fields["id"]), "event": fields["event"], "data": json.loads(fields["data"])})
        return events

    def _more(self) -> None:
        piece = self._socket.recv(65536)
        assert piece, "the stream ended"
        self._text += piece


def append_message(daemon: Daemon, words: str) -> None:
    """Append one message to a new thread, which gives two events at most."""
    thread = daemon.ask("POST", "/v1/threads", {}).json()["id"]
    body = {"messages": [{"role": "user", "content": words}]}
    answer = daemon.ask("POST", f"/v1/threads/{thread}/messages", body)
    assert answer.status in {200, 201}, answer.body


def test_events_arrive_and_resume(daemon: Daemon) -> None:
    """Events arrive as they are committed, in dense numbers, without texts; a reader resumes by number or header."""
    with daemon.wire() as wire:
        stream = Stream(wire, "/v1/events?after=0")
        for number in range(3):
            append_message(daemon, f"the zebra number {number} lives in pen {number * 7}")
        events = stream.take(3)
    assert "zebra" not in json.dumps(events)
    numbers = [event["id"] for event in events]
    assert numbers == [1, 2, 3]

    with daemon.wire() as wire:
        assert Stream(wire, "/v1/events?after=0").take(3) == events
    with daemon.wire() as wire:
        resumed = Stream(wire, "/v1/events?after=0", {"Last-Event-ID": str(numbers[0])}).take(1)
    assert resumed[0]["id"] == numbers[0] + 1


def test_a_reader_without_a_number_gets_new_events_only(daemon: Daemon) -> None:
    """A reader that gives no number gets events from now on, and is told first after which number that is."""
    append_message(daemon, "before anybody listened")
    newest = daemon.ask("GET", "/v1/status").json()["counts"]["events"]
    with daemon.wire() as wire:
        stream = Stream(wire)
        assert stream.began == newest
        append_message(daemon, "after somebody listened to it")
        first = stream.take(1)[0]
    with daemon.wire() as wire:
        everything = Stream(wire, "/v1/events?after=0").take(first["id"])
    assert everything[-1] == first


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "9" * 30])
def test_invalid_event_numbers_are_refused(daemon: Daemon, after: str) -> None:
    """An invalid event number is a validation error."""
    check_refused(daemon.ask("GET", f"/v1/events?after={after}"), 400, "validation_error")


def test_a_number_of_a_newer_store_is_refused(daemon: Daemon) -> None:
    """A reader whose last event is none of the store, which a backup has replaced, has to read the state again."""
    append_message(daemon, "of the older store")
    newest = daemon.ask("GET", "/v1/status").json()["counts"]["events"]
    refused = daemon.ask("GET", f"/v1/events?after={newest + 1}")
    check_refused(refused, 410, "cursor_expired")
    assert refused.json()["details"]["newest"] == newest
    with Client(daemon.socket) as client, pytest.raises(CursorExpired):
        next(client.events(after=newest + 7))


def test_a_closed_stream_frees_its_slot(daemon: Daemon) -> None:
    """A reader that disconnects frees its stream slot at once, also with another request queued on its connection."""
    for _ in range(5):
        with daemon.wire() as wire:
            Stream(wire)
            wire.send(request("GET", "/v1/health"))
    wait_until(
        lambda: "reverie_event_streams 0\n" in daemon.ask("GET", "/metrics").body.decode(), "the end of the streams"
    )


def test_the_end_of_the_daemon_ends_the_stream() -> None:
    """SIGTERM ends every stream, and the daemon does not wait for its readers."""
    with running_daemon(REVERIE_DAEMON_DRAIN_SECONDS="600") as daemon, daemon.wire() as wire:
        Stream(wire)
        assert daemon.stop() == 0
        while wire.socket.recv(65536):
            pass
