"""Construction of candidate memories: content on one line, the day it was said, tags and provenance."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.distill.sentences import one_line, specific_names
from reverie.lazy_regex import lazy_regex
from reverie.models import DATE_CHARS, Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import MemoryType

# Memories of one type from one thread; more of a kind are a task's details.
_MAX_OF_TYPE = 15
_MAX_TAGS = 5
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


def dated(text: str, at: str | None) -> str:
    """Return `text` with the day of the message (`at`, ISO 8601) behind it; without one the text as it is."""
    return f"{text.rstrip('.')} ({at[:DATE_CHARS]})." if at else text


def without_duplicates(found: Iterable[Candidate], limit: int = _MAX_OF_TYPE) -> list[Candidate]:
    """Return the first candidate of each content, whatever its case, at most `limit`."""
    kept: dict[str, Candidate] = {}
    for candidate in found:
        kept.setdefault(candidate.content.casefold(), candidate)
    return list(kept.values())[:limit]


def tags_of(text: str, *more: str) -> tuple[str, ...]:
    """Return at most five lowercase tags: `more` first, then the specific names in `text`."""
    stems = [file_tag(name) for name in specific_names(text) if not _COMMIT.match(name)]
    return tuple(tag for tag in dict.fromkeys([*more, *stems]) if 2 < len(tag) <= 30)[:_MAX_TAGS]


def file_tag(path: str) -> str:
    """Return the file name of a path without its suffix as a tag: lowercase letters, digits and hyphens."""
    last = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return re.sub(r"[^a-z0-9]+", "-", last.lower()).strip("-")
