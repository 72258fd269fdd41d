"""Recall in a project: a wish of the project comes before one of the person that it is an exception from.

Both hold (`consolidate.memories_excluded_by_candidate`), but an agent that reads the person's alone does the wrong
thing. The words of a question may be in one of them only: "how do I indent?" finds "always use tabs for indentation"
and not "use spaces in the project harbour". So the project's wish is looked up for each of the person's that was found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reverie.consolidate.opposite_wishes import Opposition, opposition, parse_wish
from reverie.consolidate.working_set import WISHES
from reverie.documents.project_document_paths import PERSON, memory_project
from reverie.full_text_memory_recall import RECALL_TOKENS
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.full_text_memory_recall import Counted, Found, Hit
    from reverie.store import MemoryRecord

__all__ = ["nearer_wishes_first"]

_NEAREST: Final = 8  # wishes of the project that are compared with one of the person's; opposites share most words


def nearer_wishes_first(
    found: Found[MemoryRecord],
    options: Mapping[str, Any],
    nearest: Callable[..., Sequence[str]],
    load: Callable[[str], Counted[MemoryRecord] | None],
) -> Found[MemoryRecord]:
    """Return what a recall found, with each project's wish directly before one of the person's that it excludes.

    A wish that was no hit gets the score of the one that it is before; what then exceeds the limit or the budget of
    `options`, which are those of the recall, is left out at the end. `nearest` and `load` are those of the index.
    """
    others = sorted(set(options.get("projects") or ()) - {PERSON})
    kinds = options.get("types")
    if not others or options.get("tags") or (kinds is not None and MemoryType.PREFERENCE not in kinds):
        return found
    by_id = {hit.memory.id: hit for hit in found.hits}
    ordered: dict[str, Hit[MemoryRecord]] = {}
    for hit in found.hits:
        if _is_persons_wish(hit.memory) and hit.memory.id not in ordered:
            for name in nearest(hit.memory.content, _NEAREST, types=[MemoryType.PREFERENCE], projects=others):
                counted = None if name in ordered else load(name)
                if counted is not None and _excludes(counted.memory, hit.memory):
                    added = hit._replace(memory=counted.memory, tokens=counted.tokens)
                    ordered[name] = by_id.get(name, added)
        ordered.setdefault(hit.memory.id, hit)
    room = options.get("token_budget", RECALL_TOKENS)
    shown: list[Hit[MemoryRecord]] = []
    for hit in ordered.values():
        if len(shown) < options["limit"] and hit.tokens <= room:
            room -= hit.tokens
            shown.append(hit)
    return replace(found, hits=shown)


def _is_persons_wish(memory: MemoryRecord) -> bool:
    return memory.type in WISHES and memory_project(memory) == PERSON


def _excludes(nearer: MemoryRecord, general: MemoryRecord) -> bool:
    """Return True if a project's wish certainly excludes one of the person's."""
    one, other = parse_wish(nearer.content, memory_project(nearer)), parse_wish(general.content)
    return one is not None and other is not None and opposition(one, other) is Opposition.CERTAIN
