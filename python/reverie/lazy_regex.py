"""Regular expressions that are compiled when they are first used, as `re.Pattern[str]` for type checkers.

A compute process compiled 700 patterns of nine languages before its first job: 0.3 of the 0.8 seconds of processor time
that its start took, while a context needs a tenth of them. After its first use a pattern costs what `re` alone costs:
the methods of the compiled pattern are attributes of the object. The `re` of a match is the compiled pattern, not this.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _LazyRegex:
    """A pattern's source until an attribute is first read; from then on the attributes of the compiled pattern."""

    __slots__ = (
        "_arguments",
        "findall",
        "finditer",
        "flags",
        "fullmatch",
        "groupindex",
        "groups",
        "match",
        "pattern",
        "scanner",
        "search",
        "split",
        "sub",
        "subn",
    )

    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = (pattern, flags)

    # Called for attributes that have no value yet only; two threads that call it at once set the same values.
    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self.__slots__:
            raise AttributeError(name)
        compiled = re.compile(*self._arguments)  # noqa: TID251 - here
        for slot in self.__slots__[1:]:
            object.__setattr__(self, slot, getattr(compiled, slot))
        return object.__getattribute__(self, name)


def lazy_regex(pattern: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """Return what `re.compile(pattern, flags)` does, compiled at its first use, when a wrong one raises `re.error`."""
    return cast("re.Pattern[str]", _LazyRegex(pattern, int(flags)))
