"""Says which block of an edited document is which block of the old one, so that ids survive what people do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Alignment", "align"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """What became of the old blocks.

    `carried` has for each new block the id of the old one that it carries on, or None if it is new.
    `gone` are the ids that nothing carries on, in the order of the old blocks.
    """

    carried: tuple[str | None, ...]
    gone: tuple[str, ...]


def align(old: Sequence[tuple[str, bytes | str]], new: Sequence[bytes | str]) -> Alignment:
    """The alignment of old blocks, each with its id, with the new ones: of one document, or of many one after another.

    A block that is unchanged and unique keeps its id wherever it stands; of several copies those keep the ids whose
    neighbours did; an edited block keeps its id by the words and the place it shares with the old one. No id appears
    twice, and the same blocks always have the same answer. Raises ValidationError with `details["names"]` if two old
    blocks have one id.
    """
    carried, gone = _native.align(old, new)
    return Alignment(tuple(carried), tuple(gone))
