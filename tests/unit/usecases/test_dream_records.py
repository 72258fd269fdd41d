"""Dreams in the store: the answer about one, a record of an earlier version, a failed one, and a dream's budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reverie import wire
from reverie.redact import Redactor
from reverie.store import DreamRecord, Kind, Store, Write, Writer
from reverie.usecases import dream
from reverie.usecases.consolidation import Terms
from support.stores import AT

OLD: dict[str, Any] = {
    "id": "dream_1",
    "at": AT,
    "archive": "ab" * 32,
    "tokensUsed": 5,
    "tokenBudget": 9,
    "trigger": "manual",
    "counts": {"DELETE": 1},
    "operation": "3",
    "proposals": [{"change": {"action": "DELETE", "id": "mem_1"}, "why": "it is said twice"}],
    "through": 3,
}


def test_an_old_record_is_answered_with_its_proposals(tmp_path: Path) -> None:
    """A dream's record of an earlier version is read with its proposals, nothing waiting and no failure."""

    def body(writer: Writer) -> None:
        writer.put(Kind.DREAM, ("dream_1",), OLD)

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        store.commit([Write("default", "test", "dream", body)], at=AT)
        with store.reader("default") as reader:
            answer = dream.get(reader, "dream_1")
            assert dream.last_dream(reader) == reader.load(DreamRecord, ("dream_1",))
    assert answer.proposals == [wire.Proposal(change=wire.DeleteChange(id="mem_1"), why="it is said twice")]
    assert (answer.waiting, answer.failure) == (0, None)


@pytest.mark.parametrize(
    ("budget", "expected"),
    [(None, 50_000), (1, 1), (49_999, 49_999), (50_000, 50_000), (50_001, 50_000), (2**63, 50_000)],
)
def test_a_budget_is_clamped_to_the_maximum(tmp_path: Path, budget: int | None, expected: int) -> None:
    """A budget of None, or one above the maximum, becomes the maximum."""
    with Store.open(tmp_path / "store", redactor=Redactor()) as store, store.reader("default") as reader:
        job = dream.snapshot(reader, Terms(window=1_000, at=AT), token_budget=budget, max_token_budget=50_000)
    assert (job.budget, job.maximum) == (expected, 50_000)
