"""Rendering of a working state, its items with their source entries, and its token limit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from reverie import tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.models import WorkingState

StateItem: TypeAlias = tuple[str, int]
"""A text, and the sequence number of the entry that it came from."""

HEADING = "## Working State (auto-maintained)"
# The limit of seed 001, tier 1.
MAX_TOKENS = 500

LISTS = ("task_chain", "completed_steps", "next_steps", "open_files", "recent_decisions", "blockers")
"""The fields that are lists."""

GIVES_WAY = ("completed_steps", "open_files", "recent_decisions", "next_steps", "blockers")
"""The order in which the lists of a too long state are shortened: done work before open work."""


def render(state: WorkingState) -> str:
    """Return the working state as the text block of a context (seed 001): a heading, then one line per non-empty field.

    The newest decision stands first.

    An empty state renders as the empty string, so that nothing is put before an agent that says nothing.
    """
    lines = [
        f"{label} {text}"
        for label, text in (
            ("Current task:", state.current_task),
            ("Completed:", _listed(state.completed_steps)),
            ("Next:", _listed(state.next_steps)),
            ("Recent decisions:", _listed(state.recent_decisions[::-1])),
            ("Open files:", ", ".join(state.open_files)),
            ("Blockers:", _listed(state.blockers)),
        )
        if text
    ]
    return "\n".join([HEADING, *lines]) if lines else ""


def trim_to_tokens(state: WorkingState, max_tokens: int = MAX_TOKENS) -> WorkingState:
    """Return `state` without the oldest items of its longest lists, so that it renders within `max_tokens`."""
    while tokenizer.count(render(state)) > max_tokens:
        longest = max(GIVES_WAY, key=lambda name: len(_listed(getattr(state, name))))
        if not getattr(state, longest):
            return replace(state, current_task=tokenizer.truncate(state.current_task, max_tokens // 2))
        state = without_oldest_item(state, longest)
    return state


def state_items(state: WorkingState, name: str) -> list[StateItem]:
    """Return the items of the list field `name`, each with the number of its source entry (0 if unknown)."""
    texts: tuple[str, ...] = getattr(state, name)
    seqs: tuple[int, ...] = getattr(state.sources, name)
    return list(zip(texts, (*seqs, *[0] * (len(texts) - len(seqs))), strict=False))


def with_items(state: WorkingState, **lists: Iterable[StateItem]) -> WorkingState:
    """Return `state` with some lists replaced: `with_items(state, blockers=[("CI is down", 12)])`."""
    given = {name: tuple(items) for name, items in lists.items()}
    texts: dict[str, Any] = {name: tuple(text for text, _ in items) for name, items in given.items()}
    seqs: dict[str, Any] = {name: tuple(seq for _, seq in items) for name, items in given.items()}
    return replace(state, **texts, sources=replace(state.sources, **seqs))


def without_oldest_item(state: WorkingState, name: str) -> WorkingState:
    """Return `state` without the oldest item of its list `name`: the last of `next_steps`, else the first."""
    items = state_items(state, name)
    return with_items(state, **{name: items[:-1] if name == "next_steps" else items[1:]})


def _listed(texts: tuple[str, ...]) -> str:
    return "; ".join(texts)
