"""What to recall for an agent that did not ask: the task at hand and the last thing the person said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reverie.models import WorkingState

__all__ = ["query_for"]

_MOST_CHARS: Final = 2_000
"""Of what the person said: a pasted log would drown the task's own words."""


def query_for(state: WorkingState, last_user_text: str) -> str:
    """The current task, the next step and the last user message, as one query; empty where nothing is known."""
    said = last_user_text.strip()
    if len(said) > _MOST_CHARS:
        half = _MOST_CHARS // 2
        said = f"{said[:half]}\n{said[-half:]}"
    return "\n".join(part for part in (state.current_task, *state.next_steps[:1], said) if part.strip())
