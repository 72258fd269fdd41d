"""The number of candidates that wait for a person, without reading all of them for each answer."""

from __future__ import annotations

from reverie.store import CandidateRecord, Reader
from reverie.usecases.follow import Follow


class WaitingCandidates(Follow[CandidateRecord, str]):
    """The candidates of each space that wait."""

    def __init__(self) -> None:
        super().__init__(CandidateRecord, lambda _, record: record.id if record.state == "waiting" else None)

    def count(self, reader: Reader) -> int:
        """Return how many candidates wait in the reader's snapshot."""
        return len(self.at(reader))
