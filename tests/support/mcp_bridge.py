"""A real `reverie mcp` process with its pipes, and the messages of both forms of the protocol."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ANSWER_S = 60.0
META = "io.modelcontextprotocol/"
STATELESS = {
    META + "protocolVersion": "2026-07-28",
    META + "clientInfo": {"name": "Some Client", "version": "1"},
    META + "clientCapabilities": {},
}
PROGRAM = str(Path(sys.executable).with_name("reverie"))


class BridgeProcess:
    """A running `reverie mcp`; `ask` sends one request and returns its answer."""

    def __init__(self, process: subprocess.Popen[bytes], *, stateless: bool) -> None:
        self.process = process
        self.stateless = stateless
        self._number = 0
        self._unread: set[Any] = set()  # ids of calls whose answers nobody waits for
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def send(self, line: bytes) -> None:
        """Send one line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def received(self) -> Any:
        """Return the next line of output as JSON."""
        return json.loads(self._lines.get(timeout=ANSWER_S))

    def message(self, value: Any) -> Any:
        """Send a message and return the next one."""
        self.send(json.dumps(value).encode())
        return self.received()

    def ask(self, method: str, meta: Mapping[str, Any] | None = None, **params: Any) -> Any:
        """Send a request and return its answer: both ids are equal."""
        self._number += 1
        meta = {**(STATELESS if self.stateless else {}), **(meta or {})}
        params |= {"_meta": meta} if meta else {}
        answer = self.message({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while str(answer.get("method", "")).startswith("notifications/") or answer.get("id") in self._unread:
            self._unread.discard(answer.get("id"))
            answer = self.received()
        assert answer["id"] == self._number
        return answer

    def begin(self, id_: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool without reading the answer, which may come before or after what the call announces."""
        params = {"name": tool, "arguments": dict(arguments)}
        self._unread.add(id_)
        self.send(json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode())

    def until(self, wanted: Mapping[str, Any]) -> Any:
        """Return the next message that has these fields; those before it are dropped."""
        while True:
            message = self.received()
            if all(message.get(name) == value for name, value in wanted.items()):
                return message

    def call(self, tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any] | None = None) -> tuple[str, bool]:
        """Call a tool; return its text, and True where it is an error."""
        result = self.ask("tools/call", meta, name=tool, arguments=dict(arguments))["result"]
        return result["content"][0]["text"], result["isError"]

    def open(self, version: str = "2025-11-25", name: str = "claude-code", **capabilities: Any) -> Any:
        """Open a session; return the result of `initialize`."""
        info = {"name": name, "version": "2"}
        answer = self.ask("initialize", protocolVersion=version, capabilities=capabilities, clientInfo=info)
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer["result"]

    def end(self) -> tuple[int, list[bytes], bytes]:
        """Close the process's input; return its exit code, unread lines, and standard error."""
        assert self.process.stdin is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        code = self.process.wait(ANSWER_S)
        self._reader.join(ANSWER_S)
        return code, list(self._lines.queue), self.process.stderr.read()


@contextmanager
def bridge(env: Mapping[str, str], folder: Path, *, stateless: bool = False) -> Iterator[BridgeProcess]:
    """Yield a running bridge; when its input is closed it must end by itself with exit code 0 and no unread line."""
    with subprocess.Popen(
        [PROGRAM, "mcp"],
        env=dict(env),
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            started = BridgeProcess(process, stateless=stateless)
            yield started
            code, lines, errors = started.end()
            unasked = [line for line in lines if b'"method":"notifications/' not in line]
            assert (code, unasked, errors) == (0, [], b"")
        finally:
            process.kill()
