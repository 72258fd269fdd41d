"""Server-sent events, line by line, as events; no I/O (HTML standard, section 9.2)."""

from __future__ import annotations

from typing import Any

import orjson

from reverie import wire

__all__ = ["EventLines"]


class EventLines:
    """Fed pieces of a stream in order; gives each event once it is whole. `last` is the sequence to resume after."""

    def __init__(self, last: int | None = None) -> None:
        self.last = last
        self._rest = b""
        self._type = ""
        self._seq = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> list[wire.Event]:
        """The events that this piece completed; comments (the stream's heartbeat) give none."""
        *lines, self._rest = (self._rest + piece).split(b"\n")
        found: list[wire.Event] = []
        for line in lines:
            event = self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
            if event is not None:
                found.append(event)
        return found

    def broken(self) -> None:
        """The connection ended: what was half received comes again after resuming."""
        self._rest, self._type, self._seq, self._data = b"", "", "", []

    def _line(self, line: str) -> wire.Event | None:
        if not line:
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "event":
                self._type = value
            case "data":
                self._data.append(value)
            case "id":
                self._seq = value
            case _:
                pass  # a comment, or a field that says nothing about an event
        return None

    def _dispatch(self) -> wire.Event | None:
        kind, seq, data = self._type, self._seq, "\n".join(self._data)
        self._type, self._seq, self._data = "", "", []
        if not data or not seq.isdigit():
            return None
        self.last = int(seq)
        value: dict[str, Any] = orjson.loads(data)
        return wire.Event(seq=self.last, type=kind, data=value)
