"""Trouble with one line of a transcript, as data beside the result."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """`line` counts from 1; 0 speaks of the file as a whole. `why` is a sentence for a person."""

    line: int
    why: str
