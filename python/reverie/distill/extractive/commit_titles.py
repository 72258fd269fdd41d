"""Titles from the subjects of commits: without the type of a conventional commit, and none for housekeeping."""

from __future__ import annotations

import re
from typing import Final

from reverie.distill.extractive.language_cues import words_of
from reverie.distill.extractive.prose import clip, one_line

__all__ = ["FILLER", "TITLE_WORDS_MIN", "commit_title", "without_type"]

FILLER: Final = {"a", "an", "the", "of", "to", "for", "in", "on", "and", "that", "this", "with", "is", "are", "be"}
"""Dropped first when a title has more than ten words."""

TITLE_WORDS_MIN: Final = 3
"""Words of a title, without small ones; fewer say too little."""

# The type of a conventional commit: "fix(parser): handle tabs" gives "handle tabs".
_PREFIX = re.compile(
    r"^(?P<type>feat|fix|docs?|chore|refactor|test|perf|build|ci|style|wip)(?:\((?P<scope>[^)]*)\))?!?:\s*",
    re.IGNORECASE,
)
_MINOR_TYPES: Final = frozenset({"docs", "doc", "chore", "style", "test", "ci", "wip", "build"})
# Subjects that name no work: merges, leftovers, "address review feedback", "fix lint", "more test fixes".
_HOUSEKEEPING = re.compile(
    r"^(?:merge\b|clean(?:ing|s|ed)?[ -]?up\b|fixup!|squash!|wip\b|revert\b"
    r"|initial\b|init\b|bump\b|release\b|version\b|v?\d+\.\d+|checkpoint\b"
    r"|save\b|temp\b)"
    r"|\b(?:review|pr|code review|copilot|bugbot|coderabbit|lint\w*|typo|formatting|nitpick|nit)s? (?:feedback"
    r"|comments?|findings?"
    r"|issues?|errors?|fixes|warnings?|suggestions?|remarks?)\b|\breview(?:er)? feedback\b"
    r"|^(?:more |some |minor |small |fix(?:ing|es)? |update |address |apply |add |improve |clean ?up |run |tweak )*"
    r"(?:the |some |all |failing |broken |unit |integration |e2e |missing )*(?:tests?|lint\w*|formatting|comments?"
    r"|docs?|documentation"
    r"|readme|changelog|typos?|nits?|test fixes|changes|stuff|things|fixes|feedback|imports|conflicts?"
    r"|merge conflicts)\W*$"
    r"|^(?:update|add|fix|adjust|extend) .{0,40}\b(?:comments?|changelog|readme|docs|documentation|typos?)$",
    re.IGNORECASE,
)


def commit_title(subject: str) -> str:
    """Return the title that a commit's subject gives, or the empty string for housekeeping."""
    prefix = _PREFIX.match(subject)
    if prefix is not None and prefix["type"].lower() in _MINOR_TYPES:
        return ""
    title = _PREFIX.sub("", one_line(subject)).rstrip(".")
    words = [word for word in title.split() if word.lower() not in FILLER]
    if prefix is not None and prefix["scope"] and len(words) <= TITLE_WORDS_MIN:
        title = f"{prefix['scope']}: {title}"  # "extract to dedicated package" does not say what
    telling = words_of(" ".join(words)) >= TITLE_WORDS_MIN
    if not telling or _HOUSEKEEPING.search(title):
        return ""
    first = title.split()[0]
    return clip(title[0].upper() + title[1:] if first.isalpha() and first.islower() else title, 100)


def without_type(subject: str) -> str:
    """Return a subject on one line, without the type of a conventional commit."""
    return _PREFIX.sub("", one_line(subject))
