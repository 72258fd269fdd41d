"""A loopback TCP client of the daemon, at the level of HTTP, and a free port for it."""

from __future__ import annotations

import http.client
import json
import random
import socket
from collections.abc import Mapping
from typing import Any, Self

from support.daemon import Answer


def free_port() -> int:
    """Return a port of the loopback address that no process uses.

    Below those that the kernel gives to other sockets by itself, so that none of them takes it before it is used.
    """
    chance = random.SystemRandom()
    while True:
        port = chance.randrange(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


class TcpCaller:
    """One kept connection over which requests with one token are sent."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Send one request and return its answer; `body` is any JSON value."""
        sent = {**self._headers, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = "application/json"
        self.connection.request(method, path, None if body is None else json.dumps(body), sent)
        answer = self.connection.getresponse()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
