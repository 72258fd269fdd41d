"""The decision about candidates that are episodes: SKIP where a memory describes the same work, else ADD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.consolidate.apply import happened_on
from reverie.consolidate.statements import Statement, overlap, parse_statement
from reverie.documents.project_document_paths import memory_project
from reverie.models import Add, Candidate, Memory, MemoryType, Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["decide_episodes"]

# Overlap (0 to 1) of title and summary from which two episodes are one; the values are those from which `decide` skips
# other candidates in GENEROUS and SELECTIVE. On one day fewer common words are enough: most likely it is the same work,
# described twice. "Fixed the login timeout: raised the session timeout of the login page to 30 minutes and added a
# test" and "Login timeout fixed: raised the session timeout of the login page to 30 minutes" have 8 of 10 words in
# common (0.8): one episode on one day, two on different days. "Fixed the login timeout: raised it to 30 minutes" and
# "Fixed the upload timeout: raised it to 20 minutes" (4 of 8, 0.5) are always two.
_SAME_EPISODE = 0.85
_SAME_DAY_EPISODE = 0.6


@dataclass(frozen=True, slots=True)
class _Episode:
    """An episode to compare: title and summary, its day, its project, and its id where it is stored."""

    statement: Statement
    day: str
    id: str | None
    project: str


def decide_episodes(candidates: Sequence[Candidate], existing: Sequence[Memory]) -> dict[int, Add | Skip]:
    """Return one change for each candidate that is an episode, by its index: SKIP where it is known, else ADD."""
    episodes = [
        _episode(memory, memory.provenance.get("at"), memory.id, memory_project(memory))
        for memory in existing
        if memory.type is MemoryType.EPISODE
    ]
    changes: dict[int, Add | Skip] = {}
    for index, candidate in enumerate(candidates):
        if candidate.type is not MemoryType.EPISODE:
            continue
        episode = _episode(candidate, candidate.at, None, candidate.project)
        same = next((other for other in episodes if _same_episode(episode, other)), None)
        if same is None:
            episodes.append(episode)
            changes[index] = Add(index, candidate)
        else:
            changes[index] = Skip(index, same.id)
    return changes


def _episode(source: Memory | Candidate, at: str | None, memory_id: str | None, project: str) -> _Episode:
    """Return an _Episode for comparison: the parsed title and `Summary` (else content), day, id and project."""
    summary = next((value for key, value in source.fields if key == "Summary"), source.content)
    statement = parse_statement(f"{source.title or ''}\n{summary}")
    return _Episode(statement, happened_on(source.fields, at), memory_id, project)


def _same_episode(one: _Episode, other: _Episode) -> bool:
    """Return True if two episodes of one project are about the same work."""
    if one.project != other.project:
        return False
    if one.statement.normalized == other.statement.normalized:
        return True
    score = overlap(one.statement, other.statement)
    return score >= (_SAME_DAY_EPISODE if one.day == other.day else _SAME_EPISODE)
