"""The count of waiting candidates: that of all records, read once."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from reverie.errors import Conflict
from reverie.models import Candidate, MemoryType
from reverie.redact import Redactor
from reverie.store import CandidateRecord, Done, Failed, Kind, Reader, Store, Write, Writer
from reverie.usecases import review
from reverie.usecases.by import By
from reverie.usecases.waiting import WaitingCandidates
from support.stores import AT

STEPS = 120


class Candidates:
    """A store whose candidates are made, decided, undone and purged."""

    def __init__(self, store: Store, pick: random.Random) -> None:
        self.store = store
        self.pick = pick
        self.made: list[str] = []

    def step(self) -> None:
        """Do one random step: add, decide, undo or purge a candidate, or write something else."""
        self.pick.choice((self.add, self.add, self.decide, self.undo, self.purge, self.rest))()

    def add(self) -> None:
        """Let one more candidate wait."""
        candidate = Candidate(type=MemoryType.FACT, content=f"The harbour has {len(self.made)} lamps")
        record = review.quarantined(candidate, "its words are from a web page", at=AT)
        self.made.append(record.id)
        self.write(lambda writer: review.keep_waiting(writer, [record]))

    def decide(self) -> None:
        """Reject one of those that wait."""
        with self.store.reader("default") as reader:
            waiting = [record.id for _, record in reader.records(CandidateRecord) if record.state == "waiting"]
        if waiting:
            (done,) = self.store.commit([review.reject.write(By("default", "ann"), self.pick.choice(waiting))], at=AT)
            assert isinstance(done, Done)

    def undo(self) -> None:
        """Take an earlier decision back, as an undo does."""
        if self.made:
            name = self.pick.choice(self.made)
            with self.store.reader("default") as reader:
                first = next(
                    (past.value for past in reader.record_history(CandidateRecord, (name,)) if past.value), None
                )
            if first is not None:
                self.write(lambda writer: writer.save(first, (name,)))

    def purge(self) -> None:
        """Sometimes remove a random candidate for good."""
        if self.made and self.pick.random() < 0.3:
            name = self.pick.choice(self.made)
            self.write(lambda writer: writer.purge(Kind.CANDIDATE, (name,), 10))

    def rest(self) -> None:
        """Write something else."""
        self.write(lambda writer: writer.event("rested", {}))

    def write(self, body: Callable[[Writer], object]) -> None:
        """Commit a write."""
        (done,) = self.store.commit([Write("default", "ann", "test", body)], at=AT)
        assert isinstance(done, Done), done


def counted(reader: Reader) -> int:
    """Return how many wait, by reading all."""
    return sum(record.state == "waiting" for _, record in reader.records(CandidateRecord))


def test_the_count_is_that_of_all_records(tmp_path: Path) -> None:
    """After random steps the count equals a full one, asked after each, after every seventh, or for the first time."""
    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        candidates, often, seldom = Candidates(store, random.Random(12)), WaitingCandidates(), WaitingCandidates()
        for step in range(STEPS):
            candidates.step()
            with store.reader("default") as reader:
                whole = counted(reader)
                assert often.count(reader) == whole
                assert WaitingCandidates().count(reader) == whole
                assert step % 7 or seldom.count(reader) == whole
        assert len(candidates.made) > STEPS / 4


def test_a_second_decision_names_the_first(tmp_path: Path) -> None:
    """What is decided is refused, with the operation whose undo lets it wait again: a bare undo may take another."""
    with Store.open(tmp_path / "store", redactor=Redactor()) as store:
        candidates = Candidates(store, random.Random(1))
        candidates.add()
        candidates.decide()
        with store.reader("default") as reader:
            decided = reader.latest(Kind.CANDIDATE, (candidates.made[0],))
        candidates.rest()
        (refused,) = store.commit([review.reject.write(By("default", "ann"), candidates.made[0])], at=AT)
        assert isinstance(refused, Failed)
        assert isinstance(refused.error, Conflict)
        assert refused.error.hint == f"reverie undo {decided} takes the decision back"
