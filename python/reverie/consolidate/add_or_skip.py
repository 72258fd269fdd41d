"""Consolidation that changes no memory: candidates are added, or skipped where a memory says the same (seed 003).

It takes the place of a model's consolidation that failed or cannot be used: nothing is updated or deleted on a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.consolidate.decide import Decision
from reverie.consolidate.episodes import decide_episodes
from reverie.consolidate.statements import Relation, parse_statement, relate
from reverie.consolidate.working_set import NOW, Item, WorkingSet, scope_of
from reverie.models import Add, Candidate, Change, Keep, Memory, Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["add_or_skip", "candidates_to_add"]


def add_or_skip(candidates: Sequence[Candidate], existing: Sequence[Memory]) -> Decision:
    """Return changes that keep every memory, and add each candidate whose content no memory has."""
    changes = candidates_to_add(range(len(candidates)), candidates, existing)
    return Decision((*(Keep(memory.id) for memory in existing), *changes))


def candidates_to_add(
    indexes: Iterable[int], candidates: Sequence[Candidate], existing: Sequence[Memory]
) -> list[Change]:
    """Return ADD or SKIP for each candidate at `indexes`: SKIP if a memory or an earlier candidate covers it."""
    working = WorkingSet.of_memories(existing)
    chosen = list(indexes)
    episodes = decide_episodes({index: candidates[index] for index in chosen}, existing)
    changes: list[Change] = []
    for index in chosen:
        candidate = candidates[index]
        if index in episodes:
            changes.append(episodes[index])
            continue
        statement = parse_statement(candidate.content)
        scope = scope_of(candidate.type, user=candidate.subject == "user", project=candidate.project)
        position = working.identical(statement, candidate.project)
        if position is None:
            said = (Relation.SAME, Relation.COVERED)
            similar = working.similar(statement, scope)
            position = next(
                (at for at in similar if relate(statement, working.items[at].statement, keyed=False) in said), None
            )
        if position is None:
            working.add(Item(scope, statement, candidate.tags, candidate.at or NOW, index=index))
            changes.append(Add(index, candidate))
        else:
            memory = working.items[position].memory
            changes.append(Skip(index, None if memory is None else memory.id))
    return changes
