"""Construction of candidate memories: content on one line, dates, tags and provenance."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from reverie.distill.sentences import one_line, specific_names
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import MemoryType

__all__ = ["build_candidate", "file_tag", "tags_of", "with_absolute_dates", "without_duplicates"]

# Memories of one type from one thread; more of a kind are a task's details.
_MAX_OF_TYPE = 15
_MAX_TAGS = 5
_LONG = 16  # words
_SAME = 0.7  # share of common words from which two memories say the same
_RELATIVE = lazy_regex(r"\b(today|yesterday|tomorrow)\b", re.IGNORECASE)
_SHIFT = {"today": 0, "yesterday": -1, "tomorrow": 1}
_WORD = lazy_regex(r"[a-z0-9_]{3,}")
_COMMIT = lazy_regex(r"^[0-9a-f]{7,40}$")


def build_candidate(
    kind: MemoryType, content: str, at: str | None, seqs: Sequence[int], *tags: str, about_user: bool = False
) -> Candidate:
    """Return a candidate whose content is on one line; `seqs` are its source entries, `tags` come before its own."""
    return Candidate(
        type=kind,
        content=one_line(content),
        tags=tags_of(content, *tags),
        subject="user" if about_user else "project",
        at=at,
        provenance={"seqs": sorted(set(seqs))},
    )


def with_absolute_dates(text: str, at: str | None) -> str:
    """Return `text` with "yesterday" and "today" replaced by dates, and the day of the message (`at`) at its end."""
    day = _day(at)
    if day is None:
        return text
    fixed = _RELATIVE.sub(lambda match: (day + timedelta(days=_SHIFT[match[1].lower()])).isoformat(), text)
    return fixed if day.isoformat() in fixed else f"{fixed.rstrip('.')} ({day.isoformat()})."


def without_duplicates(found: Iterable[Candidate], limit: int = _MAX_OF_TYPE) -> list[Candidate]:
    """Return the first candidate of each group with the same meaning, at most `limit`."""
    kept: list[tuple[Candidate, set[str]]] = []
    for candidate in found:
        words = set(_WORD.findall(candidate.content.lower()))
        if not any(_same(words, other) for _, other in kept):
            kept.append((candidate, words))
        if len(kept) == limit:
            break
    return [candidate for candidate, _ in kept]


def _same(words: set[str], other: set[str]) -> bool:
    """Return True if two sets of words have the same meaning; short ones must share most words in both directions."""
    smaller, larger = sorted((len(words), len(other)))
    return len(words & other) >= _SAME * (smaller if smaller >= _LONG else larger)


def tags_of(text: str, *more: str) -> tuple[str, ...]:
    """Return at most five lowercase tags: `more` first, then the specific names in `text`."""
    stems = [file_tag(name) for name in specific_names(text) if not _COMMIT.match(name)]
    return tuple(tag for tag in dict.fromkeys([*more, *stems]) if 2 < len(tag) <= 30)[:_MAX_TAGS]


def file_tag(path: str) -> str:
    """Return the file name of a path without its suffix as a tag: lowercase letters, digits and hyphens."""
    last = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return re.sub(r"[^a-z0-9]+", "-", last.lower()).strip("-")


def _day(at: str | None) -> date | None:
    try:
        return date.fromisoformat((at or "")[:10])
    except ValueError:
        return None
