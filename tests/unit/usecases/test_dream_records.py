"""Dreams in the store: the answer about one, a record of an earlier version, and a failed one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import wire
from reverie.errors import TokenBudgetExceeded
from reverie.redact import Redactor
from reverie.store import DreamRecord, Kind, Store, Write
from reverie.usecases import dream
from support.stores import AT

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.store import Writer

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


def test_a_failed_dream_is_not_the_last_one(tmp_path: Path) -> None:
    """A failed dream is stored with its error, and the dream before it remains the last dream."""
    error = TokenBudgetExceeded("too little", budget=1, minimum_required=7, hint="give 7")
    failure = dream.commit_failure(
        error, space="default", who="schedule", dream_id="dream_2", trigger="schedule", token_budget=1, at=AT
    )

    def body(writer: Writer) -> None:
        writer.put(Kind.DREAM, ("dream_1",), OLD)

    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        store.commit([Write("default", "test", "dream", body), failure], at=AT)
        with store.reader("default") as reader:
            last = dream.last_dream(reader)
            assert last is not None
            assert last.id == "dream_1"
            failed = dream.get(reader, "dream_2")
    assert failed.failure == wire.Failure("token_budget_exceeded", "too little", "give 7")
    assert (failed.archive, failed.tokens_used, failed.counts) == (None, 0, {})
