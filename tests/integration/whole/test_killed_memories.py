"""SIGKILL at random moments while clients add memories under idempotency keys, repeat and forget them."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from support.daemon import Wire, request, running_daemon
from support.soak import count

KILLS = count(2, 60)
CLIENTS = 3
EXPECTED = {200, 201, 503}  # 503: it is starting


@dataclass(slots=True)
class Adder:
    """A client that adds memories, sends each request twice, and forgets some in between."""

    name: str
    acknowledged: dict[int, str] = field(default_factory=dict)
    unexpected: list[str] = field(default_factory=list)
    number: int = 0

    def work(self, socket: Path, stop: threading.Event) -> None:
        """Add memory after memory; a request whose answer did not come is sent again under its key."""
        while not stop.is_set():
            memory = self._add(socket)
            if memory is None:
                time.sleep(0.005)
                continue
            if self.number % 3 == 0:
                self._ask(socket, request("DELETE", f"/v1/memories/{memory}"))
            self._add(socket)
            self.number += 1

    def _add(self, socket: Path) -> str | None:
        said = {
            "content": f"{self.name} saw boat {self.number}",
            "document": f"facts/{self.name}.md",
            "author": "person",
        }
        body = json.dumps(said).encode()
        key = {"Idempotency-Key": f"{self.name} {self.number}"}
        answer = self._ask(socket, request("POST", "/v1/memories", body, key))
        if answer is None:
            return None
        status, memory = answer
        if status not in EXPECTED or (memory and self.acknowledged.setdefault(self.number, memory) != memory):
            self.unexpected.append(f"{self.name} {self.number}: {status} {memory}")
        return memory

    def _ask(self, socket: Path, data: bytes) -> tuple[int, str | None] | None:
        try:
            with Wire(socket) as wire:
                wire.send(data)
                answer = wire.answer()
        except OSError:
            return None
        if answer is None or not answer.body:
            return None
        return answer.status, answer.json().get("id")


def test_a_repeated_post_is_never_not_found() -> None:
    """Under kills every POST of a memory is answered as the first time, also after the memory was forgotten."""
    rng = random.Random(5)
    with running_daemon() as daemon:
        stop = threading.Event()
        adders = [Adder(f"agent{number}") for number in range(CLIENTS)]
        threads = [threading.Thread(target=adder.work, args=(daemon.socket, stop)) for adder in adders]
        for thread in threads:
            thread.start()
        try:
            for _ in range(KILLS):
                seen = [adder.number for adder in adders]
                deadline = time.monotonic() + 60
                while any(adder.number <= before for adder, before in zip(adders, seen, strict=True)):
                    assert time.monotonic() < deadline, [adder.unexpected for adder in adders]
                    time.sleep(rng.random() * 0.05)
                daemon.kill()
                daemon.start()
        finally:
            stop.set()
            for thread in threads:
                thread.join()
            daemon.kill()
        assert [problem for adder in adders for problem in adder.unexpected] == []
        assert sum(len(adder.acknowledged) for adder in adders) > KILLS * CLIENTS
