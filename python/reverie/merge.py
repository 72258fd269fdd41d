"""Merges what two sides made of one text: the merged text, and what could not be decided as values."""

from __future__ import annotations

from dataclasses import dataclass

from reverie import _native

__all__ = ["Conflict", "Merged", "Part", "merge3"]


@dataclass(frozen=True, slots=True)
class Part:
    """Lines of one of the three texts, as they stand there: from `start` to before `end`, counted from 0."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place that both sides changed in ways that do not go together.

    The merged text holds our side: its lines `lines`, which are its characters `span` (first, and behind the last).
    """

    base: Part
    ours: Part
    theirs: Part
    lines: tuple[int, int]
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text, without any marks, and its conflicts in order."""

    text: str
    conflicts: tuple[Conflict, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing is left to be decided."""
        return not self.conflicts


def merge3(base: str, ours: str, theirs: str) -> Merged:
    """Merges what `ours` and `theirs` each made of `base`.

    Edits beside each other go together, and two insertions at one place are both kept: where they continue the same
    thing, ours first. Two edits of one line are merged word by word if they are apart. A block that one side deleted
    and the other edited is a conflict. Line endings, the last newline and a byte order mark are kept as the side says
    that changed them.
    Raises ValidationError for a text that holds half of a surrogate pair.
    """
    text, conflicts = _native.merge3(base, ours, theirs)
    return Merged(
        text,
        tuple(
            Conflict(Part(*base_part), Part(*our_part), Part(*their_part), lines, span)
            for base_part, our_part, their_part, lines, span in conflicts
        ),
    )
