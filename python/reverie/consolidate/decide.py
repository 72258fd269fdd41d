"""Decides what becomes of candidates and of the memories they meet: ADD, UPDATE, DELETE, KEEP or SKIP (seed 003).

Deterministic rules, no model. A candidate that says nothing new is skipped; one that says more, or newer, about the
same thing updates it; one that says a mistake is over deletes it. The tier decides about what is merely alike:

* GENEROUS adds it;
* SELECTIVE skips it when it brings no new word of weight, merges it when it is near, and adds only what is specific;
* HEAVY_CUT merges it wherever it fits, and `upkeep` shrinks the rest.

A memory whose last author is a person is kept, and what would have changed it becomes a proposal. Every existing memory
and every candidate has exactly one change, and deciding the same candidates again changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie.consolidate import upkeep
from reverie.consolidate.board import SCOPES, Board, Item, scope_of
from reverie.consolidate.episodes import decide_episodes
from reverie.consolidate.relation import Reading, Relation, overlap, read, relate, resolves, says_resolved
from reverie.consolidate.value import is_generic, merge
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, MemoryType, Skip, Tier, Update

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Decision", "Proposal", "decide"]

_PASSES_MAX = 32
_KEYED = frozenset({MemoryType.FACT, MemoryType.PREFERENCE})
_SKIP_OVERLAP = {Tier.GENEROUS: 0.85, Tier.SELECTIVE: 0.6, Tier.HEAVY_CUT: 0.45}
_MERGE_OVERLAP = {Tier.GENEROUS: 2.0, Tier.SELECTIVE: 0.6, Tier.HEAVY_CUT: 0.25}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that only a person may make, since a person wrote the memory last."""

    change: Update | Delete
    why: str


@dataclass(frozen=True, slots=True)
class Decision:
    """`changes`: one for each existing memory in its order, then one for each candidate in its order."""

    changes: tuple[Change, ...]
    proposals: tuple[Proposal, ...] = ()


def decide(candidates: Sequence[Candidate], existing: Sequence[Memory], tier: Tier) -> Decision:
    """The changes that bring `candidates` into `existing`; pure and the same for the same arguments, always."""
    readings = tuple(read(candidate.content) for candidate in candidates)
    run = _Run(tuple(candidates), Board.of(existing), tier, readings)
    run.settle()
    episodes = decide_episodes(candidates, existing)
    by_id = {item.memory.id: item for item in run.board.items if item.memory is not None}
    added = {item.index: item for item in run.board.items if item.alive and item.candidate is not None}
    kept = [_fate(memory, by_id.get(memory.id)) for memory in existing]
    placed = [
        episodes[index] if index in episodes else run.outcome(index, added.get(index))
        for index in range(len(candidates))
    ]
    return Decision((*kept, *placed), tuple(run.proposals[key] for key in sorted(run.proposals)))


def _fate(memory: Memory, item: Item | None) -> Change:
    """What became of an existing memory; one whose words are as before is kept, whatever happened in between."""
    if item is None:
        return Keep(memory.id)
    if not item.alive:
        return Delete(memory.id)
    if item.content == memory.content:
        return Keep(memory.id)
    return Update(memory.id, item.content, item.tags, item.index)


