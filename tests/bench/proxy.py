"""The proxy: what it adds to the first byte of an answer, and how long a compaction takes.

A request of 200 KB goes to the same provider without the proxy, through it, and through one that caps: the three take
turns. Then a conversation of 90,000 tokens is compacted, the first time while the daemon has no compute process.
"""

from __future__ import annotations

import json
import random
import socket
import statistics
import subprocess
import time
from contextlib import ExitStack
from typing import Any

from bench.run import program, row
from reverie import tokenizer
from support.daemon import Daemon, environment, running_daemon
from support.model_server import ModelServer, body_of, raw, read_message
from support.prose import paragraph
from support.upstream import chunked

BODY_BYTES = 200_000
TURNS = 200
TOKENS = 90_000
COMPACTIONS = 5
ASKED = (
    "CRITICAL: Respond with TEXT ONLY.\n\nYour task is to create a detailed summary of the conversation so far, as "
    "<summary>."
)


def conversation(size: int, count: Any, seed: int = 5) -> list[dict[str, Any]]:
    """Return messages of about `size`, as `count` measures their JSON: prompts, calls of tools and their results."""
    pick = random.Random(seed)
    messages: list[dict[str, Any]] = []
    made = 0
    while made < size:
        number = len(messages)
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": f"make part-{number}"}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": paragraph(pick, words=400)}
        turn: list[dict[str, Any]] = [
            {"role": "user", "content": [{"type": "text", "text": paragraph(pick, words=30)}]},
            {"role": "assistant", "content": [{"type": "text", "text": paragraph(pick, words=30)}, call]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": paragraph(pick, words=40)}]},
        ]
        messages += turn
        made += count(json.dumps(turn))
    return messages


def started(stack: ExitStack, daemon: Daemon, url: str, *words: str) -> str:
    """Start a proxy as a process of its own; return its URL."""
    command = program("proxy", "claude", "--upstream", url, *words)
    pipe: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "env": environment(daemon.home)}
    process = stack.enter_context(subprocess.Popen(command, **pipe))
    stack.callback(process.terminate)
    assert process.stdout is not None
    line: str = process.stdout.readline()
    return line.strip().partition("=")[2]


class Side:
    """One connection to a provider or proxy, and the times of its first bytes, in milliseconds."""

    def __init__(self, url: str) -> None:
        host, _, path = url.removeprefix("http://").partition("/")
        name, _, port = host.partition(":")
        self.head = f"POST {f'/{path}' if path else ''}/v1/messages HTTP/1.1\r\nHost: {host}\r\nContent-Length: "
        self.peer = socket.create_connection((name, int(port)))
        self.times: list[float] = []

    def ask(self, body: bytes) -> bytes:
        """Send one request, note when the first byte comes, and return the whole response."""
        data = f"{self.head}{len(body)}\r\n\r\n".encode() + body
        began = time.perf_counter()
        self.peer.sendall(data)
        first = self.peer.recv(1, socket.MSG_PEEK)
        self.times.append((time.perf_counter() - began) * 1000)
        assert first
        return read_message(self.peer) or b""


def first_bytes() -> None:
    """Print the first byte without the proxy, through it, and with a cap."""
    whole = chunked(b"event: message_start\ndata: {}\n\n") + b"0\r\n\r\n"
    messages = conversation(BODY_BYTES, len)
    with running_daemon() as daemon, ModelServer(raw(whole)) as models, ExitStack() as stack:
        sides = {
            "without": Side(models.url),
            "proxy": Side(started(stack, daemon, models.url)),
            "proxy with a cap": Side(started(stack, daemon, models.url, "--max-tokens", "150000")),
        }
        body = b""
        for turn in range(TURNS):
            # As a client does it: one more message each time.
            body = json.dumps({"model": "m", "messages": [*messages, {"role": "user", "content": f"{turn}"}]}).encode()
            for side in sides.values():
                assert side.ask(body) == whole
        for side in sides.values():
            del side.times[:5]
        for name, side in sides.items():
            base = sides["without"].times
            more = statistics.median(after - before for after, before in zip(side.times, base, strict=True))
            least = f"min {min(side.times):.2f}, added {min(side.times) - min(base):+.2f}"
            row(f"{name}: first byte, p50", statistics.median(side.times), "ms", note=f"added {more:+.2f}; {least}")
            side.peer.close()
    print(f"request of {len(body):,} bytes, {TURNS} turns")


def compactions() -> None:
    """Print how long the proxy takes to compact a large conversation, which asks the provider for nothing."""
    messages = conversation(TOKENS, tokenizer.count)
    body = json.dumps({"model": "m", "messages": [*messages, {"role": "user", "content": ASKED}]}).encode()
    with running_daemon() as daemon, ModelServer(raw()) as models, ExitStack() as stack:
        side = Side(started(stack, daemon, models.url))
        texts = {body_of(side.ask(body)) for _ in range(COMPACTIONS)}
        side.peer.close()
        assert models.requests == []
    made = tokenizer.count(json.loads(texts.pop())["content"][0]["text"])
    first, *later = side.times
    tokens = sum(tokenizer.count(json.dumps(message)) for message in messages)
    row(f"{tokens:,} tokens compacted to {made:,}, the first time", first / 1000, "s")
    row(
        "  then, p50; no request to the provider",
        statistics.median(later) / 1000,
        "s",
        note=f"min {min(later) / 1000:.2f}",
    )


CASES = {"first_bytes": first_bytes, "compactions": compactions}
