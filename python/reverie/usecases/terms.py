"""By what memories are decided, whatever the occasion: a distillation, a run, learning or a dream."""

from __future__ import annotations

import msgspec

from reverie.language_model.requests import ReflectionBounds
from reverie.usecases.redactions import RedactRules


class Terms(msgspec.Struct, frozen=True):
    """The settings, the time and the seed of a decision.

    `window` is `consolidation.window` in tokens, `redact` makes the redactor, `random` seeds the ids of new memories.
    With `reflection` a model changes the files of memories by calls of tools, within these bounds.
    """

    window: int
    at: str
    redact: RedactRules = msgspec.field(default_factory=RedactRules)
    random: bytes = b""
    reflection: ReflectionBounds | None = None
