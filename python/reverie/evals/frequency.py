"""Frequency of distillations with and without context editing, by replaying sessions as one long thread."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reverie.context.edits import clear
from reverie.context.fit import fit_conversation, floor_cost
from reverie.context.inputs import Limits, target
from reverie.context.units import is_user_speech, split_units, tail_start, without_thinking
from reverie.errors import ValidationError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.context.units import Unit
    from reverie.models import Json, Message

DISTIL_AT: Final = 0.70
"""Share of the window at which a thread is distilled."""

ABSOLUTE_CAP: Final = 140_000
"""Tokens at which a thread is distilled whatever the window."""

BESIDE: Final = 16_000
"""Tokens of the context beside the conversation before the first distillation: bootstrap 7,000, working state 500,
notes 2,000, recall 1,500 and tool definitions 5,000 (seed 001, before distillation)."""


@dataclass(frozen=True, slots=True)
class Frequency:
    """Result of a replay: distillations with and without editing; `threshold` and sizes are in tokens."""

    messages: int
    tokens: int  # of the whole conversation, nothing cleared
    threshold: int
    after: int  # tokens of a context right after a distillation
    limits: Limits
    without_editing: int
    with_editing: int

    @property
    def fewer(self) -> float | None:
        """Return the share of distillations that context editing saves; None if there are none without it."""
        return 1 - self.with_editing / self.without_editing if self.without_editing else None


def frequency(messages: Sequence[Message], limits: Limits) -> Frequency:
    """Return how often a thread is distilled without and with context editing, by two replays; tokens are o200k.

    The size of the context is checked after every unit (a reply, a tool call with its results, a message of the
    person); with editing, after clearing by the documented rules. At the threshold the thread is distilled: the context
    then has the size right after a distillation, with the preserved tail in it.

    Raises:
        ValidationError: there is no message, or the window is too small for a context after a distillation.
    """
    spoken = [message for message in messages if not message.rewound]
    threshold = min(int(limits.window * DISTIL_AT), ABSOLUTE_CAP)
    if not spoken:
        raise ValidationError("there is no message to replay", hint="give session files (*.jsonl, also .gz or .zst)")
    if threshold <= max(BESIDE, target(limits)):
        raise ValidationError(
            f"a window of {limits.window:,} tokens has no room for a conversation beside {BESIDE:,} tokens",
            hint="give --window 50000 or more",
        )
    units, _ = split_units(spoken)
    counts = [_Replay(spoken, limits, threshold, editing).run(units) for editing in (False, True)]
    return Frequency(
        messages=len(spoken),
        tokens=sum(unit.cost for unit in units),
        threshold=threshold,
        after=target(limits),
        limits=limits,
        without_editing=counts[0],
        with_editing=counts[1],
    )


def one_thread(sessions: Sequence[Sequence[Message]]) -> list[Message]:
    """Return sessions joined to one thread: sequence numbers continue, tool call ids get a prefix per session."""
    thread: list[Message] = []
    last_seq = 0
    for number, session in enumerate(sessions):
        thread += [
            replace(
                message,
                first_seq=last_seq + message.first_seq,
                last_seq=last_seq + message.last_seq,
                content=_with_prefixed_ids(message.content, f"s{number}-"),
            )
            for message in session
        ]
        last_seq = thread[-1].last_seq if thread else 0
    return thread


def _with_prefixed_ids(content: Json, prefix: str) -> Json:
    """Return the content with a prefix before every tool call id."""
    if not isinstance(content, list):
        return content
    keys = {"tool_use": "id", "tool_result": "tool_use_id"}
    return [
        {**block, key: f"{prefix}{block[key]}"} if (key := keys.get(block["type"], "")) in block else block
        for block in content
    ]


@dataclass(slots=True)
class _Replay:
    """Replay of one growing thread: `units` are in the context, `beside` are the tokens of everything else in it."""

    messages: Sequence[Message]
    limits: Limits
    threshold: int
    editing: bool
    beside: int = BESIDE
    units: list[Unit] = field(default_factory=list)
    raw: int = 0  # tokens of `units`, nothing cleared
    cleared: int = 0  # tokens that editing removed when it was computed last
    distilled: int = 0  # distillations so far
    through: int = 0  # index of the first message that is not distilled

    def run(self, units: Sequence[Unit]) -> int:
        """Replay the units and return the number of distillations."""
        for unit in units:
            if self.distilled and is_user_speech(unit):
                # After a distillation the thinking of finished turns is left out of every context.
                self._set_units([without_thinking(earlier) for earlier in self.units])
            self.units.append(unit)
            self.raw += unit.cost
            if self._size() >= self.threshold:
                self._distil(unit.seq)
        return self.distilled

    def _set_units(self, units: list[Unit]) -> None:
        """Replace the units in the context."""
        self.units = units
        self.raw = sum(unit.cost for unit in units)
        self.cleared = 0

    def _size(self) -> int:
        """Return the tokens of the replayed context.

        What editing clears never shrinks while a thread grows: as long as the last value is enough to stay below the
        threshold, it is not computed again.
        """
        total = self.beside + self.raw
        if self.editing and total - self.cleared >= self.threshold:
            left, _ = clear(self.units, self.limits, self.beside)
            self.cleared = self.raw - sum(unit.cost for unit in left)
        return total - self.cleared

    def _distil(self, seq: int) -> None:
        """Replace everything before the preserved tail by what a distillation leaves."""
        end = bisect_right(self.messages, seq, key=lambda message: message.last_seq)
        since = self.messages[self.through : end]
        start = tail_start(since, self.limits.preserve_messages, self.limits.preserve_tokens)
        tail, _ = split_units(since[start:])
        fitted = fit_conversation(tail, max(self.limits.preserve_tokens, floor_cost(tail))).units
        self.through += start
        self.distilled += 1
        self._set_units(fitted)
        self.beside = max(0, target(self.limits) - self.raw)
