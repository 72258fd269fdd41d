"""Says what form of document a text is, by its path and its front matter, and of which type its memories are."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reverie.documents.front import front_of
from reverie.models import MemoryType
from reverie.paths import SEGMENT_BYTES_MAX

if TYPE_CHECKING:
    from reverie.documents.front import Front

__all__ = [
    "Form",
    "conflict_copy",
    "form_of",
    "form_with",
    "is_conflict_copy",
    "stem_of",
    "type_by_name",
    "type_of_blocks",
    "type_of_whole",
]


class Form(StrEnum):
    """How memories stand in a document."""

    FACTS = "facts"  # `facts/**/*.md`: each top-level bullet is a memory
    EPISODES = "episodes"  # `episodes/*.md`: each `##` section is a memory
    WHOLE = "whole"  # another `.md` file with the front matter of Claude Code's auto memory: the file is a memory
    PLAIN = "plain"  # everything else: no memory


_COPY: Final = re.compile(r"\.sync-conflict-|\(conflicted copy|\.reverie-new\.", re.IGNORECASE)
_INDEX: Final = "MEMORY.md"
_BY_STEM: Final = {
    "preferences": MemoryType.PREFERENCE,
    "skills": MemoryType.SKILL,
    "procedures": MemoryType.PROCEDURE,
    "observations": MemoryType.OBSERVATION,
    "mistakes": MemoryType.MISTAKE,
}
# What Claude Code calls its kinds of memory; our own names are understood as well.
_BY_KIND: Final = {
    "user": MemoryType.FACT,
    "feedback": MemoryType.PREFERENCE,
    "project": MemoryType.FACT,
    "reference": MemoryType.FACT,
    **{kind.value: kind for kind in MemoryType},
}


def form_of(path: str, text: str) -> Form:
    """The form of the document `text` at `path`; any text has one."""
    return form_with(path, front_of(text))


def form_with(path: str, front: Front | None) -> Form:
    """The form of a document whose front matter is known already."""
    name = path.rsplit("/", 1)[-1]
    if not name.endswith(".md") or name == _INDEX or is_conflict_copy(path):
        return Form.PLAIN
    if path.startswith("facts/"):
        return Form.FACTS
    if path.startswith("episodes/"):
        return Form.EPISODES if path.count("/") == 1 else Form.PLAIN
    return Form.PLAIN if front is None or type_of_whole(front) is None else Form.WHOLE


def is_conflict_copy(path: str) -> bool:
    """Whether a file of this name was put beside another one because both sides had changed it."""
    return _COPY.search(path.rsplit("/", 1)[-1]) is not None


def conflict_copy(path: str, stamp: str, id_: str) -> str:
    """The name of a file that is put beside another one, no longer than a name may be: `is_conflict_copy` knows it."""
    name = PurePosixPath(path)
    end = f".sync-conflict-{stamp}-{id_}{name.suffix}"
    stem = name.name.removesuffix(name.suffix).encode()[: SEGMENT_BYTES_MAX - len(end.encode())]
    return str(name.with_name(f"{stem.decode(errors='ignore')}{end}"))


def stem_of(path: str) -> str:
    """The name of a file without its folder and without `.md`."""
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def type_by_name(path: str) -> MemoryType:
    """The type of the memories in a file of facts: a file that people named is one more category of facts."""
    return _BY_STEM.get(stem_of(path).casefold(), MemoryType.FACT)


def type_of_blocks(path: str) -> MemoryType | None:
    """The type of the memories that are blocks of the document at this path; None where none are."""
    form = form_with(path, None)
    if form is Form.EPISODES:
        return MemoryType.EPISODE
    return type_by_name(path) if form is Form.FACTS else None


def type_of_whole(front: Front) -> MemoryType | None:
    """The type of the memory that a file with this front matter is; None if it is none.

    What Claude Code writes has a `name` and a `metadata.type`; a kind that is not known yet is a fact. A plain `type`
    means a memory only where it names a known kind: other programs use that key as well.
    """
    if not front.values.get("name"):
        return None
    kind = front.values.get("metadata.type")
    if kind:
        return _BY_KIND.get(kind.casefold(), MemoryType.FACT)
    return _BY_KIND.get(front.values.get("type", "").casefold())
