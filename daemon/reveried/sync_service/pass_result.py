"""What the steps of one pass tell each other: what was seen, what the store took, what was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie.sync.plan import Plan

if TYPE_CHECKING:
    from reverie.errors import ReverieError
    from reverie.sync.file_status import Stamp
    from reveried.sync_service.late_writes import Saved

__all__ = ["Committed", "Looked", "Wrote"]


@dataclass(slots=True)
class Looked:
    """One look: what is to be done, the paths that it is about, how many files were read, and what they were.

    `late` are the saves that were looked at instead of the files there. `operation` is the last one that the store had.
    """

    plan: Plan = field(default_factory=Plan)
    paths: set[str] = field(default_factory=set)
    read: int = 0
    stamps: dict[str, Stamp] = field(default_factory=dict)
    late: dict[str, Saved] = field(default_factory=dict)
    operation: int = 0


@dataclass(slots=True)
class Wrote:
    """How many files were written or removed, and the paths that are to be looked at again."""

    written: int = 0
    again: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Committed:
    """What became of the store's side of a plan: the operation of each document that was put, and what failed."""

    became: dict[str, int] = field(default_factory=dict)
    failed: dict[str, ReverieError] = field(default_factory=dict)
