"""The decision about candidates that are episodes: SKIP where a memory describes the same work, else ADD."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reverie.consolidate.apply import happened_on
from reverie.consolidate.statements import Statement, overlap, parse_statement
from reverie.documents.project_document_paths import memory_project
from reverie.models import Add, Candidate, Memory, MemoryType, Skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["decide_episodes"]

# Overlap (0 to 1) of title and summary from which two episodes are one. On one day fewer common words are enough: most
# likely it is the same work, described twice. "Fixed the login timeout: raised the session timeout of the login page to
# 30 minutes and added a test" and "Login timeout fixed: raised the session timeout of the login page to 30 minutes"
# have 8 of 10 words in common (0.8): one episode on one day, two on different days. "Fixed the login timeout: raised it
# to 30 minutes" and "Fixed the upload timeout: raised it to 20 minutes" (4 of 8, 0.5) are always two.
_SAME_EPISODE = 0.85
_SAME_DAY_EPISODE = 0.6


class _Episode(NamedTuple):
    """An episode to compare: title and summary, its day, its project, and its id where it is stored."""

    statement: Statement
    day: str
    project: str
    id: str | None

    def is_same(self, other: _Episode) -> bool:
        """Return True if two episodes of one project are about the same work."""
        if self.project != other.project:
            return False
        least = _SAME_DAY_EPISODE if self.day == other.day else _SAME_EPISODE
        is_equal = self.statement.normalized == other.statement.normalized
        return is_equal or overlap(self.statement, other.statement) >= least


def decide_episodes(candidates: Mapping[int, Candidate], existing: Sequence[Memory]) -> dict[int, Add | Skip]:
    """Return one change for each candidate that is an episode, by its index: SKIP where it is known, else ADD."""
    new = {index: candidate for index, candidate in candidates.items() if candidate.type is MemoryType.EPISODE}
    if not new:
        return {}
    episodes = [
        _episode(memory, memory.provenance.get("at"), memory_project(memory), memory.id)
        for memory in existing
        if memory.type is MemoryType.EPISODE
    ]
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
