"""A check of a store while a daemon writes to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reverie.store import Kind
from reverie.store.check import ConsistencyCheck, check
from reverie.store.guard import RollbackGuardFile
from support.stores import opened, put


def test_a_commit_during_the_check_is_no_finding(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit during a check is no finding; a guard ahead of the store from the beginning is one."""
    with opened(path) as store:
        put(store, Kind.MEMORY, ("one",), {})
    walk = ConsistencyCheck.run

    def commit_meanwhile(self: ConsistencyCheck) -> None:
        walk(self)
        before = RollbackGuardFile.read(path)
        assert before is not None
        file = RollbackGuardFile(path)
        file.write(replace(before, commits=before.commits + 1))
        file.close()

    monkeypatch.setattr(ConsistencyCheck, "run", commit_meanwhile)
    assert check(path, offline=False).ok
    assert not check(path, offline=False).ok
