"""Three-way merge of texts: the merged text, and unresolved conflicts as values."""

from __future__ import annotations

from dataclasses import dataclass

from reverie import _native


@dataclass(frozen=True, slots=True)
class Part:
    """Lines `start` to before `end` of one of the three texts, counted from 0, and their text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """One place that both sides changed differently: its three texts, and where the merged text has ours.

    The merged text has our version: in its lines `lines`, which are its characters `span` (first, and after the last).
    """

    base: Part
    ours: Part
    theirs: Part
    lines: tuple[int, int]
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text, without conflict markers, and its conflicts in order."""

    text: str
    conflicts: tuple[Conflict, ...] = ()

    @property
    def clean(self) -> bool:
        """Return whether there are no conflicts."""
        return not self.conflicts


def merge3(base: str, ours: str, theirs: str) -> Merged:
    """Merge the changes that `ours` and `theirs` each made to `base`.

    Adjacent edits are both applied, and two insertions at one position are both kept: if they continue the same list or
    section, ours first. Two edits of one line are merged word by word if an unchanged word separates them. A block that
    one side deleted and the other edited is a conflict. Line endings, the final newline and a byte order mark follow
    the side that changed them.
    Raises ValidationError for an unpaired surrogate.
    """
    text, conflicts = _native.merge3(base, ours, theirs)
    return Merged(
        text,
        tuple(
            Conflict(Part(*base_part), Part(*our_part), Part(*their_part), lines, span)
            for base_part, our_part, their_part, lines, span in conflicts
        ),
    )
