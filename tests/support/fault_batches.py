"""The Message Batches of a local server: kept until the test lets them end, with a result for each request.

    server.batches.end()
    server.batches.end(errored=1, expired=1)

`before_create` and `after_create` are called with each new batch before and after it is there; what they raise or do,
such as killing the daemon, happens before the response is sent.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.fault_model_server import Connection, FaultModelServer


@dataclass(slots=True)
class SentBatch:
    """A batch that came in: its requests by their custom ids, and their results once it has ended."""

    id: str
    requests: dict[str, dict[str, Any]]
    results: list[dict[str, Any]] | None = None
    created_at: str = "2026-11-22T10:00:00Z"  # half a minute before what every response says is now


@dataclass(slots=True)
class FaultBatches:
    """The batches of a server. `answer` returns the text for the parameters of a request."""

    server: FaultModelServer
    all: list[SentBatch] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)  # method and path of every call about a batch
    answer: Callable[[dict[str, Any]], str] = lambda _: "{}"
    after_create: Callable[[SentBatch], None] = lambda _: None
    alter: Callable[[bytes], bytes] = lambda data: data  # the body of results, before it is sent
    results_at: Callable[[], str] = str  # the address that is named for results; empty for the right one
    refuse: int = 0  # the status that a new batch is refused with
    refuse_reads: int = 0  # the status that every other call is refused with
    tokens: list[int] = field(default_factory=lambda: [0, 0])  # of all answers
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def end(self, *, errored: int = 0, expired: int = 0, twice: bool = False) -> None:
        """End all batches: each one's first requests are errored or expired; with `twice` every result is repeated."""
        with self._lock:
            for batch in self.all:
                if batch.results is None:
                    batch.results = [
                        self._result(name, params, number, errored, expired)
                        for number, (name, params) in enumerate(batch.requests.items())
                    ]
                    batch.results.reverse()
                    batch.results *= 1 + twice

    def serve(self, connection: Connection) -> None:
        """Answer one HTTP call about batches: create one, list them, or return a batch's state or results."""
        seen = connection.seen
        path = seen.path.partition("?")[0].removeprefix("/v1/messages/batches").strip("/")
        with self._lock:
            self.calls.append(f"{seen.method} {path.partition('/')[2] or path}")
            if seen.method == "POST":
                self._create(connection)
                return
            if self.refuse_reads:
                self._send(connection, {"type": "error", "error": {"type": "refused"}}, self.refuse_reads)
                return
            if not path:
                self._send(
                    connection, {"data": [self._state(batch) for batch in reversed(self.all)], "has_more": False}
                )
                return
            batch = next((entry for entry in self.all if entry.id == path.partition("/")[0]), None)
        if batch is None:
            self._send(connection, {"type": "error", "error": {"type": "not_found_error"}}, 404)
        elif path.endswith("/results"):
            lines = "".join(json.dumps(line) + "\n" for line in batch.results or [])
            self._raw(connection, self.alter(lines.encode()), "application/x-jsonl")
        else:
            self._send(connection, self._state(batch))

    def _create(self, connection: Connection) -> None:
        if self.refuse:
            self._send(connection, {"type": "error", "error": {"type": "invalid_request_error"}}, self.refuse)
            return
        requests = {item["custom_id"]: item["params"] for item in connection.seen.body["requests"]}
        batch = SentBatch(f"msgbatch_{len(self.all) + 1}", requests)
        self.all.append(batch)
        self.after_create(batch)
        self._send(connection, self._state(batch))

    def _state(self, batch: SentBatch) -> dict[str, Any]:
        ended = batch.results is not None
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        for line in batch.results or []:
            counts[line["result"]["type"]] += 1
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts if ended else {**counts, "processing": len(batch.requests)},
            "results_url": (self.results_at() or self._results_url(batch)) if ended else None,
            "created_at": batch.created_at,
            "expires_at": "2026-11-23T10:00:00Z",
        }

    def _results_url(self, batch: SentBatch) -> str:
        return f"{self.server.url}/v1/messages/batches/{batch.id}/results"

    def _result(self, name: str, params: dict[str, Any], number: int, errored: int, expired: int) -> dict[str, Any]:
        if number < errored:
            error = {"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}
            return {"custom_id": name, "result": {"type": "errored", "error": error}}
        if number < errored + expired:
            return {"custom_id": name, "result": {"type": "expired"}}
        usage = {"input_tokens": 5_000 + number, "output_tokens": 300}
        self.tokens = [self.tokens[0] + usage["input_tokens"], self.tokens[1] + usage["output_tokens"]]
        message = {
            "id": f"msg_{name}",
            "type": "message",
            "role": "assistant",
            "model": params["model"],
            "content": [{"type": "text", "text": self.answer(params)}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": usage,
        }
        return {"custom_id": name, "result": {"type": "succeeded", "message": message}}

    def _send(self, connection: Connection, body: Any, status: int = 200) -> None:
        self._raw(connection, json.dumps(body).encode(), "application/json", status)

    def _raw(self, connection: Connection, data: bytes, media: str, status: int = 200) -> None:
        head = f"HTTP/1.1 {status} Status\r\ncontent-type: {media}\r\ncontent-length: {len(data)}\r\nconnection: close"
        head += "\r\ndate: Sun, 22 Nov 2026 10:00:30 GMT"
        connection.send(f"{head}\r\n\r\n".encode() + data)
