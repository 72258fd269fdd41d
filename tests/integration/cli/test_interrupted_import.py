"""Ctrl-C in an import: the message says what was imported, and the same command resumes and learns from all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from reverie.client import Client
from support.daemon import environment, running_daemon
from support.story import generated_session
from support.waiting import wait_until

SESSIONS = 15


def test_an_interrupted_import_is_resumed(tmp_path: Path) -> None:
    """The message names the files that are in; a second run adds the rest, and every thread is learnt from once."""
    for number in range(SESSIONS):
        (tmp_path / f"session-{number:02}.jsonl").write_bytes(generated_session(number, 12, 200))
    # A process that was started in the background ignores the signal, and so would its child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wait_until(lambda: is_interrupted_and_resumed(tmp_path), "an import that is interrupted before its end")


def is_interrupted_and_resumed(folder: Path) -> bool:
    """Interrupt an import into a new store and check a second run; False if the first had ended before the signal.

    On a busy machine this process may stand still for longer than the import takes.
    """
    with running_daemon() as daemon:
        home = daemon.home
        command = [sys.executable, "-m", "reveried.cli", "import", "claude-code", str(folder)]
        variables = {**os.environ, **environment(home)}
        with (
            Client(daemon.socket) as client,
            subprocess.Popen(
                command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as running,
        ):
            wait_until(lambda: len(client.threads(limit=1000).items) >= 1, "an imported thread")
            running.send_signal(signal.SIGINT)
            _, errors = running.communicate(timeout=60)
            before = len(client.threads(limit=1000).items)
            if before < SESSIONS:
                assert running.returncode == 130
                assert f"of {SESSIONS} files are in" in errors
                assert "To go on" in errors
                assert before >= 1
                again = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
                assert f"from {SESSIONS} files" in again.stdout
                learnt = [item for item in client.operations(limit=1000).items if item.why == "thread.learn"]
                assert len(client.threads(limit=1000).items) == SESSIONS
                assert len(learnt) == SESSIONS
        assert daemon.stop() == 0
        return before < SESSIONS
