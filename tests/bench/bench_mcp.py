"""Benchmark of `reverie mcp`: start to first answer, memory, and calls beside the same calls on the socket.

    python tests/bench/bench_mcp.py

The least of the starts and the median of the calls, since everything is slower on a busy machine; `an interpreter` is
`python -c pass`, run in turn with the starts.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Callable

from support.daemon import Daemon, running_daemon, status_bytes
from support.mcp_bridge import bridge

STARTS = 15
CALLS = 300
MEMORIES = 1_000
NOTE = {"content": "the gate is green", "category": "decision"}


def main() -> None:
    """Print one table."""
    with running_daemon() as daemon, tempfile.TemporaryDirectory() as folder:
        starts(daemon, Path(folder))
        for memories in (0, MEMORIES):
            for number in range(memories):
                content = f"The gate {number} of the harbour is closed by the tide at {number % 24}"
                daemon.ask("POST", "/v1/memories", {"content": content})
            calls(daemon, Path(folder), memories)


def starts(daemon: Daemon, folder: Path) -> None:
    """Print the time from the start to the answers to `initialize` and `tools/list`, and the memory after them."""
    bare, first, listed, memory = [], [], [], []
    for _ in range(STARTS):
        bare.append(milliseconds(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True)))
        began = time.perf_counter()
        with bridge(daemon.env, folder) as agent:
            agent.open()
            first.append(1000 * (time.perf_counter() - began))
            memory.append(status_bytes(agent.process.pid, "VmRSS") / 1e6)
            agent.ask("tools/list")
            listed.append(1000 * (time.perf_counter() - began))
            agent.call("recall", {"query": "which colour has the gate"})
            memory.append(status_bytes(agent.process.pid, "VmRSS") / 1e6)
    print(f"start, least of {STARTS}")
    for name, values in (("an interpreter", bare), ("first answer", first), ("tools listed", listed)):
        print(f"  {name:34s} {min(values):8.1f} ms {min(values) / min(bare):6.2f} x an interpreter")
    print(f"  resident after the first answer    {memory[0]:8.1f} MB; after a call {memory[1]:.1f} MB")


def calls(daemon: Daemon, folder: Path, memories: int) -> None:
    """Print the median time of each call through the bridge, and directly to the daemon."""
    with bridge(daemon.env, folder) as agent:
        agent.open(name="bench")
        agent.call("memory_list", {})
        thread = daemon.ask("GET", "/v1/threads?order=newest").json()["items"][0]["id"]

        def direct(tool: str, fields: dict[str, Any]) -> Any:
            return daemon.ask("POST", f"/v1/tools/{tool}", {"input": fields, "thread": thread})

        print(f"{memories:,} memories, median of {CALLS} calls: through the bridge, and on a connection of its own")
        rows: tuple[tuple[str, Callable[[], Any], Callable[[], Any]], ...] = (
            ("tools/list", lambda: agent.ask("tools/list"), lambda: daemon.ask("GET", "/v1/tools?format=mcp")),
            ("memory_list", lambda: agent.call("memory_list", {}), lambda: direct("memory_list", {})),
            ("recall", lambda: agent.call("recall", {"query": "gate"}), lambda: direct("recall", {"query": "gate"})),
            ("note", lambda: agent.call("note", NOTE), lambda: direct("note", NOTE)),
        )
        for name, through, beside in rows:
            pairs = [(milliseconds(through), milliseconds(beside)) for _ in range(CALLS)]
            bridged, alone = (statistics.median(values) for values in zip(*pairs, strict=True))
            print(f"  {name:34s} {bridged:8.2f} ms {alone:8.2f} ms {bridged / alone:6.2f} x")


def milliseconds(action: Callable[[], Any]) -> float:
    """Return how many milliseconds an action takes."""
    began = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
