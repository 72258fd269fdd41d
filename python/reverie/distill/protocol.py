"""What any distiller offers: the extractive engine and those with a model behind them fill the same values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reverie.models import Candidate, Distillation, Message, WorkingState

__all__ = ["Distiller"]


@runtime_checkable
class Distiller(Protocol):
    """Reads messages of the main line, oldest first, and says what of them must survive. It has no state of its own."""

    def working_state(self, messages: Sequence[Message], previous: WorkingState | None = None) -> WorkingState:
        """Tier 1 of seed 001: what is going on at the end of `messages`, at most 500 tokens when rendered.

        `previous` is the state before the first of `messages`; what it holds and nothing later closes is carried on.
        """
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
    ) -> Distillation:
        """Tier 2 and the excerpts: summary, ranked passages, state and digest of `messages`.

        `number` is the N of `Distillation #N`. Entries from `tail_from_seq` on stay in context word for word, so no
        passage is taken from them. What `previous` left open and nothing closed since is carried over. The two last
        arguments are the ceilings, in tokens, of the excerpts and of the rendered summary.
        """
        ...

    def candidates(
        self,
        messages: Sequence[Message],
        files: Mapping[str, str] = {},
        working_memory: Mapping[str, str] = {},
        at: str | None = None,
    ) -> tuple[Candidate, ...]:
        """Proposed memories (seed 003, phase 1) and one episode per finished task (seed 004, section 7).

        `files` are paths and whole contents written in the run, `working_memory` its entries. `at` dates what
        carries no time of its own.
        """
        ...

    def digest(self, messages: Sequence[Message], previous: str = "") -> str:
        """The running thread digest, at most 500 tokens: who this is and what we usually do."""
        ...
