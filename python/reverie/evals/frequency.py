"""How often a thread is distilled, with and without context editing: real sessions replayed as one long thread."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from reverie.context import Limits, tail_start
from reverie.context.budget import target
from reverie.context.clearing import cleared_cost
from reverie.context.fit import fit_conversation, floor_cost
from reverie.context.units import is_user_speech, split_units, without_thinking
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.context.units import Unit
    from reverie.models import Json, Message

__all__ = ["ABSOLUTE_CAP", "BESIDE", "DISTIL_AT", "Frequency", "frequency", "one_thread"]

DISTIL_AT: Final = 0.70
"""Share of the window at which a thread is distilled."""

ABSOLUTE_CAP: Final = 140_000
"""Tokens at which it is distilled whatever the window."""

BESIDE: Final = 16_000
"""Tokens beside the conversation before the first distillation: bootstrap 7,000, working state 500, notes 2,000, recall
1,500 and tool definitions 5,000 (seed 001, before distillation)."""


@dataclass(frozen=True, slots=True)
class Frequency:
    """How many distillations a replay needs; `limits` are the values of context editing, `threshold` tokens."""

    messages: int
    tokens: int  # of the whole conversation, nothing cleared
    threshold: int
    after: int  # tokens of a context right after a distillation
    limits: Limits
    without_editing: int
    with_editing: int

    @property
    def fewer(self) -> float | None:
        """The share of distillations that context editing spares; None where there are none to spare."""
        return 1 - self.with_editing / self.without_editing if self.without_editing else None


def frequency(
    messages: Sequence[Message], limits: Limits, *, distil_at: float = DISTIL_AT, absolute_cap: int = ABSOLUTE_CAP
) -> Frequency:
    """Replays one thread twice; `limits.window` is the model's, tokens are o200k.

    After every reply, call with its results, or word of the person the context is weighed: with editing by what the
    documented rules leave of it. At the threshold the thread is distilled: what stays is a context of the size right
    after a distillation, the preserved tail in it.

    Raises:
        ValidationError: there is no message, or the window is too small for a context after a distillation.
    """
    spoken = [message for message in messages if not message.rewound]
    threshold = min(int(limits.window * distil_at), absolute_cap)
    if not spoken:
        raise ValidationError("there is no message to replay", hint="give session files (*.jsonl, *.jsonl.gz)")
    if threshold <= max(BESIDE, target(limits)):
        raise ValidationError(
            f"a window of {limits.window:,} tokens has no room for a conversation beside {BESIDE:,} tokens",
            hint="give --window 50000 or more",
        )
    units, _ = split_units(spoken)
    counts = [_Replay(spoken, limits, threshold, editing).run(units) for editing in (False, True)]
    return Frequency(
        messages=len(spoken),
        tokens=sum(piece.cost for piece in units),
        threshold=threshold,
        after=target(limits),
        limits=limits,
        without_editing=counts[0],
        with_editing=counts[1],
    )


def one_thread(sessions: Sequence[Sequence[Message]]) -> list[Message]:
    """The sessions one after another as one thread: numbered through, every call's id its session's own."""
    whole: list[Message] = []
    after = 0
    for number, session in enumerate(sessions):
        whole += [
            replace(
                message,
                first_seq=after + message.first_seq,
                last_seq=after + message.last_seq,
                content=_own(message.content, f"s{number}-"),
            )
            for message in session
        ]
        after = whole[-1].last_seq if whole else 0
    return whole


def _own(content: Json, prefix: str) -> Json:
    if not isinstance(content, list):
        return content
    return [_renamed(block, prefix) for block in content]


def _renamed(block: dict[str, Any], prefix: str) -> dict[str, Any]:
    key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])
    return {**block, key: f"{prefix}{block[key]}"} if key is not None and key in block else block


@dataclass(slots=True)
class _Replay:
    """One thread as it grows: `held` are the pieces in context, `beside` the tokens of everything else in it."""

    messages: Sequence[Message]
    limits: Limits
    threshold: int
    editing: bool
    beside: int = BESIDE
    held: list[Unit] = field(default_factory=list)
    raw: int = 0  # tokens of `held`
    spared: int = 0  # how much less the context weighed when it was weighed last
    distilled: int = 0
    through: int = 0  # place of the first message that is not distilled

    def run(self, units: Sequence[Unit]) -> int:
        for piece in units:
            if self.distilled and is_user_speech(piece):
                # After a distillation the thinking of finished turns is left out of every context.
                self._hold([without_thinking(each) for each in self.held])
            self.held.append(piece)
            self.raw += piece.cost
            if self._weight() >= self.threshold:
                self._distil(piece.seq)
        return self.distilled

    def _hold(self, units: list[Unit]) -> None:
        self.held = units
        self.raw = sum(piece.cost for piece in units)
        self.spared = 0

    def _weight(self) -> int:
        """Tokens of the context.

        What editing spares never shrinks while a thread grows: as long as what it spared last is enough, it is not
        weighed anew.
        """
        total = self.beside + self.raw
        if self.editing and total - self.spared >= self.threshold:
            self.spared = self.raw - cleared_cost(self.held, self.limits, self.beside)
        return total - self.spared

    def _distil(self, seq: int) -> None:
        """Replaces everything but the preserved tail by what a distillation leaves."""
        end = bisect_right(self.messages, seq, key=lambda message: message.last_seq)
        since = self.messages[self.through : end]
        start = tail_start(since, self.limits.preserve_messages, self.limits.preserve_tokens)
        tail, _ = split_units(since[start:])
        fitted = fit_conversation(tail, max(self.limits.preserve_tokens, floor_cost(tail))).units
        self.through += start
        self.distilled += 1
        self._hold(fitted)
        self.beside = max(0, target(self.limits) - self.raw)
