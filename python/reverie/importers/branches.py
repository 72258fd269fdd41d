"""Detection of rewound entries: the person returned to an earlier point and continued from there.

A transcript is a tree by `parentUuid`, and it branches for many reasons: parallel tool calls, news of running tools,
a client that ended and was started again. Only one of them means "taken back": from one point hang two branches that
both open with a prompt, and nobody typed anything more on the first after the second began. Then the first is rewound.

What follows from that:

* Branches that open with an assistant line, a tool result or a client's notice never count.
* Nor does a compaction: its boundary has no parent and goes on from what stands before it. It belongs to the branch
  it was made on, and shares its fate.
* The start of a session is a point to return to as well: two prompts of one session that both say `parentUuid: null`.
* Two clients that go on from one point side by side keep both branches, as long as both get prompts.
* A parent that comes after its child is no parent, so ids in a cycle end every walk.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.importers.claude_code import is_command
from reverie.models import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["belongs_to_tree", "is_prompt", "rewound_positions"]

_NOTICE: Final = "[Request interrupted by user"
_NEVER: Final = -1


def rewound_positions(entries: Sequence[Entry]) -> frozenset[int]:
    """Return the positions in `entries` (all kinds, file order) that lie on an abandoned branch."""
    tree = _build_tree(entries)
    taken: set[int] = set()
    for children in tree.forks.values():
        if len(children) > 1:
            for root in _abandoned(tree, children):
                taken.update(tree.below(root))
    return frozenset(taken)


def is_prompt(entry: Entry) -> bool:
    """True if a person typed this entry as a prompt: text or images, not only a tool result."""
    if entry.kind is not EntryKind.SPEECH or entry.role != "user":
        return False
    if isinstance(entry.content, str):
        return not entry.content.startswith(_NOTICE)
    return any(
        block["type"] != "tool_result" and not str(block.get("text", "")).startswith(_NOTICE) for block in entry.content
    )


def belongs_to_tree(entry: Entry) -> bool:
    """True if an entry has an id or a point that it continues, so that it may rewind or repeat others."""
    return entry.id is not None or _parent(entry) is not None or _fork_of(entry) is not None


@dataclass(slots=True)
class _Tree:
    """The tree of entries: children by parent; per position the branch's first entry and its last prompt."""

    forks: dict[str, list[int]]
    children: dict[int, list[int]]
    opening: list[int]
    last_prompt: list[int]
    opens_with_prompt: list[bool]

    def below(self, root: int) -> list[int]:
        found = [root]
        for place in found:
            found.extend(self.children.get(place, ()))
        return found


def _build_tree(entries: Sequence[Entry]) -> _Tree:
    """Build the tree: link children in a forward pass, find each branch's last prompt in a backward pass."""
    places: dict[str, int] = {}
    forks: dict[str, list[int]] = defaultdict(list)
    children: dict[int, list[int]] = defaultdict(list)
    parents = [_NEVER] * len(entries)
    for place, entry in enumerate(entries):
        point = _fork_of(entry)
        if point is not None and entry.id not in places:
            forks[point].append(place)
        parent = places.get(_parent(entry) or "", _NEVER)
        if parent != _NEVER:
            parents[place] = parent
            children[parent].append(place)
        if entry.id is not None:
            places.setdefault(entry.id, place)
    return _weigh_branches(entries, forks, children, parents)


def _weigh_branches(
    entries: Sequence[Entry], forks: dict[str, list[int]], children: dict[int, list[int]], parents: list[int]
) -> _Tree:
    count = len(entries)
    opening, last_prompt = [count] * count, [_NEVER] * count
    opens_with_prompt = [False] * count
    for place in range(count - 1, -1, -1):
        entry = entries[place]
        prompt = is_prompt(entry)
        if prompt:
            last_prompt[place] = max(last_prompt[place], place)
        if entry.kind is EntryKind.SPEECH or is_command(entry):
            opening[place], opens_with_prompt[place] = place, prompt or is_command(entry)
        parent = parents[place]
        if parent == _NEVER:
            continue
        last_prompt[parent] = max(last_prompt[parent], last_prompt[place])
        # A boundary does not open anything: the summary behind it speaks of what was before.
        if opening[place] < opening[parent] and entry.kind is not EntryKind.BOUNDARY:
            opening[parent], opens_with_prompt[parent] = opening[place], opens_with_prompt[place]
    return _Tree(forks, children, opening, last_prompt, opens_with_prompt)


def _abandoned(tree: _Tree, children: list[int]) -> list[int]:
    """Return the abandoned branches of a fork: those a later prompt at the same point replaced."""
    opened = [child for child in children if tree.opens_with_prompt[child]]
    # A branch replaces another only with something said on it; a command alone (`/exit`) goes nowhere.
    latest = max((tree.opening[child] for child in opened if tree.last_prompt[child] != _NEVER), default=_NEVER)
    return [child for child in opened if max(tree.opening[child], tree.last_prompt[child]) < latest]


def _fork_of(entry: Entry) -> str | None:
    """Return the key of the point an entry branches from: its parent; for a first prompt its session."""
    if entry.parent is not None or entry.extra.get("parentUuid", "") is not None or not is_prompt(entry):
        return entry.parent
    session = entry.extra.get("sessionId")
    return f"session {session}" if isinstance(session, str) else None


def _parent(entry: Entry) -> str | None:
    if entry.kind is EntryKind.BOUNDARY and entry.parent is None:
        logical = entry.extra.get("logicalParentUuid")
        return logical if isinstance(logical, str) else None
    return entry.parent
