"""Names that work hangs on: paths, files, identifiers, commits, flags and ticket numbers, found in any text."""

from __future__ import annotations

import re

__all__ = ["names", "word_count"]

_SUFFIXES = (
    "c|cc|cfg|conf|cpp|cs|css|csv|go|gradle|h|hpp|html|ini|java|js|json|jsonl|jsx|kt|lock|md|mod|php|proto|py|pyi|rb|rs"
    "|rst|scala|sh|sql|sum|svelte|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig"
)
_NAME = re.compile(
    rf"""
    (?P<path>(?:[\w.\-]+/)+[\w.\-]+)              # a/b, ./a/b.c, and the tail of /a/b
  | (?P<file>\b[\w\-]+\.(?:{_SUFFIXES})\b)
  | (?P<flag>(?<![\w-])--[a-z][a-z0-9\-]{{2,}})
  | \b(?:
      [A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+      # snake_case, CONSTANT_CASE, Mixed_Case
    | [A-Za-z]+(?:[A-Z][a-z0-9]+)+                # camelCase, PascalCase
    | (?=[0-9a-f]*[0-9])[0-9a-f]{{7,40}}          # a commit
    | [A-Z]{{2,6}}-[0-9]+                         # a ticket
    )\b
    """,
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Za-z]{4,}")
_MIN_LENGTH = 5


def names(text: str) -> tuple[str, ...]:
    """The distinct names in `text`, in order of appearance; a path stands for its last two parts."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match.group().strip(".-/")
        if match.lastgroup == "path":
            name = "/".join(name.split("/")[-2:])
        if len(name) >= _MIN_LENGTH and not name.isdigit():
            found.setdefault(name)
    return tuple(found)


def word_count(text: str) -> int:
    """How many words of at least four letters `text` has."""
    return len(_WORD.findall(text))
