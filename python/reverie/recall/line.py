"""A memory as one recalled line, with its type and its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reverie.models import Memory

__all__ = ["line", "text"]


def line(memory: Memory) -> str:
    """`- [fact · facts/project.md] text`; further lines are indented below the bullet, so that it stays one item."""
    body = "\n  ".join(part.strip() for part in text(memory).split("\n") if part.strip())
    return f"- [{memory.type.value} · {memory.document}] {body}"


def text(memory: Memory) -> str:
    """The words of a memory: its content, or for an episode its title and what each of its lines says."""
    fields = [f"{key}: {value}" for key, value in memory.fields]
    return "\n".join(part for part in (memory.title or "", memory.content, *fields) if part.strip())
