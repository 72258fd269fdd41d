"""One text of a context: what is served, what `reverie context` prints and what `reverie eval context` measures."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from reverie.client import Client
from reverie.context.text import render
from reverie.errors import Conflict
from reverie.evals.after_transcript import context_text
from reveried.cli.send_sessions import import_file
from support.cli import reverie
from support.daemon import Daemon, running_daemon
from support.shared import SHARED, real_sessions
from support.soak import count
from support.story import generated_files

SIZES = (4_000, 16_000, 32_000)
NOTHING = "xqzvkw"  # answered by no memory: recall, which a transcript alone does not have, is not measured


def check_same(daemon: Daemon, client: Client, path: Path) -> None:
    """Import a transcript and compare its contexts as served, shown and measured, before and after a distillation."""
    thread = str(import_file(client, path, program="claude-code").thread)
    for is_distilled in (False, True):
        if is_distilled:
            try:
                client.distill(thread)
            except Conflict:  # shorter than the preserved tail
                return
        for size in SIZES:
            measured = context_text(path, size)
            served = client.context(thread, query=NOTHING, max_tokens=size).request
            assert render(msgspec.to_builtins(served)) == measured, (path.name, size)
            assert client.context_text(thread, query=NOTHING, max_tokens=size) == measured, (path.name, size)
            shown = reverie(daemon.env, "context", thread, "--query", NOTHING, "--max-tokens", str(size)).out
            assert shown == measured + "\n", (path.name, size)


def test_what_is_measured_is_served_and_shown(daemon: Daemon, client: Client) -> None:
    """Generated sessions: the same bytes at three sizes, whether the thread was distilled or not."""
    for path in generated_files()[:2]:
        check_same(daemon, client, path)


@pytest.mark.measures("data/transcripts/claude-code")
def test_what_is_measured_is_served_and_shown_for_recorded_sessions() -> None:
    """Recorded sessions (in a soak all of them), each in a fresh daemon."""
    assert SHARED.exists()
    for path in real_sessions()[:: count(40, 1)]:
        with running_daemon() as daemon, Client(daemon.socket) as client:
            check_same(daemon, client, path)
