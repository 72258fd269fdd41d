"""Alignment of a document's blocks with those of its old version, so that ids survive edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Alignment", "align"]


@dataclass(frozen=True, slots=True)
class Alignment:
    """The matching of new blocks to old ones.

    `old_ids` has for each new block the id of the old block that it continues, or None if it was added.
    `deleted_ids` are the ids that no new block continues, in the order of the old blocks.
    """

    old_ids: tuple[str | None, ...]
    deleted_ids: tuple[str, ...]


def align(old: Sequence[tuple[str, bytes | str]], new: Sequence[bytes | str]) -> Alignment:
    """Match new blocks to old ones, which have ids; both may be of one document or of several in a row.

    An unchanged and unique block keeps its id wherever it moved; of several copies those keep their ids whose
    neighbours did; an edited block keeps its id by the words and the position that it shares with the old one. No id
    appears twice, and the result is deterministic. Raises ValidationError with `details["names"]` if two old
    blocks have the same id.
    """
    old_ids, deleted_ids = _native.align(old, new)
    return Alignment(tuple(old_ids), tuple(deleted_ids))
