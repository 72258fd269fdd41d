"""Dreams by a real daemon: equal archives for equal sources, all or nothing, and schedules that fire once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie.client import Client
from reverie.errors import TokenBudgetExceeded
from reveried.cli.send_sessions import import_file
from support.daemon import Daemon, daemon_on_copy, environment, running_daemon, scratch_home
from support.story import session_file
from support.waiting import wait_until


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated session with something to learn from."""
    return session_file(tmp_path_factory.mktemp("session"), 5, turns=6)


@pytest.fixture(scope="module")
def learnt_home(session: Path) -> Iterator[Path]:
    """The home of a stopped daemon that has learnt from a session and has not dreamt."""
    with scratch_home() as home, running_daemon(home) as daemon:
        with Client(daemon.socket) as client:
            learnt(client, session)
        assert daemon.stop() == 0
        yield home


@pytest.fixture
def dreaming(learnt_home: Path) -> Iterator[tuple[Daemon, Client]]:
    """A daemon on a copy of that home, and its client."""
    with daemon_on_copy(learnt_home) as daemon, Client(daemon.socket) as client:
        yield daemon, client


def learnt(client: Client, session: Path) -> None:
    """Import and distill a session, so that there are memories to dream about."""
    thread = import_file(client, session, program="claude-code").thread
    assert thread is not None
    client.distill(thread)
    assert client.memories().items


def state(client: Client) -> tuple[int, int, int, Any]:
    """Return what a failed dream must not change: archives, operations, events, the index."""
    counts = client.status().counts
    index = [document.etag for document in client.documents().items if document.path == "MEMORY-INDEX.json"]
    return counts["archives"], counts["operations"], counts["events"], index


def test_same_sources_and_budget_give_the_same_address(session: Path) -> None:
    """Two daemons with the same memories write the same archive; its address is its SHA-256, on disk and in the API."""
    addresses = []
    for seed in ("1", "2"):
        with running_daemon(PYTHONHASHSEED=seed) as daemon, Client(daemon.socket) as client:
            learnt(client, session)
            dream = client.dream(token_budget=9000)
            assert dream.archive is not None
            assert dream.tokens_used <= dream.token_budget == 9000
            body = client.archive(dream.archive)
            on_disk = daemon.folder / "archives" / f"{dream.archive}.json"

            assert hashlib.sha256(body).hexdigest() == dream.archive
            assert on_disk.read_bytes() == body
            addresses.append(dream.archive)

    assert addresses[0] == addresses[1]


def test_a_budget_that_cannot_be_met_writes_nothing(dreaming: tuple[Daemon, Client]) -> None:
    """A dream with too small a budget raises the minimum and changes nothing; a dream with that minimum works."""
    _, client = dreaming
    before = state(client)

    with pytest.raises(TokenBudgetExceeded) as refused:
        client.dream(token_budget=1)

    assert refused.value.budget == 1
    assert state(client) == before
    assert client.dream(token_budget=refused.value.minimum_required).archive is not None


def test_a_dream_announces_itself_without_content(dreaming: tuple[Daemon, Client]) -> None:
    """`memory.compacted` has the budget, `workspace.updated` is for the index, and no event has a memory's text."""
    daemon, client = dreaming
    first = client.status().counts["events"]

    dream = client.dream(token_budget=20_000)

    announced = {}
    for event in client.events(after=first):
        announced[event.type] = event.data
        if "memory.compacted" in announced and "workspace.updated" in announced:
            break
    compacted = announced["memory.compacted"]
    assert compacted["outputId"] == dream.archive
    assert compacted["trigger"] == "host-managed"
    assert compacted["memoryRef"] == "space:default"
    assert compacted["distillation"] == {
        "tokenBudget": 20_000,
        "tokensUsed": dream.tokens_used,
        "indexUpdated": True,
    }
    assert announced["workspace.updated"].keys() == {"path", "version"}
    index = json.loads((daemon.folder / "MEMORY-INDEX.json").read_bytes())
    assert index["archiveChecksum"] == dream.archive
    assert index["archives"][-1]["entries"] == index["entryCount"] == compacted["sourceCount"]


def test_nothing_new_is_no_dream(dreaming: tuple[Daemon, Client]) -> None:
    """A second dream without changes writes nothing; a dry run never writes."""
    _, client = dreaming
    dry = client.dream(dry_run=True)
    assert dry.archive is not None
    assert client.status().counts["dreams"] == 0
    client.dream()
    before = state(client)

    again = client.dream()

    assert again.archive is None
    assert state(client) == before


def test_a_schedule_survives_and_fires_once_after_missed_nights(session: Path) -> None:
    """Five nights without a daemon give one catch-up run at the next start; the next night has its own run."""
    with scratch_home() as home:
        clock = home / "clock"
        clock.write_text("2026-05-04T12:00:00Z")
        daemon = Daemon(home, environment(home)).start()
        with Client(daemon.socket) as client:
            learnt(client, session)
            schedule = client.add_schedule("0 23 * * *", timezone="Europe/Berlin", token_budget=30_000)
            assert schedule.next_run == "2026-05-04T21:00:00.000Z"
        assert daemon.stop() == 0

        clock.write_text("2026-05-09T08:00:00Z")
        daemon.start()
        with Client(daemon.socket) as client:
            wait_until(lambda: client.status().counts["dreams"] == 1)
            assert client.dreams().items[0].trigger == "schedule"
            assert client.schedules().items[0].next_run == "2026-05-09T21:00:00.000Z"
            assert client.status().last_dream is not None
            before = client.status().counts["memories"]
            learnt(client, session_file(home, 6, turns=8))
            assert client.status().counts["memories"] > before

            clock.write_text("2026-05-09T21:00:30Z")
            wait_until(lambda: client.status().counts["dreams"] == 2)
            clock.write_text("2026-05-09T22:30:00Z")
            time.sleep(0.5)
            assert client.status().counts["dreams"] == 2
            client.remove_schedule(schedule.id)
            assert client.schedules().items == []
        assert daemon.stop() == 0
