"""Exact-text patches: each replaces a text that occurs exactly once in the original; all are applied or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import _native

if TYPE_CHECKING:
    from collections.abc import Sequence


def patch(text: str, patches: Sequence[tuple[str, str]]) -> tuple[str, int]:
    """Replace the old text of each patch by its new one; return the text and the number of patches, which is all.

    Raises ValidationError if an old text is empty, absent, not unique or overlaps another one. `details["patches"]`
    has up to 20 such patches: `patch` is the index, `reason` one of `empty`, `absent`, `ambiguous` and `overlap`,
    `lines` up to 20 line numbers at which the old text begins, `more` whether there are further ones.
    """
    return _native.patch(text, patches)
