"""Hooks: spawn to exit beside a bare interpreter, with the daemon down, and after an idle time."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.recall import build
from bench.run import ms_of, row
from reverie.client import Client
from reveried.plugin import files, hook_script, write
from support.daemon import Daemon, running_daemon, scratch_home
from support.story import LiveSession, session_file
from support.waiting import wait_until


def hooks(memories: str = "100000") -> None:
    """Print the least and the median milliseconds of each hook."""
    with tempfile.TemporaryDirectory() as name, scratch_home() as home:
        build(home, int(memories))
        with running_daemon(home, REVERIE_DAEMON_COMPUTE_IDLE_SECONDS="1") as daemon:
            measured(Path(name), daemon)


def measured(folder: Path, daemon: Daemon) -> None:
    """Print the figures of one daemon."""
    write(folder / "plugin", files("claude-code", command=["reverie"], socket=daemon.socket, env={}, python="python"))
    program = str(folder / "plugin" / "bin" / "reverie-hook")
    up = {"PATH": os.environ["PATH"], "REVERIE_HOME": str(daemon.home)}
    path = session_file(folder, 1, turns=60, noise=200)
    session = LiveSession(folder, folder, 1, path=path)
    session.start(daemon)
    with Client(daemon.socket) as client:
        wait_until(lambda: client.start_import("claude-code", session.id).offset == path.stat().st_size)

    def spawned(words: Sequence[str], runs: int = 100, env: dict[str, str] = up, **hook: str) -> list[float]:
        event = hook.pop("event", "Stop")
        run = partial(subprocess.run, input=json.dumps(session.hook(event, **hook)).encode(), env=env, check=True)
        return [ms_of(partial(run, words, stdout=subprocess.DEVNULL)) for _ in range(runs)]

    def show(what: str, times: list[float], to: list[float] | None = None) -> list[float]:
        beside = None if to is None else statistics.median(times) / statistics.median(to)
        row(f"{what}, median", statistics.median(times), "ms", times=beside, note=f"least {min(times):.2f}")
        return times

    bare = show("python -I -S -c ''", spawned([sys.executable, "-I", "-S", "-c", ""]))
    stop = [program, "claude-code", "Stop"]
    show("reverie-hook, daemon down, to python", spawned(stop, env=up | {"REVERIE_HOME": str(folder)}), bare)
    show("reverie-hook Stop", spawned(stop))
    show("the script, Stop", spawned([sys.executable, "-IS", str(hook_script.__file__), "claude-code", "Stop"]))
    asked = {"event": "UserPromptSubmit", "prompt": "how do we run the tests of the parser?"}
    show("reverie-hook UserPromptSubmit", spawned([program, "claude-code", "UserPromptSubmit"], 20, up, **asked))
    begun = partial(spawned, [program, "claude-code", "SessionStart", "state"], event="SessionStart", source="startup")
    warm = show("reverie-hook SessionStart, warm", begun(runs=20))
    idle = []
    for _ in range(9):
        time.sleep(4)  # the compute process has left after one second without work
        idle += begun(runs=1)
    show("reverie-hook SessionStart, after the compute process left, to warm", idle, warm)


CASES = {"hooks": hooks}
