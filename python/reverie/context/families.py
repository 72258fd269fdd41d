"""What a model takes, told from its name: late system messages, and editing on the server's side."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["edits_on_server", "takes_late_system"]

_NAME: Final = re.compile(r"claude-(?P<family>[a-z]+)-(?P<major>\d{1,2})(?:-(?P<minor>\d{1,2}))?(?!\d)")

_LATE_FROM: Final = {"opus": (4, 8), "sonnet": (5, 0), "haiku": (5, 0), "fable": (5, 0), "mythos": (5, 0)}
"""The first version of each family that takes `role: "system"` inside `messages`; older ones answer 400."""

_EDITS_FROM: Final = {"opus": (4, 0), "sonnet": (4, 0), "haiku": (4, 5), "fable": (5, 0), "mythos": (5, 0)}
"""The first version of each family for which the server applies `context_management`."""


def takes_late_system(model: str | None) -> bool:
    """Whether a `role: "system"` message may close the list. A model that is not named is not trusted to take it."""
    return _at_least(model, _LATE_FROM, unknown=False)


def edits_on_server(model: str | None) -> bool:
    """Whether the server clears by `context_management`. Without a name the model is taken to be a current Claude."""
    return _at_least(model, _EDITS_FROM, unknown=model is None)


def _at_least(model: str | None, table: dict[str, tuple[int, int]], *, unknown: bool) -> bool:
    found = _NAME.search(model or "")
    if found is None or found["family"] not in table:
        return unknown
    return (int(found["major"]), int(found["minor"] or 0)) >= table[found["family"]]
