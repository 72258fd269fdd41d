"""The working state as the block that agents read, and the bound that keeps it small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reverie import tokens

if TYPE_CHECKING:
    from reverie.models import WorkingState

__all__ = ["HEADING", "MAX_TOKENS", "bounded", "render"]

HEADING = "## Working State (auto-maintained)"
MAX_TOKENS = 500

_LISTS = ("completed_steps", "open_files", "recent_decisions", "next_steps", "blockers")
"""What gives way first when a state is too long: what is done before what is left to do."""


def render(state: WorkingState) -> str:
    """The block of api.md 2.1: the heading, then one line for each field that says something.

    An empty state renders as the empty string, so that nothing is put before an agent that says nothing.
    """
    lines = [
        f"{label} {text}"
        for label, text in (
            ("Current task:", state.current_task),
            ("Completed:", _listed(state.completed_steps)),
            ("Next:", _listed(state.next_steps)),
            ("Recent decisions:", _listed(state.recent_decisions)),
            ("Open files:", ", ".join(state.open_files)),
            ("Blockers:", _listed(state.blockers)),
        )
        if text
    ]
    return "\n".join([HEADING, *lines]) if lines else ""


def bounded(state: WorkingState, max_tokens: int = MAX_TOKENS) -> WorkingState:
    """`state` with the oldest items of its longest lists left out until it renders within `max_tokens`."""
    while tokens.count(render(state)) > max_tokens:
        longest = max(_LISTS, key=lambda name: len(_listed(getattr(state, name))))
        items = getattr(state, longest)
        if not items:
            return replace(state, current_task=tokens.truncate(state.current_task, max_tokens // 2))
        change: dict[str, Any] = {longest: _without_stalest(longest, items)}
        state = replace(state, **change)
    return state


def _listed(items: tuple[str, ...]) -> str:
    return "; ".join(items)


def _without_stalest(name: str, items: tuple[str, ...]) -> tuple[str, ...]:
    """What comes next is ordered soonest first; every other list is newest last."""
    return items[:-1] if name == "next_steps" else items[1:]
