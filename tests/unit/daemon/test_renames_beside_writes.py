"""A file is edited and renamed while an agent writes to it, between any two system calls: one file has all lines."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from reverie import syscalls
from reverie.redact import Redactor
from reverie.store import MemoryRecord, Store
from reverie.usecases import documents
from reverie.usecases.by import By
from reveried.sync import state
from support.sync_without_daemon import NOW_MS, submit_to, sync_service

OLD, NEW = "facts/a.md", "facts/deep/b.md"
TEXT = "# A\n\n- Own one\n- Own two\n- Own three\n"
FIRST, SECOND, TYPED = "- Agent one\n", "- Agent two\n", "- Typed\n"
HOUR_MS = 3_600_000
CALLS = (
    (syscalls, "exchange"),
    (syscalls, "rename_new"),
    (os, "scandir"),
    (state, "scan_path"),
    (state, "read_file"),
)


class Race:
    """A person beside an agent: edits a file at the first exchange, and renames it before the call number `moment`.

    `how` has "edits" for a save by rename, "opens" for an editor that writes into the old file after everything else,
    and "crash" for a daemon that ends after the agent's first write.
    """

    def __init__(self, home: Path, store: Store, moment: int, how: str) -> None:
        self.root = home / "root" / "default"
        (self.root / NEW).parent.mkdir(parents=True)
        self.store, self.moment, self.how = store, moment, how
        self.typed, self.editor = False, ExitStack()
        self.now_ms, self.calls = NOW_MS, -1  # -1: nothing is counted, and nobody changes anything
        self.ids = count()
        self.commit = submit_to(store)
        self.start()

    def start(self) -> None:
        """Start the sync service, also as after a crash."""
        self.sync = sync_service(self.store, self.root.parent, self.commit, lambda: self.now_ms)

    def before(self, call: str) -> None:
        """Count a system call, and do what the person does before it."""
        if self.calls < 0:
            return
        file, draft = self.root / OLD, self.root / "draft"
        if "renames" not in self.how and not self.typed and call == "exchange" and file.exists():
            self.typed = True
            if "opens" in self.how:
                self.editor.callback(self.editor.enter_context(file.open("a", encoding="utf-8")).write, TYPED)
            else:
                draft.write_text(file.read_text("utf-8") + TYPED, "utf-8")
                draft.replace(file)
        if self.calls == self.moment and file.exists():
            file.rename(self.root / NEW)
        self.calls += 1

    @property
    def by(self) -> By:
        """The agent whose memories have rising ids."""
        return By("default", "agent", new_id=lambda kind: f"{kind}_{next(self.ids)}")

    async def append(self, line: str) -> None:
        """Append a line as an agent does."""
        await self.sync.read_saves("default", [OLD])
        await self.commit(documents.append.write(self.by, OLD, line))
        await self.sync.write_documents("default", [OLD])

    async def run(self) -> bool:
        """Write as an agent does around a full scan, and settle; return False if the moment never came."""
        await self.commit(documents.put.write(self.by, OLD, TEXT))
        await self.sync.sync("default", None, whole=True)
        await self.sync.save_baselines("default")
        self.calls = 0
        await self.append(FIRST)
        if "crash" in self.how:
            self.sync.folder("default").close()
            self.start()
        await self.sync.sync("default", None, whole=True)
        await self.append(SECOND)
        await self.sync.sync("default", {OLD, NEW})
        calls, self.calls = self.calls, -1
        self.editor.close()
        for _ in range(4):
            self.now_ms += HOUR_MS
            await self.sync.sync("default", None, whole=True)
        self.sync.folder("default").close()
        return calls > self.moment


def lines(texts: Iterable[str]) -> list[str]:
    """Return the lines of texts that are memories, in order, without their bullets."""
    return sorted(line.removeprefix("- ") for text in texts for line in text.splitlines() if line.startswith("- "))


@pytest.mark.parametrize("how", ["renames", "edits", "opens", "edits, crash"])
def test_a_rename_beside_writes_leaves_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """Whenever it falls, no line is lost or doubled in folder and store, and the agent's line is in the new file."""
    races: list[Race] = []

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            for race in races[-1:]:
                race.before(name)
            return real(*args, **options)

        return call

    for place, name in CALLS:
        monkeypatch.setattr(place, name, counted(name, getattr(place, name)))
    for moment in count():
        with Store.open(tmp_path / f"store{moment}", redactor=Redactor()) as store:
            race = Race(tmp_path / str(moment), store, moment, how)
            races.append(race)
            if not asyncio.run(race.run()):
                break
            with store.reader("default") as reader:
                memories = sorted(record.content for _, record in reader.records(MemoryRecord))
        files = {path.name: path.read_text("utf-8") for path in race.root.rglob("*.md") if "facts" in path.parts}
        wanted = lines([TEXT, FIRST, SECOND, TYPED if race.typed else ""])
        assert (lines(files.values()), memories) == (wanted, wanted), (moment, files)
        assert FIRST in files["b.md"], (moment, files)
    assert len(races) > 10
