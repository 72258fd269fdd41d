"""Updates by a model that would bring a forgotten statement back in another memory: they wait for a person.

A candidate is compared with what was forgotten before it is consolidated (`candidate_review.screen`). The words of an
UPDATE are a model's own: they may say what neither the memory nor a candidate says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.consolidate import Proposal
from reverie.consolidate.forgotten import Forgotten
from reverie.documents.project_document_paths import memory_project
from reverie.models import Candidate, MemoryType, Update

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reverie.consolidate.forgotten import ForgottenStatement
    from reverie.models import Delete, Memory

__all__ = ["updates_near_forgotten"]

_SHOWN_CHARS: Final = 160  # of the forgotten statement that a proposal quotes


def updates_near_forgotten(
    changes: Mapping[str, Update | Delete],
    existing: Mapping[str, Memory],
    forgotten: Iterable[ForgottenStatement],
) -> list[Proposal]:
    """Return proposals in place of the updates whose new words say a forgotten statement, or are near to one.

    `changes` and `existing` are by the memory's id. A memory that was near to the statement before does not wait for
    that. Example: with "The release captain is Mira" forgotten, the update "The loader runs at night; the release
    captain is Mira" of "The loader runs daily" waits.
    """
    updates = [change for change in changes.values() if isinstance(change, Update)]
    if not updates:
        return []
    statements = Forgotten(forgotten)
    proposals = []
    for change in updates:
        memory = existing[change.id]
        near = _near(statements, memory, change.content)
        if near is not None and near != _near(statements, memory, memory.content):
            proposals.append(Proposal(change, f"it is near to what was forgotten: {near[:_SHOWN_CHARS]}", "forgotten"))
    return proposals


def _near(statements: Forgotten, memory: Memory, content: str) -> str | None:
    """Return the forgotten statement nearest to a content of a memory, "" for a purged one; None where none is near."""
    kind = MemoryType.FACT if memory.type is MemoryType.EPISODE else memory.type
    nearest = statements.nearest(Candidate(kind, content, project=memory_project(memory)))
    return None if nearest is None else nearest[1]