@dataclass(slots=True)
class _Run:
    candidates: tuple[Candidate, ...]
    board: Board
    tier: Tier
    readings: tuple[Reading, ...]  # of each candidate
    covered: dict[int, int] = field(default_factory=dict)  # candidate -> the item that says it
    proposals: dict[str, Proposal] = field(default_factory=dict)
    resolving: list[int] = field(init=False)  # the candidates that say of something that it is over
    last_with: dict[str, int] = field(init=False)  # content -> the last candidate that has it

    def __post_init__(self) -> None:
        self.last_with = {candidate.content: index for index, candidate in enumerate(self.candidates)}
        self.resolving = [
            index
            for index, candidate in enumerate(self.candidates)
            if candidate.type is not MemoryType.EPISODE and says_resolved(self.readings[index])
        ]

    def settle(self) -> None:
        """Places every candidate until placing them again changes nothing; upkeep comes only after something new."""
        before = self.board.state()
        self._place_all()
        if self.board.state() != before:
            upkeep.tidy(self.board, self.tier)
            self._place_all()

    def outcome(self, index: int, item: Item | None) -> Add | Skip:
        """What became of a candidate."""
        if item is not None and item.candidate is not None:
            return Add(index, item.candidate)
        place = self.covered.get(index)
        memory = None if place is None or not self.board.items[place].alive else self.board.items[place].memory
        return Skip(index, None if memory is None else memory.id)

    def _place_all(self) -> None:
        """Place every candidate until a pass changes nothing.

        Where passes go round in a circle, such as two sentences that extend each other, it ends at the least of its
        states: the next consolidation starts there, goes round, and ends there too.
        """
        self.board.as_stored(self.candidates)
        states = [self.board.state()]
        while len(states) < _PASSES_MAX:
            self._pass()
            state = self.board.state()
            if state in states:
                self._end_in_circle(len(states) - states.index(state))
                return
            states.append(state)

    def _end_in_circle(self, length: int) -> None:
        """Go on to the least of the states that follow each other in a circle; of a single one, nothing is to do."""
        if length == 1:
            return
        around = []
        for _ in range(length):
            self._pass()
            around.append(self.board.contents())
        for _ in range(around.index(min(around)) + 1):
            self._pass()

    def _pass(self) -> None:
        for index, candidate in enumerate(self.candidates):
            if candidate.type is not MemoryType.EPISODE:
                self._place(index, candidate)
        self.board.as_stored(self.candidates)

    def _place(self, index: int, candidate: Candidate) -> None:
        reading = self.readings[index]
        scope = scope_of(candidate.type, user=candidate.subject == "user")
        if not reading.flat or self._resolve(index, candidate, reading):
            return
        place = self.board.same(reading)
        if place is not None:
            self._cover(index, place)
            return
        alike = self.board.like(reading, scope)
        keyed = candidate.type in _KEYED
        related = [(relate(reading, self.board.items[place].reading, keyed=keyed), place) for place in alike]
        for wanted in (Relation.SAME, Relation.COVERED, Relation.REPLACES, Relation.EXTENDS):
            for relation, place in related:
                if relation is wanted:
                    self._meet(index, candidate, reading, place, relation)
                    return
        self._weigh(index, candidate, reading, scope, alike)

    def _meet(self, index: int, candidate: Candidate, reading: Reading, place: int, relation: Relation) -> None:
        """A candidate about the same thing as an item: covered by it, or written over it."""
        item = self.board.items[place]
        self._cover(index, place)
        older = _older(candidate.at, item.said_at) or self._is_said_later(index, item)
        if relation is Relation.EXTENDS or (relation is Relation.REPLACES and not older):
            self._write(index, candidate, reading, place, f"{relation.value} it")

    def _is_said_later(self, index: int, item: Item) -> bool:
        """Return whether a later candidate says what an item says, and so would only take back what is written here."""
        later = self.last_with.get(item.content, -1)
        return later > index and not _older(self.candidates[later].at, self.candidates[index].at)

    def _weigh(self, index: int, candidate: Candidate, reading: Reading, scope: str, alike: list[int]) -> None:
        """A candidate that is at most like something: skipped, merged or added, as the tier has it."""
        scored = ((overlap(reading, self.board.items[place].reading), place) for place in alike)
        score, place = max(scored, default=(0.0, -1), key=lambda pair: pair[0])
        if place >= 0:
            item = self.board.items[place]
            if score >= _SKIP_OVERLAP[self.tier] and reading.words <= item.reading.words:
                if reading.affirms == item.reading.affirms:
                    self._cover(index, place)
                    return
            elif score >= _MERGE_OVERLAP[self.tier] and reading.affirms == item.reading.affirms:
                both = merge(item.reading, reading)
                if both is not None:
                    self._cover(index, place)
                    if both is not item.reading:  # else it says all of it already
                        self._write(index, candidate, both, place, "adds to it")
                    return
        if self.tier is not Tier.GENEROUS and is_generic(reading, candidate.type, scope):
            return
        self.board.add(
            Item(scope, reading, candidate.tags, candidate.at, index=index, candidate=candidate, touched=True)
        )

    def _resolve(self, index: int, candidate: Candidate, reading: Reading) -> bool:
        """Drops the mistakes that this candidate says are over; True when it is itself a mistake that is over."""
        for place in self.board.like(reading, MemoryType.MISTAKE.value):
            item = self.board.items[place]
            if resolves(reading, item.reading) and not _older(candidate.at, item.said_at):
                # One item says that it is over: the first that it is written to, others of the same kind go.
                if item.type is candidate.type and (item.fixed or not self._is_said(reading, item.scope)):
                    self._cover(index, place)
                    self._write(index, candidate, reading, place, "says that it is over")
                else:
                    self._drop(place)
        return candidate.type is MemoryType.MISTAKE and self._is_over(index, candidate, reading)

    def _is_said(self, reading: Reading, scope: str) -> bool:
        """Return whether an item says all that a statement says."""
        return self.board.same(reading) is not None or any(
            relate(reading, self.board.items[place].reading, keyed=False) in {Relation.SAME, Relation.COVERED}
            for place in self.board.like(reading, scope)
        )

    def _is_over(self, index: int, candidate: Candidate, reading: Reading) -> bool:
        """Return whether an item of any type, or another candidate, says that this mistake is over.

        Whatever would drop this mistake once it was added has to refuse it here: otherwise each consolidation of the
        same candidates would add it again and drop it again. That includes candidates that became no item themselves,
        such as those too general to be added.
        """
        for scope in SCOPES:
            for place in self.board.like(reading, scope):
                item = self.board.items[place]
                if resolves(item.reading, reading) and not _older(item.said_at, candidate.at):
                    self._cover(index, place)
                    return True
        return any(
            resolves(self.readings[other], reading) and not _older(self.candidates[other].at, candidate.at)
            for other in self.resolving
        )

    def _cover(self, index: int, place: int) -> None:
        self.covered[index] = place
        self.board.items[place].touched = True

    def _write(self, index: int, candidate: Candidate, reading: Reading, place: int, why: str) -> None:
        item = self.board.items[place]
        if item.fixed:
            assert item.memory is not None
            tags = tuple(dict.fromkeys((*item.tags, *candidate.tags)))
            change = Update(item.memory.id, reading.text, tags, index)
            self.proposals[item.memory.id] = Proposal(change, f"what was said since {why}")
            return
        self.board.rewrite(place, reading)
        item.write(candidate.tags, index, candidate.at)

    def _drop(self, place: int) -> None:
        item = self.board.items[place]
        if item.fixed:
            assert item.memory is not None
            self.proposals[item.memory.id] = Proposal(
                Delete(item.memory.id), "what was said since says that it is over"
            )
            return
        item.alive = False


def _older(one: str | None, other: str | None) -> bool:
    """Whether `one` was said before `other`; unknown times are not older."""
    return one is not None and other is not None and one < other
