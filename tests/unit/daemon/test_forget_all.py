"""A purge has everything that this process keeps of a space forget it, whatever it is and wherever it is made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reverie.models import Candidate, MemoryType
from reverie.redact import Redactor
from reverie.store import PendingPurge, Store
from reverie.usecases import follow, memories
from reverie.usecases.agent_writes import ReadVersions
from reverie.usecases.briefs import BriefCache
from reverie.usecases.by import By
from reverie.usecases.follow import Kept
from reverie.usecases.message_search import MessageSearch
from reverie.usecases.nearest import NearestMemories
from reverie.usecases.projections import Listing, ProjectListings
from reverie.usecases.recall import Recall
from reverie.usecases.waiting import WaitingCandidates
from reveried.actions import purge
from reveried.actions.contexts import StateCache
from reveried.actions.hooks import SessionMemory
from reveried.drive import write
from reveried.session_texts import SessionTexts
from reveried.worker import Worker

AT = "2026-11-21T09:30:00.000Z"


class Nothing:
    """Folders and jobs of a space that has none: every call is answered with nothing."""

    def __getattr__(self, _: str) -> Callable[..., Any]:
        async def call(*_: Any, **__: Any) -> Any:
            return ()

        return call

    def folder(self, _: str) -> Any:
        """Refuse no path."""
        return SimpleNamespace(refusal=lambda _: None)

    def forget(self, *_: Any) -> None:
        """Have no results of jobs."""


class Probe(Kept):
    """A cache that no other module knows."""

    def forget(self, space: str) -> None:
        """Forget nothing."""


def _every_class(kind: type[Kept] = Kept) -> set[type[Kept]]:
    """Return the classes of what is kept, without those that others are made from."""
    below = [_every_class(one) for one in kind.__subclasses__()]
    return set().union(*below) if below else {kind}


def _made(store: Store, folder: Path) -> list[Kept]:
    """Make everything that a daemon keeps, as its services do; modules have made theirs."""
    recall = Recall(store, folder)
    of_store: list[Kept] = [recall, MessageSearch(store, folder), Listing(), NearestMemories(recall)]
    kept = [StateCache(), SessionTexts(), BriefCache(), SessionMemory(), ReadVersions(), ProjectListings()]
    return [*of_store, *kept, WaitingCandidates(), Probe()]


def test_a_purge_asks_each_to_forget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each class of what is kept has an object that a purge asks, a new one and what modules keep among them."""
    asked: dict[Kept, list[str]] = {}

    def noted(kind: type[Kept]) -> Callable[[Kept, str], None]:
        before = kind.forget

        def forget(self: Kept, space: str) -> None:
            asked.setdefault(self, []).append(space)
            before(self, space)

        return forget

    async def compact(_: Any) -> int:
        return 0

    async def run(store: Store, worker: Worker) -> None:
        nothing = Nothing()
        services: Any = SimpleNamespace(
            store=store,
            submit=worker.submit,
            redactor=Redactor(),
            sync_service=nothing,
            jobs=nothing,
            clock=lambda: AT,
            layout=SimpleNamespace(data_dir=tmp_path, store_dir=tmp_path / "data" / "store"),
            config=SimpleNamespace(
                daemon=SimpleNamespace(queue_length=10), backup=SimpleNamespace(folder=tmp_path / "backups")
            ),
        )
        by = By("default", "ann", new_id=lambda kind: f"{kind}_1")
        memory = await write(services, memories.remember, by, Candidate(MemoryType.FACT, "The host is zanzibar"))
        purged = await purge.purge(services, by, PendingPurge("memory", memory.id))
        assert purged.memories == 1

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        worker = Worker(store, clock=lambda: AT, queue_length=100)
        worker.start()
        kept = _made(store, tmp_path / "search")
        kinds: list[type[Kept]] = [*_every_class(), follow.Follow]
        for kind in kinds:
            if "forget" in vars(kind):
                monkeypatch.setattr(kind, "forget", noted(kind))
        monkeypatch.setattr(purge, "compact", compact)
        try:
            asyncio.run(run(store, worker))
        finally:
            worker.stop()
    assert {type(one) for one in asked} >= _every_class()
    assert all(asked[one] == ["default"] for one in kept)
