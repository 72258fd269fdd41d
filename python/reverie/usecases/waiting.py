"""The number of candidates that wait for a person, without reading all of them for each answer."""

from __future__ import annotations

from reverie.store import CandidateRecord, Kind, Reader
from reverie.usecases.follow import Follow


class WaitingCandidates(Follow[set[str]]):
    """The ids of the candidates of each space that wait."""

    KIND = Kind.CANDIDATE

    def count(self, reader: Reader) -> int:
        """Return how many candidates wait in the reader's snapshot."""
        return len(self.at(reader))

    def build(self, reader: Reader) -> set[str]:
        """Return the candidates that wait, by id."""
        return {record.id for _, record in reader.records(CandidateRecord) if record.state == "waiting"}

    def apply(self, value: set[str], reader: Reader, name: str) -> None:
        """Add a candidate that waits now, or remove one that does not."""
        record = reader.load(CandidateRecord, (name,))
        if record is not None and record.state == "waiting":
            value.add(name)
        else:
            value.discard(name)
