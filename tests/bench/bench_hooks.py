"""Benchmark of hooks: spawn to exit beside a bare interpreter, with the daemon down, and after an idle time.

python tests/bench/bench_hooks.py [MEMORIES]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from collections.abc import Sequence

from bench.bench_recall import build
from reverie.client import Client
from reveried.plugin import files, hook_script, write
from support.daemon import Daemon, running_daemon, scratch_home
from support.live_session import LiveSession
from support.session import session_file
from support.waiting import wait_until

RUNS = 100
IDLE_RUNS = 9
MEMORIES = 100_000


def measure(words: Sequence[str], data: bytes, env: dict[str, str], runs: int = RUNS) -> tuple[float, float]:
    """Return the least and the median milliseconds from the spawn of a program to its exit."""
    taken = []
    for _ in range(runs):
        began = time.perf_counter()
        subprocess.run(words, input=data, env=env, stdout=subprocess.DEVNULL, check=True)
        taken.append((time.perf_counter() - began) * 1000)
    return min(taken), statistics.median(taken)


def show(what: str, least: float, median: float) -> None:
    """Print one row: the least and the median milliseconds of a program."""
    print(f"{what:<58} {least:8.2f} ms least {median:8.2f} ms median")


def main(memories: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name, scratch_home() as home:
        build(home, memories)
        with running_daemon(home, REVERIE_DAEMON_COMPUTE_IDLE_SECONDS="1") as daemon:
            measured(Path(name), daemon, memories)


def measured(folder: Path, daemon: Daemon, memories: int) -> None:
    """Print the figures of one daemon."""
    write(folder / "plugin", files("claude-code", command=["reverie"], socket=daemon.socket, env={}, python="python"))
    program = str(folder / "plugin" / "bin" / "reverie-hook")
    env = {"PATH": os.environ["PATH"], "REVERIE_HOME": str(daemon.home)}
    with Client(daemon.socket) as client:
        path = session_file(folder, 1, turns=60, noise=200)
        session = LiveSession(folder, folder, 1, path=path)
        session.start(daemon)
        wait_until(lambda: client.start_import("claude-code", session.id).offset == path.stat().st_size)
    print(f"{memories:,} memories, a session of {path.stat().st_size:,} bytes")
    data = json.dumps(session.hook("SessionStart", source="startup")).encode()
    stop = json.dumps(session.hook("Stop")).encode()
    start = [program, "claude-code", "SessionStart", "state"]

    bare = measure([sys.executable, "-I", "-S", "-c", ""], b"", env)
    show("python -I -S -c ''", *bare)
    down = measure([program, "claude-code", "Stop"], stop, env | {"REVERIE_HOME": str(folder)})
    show("reverie-hook, daemon down", *down)
    print(f"  of python -I -S: {down[0] / bare[0]:.2f} least, {down[1] / bare[1]:.2f} median")
    show("reverie-hook Stop", *measure([program, "claude-code", "Stop"], stop, env))
    script = [sys.executable, "-IS", hook_script.__file__, "claude-code", "Stop"]
    show("the script, Stop", *measure(script, stop, env))
    prompt = json.dumps(session.hook("UserPromptSubmit", prompt="how do we run the tests of the parser?")).encode()
    show("reverie-hook UserPromptSubmit", *measure([program, "claude-code", "UserPromptSubmit"], prompt, env, 20))
    warm = measure(start, data, env, 20)
    show("reverie-hook SessionStart, warm", *warm)
    taken = []
    for _ in range(IDLE_RUNS):
        time.sleep(4)  # the compute process has left after one second without work
        taken.append(measure(start, data, env, 1)[0])
    idle = min(taken), statistics.median(taken)
    show("reverie-hook SessionStart, after the compute process left", *idle)
    print(f"  of warm: {idle[0] / warm[0]:.2f} least, {idle[1] / warm[1]:.2f} median")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else MEMORIES)
