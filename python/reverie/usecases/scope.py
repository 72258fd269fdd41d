"""Scope of a candidate: the person, who has it in every project, or the project of its session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType

if TYPE_CHECKING:
    from reverie.models import Candidate

# How the agent talks to the person, whatever the project is.
_TALK: Final = lazy_regex(
    r"\b(?:answers?|repl(?:y|ies)|respond|explain\w*|apologi\w+|summari[sz]e|tone|concise|terse|verbose|emojis?"
    r"|(?:call|address|remind|ask|tell) me)\b",
    re.IGNORECASE,
)
# What a wish names of a project: quoted code, a path, a file, an option, an identifier, a number.
_NAMED: Final = lazy_regex(
    r"`|\w/\w|\w\.[a-z]{1,5}\b|(?<!\w)-{1,2}[a-z]|\w_\w|(?-i:[a-z][A-Z])|\b(?:this|the|our) (?:project|repo\w*|code\w*"
    r"|app|service|api)\b",
    re.IGNORECASE,
)
_EVERYWHERE: Final = lazy_regex(
    r"\b(?:every|each|all|any)(?: of)?(?: my| the| our)? (?:projects?|repos?\w*)\b", re.IGNORECASE
)


def concerns_person(candidate: Candidate, project: str) -> bool:
    """Return True for a candidate that is the person's in every project: a fact about them, or how agents talk to them.

    Examples: "Always answer in German" is the person's. "Always run `make lint`" and "we never mock the database" are
    the project's in which they were said. What a wish says of every project is everybody's too.
    """
    if "prompt" in candidate.provenance:  # a model read the scope from the words around
        return candidate.subject == "user" and candidate.type is not MemoryType.EPISODE
    if candidate.type is not MemoryType.PREFERENCE:
        return candidate.type is MemoryType.FACT and candidate.subject == "user"
    if holds_everywhere(candidate):
        return True
    text = candidate.content
    return not (_NAMED.search(text) or project in text.casefold()) and _TALK.search(text) is not None


def holds_everywhere(candidate: Candidate) -> bool:
    """Return True where the words themselves say that they hold in every project, or a model read it from them."""
    return "prompt" in candidate.provenance or _EVERYWHERE.search(candidate.content) is not None
