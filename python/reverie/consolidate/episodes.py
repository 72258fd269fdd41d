"""Decides about episodes: they are added once, and never updated or deleted, since what happened stays so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.consolidate.placement import happened_on
from reverie.consolidate.relation import Reading, overlap, read
from reverie.models import Add, Candidate, Memory, MemoryType, Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["decide_episodes"]

_SAME_TALE = 0.85  # on whatever day
_SAME_DAY_TALE = 0.6


@dataclass(frozen=True, slots=True)
class _Tale:
    reading: Reading
    day: str
    id: str | None


def decide_episodes(candidates: Sequence[Candidate], existing: Sequence[Memory]) -> dict[int, Add | Skip]:
    """One change for each candidate that is an episode, by its index: SKIP what has been told, ADD the rest."""
    told = [
        _tale(memory.title, memory.content, memory.fields, memory.provenance.get("at"), memory.id)
        for memory in existing
        if memory.type is MemoryType.EPISODE
    ]
    found: dict[int, Add | Skip] = {}
    for index, candidate in enumerate(candidates):
        if candidate.type is not MemoryType.EPISODE:
            continue
        tale = _tale(candidate.title, candidate.content, candidate.fields, candidate.at, None)
        same = next((other for other in told if _is_same(tale, other)), None)
        if same is None:
            told.append(tale)
            found[index] = Add(index, candidate)
        else:
            found[index] = Skip(index, same.id)
    return found


def _tale(
    title: str | None, content: str, fields: tuple[tuple[str, str], ...], at: str | None, identity: str | None
) -> _Tale:
    summary = next((value for key, value in fields if key == "Summary"), content)
    return _Tale(read(f"{title or ''}\n{summary}"), happened_on(fields, at), identity)


def _is_same(one: _Tale, other: _Tale) -> bool:
    if one.reading.flat == other.reading.flat:
        return True
    score = overlap(one.reading, other.reading)
    return score >= (_SAME_DAY_TALE if one.day == other.day else _SAME_TALE)
