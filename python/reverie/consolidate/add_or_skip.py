"""Consolidation that changes no memory: candidates are added, or skipped where a memory says the same (seed 003).

It takes the place of a model's consolidation that failed or cannot be used: nothing is updated or deleted on a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.consolidate.decide import Decision
from reverie.consolidate.statements import Relation, Statement, parse_statement, relate
from reverie.consolidate.working_set import WorkingSet, scope_of
from reverie.models import Add, Candidate, Change, Keep, Memory, MemoryType, Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["add_or_skip", "candidates_to_add"]

_SAID = frozenset({Relation.SAME, Relation.COVERED})


def add_or_skip(candidates: Sequence[Candidate], existing: Sequence[Memory]) -> Decision:
    """Return changes that keep every memory, and add each candidate whose content no memory has."""
    changes = candidates_to_add(range(len(candidates)), candidates, existing)
    return Decision((*(Keep(memory.id) for memory in existing), *changes))


def candidates_to_add(
    indexes: Iterable[int], candidates: Sequence[Candidate], existing: Sequence[Memory]
) -> list[Change]:
    """Return ADD or SKIP for each candidate at `indexes`: SKIP if a memory or an earlier candidate covers it."""
    working = WorkingSet.of_memories(existing)
    episodes = {_episode_key(memory.title, memory.content) for memory in existing if memory.type is MemoryType.EPISODE}
    added: list[tuple[Candidate, Statement]] = []
    changes: list[Change] = []
    for index in indexes:
        candidate = candidates[index]
        statement = parse_statement(candidate.content)
        if candidate.type is MemoryType.EPISODE:
            key = _episode_key(candidate.title, candidate.content)
            changes.append(Skip(index) if key in episodes else Add(index, candidate))
            episodes.add(key)
            continue
        covered_by = _covering(working, candidate, statement)
        if covered_by is not None or any(
            other.project == candidate.project and other.type is candidate.type and _says(said, statement)
            for other, said in added
        ):
            changes.append(Skip(index, covered_by))
        else:
            changes.append(Add(index, candidate))
            added.append((candidate, statement))
    return changes


def _covering(working: WorkingSet, candidate: Candidate, statement: Statement) -> str | None:
    """Return the id of a memory that covers a candidate's whole content, or None."""
    position = working.identical(statement, candidate.project)
    if position is None:
        scope = scope_of(candidate.type, user=candidate.subject == "user", project=candidate.project)
        similar = working.similar(statement, scope)
        position = next((at for at in similar if _says(working.items[at].statement, statement)), None)
    memory = None if position is None else working.items[position].memory
    return None if memory is None else memory.id


def _says(existing: Statement, statement: Statement) -> bool:
    """Return True if `existing` equals `statement` or has all of its content."""
    return relate(statement, existing, keyed=False) in _SAID


def _episode_key(title: str | None, content: str) -> tuple[str, str]:
    """Return what two descriptions of one episode have in common: title and content, without case and white space."""
    return " ".join((title or "").split()).casefold(), " ".join(content.split()).casefold()
