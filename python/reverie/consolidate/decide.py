"""The decision about candidates and existing memories: ADD, UPDATE, DELETE, KEEP or SKIP (seed 003).

Deterministic rules, no model, in one pass. A candidate that says nothing new is skipped; one that says more, or another
value of the same thing, updates the memory; what contradicts a memory is added, and a person is asked about the memory.
For candidates that are only similar to a memory the tier decides:

* GENEROUS adds them;
* SELECTIVE skips a candidate without a new word, merges one that is close, and adds only what is specific;
* HEAVY_CUT merges wherever two statements fit together, and `capacity.shrink` reduces the rest.

A memory whose last author is a person is kept, and what would have changed it becomes a proposal. Every existing memory
and every candidate has exactly one change. Episodes are added once and never changed: what happened does not change.

Deciding the same candidates again changes nothing, because
1. of the candidates only those remain that no newer one repeats, extends, replaces or contradicts, so that none of them
   can undo what another one wrote;
2. first memories are updated, each by one candidate (merging adds words and removes none), then the other candidates
   are compared with what all memories have become. So each one is found the next time, or is left out for the same
   reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from reverie.consolidate import capacity
from reverie.consolidate.additions import decide_episodes
from reverie.consolidate.statements import Relation, Statement, is_generic, merged, overlap, parse_statement, relate
from reverie.consolidate.working_set import NOW, Item, WorkingSet, scope_of
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, MemoryType, Skip, Tier, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN_CHARS = 160  # of the words that a proposal quotes
# Types in which `Subject: value` replaces another value; of a procedure "To run the tests of the project app: `make`".
_KEYED = frozenset({MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.PROCEDURE})
# Overlap (0 to 1) of two statements from which a candidate without a new word is skipped, and one with new words
# merged. "Redis cache on port 6380" beside "Redis cache listens on port 6379 locally" (0.43) is added in GENEROUS and
# SELECTIVE, merged in HEAVY_CUT. 2.0 is never reached: GENEROUS merges nothing.
_SKIP_OVERLAP = {Tier.GENEROUS: 0.85, Tier.SELECTIVE: 0.6, Tier.HEAVY_CUT: 0.45}
_MERGE_OVERLAP = {Tier.GENEROUS: 2.0, Tier.SELECTIVE: 0.6, Tier.HEAVY_CUT: 0.25}
_SAID = (Relation.SAME, Relation.COVERED)
_OUTDATES = (Relation.REPLACES, Relation.CONTRADICTS)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of a memory that is reported to a person and not made; `why` is shown to them.

    `reason`: `person` where a person wrote the memory last, `contradiction` where what was said since may exclude it or
    a model would change what a person said, `forgotten` and `quarantined` where a model's words are near to what was
    forgotten, or from nowhere. `source` is the provenance of what was said since, empty where a model proposes it.
    """

    change: Update | Delete
    why: str
    reason: Literal["person", "contradiction", "forgotten", "quarantined"] = "person"
    source: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of a consolidation: a change for each existing memory, then one for each candidate, and proposals."""

    changes: tuple[Change, ...]
    proposals: tuple[Proposal, ...] = ()


def decide(candidates: Sequence[Candidate], existing: Sequence[Memory], tier: Tier) -> Decision:
    """Return the changes that bring `candidates` into `existing`; pure, and always the same for the same arguments."""
    statements = tuple(parse_statement(candidate.content) for candidate in candidates)
    # Fuller tiers shrink all memories; here only those that a candidate can be compared with may change.
    asked = statements if tier is Tier.GENEROUS else None
    working = WorkingSet.of_memories(existing, asked, {candidate.project for candidate in candidates})
    run = _Consolidation(candidates, statements, working, tier)
    run.run()
    changes: dict[int, Change] = {**run.changes, **decide_episodes(dict(enumerate(candidates)), existing)}
    by_id = {item.memory.id: item for item in run.working.items if item.memory is not None}
    of_memories = [_change_of(memory, by_id.get(memory.id)) for memory in existing]
    kept = {change.id for change in of_memories if isinstance(change, Keep)}
    return Decision(
        (*of_memories, *(changes.get(index, Skip(index)) for index in range(len(candidates)))),
        tuple(run.proposals[name] for name in sorted(run.proposals) if name in kept),
    )


def _change_of(memory: Memory, item: Item | None) -> Change:
    """Return the change of an existing memory; KEEP where its final words are the same as before."""
    if item is None or (item.is_alive and item.content == memory.content):
        return Keep(memory.id)
    return Update(memory.id, item.content, item.tags, item.index) if item.is_alive else Delete(memory.id)


@dataclass(slots=True)
class _Consolidation:
    """One consolidation in progress; `changes` are those of the candidates that were placed."""

    candidates: Sequence[Candidate]
    statements: Sequence[Statement]
    working: WorkingSet
    tier: Tier
    changes: dict[int, Change] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)  # by memory

    def run(self) -> None:
        """Place the candidates, and shrink the memories where that changed them.

        Nothing is shrunk where nothing is new: otherwise each repetition of a consolidation would remove another fifth.
        """
        left = [index for index in self._latest() if not self._update(index)]
        for index in left:
            self._add_or_skip(index)
        if any(isinstance(change, Add) for change in self.changes.values()) or any(
            item.memory is not None and item.content != item.memory.content for item in self.working.items
        ):
            capacity.shrink(self.working, self.tier)

    def _latest(self) -> list[int]:
        """Return the candidates that say something and that no newer one takes the place of, oldest first."""
        latest = WorkingSet()
        indexes = [index for index, candidate in enumerate(self.candidates) if candidate.type is not MemoryType.EPISODE]
        for index in sorted(indexes, key=self._time):
            statement, scope = self.statements[index], self._scope(index)
            if not statement.normalized or (self.tier is not Tier.GENEROUS and is_generic(statement, scope)):
                continue
            related = self._related(index, latest, latest.similar(statement, scope))
            if any(relation is Relation.COVERED for relation, _ in related):
                continue
            for _, position in related:
                latest.items[position].is_alive = False
            latest.add(Item(scope, statement, (), self._time(index), index=index))
        return [item.index for _, item in latest.alive() if item.index is not None]

    def _time(self, index: int) -> str:
        return self.candidates[index].at or NOW

    def _scope(self, index: int) -> str:
        candidate = self.candidates[index]
        return scope_of(candidate.type, user=candidate.subject == "user", project=candidate.project)

    def _related(self, index: int, working: WorkingSet, positions: Iterable[int]) -> list[tuple[Relation, int]]:
        keyed = self.candidates[index].type in _KEYED
        new = self.statements[index]
        pairs = [(relate(new, working.items[at].statement, keyed=keyed), at) for at in positions]
        return [(relation, at) for relation, at in pairs if relation is not Relation.UNRELATED]

    def _update(self, index: int) -> bool:
        """Write a candidate over the memory that it replaces or extends, or merge them; return False if there is none.

        One that is said already, or that something newer excludes, is left for `_add_or_skip`, as what says so may
        still change; so is one whose memory another candidate was written over.
        """
        statement, working = self.statements[index], self.working
        similar = working.similar(statement, self._scope(index))
        related = self._related(index, working, similar)
        if working.identical(statement, self.candidates[index].project) is not None or any(
            relation in _SAID or self._is_outdated(index, relation, at) or working.items[at].is_touched
            for relation, at in related
        ):
            return False
        changing = [(relation, at) for relation, at in related if relation is not Relation.CONTRADICTS]
        if changing:
            # What is a person's comes first: then the rest waits with it.
            relation, at = min(
                changing, key=lambda pair: (not working.items[pair[1]].is_persons, pair[0] is Relation.EXTENDS)
            )
            self._write(index, at, statement, f"what was said since {relation.value} it")
            return True
        free = set(similar) - {at for _, at in related}
        scored = [
            (overlap(statement, working.items[at].statement), -order, at)
            for order, at in enumerate(similar)
            if at in free and not working.items[at].is_persons
        ]
        score, _, at = max(scored, default=(0.0, 0, -1))
        if score < _MERGE_OVERLAP[self.tier] or any(self._has_words(statement, at) for _, _, at in scored):
            return False
        old = working.items[at].statement
        both = merged(old, statement) if statement.affirms == old.affirms else None
        if both is None or both is old:
            return False
        self._write(index, at, both, "what was said since adds to it")
        return True

    def _add_or_skip(self, index: int) -> None:
        """Skip a candidate that a memory says as it is now, or that something newer excludes; else add it."""
        candidate, statement, working = self.candidates[index], self.statements[index], self.working
        similar = working.similar(statement, self._scope(index))
        related = self._related(index, working, similar)
        same = working.identical(statement, candidate.project)
        covering = [at for relation, at in related if relation in _SAID or self._is_outdated(index, relation, at)]
        apart = set(similar) - {at for _, at in related}
        covering += [at for at in similar if at in apart and self._has_words(statement, at)]
        for at in [same] if same is not None else covering[:1]:
            item = working.items[at]
            item.is_touched = True
            self.changes[index] = Skip(index, None if item.memory is None else item.memory.id)
            return
        for relation, at in related:
            memory = working.items[at].memory
            if relation is Relation.CONTRADICTS and memory is not None:
                why = f"since then this was said, which may exclude it: “{candidate.content[:_SHOWN_CHARS]}”"
                source = {**candidate.provenance, "at": candidate.at}
                self.proposals.setdefault(memory.id, Proposal(Delete(memory.id), why, "contradiction", source))
        self.changes[index] = Add(index, candidate)
        working.add(
            Item(self._scope(index), statement, candidate.tags, self._time(index), index=index, is_touched=True)
        )

    def _is_outdated(self, index: int, relation: Relation, position: int) -> bool:
        """Return True if an item says otherwise, and was stated after the candidate."""
        return relation in _OUTDATES and self._time(index) < self.working.items[position].stated_at

    def _has_words(self, statement: Statement, position: int) -> bool:
        """Return True if an item has all words of a statement, and not many others for this tier."""
        old = self.working.items[position].statement
        has_all = statement.words <= old.words and statement.affirms == old.affirms
        return has_all and overlap(statement, old) >= _SKIP_OVERLAP[self.tier]

    def _write(self, index: int, position: int, statement: Statement, why: str) -> None:
        """Give an item the content and time of a candidate; if the item is a person's, propose that instead."""
        item, candidate = self.working.items[position], self.candidates[index]
        assert item.memory is not None  # candidates are added after all are written
        tags = tuple(dict.fromkeys((*item.tags, *candidate.tags)))
        self.changes[index] = Skip(index, item.memory.id)
        item.is_touched = True
        if item.is_persons:
            change = Update(item.memory.id, statement.text, tags, index)
            self.proposals[item.memory.id] = Proposal(change, why, source={**candidate.provenance, "at": candidate.at})
            return
        self.working.rewrite(position, statement)
        item.tags, item.stated_at, item.index = tags, self._time(index), index
