"""Replaces exact texts: each occurs once, all are found in the text as it was, and all or none are replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["patch"]


def patch(text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """The text with each patch's old text replaced by its new one, and how many patches were applied: all of them.

    Raises ValidationError if an old text is empty, absent, there more than once or overlapping another one. Its
    `details["patches"]` names up to 20 such patches: `patch` is the index, `reason` one of `empty`, `absent`,
    `ambiguous` and `overlap`, `lines` up to 20 numbers of lines where the old text begins, `more` whether it begins on
    further ones.
    """
    return _native.patch(text, patches)
