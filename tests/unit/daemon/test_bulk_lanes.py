"""Which work waits behind the agents: imports, learning and retention take the bulk lanes, distillations do not."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from reverie.places import Layout
from reverie.redact import Redactor
from reverie.store import Store
from reverie.usecases.access_counts import AccessCounts
from reverie.usecases.by import By
from reverie.usecases.nearest import NearestMemories
from reverie.usecases.projections import ProjectListings
from reverie.usecases.recall import Recall
from reverie.usecases.redactions import RedactRules
from reveried import config
from reveried.actions import distill, imports, learn, undo
from reveried.actions.trust import OpenCalls
from reveried.compute import Compute
from reveried.worker import Worker
from support.generated_sessions import generate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

AT = "2026-11-21T09:30:00.000Z"
SPACE = "default"
NUMBERS = itertools.count(1)


@asynccontextmanager
async def daemon(home: Path) -> AsyncIterator[tuple[Any, list[tuple[str, bool]]]]:
    """Yield the services that these use cases need, and a list of the jobs and commits made: name, and if in bulk."""
    store = Store.open(home / "store", redactor=Redactor())
    worker = Worker(store, clock=lambda: AT, queue_length=100)
    worker.start()
    compute = Compute(idle_s=60, timeout_s=60)
    lanes: list[tuple[str, bool]] = []

    async def submit(write: Any, *, bulk: bool = False) -> Any:
        lanes.append((f"commit {write.why}", bulk))
        return await worker.submit(write, bulk=bulk)

    async def decide(job: str, body: bytes, *, bulk: bool = False) -> bytes:
        lanes.append((f"decide {job}", bulk))
        return await compute.run(job, body, bulk=bulk)

    async def nothing(_: str) -> None:
        """Do nothing, in place of writing projections."""

    async def no_documents(_: str) -> list[Any]:
        """Return an empty list, in place of the index of documents."""
        return []

    layout = Layout.from_env({"REVERIE_HOME": str(home)}, home, 0)
    services = SimpleNamespace(
        models=None,
        store=store,
        submit=submit,
        worker=worker,
        compute=SimpleNamespace(run=decide),
        config=config.load(layout, {}, home=home),
        redactor=Redactor(),
        keeper=SimpleNamespace(allow=[]),
        redact_rules=RedactRules(),
        texts=SimpleNamespace(make_start_soon=lambda *_: None),
        accesses=AccessCounts("test"),
        nearest=NearestMemories(Recall(store)),
        clock=lambda: AT,
        random=lambda size: next(NUMBERS).to_bytes(size, "big"),
        sync_service=SimpleNamespace(
            write_all=nothing,
            documents=no_documents,
            index_entries=no_documents,
            root_of=lambda _: layout.data_dir / "root",
        ),
        project_listings=ProjectListings(),
        open_calls=OpenCalls(),
    )
    try:
        yield services, lanes
    finally:
        await compute.close()
        worker.stop()
        store.close()


async def imported(services: Any, data: bytes, session: str) -> str:
    """Import a session as one chunk; return the id of its thread."""
    place = await imports.begin(services, SPACE, client="test", session=session, source=None)
    await imports.take_chunk(services, SPACE, place.id, offset=0, first_line=1, data=data, final=True)
    return place.thread


def test_imports_learning_and_retention_wait_behind_agents(tmp_path: Path) -> None:
    """Imports (with lines of the brief), decided learning and retention are queued in bulk; distillations are not."""

    async def run() -> None:
        async with daemon(tmp_path) as (services, lanes):
            thread = await imported(services, generate(2, tasks=2).data, "one")
            assert {name for name, _ in lanes} == {
                "commit project.register",
                "commit import.begin",
                "commit import.chunk",
                "decide import",
                "decide brief",
                "commit ",  # the lines of the brief: made from the thread again at any time, so no operation of history
            }
            assert all(bulk for _, bulk in lanes)
            lanes.clear()
            await learn.learn(services, By(SPACE, "test"), thread)
            decided = [("decide learn-candidates", True), ("decide learn", True)]
            assert lanes == [*decided, ("commit thread.learn", False)]
            lanes.clear()
            await distill.distill(services, By(SPACE, "test"), thread)
            assert lanes == [("decide distill", False), ("commit thread.distill", False)]
            lanes.clear()
            await undo.prune(services)
            assert lanes
            assert all(bulk for _, bulk in lanes)

    asyncio.run(run())


@pytest.mark.parametrize("shared", [False, True])
def test_an_import_beside_agents_is_cut_small(tmp_path: Path, shared: bool) -> None:  # noqa: FBT001
    """An import commits up to 512 KiB at once, but 64 KiB while other callers write."""
    data = generate(1).data
    assert 3 * imports.PIECE_BESIDE_BYTES < len(data) < imports.PIECE_BYTES

    async def run() -> None:
        async with daemon(tmp_path) as (services, lanes):
            services.worker = SimpleNamespace(is_shared=lambda: shared)
            await imported(services, data, "two")
            pieces = lanes.count(("commit import.chunk", True))
            assert pieces == (1 if not shared else pytest.approx(len(data) / imports.PIECE_BESIDE_BYTES, abs=1))

    asyncio.run(run())
