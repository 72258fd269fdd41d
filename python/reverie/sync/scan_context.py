"""One look at the folder: what is the same for all of its paths, and what a file says about who wrote it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from reverie.sync.redaction_view import Veil
    from reverie.sync.values import Known, Rules

__all__ = ["Look", "is_ours", "sha256"]


@dataclass(frozen=True, slots=True)
class Look:
    """What is the same for all paths of one look at the folder.

    `meant` are the paths of files that were put there, whatever was there: they are no edit of an earlier text.
    """

    veil: Callable[[str], Veil]
    now_ms: int
    stamp: str
    new_id: Callable[[], str]
    rules: Rules
    meant: frozenset[str] = frozenset()


def sha256(data: bytes) -> str:
    """The address of a file's bytes."""
    return hashlib.sha256(data).hexdigest()


def is_ours(known: Known | None, found: str) -> bool:
    """Whether a file of this SHA-256 is as it was left: nobody but us has written it since."""
    return known is not None and (found == known.sha256 or found in known.intended)
