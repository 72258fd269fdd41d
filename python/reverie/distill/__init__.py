"""Distillation of a thread: the interface of a distiller, working state, summary, excerpts, memories and digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.models import Message, WorkingState


@runtime_checkable
class Distiller(Protocol):
    """What refines the working state of a thread; stateless."""

    def working_state(self, messages: Sequence[Message], previous: WorkingState | None = None) -> WorkingState:
        """Return the state (tier 1 of seed 001) at the end of `messages`, which follow `previous`."""
        ...
