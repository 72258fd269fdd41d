"""Says which document a memory belongs to.

The rule, in the order in which it is asked:

* an episode            -> `episodes/YYYY-MM.md`, by the day it happened
* a preference          -> `facts/preferences.md`
* a mistake             -> `facts/mistakes.md`
* a procedure           -> `facts/procedures.md`
* a skill               -> `facts/skills.md`
* an observation        -> `facts/observations.md`
* a fact about the user -> `facts/user.md`
* any other fact        -> `facts/project.md`
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, assert_never

from reverie.models import Candidate, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["document_of", "happened_on"]

_DAY = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")


def document_of(candidate: Candidate, *, at: str) -> str:
    """The path, inside the space's folder, of the document that this candidate is written to; `at` is now (UTC)."""
    match candidate.type:
        case MemoryType.EPISODE:
            return f"episodes/{happened_on(candidate.fields, candidate.at, at)[:7]}.md"
        case MemoryType.PREFERENCE:
            return "facts/preferences.md"
        case MemoryType.MISTAKE:
            return "facts/mistakes.md"
        case MemoryType.PROCEDURE:
            return "facts/procedures.md"
        case MemoryType.SKILL:
            return "facts/skills.md"
        case MemoryType.OBSERVATION:
            return "facts/observations.md"
        case MemoryType.FACT:
            return "facts/user.md" if candidate.subject == "user" else "facts/project.md"
        case _:
            assert_never(candidate.type)


def happened_on(fields: Iterable[tuple[str, str]], *times: str | None) -> str:
    """The day of an episode, `YYYY-MM-DD`: its `Date` field, else the first of `times` that has one."""
    dated = (value for key, value in fields if key == "Date")
    for text in (*dated, *times):
        found = _DAY.match(text or "")
        if found is not None:
            return found[0]
    return "1970-01-01"
