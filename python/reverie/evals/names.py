"""Specific names in a text: what an agent must have seen to use it, and cannot guess."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["names", "words_beside"]

LEAST_CHARS: Final = 7
"""A shorter name is often an ordinary word."""

_ENDINGS: Final = "go py ts tsx js rs md json toml yaml yml sh txt sql html css c h cpp java rb lock mod"

_KINDS: Final[dict[str, str]] = {
    "path": r"(?:[\w.-]+/)+[\w.-]+",
    "file": rf"\b[\w-]+\.(?:{'|'.join(_ENDINGS.split())})\b",
    "snake": r"\b[a-z]+(?:_[a-z0-9]+)+\b",
    "camel": r"\b[a-zA-Z]+(?:[A-Z][a-z0-9]+)+\b",
    "commit": r"\b[0-9a-f]{7,40}\b",
    "flag": r"--[a-z][a-z0-9-]{3,}",
}
"""Kinds of names; where two begin at one place, the kind named first counts."""

_NAME: Final = re.compile("|".join(_KINDS.values()))

_OF_TOOLS: Final = frozenset(
    {
        *("file_path", "old_string", "new_string", "replace_all", "output_mode", "head_limit"),
        *("subagent_type", "run_in_background", "activeForm", "tool_use", "tool_use_id", "tool_result"),
    }
)
"""Names of parameters that stand in every session, whatever it is about."""

_WORD: Final = re.compile(r"[a-z]{4,}")


def names(text: str) -> list[str]:
    """The paths (their last two parts), long identifiers, commits and flags of `text`, each once, in order."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(text):
        name = match.group().strip("-./")
        if len(name) >= LEAST_CHARS and name not in _OF_TOOLS and not name.isdigit():
            found["/".join(name.split("/")[-2:])] = None
    return list(found)


def words_beside(text: str, name: str) -> set[str]:
    """The words of four letters or more, in lower case, that stand in `text` beside `name`."""
    return set(_WORD.findall(text.lower().replace(name.lower(), " ")))
