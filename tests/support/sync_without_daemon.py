"""The sync service on a store, without a daemon: a test calls each pass itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reverie.places import Layout
from reverie.redact import Redactor
from reverie.store import Done, Failed, Store, Write
from reveried.config import load
from reveried.sync.service import SyncService
from support.stores import AT

NOW_MS = 1_800_000_000_000


def submit_to(store: Store) -> Callable[..., Any]:
    """Return a submit function that commits at once."""

    async def submit(write: Write[Any], *, bulk: bool = False) -> Done[Any]:
        del bulk
        (done,) = store.commit([write], at=AT)
        if isinstance(done, Failed):
            raise done.error
        return done

    return submit


def sync_service(
    store: Store,
    root: Path,
    submit: Callable[..., Any] | None = None,
    now_ms: Callable[[], int] = lambda: NOW_MS,
    **env: str,
) -> SyncService:
    """Return the sync service of folders below `root`, without a daemon; the test calls each pass itself."""
    env = {"REVERIE_HOME": str(root.parent / "home"), "REVERIE_MEMORY_DATA_DIR": str(root), **env}
    config = load(Layout.from_env(env, root.parent, 0), env, home=root.parent)
    return SyncService(
        store,
        submit or submit_to(store),
        Redactor(),
        config,
        store_id="st_1",
        now_ms=now_ms,
        random=os.urandom,
    )
