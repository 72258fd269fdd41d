"""Notes are in the context after a distillation and after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.client import Client
from reverie.models import NoteCategory
from support.daemon import running_daemon
from support.turns import Worker, texts_of

NOTES: tuple[tuple[str, NoteCategory], ...] = (
    ("the release waits for the harbour office's answer", "task"),
    ("prefers one commit per change", "preference"),
    ("the tide table is in UTC, not in local time", "correction"),
)


@pytest.mark.parametrize("placement", ["late", "system"])
def test_notes_survive_a_distillation(client: Client, placement: Any) -> None:
    """Three notes are in the context after a distillation, newest first, at the position for the placement."""
    thread = f"noted-{placement}"
    work = Worker(client, thread)
    for turn in range(24):
        work.user(f"Please look at pier {turn}.").reply(f"Pier {turn} is as it was. " + "All is well. " * 60)
        if turn in {3, 9, 15}:
            content, category = NOTES[(turn - 3) // 6]
            client.add_note(thread, content, category)
    client.distill(thread)
    work.user("and now?")

    texts = texts_of(client.context(thread, placement=placement).request)
    where = texts["system" if placement == "system" else "late"]

    places = [where.index(f"[{category}] {content}") for content, category in NOTES]
    assert places == sorted(places, reverse=True)
    for content, _ in NOTES:
        assert content not in texts["tail"]


def test_notes_survive_a_restart() -> None:
    """Acknowledged notes are in the context after the daemon was killed and restarted."""
    with running_daemon() as daemon:
        with Client(daemon.socket) as before:
            work = Worker(before, "noted")
            for turn in range(12):
                work.user(f"pier {turn}?").reply("As it was. " * 40)
            for content, category in NOTES:
                before.add_note("noted", content, category)
            before.distill("noted")
        daemon.kill()
        daemon.start()
        with Client(daemon.socket) as after:
            system = str(after.context("noted", placement="system").request.system)
            assert all(content in system for content, _ in NOTES)
        assert daemon.stop() == 0
