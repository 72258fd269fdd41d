"""The sync service on a store, without a daemon: a test calls each pass itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from reverie.places import Layout
from reverie.redact import Redactor
from reverie.store import Done, Failed, Kind, Store, Write, Writer
from reveried.config import load
from reveried.sync.service import SyncService
from support.stores import AT

NOW_MS = 1_800_000_000_000


class FailingWriter:
    """A Writer whose writes of the record with one key fail."""

    def __init__(self, writer: Writer, path: str, error: Exception) -> None:
        self._writer = writer
        self._path = path
        self._error = error

    def put(self, kind: Kind, key: tuple[str, ...], value: Any) -> Any:
        if key == (self._path,):
            raise self._error
        return self._writer.put(kind, key, value)

    def save(self, record: Any, key: tuple[str, ...]) -> Any:
        if key == (self._path,):
            raise self._error
        return self._writer.save(record, key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


def failing_submit(store: Store, path: str, error: Exception | None) -> Callable[..., Any]:
    """Return a submit function that commits at once, and fails for the document at one path."""

    async def submit(write: Write[Any], *, bulk: bool = False) -> Done[Any]:
        del bulk
        body = write.body
        if error is not None:
            write = Write(
                write.space,
                write.who,
                write.why,
                lambda writer: body(cast("Writer", FailingWriter(writer, path, error))),
            )
        (done,) = store.commit([write], at=AT)
        if isinstance(done, Failed):
            raise done.error
        return done

    return submit


def sync_service(
    store: Store, root: Path, submit: Callable[..., Any], now_ms: Callable[[], int] = lambda: NOW_MS, **env: str
) -> SyncService:
    """Return the sync service of folders below `root`, without a daemon; the test calls each pass itself."""
    env = {"REVERIE_HOME": str(root.parent / "home"), "REVERIE_MEMORY_DATA_DIR": str(root), **env}
    config = load(Layout.from_env(env, root.parent, 0), env, home=root.parent)
    return SyncService(
        store,
        submit,
        Redactor(),
        config,
        store_id="st_1",
        now_ms=now_ms,
        random=os.urandom,
    )
