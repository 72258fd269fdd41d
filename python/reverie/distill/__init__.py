"""Distillation of a thread: the interface of a distiller, working state, summary, excerpts, memories and digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.models import Candidate, Distillation, Message, WorkingState


@runtime_checkable
class Distiller(Protocol):
    """A stateless function of messages (oldest first): the working state, summary and candidates of a distillation."""

    def working_state(self, messages: Sequence[Message], previous: WorkingState | None = None) -> WorkingState:
        """Return the state (tier 1 of seed 001) at the end of `messages`, which follow `previous`."""
        ...

    def distill(
        self,
        messages: Sequence[Message],
        *,
        number: int,
        previous: Distillation | None,
        tail_from_seq: int,
        passage_tokens: int = 34_000,
        summary_tokens: int = 5_000,
        total_tokens: int | None = None,
    ) -> Distillation:
        """Return summary, state and digest of `messages`, and excerpts of those before entry `tail_from_seq`.

        `number` is the N of `Distillation #N`. What `previous` left open and nothing closed since is carried over. The
        last three are the ceilings, in tokens, of the excerpts, of the rendered summary, and of both together.
        """
        ...

    def candidates(
        self,
        messages: Sequence[Message],
        files: Mapping[str, str] = {},
        working_memory: Mapping[str, str] = {},
        at: str | None = None,
    ) -> tuple[Candidate, ...]:
        """Return proposed memories (seed 003); `at` dates what carries no time of its own."""
        ...

    def digest(self, messages: Sequence[Message], previous: str = "") -> str:
        """Return the updated thread digest, at most 500 tokens."""
        ...
