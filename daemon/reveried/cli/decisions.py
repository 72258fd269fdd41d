"""What engines decided about memories, and what they only propose, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie import wire
from reveried.cli.output import say, table

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["decision", "tell_proposals"]


def decision(change: wire.Change) -> tuple[str, str]:
    """What was done, and with which memory."""
    match change:
        case wire.AddChange():
            return "new", change.content
        case wire.UpdateChange():
            return "improved", change.content
        case wire.DeleteChange():
            return "dropped", change.id
        case wire.KeepChange():
            return "kept", change.id
        case wire.SkipChange():
            return "known already", f"candidate {change.candidate_index}"


def tell_proposals(proposals: Sequence[wire.Proposal]) -> None:
    """What would have changed lines that a person wrote; nothing where there is none."""
    if not proposals:
        return
    say()
    say("Proposed only, as you wrote these lines yourself (reverie memories shows where; edit the file to follow one):")
    rows = [
        (each.change.id, each.change.content if isinstance(each.change, wire.UpdateChange) else "(delete it)", each.why)
        for each in proposals
    ]
    table(["Memory", "It would read", "Why"], rows, wraps=(1, 2))
