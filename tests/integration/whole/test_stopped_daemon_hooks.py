"""Campaign: many sessions' hooks beside a daemon that is stopped for 0.7 s at random moments.

Every session is recorded with all its messages, and every compaction is served: each of its parts is printed, or it is
named by the next prompt's hook or in the status.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from reverie import hook_program
from reverie.client import Client
from reverie.usecases.imported import thread_id
from reveried.session_texts import PARTS
from support.daemon import Daemon, running_daemon
from support.pages import stored_messages
from support.soak import count
from support.story import LiveSession
from support.waiting import suspended, wait_until

SESSIONS = count(24, 400)
AT_ONCE = 6
STOP_S = 0.7
BETWEEN_S = 3.0  # at most from the end of one stop to the next
SEED = 35
WORDS = "with two coats of the blue paint, and the name in white on its stern " * 8


class Agent:
    """A session of Claude Code, which has a process and calls hooks; `seen` counts what happened."""

    def __init__(self, folder: Path, daemon: Daemon, program: Path, number: int, seen: Counter[str]) -> None:
        self.daemon, self.program, self.seen = daemon, program, seen
        self.chance = random.Random(SEED * 1_000_000 + number)
        project = folder / f"harbour-{number % 5}"
        project.mkdir(exist_ok=True)
        self.session = LiveSession(folder, project, number)
        self.is_long = number % 3 == 0  # so that a compaction has all parts
        self.said: list[str] = []

    def hook(self, event: str, part: str = "", **fields: Any) -> subprocess.Popen[bytes]:
        """Start a hook."""
        words = [str(self.program), "claude-code", event, *filter(None, [part])]
        env = {"PATH": os.environ["PATH"], "REVERIE_HOME": str(self.daemon.home), "CLAUDE_PID": str(self.client.pid)}
        with TemporaryFile() as given:  # a busy machine may write a pipe too late
            given.write(json.dumps(self.session.hook(event, **fields)).encode())
            given.seek(0)
            self.seen["hooks"] += 1
            return subprocess.Popen(words, stdin=given, stdout=subprocess.PIPE, env=env)

    def printed(self, process: subprocess.Popen[bytes]) -> str:
        """Return what a hook prints at its end."""
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return out.decode()

    def run(self) -> None:
        """Live from the start to the end of the session."""
        with subprocess.Popen(["sleep", "600"]) as self.client:
            try:
                self._live()
            finally:
                self.client.kill()

    def _live(self) -> None:
        self._start("startup")
        for number in range(60 if self.is_long else 0):
            self.session.say(f"paint boat {number} of the quay, {WORDS}", f"Boat {number} is painted: {WORDS}.")
        for turn in range(self.chance.randrange(1, 4)):
            self._turn(f"paint gate {turn} of pier {self.session.id[-6:]}")
        if self.is_long:
            self._compact()
        if self.chance.random() < 0.7:  # else the terminal is closed
            self.printed(self.hook("SessionEnd", reason="other"))

    def _start(self, source: str) -> dict[str, str]:
        processes = {part: self.hook("SessionStart", part, source=source) for part in PARTS}
        return {part: self.printed(process) for part, process in processes.items()}

    def _turn(self, prompt: str) -> str:
        text = self.printed(self.hook("UserPromptSubmit", prompt=prompt))
        self.session.say(prompt, f"I did: {prompt}.")
        self.said += [prompt, f"I did: {prompt}."]
        time.sleep(self.chance.random() * 0.3)
        self.printed(self.hook("Stop"))
        return text

    def _compact(self) -> None:
        self.seen["compactions"] += 1
        self.printed(self.hook("PreCompact", trigger="auto", custom_instructions=""))
        time.sleep(1 + 4 * self.chance.random())  # a model writes its summary
        texts = self._start("compact")
        self.printed(self.hook("PostCompact", trigger="auto", compact_summary="short"))
        text = self._turn("what is next at the pier") if self.chance.random() < 0.7 else ""
        if all(texts.values()):
            self.seen["served at once"] += 1
        elif "late when this conversation was compacted" in text:
            self.seen["named by the next prompt"] += 1
        else:
            wait_until(self._is_named, f"the compaction in the status; printed were {texts} and {text!r}", 30)
            self.seen["named in the status"] += 1

    def _is_named(self) -> bool:
        with Client(self.daemon.socket) as client:
            late = client.status().late_hooks
        return self.session.id in {compaction.session for compaction in (late.compactions if late else ())}


@contextmanager
def stopped_at_random(pid: int, seen: Counter[str]) -> Iterator[None]:
    """Stop a process for STOP_S again and again during the block."""
    done, chance = threading.Event(), random.Random(SEED)

    def stop() -> None:
        while not done.wait(chance.random() * BETWEEN_S):
            with suspended(pid):
                time.sleep(STOP_S)
            seen["stops"] += 1

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def test_nothing_is_lost_beside_a_daemon_that_is_stopped_again_and_again(tmp_path: Path) -> None:
    """Every session is recorded with all that was said; every compaction is served at once, or named."""
    program = tmp_path / "reverie-hook"
    program.write_bytes(hook_program.program())
    program.chmod(0o755)
    seen: Counter[str] = Counter()
    with running_daemon() as daemon, Client(daemon.socket) as client:
        agents = [Agent(tmp_path, daemon, program, number, seen) for number in range(SESSIONS)]
        with stopped_at_random(daemon.pid, seen), ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(Agent.run, agents))

        def missing(agent: Agent) -> list[str]:
            stored = json.dumps(stored_messages(client, thread_id("claude-code", agent.session.id)))
            return [text for text in agent.said if text not in stored]

        for agent in agents:
            wait_until(lambda agent=agent: not missing(agent), f"the messages of {agent.session.id}")  # type: ignore[misc]
        late = client.status().late_hooks
    assert seen["stops"] > 0
    assert late is not None
    print(dict(seen), f"late {late.count}")
