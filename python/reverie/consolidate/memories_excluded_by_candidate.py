"""Memories that a candidate excludes, or that exclude it: opposite wishes, and values that are over.

Wishes of the person and of a project exclude each other as follows:

| older | newer | result |
|---|---|---|
| person: always use tabs | person: use spaces, not tabs | the memory gets the newer words |
| person: always use tabs | harbour: use spaces in the project harbour | both hold: harbour is an exception |
| harbour: use tabs in the project harbour | person, said in harbour: use spaces, not tabs | harbour's gets them |
| both: always use tabs | person, said in harbour: use spaces, not tabs | the person's gets them, harbour's is deleted |
| harbour: use tabs in the project harbour | person, said elsewhere: use spaces | both hold: harbour is an exception |

A wish that names nothing of a project is the person's, wherever it was said. Said in a session of a project that has
the opposite, it answers that, and is taken for as little as it must mean. What a person wrote is not changed: that is a
proposal. Recall in a project shows the project's wish before the person's:
`usecases.add_project_exceptions_before_personal_wishes`.

Values (`retired_values`) are compared inside one project, since another one may still have them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.consolidate.opposite_wishes import Opposition, opposition, parse_wish
from reverie.consolidate.retired_values import parse_retirement, retires
from reverie.consolidate.working_set import VALUES, WISHES, is_older, said_in, scope_of
from reverie.documents.project_document_paths import PERSON
from reverie.models import MemoryType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.consolidate.statements import Statement
    from reverie.consolidate.working_set import Item, WorkingSet
    from reverie.models import Candidate

__all__ = ["excluded_memories", "opposed_in_session"]

_OUTDATED: Final = (*sorted(VALUES), MemoryType.PREFERENCE)  # types in which a value may be over


def excluded_memories(working: WorkingSet, candidate: Candidate, statement: Statement) -> list[tuple[int, Opposition]]:
    """Return the positions of items that cannot hold beside a candidate, and how sure that is; its own scope first."""
    oppositions = dict(_excluded_wishes(working, candidate))
    retirement = parse_retirement(candidate.content)
    for kind in _OUTDATED:
        scope = scope_of(kind, user=False, project=candidate.project)
        if retirement is None and not (candidate.type in VALUES and working.has_retiring(scope)):
            continue
        for position in working.similar(statement, scope):
            item = working.items[position]
            sure = None if retirement is None else retires(retirement, item.content, item.project)
            if sure is not None and not (candidate.type in VALUES and item.type in VALUES):
                sure = Opposition.POSSIBLE  # a wish and a fact are not replaced by one another
            if sure is None and _is_retired_by(item, candidate):
                sure = Opposition.CERTAIN
            if sure is not None:
                oppositions.setdefault(position, sure)
    return list(oppositions.items())


def _is_retired_by(item: Item, candidate: Candidate) -> bool:
    """Return True if an item says for certain that what a candidate says is over."""
    retirement = item.retirement if candidate.type in VALUES else None
    return retirement is not None and retires(retirement, candidate.content, item.project) is Opposition.CERTAIN


def _excluded_wishes(working: WorkingSet, candidate: Candidate) -> list[tuple[int, Opposition]]:
    """Return the positions of older wishes to compare with a wish: of its scope, and of its session's project.

    For a wish of a project those of the person count too that were said in a session of it: they may be newer.
    """
    wish = parse_wish(candidate.content, candidate.project) if candidate.type in WISHES else None
    if wish is None:
        return []
    own = candidate.project
    projects = {own, said_in(candidate.provenance), PERSON}
    scopes = {scope_of(kind, user=False, project=project) for kind in WISHES for project in projects}
    oppositions = []
    for position in working.opposed(wish, scopes):
        item = working.items[position]
        other = item.wish
        how = None if other is None else opposition(wish, other)
        if how is None or (own and not item.project and item.said_in != own):
            continue
        sure = how is Opposition.CERTAIN and candidate.type is item.type is MemoryType.PREFERENCE
        oppositions.append((position, Opposition.CERTAIN if sure else Opposition.POSSIBLE))
    return sorted(oppositions, key=lambda pair: (working.items[pair[0]].project != own, pair[0]))


def opposed_in_session(
    working: WorkingSet, candidates: Sequence[Candidate], statements: Sequence[Statement], index: int
) -> int | None:
    """Return the position of a later wish of the person that excludes a project's candidate, or None.

    The person had that wish already, so no memory of the project has its words. Without this the candidate would be
    added, and dropped again by the later one, in each pass.
    """
    candidate = candidates[index]
    if candidate.type is not MemoryType.PREFERENCE or not candidate.project:
        return None
    wish = parse_wish(candidate.content, candidate.project)
    for other, newer in enumerate(candidates):
        is_said_in = newer.type is candidate.type and said_in(newer.provenance) == candidate.project
        is_later = is_older(candidate.at, newer.at) or (other > index and not is_older(newer.at, candidate.at))
        if newer.project or not is_said_in or not is_later:
            continue
        later = parse_wish(newer.content)
        if wish is not None and later is not None and opposition(later, wish) is Opposition.CERTAIN:
            position = working.identical(statements[other], PERSON)
            if position is not None:
                return position
    return None
