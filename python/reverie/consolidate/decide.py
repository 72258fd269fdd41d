"""The decision about candidates and existing memories: ADD, UPDATE, DELETE, KEEP or SKIP (seed 003).

Deterministic rules, no model. A candidate that says nothing new is skipped; one that says more, or something newer,
about the same thing updates the memory; so does a wish that excludes an older one ("use spaces, not tabs"), or what
says that an older fact or procedure is over ("`make test` now, `just test` is gone"), or it becomes a proposal where
that is not certain; one that says that a mistake is over deletes it. For candidates that are only similar to a memory
the tier decides:

* GENEROUS adds them;
* SELECTIVE skips a candidate without a new word, merges one that is close, and adds only what is specific;
* HEAVY_CUT merges wherever two statements fit together, and `capacity.shrink` reduces the rest.

A memory whose last author is a person is kept, and what would have changed it becomes a proposal. Every existing memory
and every candidate has exactly one change, and deciding the same candidates again changes nothing.

Episodes are added once and never updated or deleted: what happened does not change.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from reverie.consolidate import capacity as memory_capacity_tiers_with_merge_and_drop
from reverie.consolidate.add_or_skip_episodes import decide_episodes
from reverie.consolidate.memories_excluded_by_candidate import excluded_memories, opposed_in_session
from reverie.consolidate.opposite_wishes import Opposition
from reverie.consolidate.statements import (
    Relation,
    Statement,
    is_generic,
    merge_statements,
    overlap,
    parse_statement,
    relate,
    resolves,
    says_resolved,
)
from reverie.consolidate.working_set import (
    Item,
    WorkingSet,
    is_older,
    neighbours,
    said_in,
    scope_of,
    scopes_of,
)
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, MemoryType, Skip, Tier, Update

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["Decision", "Proposal", "decide"]

_SHOWN_CHARS = 160  # of a wish that a proposal quotes
_PASSES_MAX = 32  # passes over all candidates; real ones need two or three, the rest guards against an endless run
# Types in which `Subject: value` replaces another value; of a procedure "To run the tests of the project app: `make`".
_KEYED = frozenset({MemoryType.FACT, MemoryType.PREFERENCE, MemoryType.PROCEDURE})
# Overlap (0 to 1) of two statements from which a candidate without a new word is skipped, and one with new words
# merged. "Redis cache on port 6380" beside "Redis cache listens on port 6379 locally" (0.43) is added in GENEROUS and
# SELECTIVE, merged in HEAVY_CUT. 2.0 is never reached: GENEROUS merges nothing.
_SKIP_OVERLAP = {Tier.GENEROUS: 0.85, Tier.SELECTIVE: 0.6, Tier.HEAVY_CUT: 0.45}
_MERGE_OVERLAP = {Tier.GENEROUS: 2.0, Tier.SELECTIVE: 0.6, Tier.HEAVY_CUT: 0.25}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of a memory that is reported to a person and not made; `why` is shown to them.

    `reason`: `person` where a person wrote the memory last, `contradiction` where what was said since may exclude it,
    `forgotten` and `quarantined` where a model's words are near to what was forgotten, or from nowhere.
    """

    change: Update | Delete
    why: str
    reason: Literal["person", "contradiction", "forgotten", "quarantined"] = "person"


@dataclass(frozen=True, slots=True)
class Decision:
    """The result of a consolidation: a change for each existing memory, then one for each candidate, and proposals."""

    changes: tuple[Change, ...]
    proposals: tuple[Proposal, ...] = ()


def decide(candidates: Sequence[Candidate], existing: Sequence[Memory], tier: Tier) -> Decision:
    """Return the changes that bring `candidates` into `existing`; pure, and always the same for the same arguments."""
    statements = tuple(parse_statement(candidate.content) for candidate in candidates)
    # Fuller tiers shrink all memories; here only those that a candidate can be compared with may change.
    near = existing if tier is not Tier.GENEROUS else neighbours(candidates, statements, existing)
    wanted = frozenset().union(*(statement.words for statement in statements)) if tier is Tier.GENEROUS else None
    run = _Consolidation(tuple(candidates), WorkingSet.of_memories(near, wanted), tier, statements)
    run.run()
    episodes = decide_episodes(candidates, existing)
    items = run.working.items
    by_id = {item.memory.id: item for item in items if item.memory is not None}
    added = {item.index: item for item in items if item.alive and item.candidate is not None}
    of_memories = [_change_of(memory, by_id.get(memory.id)) for memory in existing]
    of_candidates = [
        episodes[index] if index in episodes else run.change_of_candidate(index, added.get(index))
        for index in range(len(candidates))
    ]
    kept = {change.id for change in of_memories if isinstance(change, Keep)}
    proposals = [run.proposals[key] for key in sorted(run.proposals) if key in kept]
    return Decision((*of_memories, *of_candidates), tuple(proposals))


