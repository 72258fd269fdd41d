"""Authors of operations: persons, Reverie's own parts, and agents, which are all others."""

from __future__ import annotations

from typing import Final

PERSONS: Final = frozenset({"owner", "person"})
"""Authors of what a person did: by a call without an agent's token, or by a save in the folder."""

OWN_AUTHORS: Final = frozenset(
    {
        *("backup", "distiller", "follower", "index", "purge", "recall", "redaction", "retention"),
        *("reveried", "schedule", "sync"),
        *PERSONS,
    }
)
"""Authors that are no agents. An agent of such a name could undo what they did, as if it were its own."""

ANY_AGENT: Final = "agent"
"""The author of what an agent did that gave no name."""


def is_agent(who: str | None) -> bool:
    """Return True if the author of a write of memories is an agent; None is an engine."""
    return who is not None and who not in PERSONS


def agent_author(name: str | None) -> str:
    """Return the author of what the agent of this name does: the name, unless it is an author's that is no agent.

    `import:codex` would be the author of imports: it becomes `import-codex`, and `owner` becomes `agent`.
    """
    plain = (name or "").replace(":", "-").strip()
    return ANY_AGENT if not plain or plain.casefold() in OWN_AUTHORS else plain
