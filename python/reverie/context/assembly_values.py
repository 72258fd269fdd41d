"""Input, limits and result of a context's assembly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from reverie.models import Message, Note, Passage

__all__ = ["Context", "Limits", "Parts", "Placement", "RecallLine"]

Placement: TypeAlias = Literal["system", "late"]


@dataclass(frozen=True, slots=True)
class RecallLine:
    """One recalled memory with its origin; `text` has one or more lines and no bullet."""

    text: str
    memory_id: str
    document: str


@dataclass(frozen=True, slots=True)
class Parts:
    """Rendered texts and messages from which a context is assembled.

    `messages` are all messages that follow what is distilled: the preserved tail and what came since.
    `passages` are the excerpts of the distilled part, best rank first wanted. `notes` and `recall` stand in the order
    they are to be kept: newest note first, best memory first. `state` and `summary` are rendered texts. `tools` is
    the token cost of the caller's tool definitions: measured here, sent by the caller. `distilled_at_seq` is the last
    entry that there was when the distillation took place; it sizes the excerpts once, so that a growing thread does
    not rewrite the prefix that is cached.
    """

    bootstrap: tuple[tuple[str, str], ...] = ()
    index: str | None = None
    digest: str = ""
    notes: tuple[Note, ...] = ()
    state: str = ""
    recall: tuple[RecallLine, ...] = ()
    summary: str | None = None
    distillation: int = 0
    passages: tuple[Passage, ...] = ()
    messages: tuple[Message, ...] = ()
    model: str | None = None
    placement: Placement | None = None
    tools: int = 0
    distilled_at_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Token limits of a context, in o200k_base tokens.

    `window` is the model's. `max_tokens` is the hard bound of the whole context, tools included; without one `fill`
    of the window is the bound, which leaves room for the reply, and the ceilings are those of a 200K window. The
    tail's own bounds (seed 001, tier 3) say where a distillation cuts; `trigger`, `clear_at_least`, `keep_tool_uses`
    and `keep_thinking_turns` are the values of seed 001, tier 4, as fractions of the window.
    """

    window: int = 200_000
    max_tokens: int | None = None
    preserve_messages: int = 10
    preserve_tokens: int = 12_000
    trigger: float = 0.60
    clear_at_least: float = 0.10
    keep_tool_uses: int = 8
    keep_thinking_turns: int = 2
    fill: float = 0.90


@dataclass(frozen=True, slots=True)
class Context:
    """An assembled request fragment with its token counts.

    `request` holds exactly `system`, `messages`, `context_management` and `betas`. `tokens` has one number for each
    tier, their `total`, and the `tokenizer`'s name. `dropped` lists what found no room, each with its `tier`. `texts`
    are the texts of every tier but the tail, by the names of `tokens`.
    """

    request: dict[str, Any]
    tokens: dict[str, Any]
    distillation: int = 0
    dropped: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
