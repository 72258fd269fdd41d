"""How a candidate is put together: one line, a date where time matters, lowercase tags, and where it came from."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from reverie.distill.extractive.prose import one_line, specific_names
from reverie.models import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import MemoryType

__all__ = ["build_candidate", "file_tag", "tags_of", "with_absolute_dates", "without_duplicates"]

_MAX_OF_TYPE = 15
_MAX_TAGS = 5
_LONG = 16  # words
_SAME = 0.7  # share of common words from which two memories say the same
_RELATIVE = re.compile(r"\b(today|yesterday|tomorrow)\b", re.IGNORECASE)
_SHIFT = {"today": 0, "yesterday": -1, "tomorrow": 1}
_WORD = re.compile(r"[a-z0-9_]{3,}")
_COMMIT = re.compile(r"^[0-9a-f]{7,40}$")


def build_candidate(
    kind: MemoryType, content: str, at: str | None, seqs: Sequence[int], *tags: str, about_user: bool = False
) -> Candidate:
    """A candidate whose content is one line, read from the entries `seqs`; `tags` come before those of its names."""
    return Candidate(
        type=kind,
        content=one_line(content),
        tags=tags_of(content, *tags),
        subject="user" if about_user else "project",
        at=at,
        provenance={"seqs": sorted(set(seqs))},
    )


def with_absolute_dates(text: str, at: str | None) -> str:
    """`text` with words such as yesterday replaced by the day they meant, and the day it was said at its end."""
    day = _day(at)
    if day is None:
        return text
    fixed = _RELATIVE.sub(lambda found: (day + timedelta(days=_SHIFT[found[1].lower()])).isoformat(), text)
    return fixed if day.isoformat() in fixed else f"{fixed.rstrip('.')} ({day.isoformat()})."


def without_duplicates(found: Iterable[Candidate], limit: int = _MAX_OF_TYPE) -> list[Candidate]:
    """The first of those that say the same, at most `limit`."""
    kept: list[tuple[Candidate, set[str]]] = []
    for candidate in found:
        words = set(_WORD.findall(candidate.content.lower()))
        if not any(_same(words, other) for _, other in kept):
            kept.append((candidate, words))
        if len(kept) == limit:
            break
    return [candidate for candidate, _ in kept]


def _same(words: set[str], other: set[str]) -> bool:
    """Whether two texts say the same; short ones must match both ways, as a frame of words makes them alike."""
    smaller, larger = sorted((len(words), len(other)))
    return len(words & other) >= _SAME * (smaller if smaller >= _LONG else larger)


def tags_of(text: str, *more: str) -> tuple[str, ...]:
    """Lowercase tags: `more` first, then the names in `text`, at most five."""
    stems = [file_tag(name) for name in specific_names(text) if not _COMMIT.match(name)]
    return tuple(tag for tag in dict.fromkeys([*more, *stems]) if 2 < len(tag) <= 30)[:_MAX_TAGS]


def file_tag(path: str) -> str:
    """The last part of a path without its suffix, as a tag: lowercase letters, digits and hyphens."""
    last = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return re.sub(r"[^a-z0-9]+", "-", last.lower()).strip("-")


def _day(at: str | None) -> date | None:
    try:
        return date.fromisoformat((at or "")[:10])
    except ValueError:
        return None
