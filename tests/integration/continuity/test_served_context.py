"""`reverie eval context` measures the context that the daemon serves, text for text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from reverie.client import Client
from reverie.context import render
from reverie.errors import Conflict
from reverie.evals import context_text
from reveried.cli.send_new_bytes_of_session_files_to_import import import_file
from support.daemon import running_daemon
from support.generated_sessions import generated_files
from support.shared import SHARED, real_sessions
from support.soak import count

if TYPE_CHECKING:
    from pathlib import Path

    from reverie import wire

SIZES = (2_000, 4_000, 8_000, 16_000, 32_000)


def served_text(answer: wire.ContextAnswer) -> str:
    """Return the request of a context as plain text."""
    return render(cast("Any", SimpleNamespace(request=msgspec.to_builtins(answer.request))))


def check_same(client: Client, path: Path, sizes: tuple[int, ...]) -> None:
    """Import a transcript and compare the served contexts with the measured ones, before and after a distillation."""
    thread = str(import_file(client, path).thread)
    measured = {size: context_text(path, size) for size in sizes}
    served = {size: served_text(client.context(thread, max_tokens=size)) for size in sizes}
    assert served == measured, path.name
    try:
        client.distill(thread)
    except Conflict:  # shorter than the preserved tail
        return
    # Recall is not part of what is measured: a question that no memory answers. Forgetting them would not do, since a
    # context leaves out what was forgotten.
    again = {size: served_text(client.context(thread, query="xqzvkw", max_tokens=size)) for size in sizes}
    assert again == measured, path.name


def test_what_is_measured_is_served(client: Client) -> None:
    """Generated sessions: the same text at five sizes, whether the thread was distilled or not."""
    for path in generated_files()[:2]:
        check_same(client, path, SIZES)


@pytest.mark.measures("data/transcripts/claude-code")
def test_what_is_measured_is_served_for_recorded_sessions() -> None:
    """Recorded sessions (in a soak all of them), each in a fresh daemon: the same text at four sizes."""
    assert SHARED.exists()
    for path in real_sessions()[:: count(40, 1)]:
        with running_daemon() as daemon, Client(daemon.socket) as client:
            check_same(client, path, SIZES[1:])
