"""Candidates that are added, or skipped where a memory says the same; no memory changes (seed 003).

So are episodes always, since what happened does not change, and all candidates where a model's consolidation failed or
did not mention them: nothing is updated or deleted on a guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reverie.consolidate.apply import happened_on
from reverie.consolidate.statements import Relation, Statement, overlap, parse_statement, relate
from reverie.consolidate.working_set import NOW, Item, WorkingSet, scope_of
from reverie.documents.layout import memory_project
from reverie.models import Add, Candidate, Change, Memory, MemoryType, Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# Overlap (0 to 1) of title and summary from which two episodes are one. On one day fewer common words are enough: most
# likely it is the same work, described twice. "Fixed the login timeout: raised the session timeout of the login page to
# 30 minutes and added a test" and "Login timeout fixed: raised the session timeout of the login page to 30 minutes"
# have 8 of 10 words in common (0.8): one episode on one day, two on different days. "Fixed the login timeout: raised it
# to 30 minutes" and "Fixed the upload timeout: raised it to 20 minutes" (4 of 8, 0.5) are always two.
_SAME_EPISODE = 0.85
_SAME_DAY_EPISODE = 0.6


def candidates_to_add(
    indexes: Iterable[int], candidates: Sequence[Candidate], existing: Sequence[Memory]
) -> list[Change]:
    """Return ADD or SKIP for each candidate at `indexes`: SKIP if a memory or an earlier candidate covers it."""
    working = WorkingSet.of_memories(existing)
    chosen = {index: candidates[index] for index in indexes}
    episodes = decide_episodes(chosen, existing)
    changes: list[Change] = []
    for index, candidate in chosen.items():
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


class _Episode(NamedTuple):
    """An episode to compare: title and summary, its day, its project, and its id where it is stored."""

    statement: Statement
    day: str
    project: str
    id: str | None

    def is_same(self, other: _Episode) -> bool:
        """Return True if two episodes of one project are about the same work."""
        least = _SAME_DAY_EPISODE if self.day == other.day else _SAME_EPISODE
        is_equal = self.statement.normalized == other.statement.normalized
        return self.project == other.project and (is_equal or overlap(self.statement, other.statement) >= least)


def decide_episodes(candidates: Mapping[int, Candidate], existing: Sequence[Memory]) -> dict[int, Add | Skip]:
    """Return one change for each candidate that is an episode, by its index: SKIP where it is known, else ADD."""
    new = {index: candidate for index, candidate in candidates.items() if candidate.type is MemoryType.EPISODE}
    stored = (memory for memory in existing if new and memory.type is MemoryType.EPISODE)
    episodes = [_episode(memory, memory.provenance.get("at"), memory_project(memory), memory.id) for memory in stored]
    changes: dict[int, Add | Skip] = {}
    for index, candidate in new.items():
        episode = _episode(candidate, candidate.at, candidate.project)
        same = next((other for other in episodes if episode.is_same(other)), None)
        if same is None:
            episodes.append(episode)
        changes[index] = Add(index, candidate) if same is None else Skip(index, same.id)
    return changes


def _episode(source: Memory | Candidate, at: str | None, project: str, memory_id: str | None = None) -> _Episode:
    summary = next((value for key, value in source.fields if key == "Summary"), source.content)
    statement = parse_statement(f"{source.title or ''}\n{summary}")
    return _Episode(statement, happened_on(source.fields, at), project, memory_id)