def _change_of(memory: Memory, item: Item | None) -> Change:
    """Return the change of an existing memory; KEEP where its final words are the same as before."""
    if item is None:
        return Keep(memory.id)
    if not item.alive:
        return Delete(memory.id)
    if item.content == memory.content:
        return Keep(memory.id)
    return Update(memory.id, item.content, item.tags, item.index)


@dataclass(slots=True)
class _Consolidation:
    """One consolidation in progress: the working set of items, and the item that covers each candidate."""

    candidates: tuple[Candidate, ...]
    working: WorkingSet
    tier: Tier
    statements: tuple[Statement, ...]  # of each candidate
    covered: dict[int, int] = field(default_factory=dict)  # candidate -> position of the item that says it
    proposals: dict[str, Proposal] = field(default_factory=dict)  # by memory
    resolving: list[int] = field(init=False)  # the candidates that say of something that it is over
    with_content: dict[str, list[int]] = field(init=False)  # content -> the candidates that have it

    def __post_init__(self) -> None:
        self.with_content = defaultdict(list)
        for index, candidate in enumerate(self.candidates):
            self.with_content[candidate.content].append(index)
        self.resolving = [
            index
            for index, candidate in enumerate(self.candidates)
            if candidate.type is not MemoryType.EPISODE and says_resolved(self.statements[index])
        ]

    def run(self) -> None:
        """Place all candidates; where that changed the memories, shrink them by the capacity tier and place all again.

        Nothing is shrunk where nothing is new: otherwise each repetition of a consolidation would remove another fifth.
        """
        before = self.working.fingerprint()
        self._place_all()
        if self.working.fingerprint() != before:
            memory_capacity_tiers_with_merge_and_drop.shrink(self.working, self.tier)
            self._place_all()

    def change_of_candidate(self, index: int, item: Item | None) -> Add | Skip:
        """Return the change of a candidate: ADD where `item` was made of it, else SKIP."""
        if item is not None and item.candidate is not None:
            return Add(index, item.candidate)
        position = self.covered.get(index)
        covering = None if position is None or not self.working.items[position].alive else self.working.items[position]
        memory = None if covering is None else covering.memory
        return Skip(index, None if memory is None else memory.id)

    def _place_all(self) -> None:
        """Place every candidate until a pass changes nothing.

        Where passes repeat a cycle of states, such as two sentences that extend each other, the result is the smallest
        of these: the next consolidation starts there, runs the same cycle, and ends there too.
        """
        self.working.as_stored(self.candidates)
        states = [self.working.fingerprint()]
        while len(states) < _PASSES_MAX:
            self._pass()
            state = self.working.fingerprint()
            if state in states:
                self._end_in_circle(len(states) - states.index(state))
                return
            states.append(state)

    def _end_in_circle(self, length: int) -> None:
        """Run passes up to the smallest of `length` states that repeat in a cycle; do nothing for a single state."""
        if length == 1:
            return
        circle = []
        for _ in range(length):
            self._pass()
            circle.append(self.working.contents())
        for _ in range(circle.index(min(circle)) + 1):
            self._pass()

    def _pass(self) -> None:
        """Place every candidate once, in order."""
        for index, candidate in enumerate(self.candidates):
            if candidate.type is not MemoryType.EPISODE:
                self._place(index, candidate)
        self.working.as_stored(self.candidates)

    def _place(self, index: int, candidate: Candidate) -> None:
        """Place one candidate: as a resolved mistake, an opposed wish, an identical, related or similar item, or new.

        The relations are tried from the one that changes least to the one that changes most, over all similar items: a
        candidate that one item covers must not also extend another.
        """
        statement = self.statements[index]
        scope = scope_of(candidate.type, user=candidate.subject == "user", project=candidate.project)
        if not statement.normalized or self._resolve(index, candidate, statement):
            return
        if self._oppose(index, candidate, statement, scope):
            return
        position = self.working.identical(statement, candidate.project, said_in(candidate.provenance))
        if position is not None:
            self._cover(index, position)
            return
        similar = self.working.similar(statement, scope)
        keyed = candidate.type in _KEYED
        related = [
            (relate(statement, self.working.items[position].statement, keyed=keyed), position) for position in similar
        ]
        for wanted in (Relation.SAME, Relation.COVERED, Relation.REPLACES, Relation.EXTENDS):
            for relation, position in related:
                if relation is wanted:
                    self._place_on_related(index, candidate, statement, position, relation)
                    return
        self._place_by_overlap(index, candidate, statement, scope, similar)

    def _place_on_related(
        self, index: int, candidate: Candidate, statement: Statement, position: int, relation: Relation
    ) -> None:
        """Skip a candidate that an item covers, or replace or extend the item by the candidate's content.

        What replaces an item must be newer than it; what extends it only adds, so its time does not matter.
        """
        item = self.working.items[position]
        self._cover(index, position)
        older = is_older(candidate.at, item.stated_at) or self._is_stated_later(index, item)
        if relation is Relation.EXTENDS or (relation is Relation.REPLACES and not older):
            self._write(index, candidate, statement, position, f"{relation.value} it")

    def _oppose(self, index: int, candidate: Candidate, statement: Statement, scope: str) -> bool:
        """Write a candidate over an older memory that it excludes, drop further ones; return True where it is placed.

        A newer memory that excludes this candidate stands. Where it is not certain that both cannot hold, the older one
        stays, and a person is asked. `excluded_memories` says what holds between a project and the person.
        """
        placed = -1
        excluded = excluded_memories(self.working, candidate, statement)
        for position, opposition in excluded:
            item = self.working.items[position]
            is_elsewhere = item.project != candidate.project
            older = is_older(candidate.at, item.stated_at) or self._is_stated_later(index, item)
            if older:
                # The person's older wish is no exception from a project's newer one, but the other way round.
                if opposition is Opposition.CERTAIN and not (is_elsewhere and not candidate.project):
                    self._cover(index, position)
                    return True
            elif is_elsewhere and candidate.project:
                continue
            elif opposition is Opposition.POSSIBLE:
                self._ask(item, candidate)
            elif (item.owned_by_person and not is_elsewhere) or not (
                (is_elsewhere and placed >= 0)
                or self._is_said(statement, scope, apart_from={at for at, _ in excluded} - {placed})
            ):
                self._cover(index, position)
                self._write(index, candidate, statement, position, "excludes it")
                placed = position
            else:
                self._drop(position, "what was said since excludes it")
        if placed >= 0:
            return True
        newer = opposed_in_session(self.working, self.candidates, self.statements, index)
        if newer is not None:
            self._cover(index, newer)
        return newer is not None

    def _ask(self, item: Item, candidate: Candidate) -> None:
        """Propose to delete an item's memory, since a newer candidate may contradict it."""
        if item.memory is not None:
            why = f"since then this was said, which may exclude it: “{candidate.content[:_SHOWN_CHARS]}”"
            proposal = Proposal(Delete(item.memory.id), why, "contradiction")
            self.proposals.setdefault(item.memory.id, proposal)

    def _is_stated_later(self, index: int, item: Item) -> bool:
        """Return True if another candidate repeats this item's content later, and so would revert a change of it.

        Later is what has a later time, and of what has not, what comes later in the batch.
        """
        at = self.candidates[index].at
        return any(
            is_older(at, self.candidates[other].at) or (other > index and not is_older(self.candidates[other].at, at))
            for other in self.with_content.get(item.content, ())
        )

    def _place_by_overlap(
        self, index: int, candidate: Candidate, statement: Statement, scope: str, similar: list[int]
    ) -> None:
        """Place a candidate by its overlap with similar items: skip, merge or add it, by the capacity tier's limits."""
        scored = ((overlap(statement, self.working.items[position].statement), position) for position in similar)
        score, position = max(scored, default=(0.0, -1), key=lambda pair: pair[0])
        if position >= 0:
            item = self.working.items[position]
            if score >= _SKIP_OVERLAP[self.tier] and statement.words <= item.statement.words:
                if statement.affirms == item.statement.affirms:
                    self._cover(index, position)
                    return
            elif score >= _MERGE_OVERLAP[self.tier] and statement.affirms == item.statement.affirms:
                merged = merge_statements(item.statement, statement)
                if merged is not None:
                    self._cover(index, position)
                    if merged is not item.statement:  # else it says all of it already
                        self._write(index, candidate, merged, position, "adds to it")
                    return
        if self.tier is not Tier.GENEROUS and is_generic(statement, candidate.type, scope):
            return
        self.working.add(
            Item(
                scope,
                statement,
                candidate.tags,
                candidate.at,
                index=index,
                candidate=candidate,
                written_now=True,
                said_in=said_in(candidate.provenance),
            )
        )

    def _resolve(self, index: int, candidate: Candidate, statement: Statement) -> bool:
        """Drop mistakes that a candidate says are resolved; return True if it is a mistake resolved by another."""
        mistakes = scope_of(MemoryType.MISTAKE, user=False, project=candidate.project)
        for position in self.working.similar(statement, mistakes) if says_resolved(statement) else ():
            item = self.working.items[position]
            if resolves(statement, item.statement) and not is_older(candidate.at, item.stated_at):
                # One item says that it is over: the first that it is written to, others of the same kind are dropped.
                if item.type is candidate.type and (item.owned_by_person or not self._is_said(statement, item.scope)):
                    self._cover(index, position)
                    self._write(index, candidate, statement, position, "says that it is over")
                else:
                    self._drop(position, "what was said since says that it is over")
        return candidate.type is MemoryType.MISTAKE and self._is_over(index, candidate, statement)

    def _is_said(self, statement: Statement, scope: str, *, apart_from: Collection[int] = ()) -> bool:
        """Return True if an item, other than those at `apart_from`, has all of a statement's content."""
        return self.working.identical(statement, scope.partition("@")[2]) is not None or any(
            relate(statement, self.working.items[position].statement, keyed=False) in {Relation.SAME, Relation.COVERED}
            for position in self.working.similar(statement, scope)
            if position not in apart_from
        )

    def _is_over(self, index: int, candidate: Candidate, statement: Statement) -> bool:
        """Return True if an item of any type, or another candidate, says that this mistake is resolved.

        Whatever would drop this mistake once it was added has to refuse it here: otherwise each consolidation of the
        same candidates would add it again and drop it again. That includes candidates that became no item themselves,
        such as those too general to be added.
        """
        for scope in scopes_of(candidate.project):
            if not self.working.has_resolving(scope):
                continue
            for position in self.working.similar(statement, scope):
                item = self.working.items[position]
                if resolves(item.statement, statement) and not is_older(item.stated_at, candidate.at):
                    self._cover(index, position)
                    return True
        return any(
            resolves(self.statements[other], statement) and not is_older(self.candidates[other].at, candidate.at)
            for other in self.resolving
            if self.candidates[other].project == candidate.project
        )

    def _cover(self, index: int, position: int) -> None:
        """Record that the item at `position` covers the candidate, which is then skipped."""
        self.covered[index] = position
        self.working.items[position].written_now = True

    def _write(self, index: int, candidate: Candidate, statement: Statement, position: int, why: str) -> None:
        """Give an item the content and time of a candidate; if the item is a person's, propose that instead."""
        item = self.working.items[position]
        if item.owned_by_person:
            assert item.memory is not None
            tags = tuple(dict.fromkeys((*item.tags, *candidate.tags)))
            change = Update(item.memory.id, statement.text, tags, index)
            self.proposals[item.memory.id] = Proposal(change, f"what was said since {why}")
            return
        self.working.rewrite(position, statement)
        item.write(candidate, index)

    def _drop(self, position: int, why: str) -> None:
        """Drop an item; if it is a person's, propose its deletion instead."""
        item = self.working.items[position]
        if item.owned_by_person:
            assert item.memory is not None
            self.proposals[item.memory.id] = Proposal(Delete(item.memory.id), why)
            return
        item.alive = False
