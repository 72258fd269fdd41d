"""What a consolidation did with memories, in words: counts, a row for each decision, and what it only proposes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reverie.wire import memories as wire
from reveried.cli.ids import all_items
from reveried.cli.output import counted, print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.client import Client

_WORDS = {"ADD": "new", "UPDATE": "improved", "DELETE": "dropped", "KEEP": "kept", "SKIP": "known already"}


def change_counts(changes: wire.MemoryChanges | None) -> str:
    """Return `2 new, 1 improved`: the changes of a consolidation by action, or `nothing`."""
    counts = {} if changes is None else changes.counts
    return ", ".join(f"{counts[action]} {word}" for action, word in _WORDS.items() if counts.get(action)) or "nothing"


def new_memory_kinds(client: Client, operation: str | None) -> str:
    """Return ` (2 facts, 1 mistake)`: the memories that an operation added, by type; "" if there are none."""
    changes = client.operation(operation).changes if operation is not None else []
    added = {change.key[0] for change in changes if change.kind == "memory" and change.before is None}
    if not added:
        return ""
    kinds = Counter(item.type for item in all_items(client.memories) if item.id in added)
    words = ", ".join(counted(number, kind) for kind, number in kinds.most_common())
    return f" ({words})" if words else ""


def print_changes(changes: Sequence[wire.Change]) -> None:
    """Print a row for each decision: what was done, and with which memory."""
    rows = [(_WORDS[str(change.__struct_config__.tag)], _subject(change)) for change in changes]
    print_table("Decision, Memory*", rows)


def _subject(change: wire.Change) -> str:
    match change:
        case wire.AddChange() | wire.UpdateChange():
            return change.content
        case wire.DeleteChange() | wire.KeepChange():
            return change.id
        case wire.SkipChange():
            return f"candidate {change.candidate_index}"


def print_proposals(proposals: Sequence[wire.Proposal]) -> None:
    """Print the changes that were only proposed, since a person wrote those lines; nothing if there are none."""
    if not proposals:
        return
    say()
    say("Proposed only, because you wrote these lines (to accept or reject them: reverie review):")
    rows = [(one.change.id, getattr(one.change, "content", "(delete it)"), one.why) for one in proposals]
    print_table("Memory, Proposed text*, Why*", rows)


def print_fallback(fallback: str | None) -> None:
    """Print why rules decided what a model was asked for; nothing if there was no fallback."""
    if fallback:
        say(f"Without the model: {fallback.rstrip('.')}.")
