"""Doubt about a memory: a later session said or did something against it, and no person has decided yet.

It is kept in the memory's provenance as `doubt`, with the time and the entries of the thread that it is from, and told
wherever the memory is. A person's edit or decision in review ends it, and so do newer words of the memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from reverie.models import DATE_CHARS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KEY: Final = "doubt"  # of a memory's provenance
CORRECTED: Final = "corrected"  # there: when a person last gave the memory other words than its source's


class Objection(msgspec.Struct, frozen=True):
    """Something said or done in a thread that may speak against older memories.

    `text` are the words by which these are searched for, `names` the specific names in them, `commits` the ids of
    commits that were reverted.
    """

    text: str
    at: str | None
    seq: int
    names: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()


def with_doubt(provenance: Mapping[str, Any], *, at: str, thread: str, seqs: Sequence[int]) -> dict[str, Any]:
    """Return the provenance with a doubt since `at`; an older one is replaced."""
    return {**provenance, KEY: {"at": at, "thread": thread, "seqs": list(seqs)}}


def without_doubt(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance without a doubt."""
    return {key: value for key, value in provenance.items() if key != KEY}


def without_correction(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance without a correction, where it was no person's."""
    return {key: value for key, value in provenance.items() if key != CORRECTED}


def said_at(provenance: Mapping[str, Any]) -> str | None:
    """Return when a memory's words were said: by the person who corrected it, else by its source; None if unknown."""
    at = provenance.get(CORRECTED) or provenance.get("at")
    return at if isinstance(at, str) else None


def doubted_at(provenance: Mapping[str, Any]) -> str | None:
    """Return since when a memory is in doubt; None for one that is not."""
    doubt = provenance.get(KEY)
    at = doubt.get("at") if isinstance(doubt, dict) else None
    return at if isinstance(at, str) else None


def doubt_note(provenance: Mapping[str, Any]) -> str:
    """Return "in doubt since 2026-11-21", or "" for a memory that is not in doubt."""
    at = doubted_at(provenance)
    return "" if at is None else f"in doubt since {at[:DATE_CHARS]}"
