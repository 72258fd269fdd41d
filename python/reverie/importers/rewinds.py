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
* Words from the queue of the client have no place in the tree: they are on the branch of the line before them.
* A parent that comes after its child is no parent, so ids in a cycle end every walk.

An export of ChatGPT says itself which branch is the main one: the last line of the type CURRENT names its end. A
rollout of Codex has no ids: a line says how many prompts were taken back, with all that followed them.

A thread that was appended by the API has no such tree. There a mark says that the thread went back: an entry of its
own, of which nothing but its number and the entry that it goes back to is read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.importers.claude_code import is_command, is_queue_operation
from reverie.models import Entry, EntryKind

if TYPE_CHECKING:
    from collections.abc import Sequence

CURRENT: Final = "chatgpt-current"
_NOTICE: Final = "[Request interrupted by user"
_NEVER: Final = -1
_MARK: Final = "reverie.rewind"  # the `type` of a mark; it has no line number, which every line of a transcript has


def rewound_positions(entries: Sequence[Entry]) -> frozenset[int]:
    """Return the positions in `entries` (all kinds, file order) that lie on an abandoned branch."""
    current = next((entry for entry in reversed(entries) if entry.extra.get("type") == CURRENT), None)
    if current is not None:
        return _beside(entries, current.extra.get("node"))
    tree = _build_tree(entries)
    taken: set[int] = set()
    for children in tree.forks.values():
        if len(children) > 1:
            for root in _abandoned(tree, children):
                taken.update(tree.below(root))
    if taken:
        taken |= _queued_on(entries, taken)
    taken.update(_rolled_back(entries))
    ranges = marked_ranges(entries)
    if ranges:
        taken.update(
            index for index, entry in enumerate(entries) if any(first <= entry.seq <= last for first, last in ranges)
        )
    return frozenset(taken)


def _beside(entries: Sequence[Entry], node: str | None) -> frozenset[int]:
    """Return the positions of the entries of a tree that do not lead to this node, or are it."""
    parents = {entry.id: entry.parent for entry in entries if entry.id is not None}
    path: set[str] = set()
    while node is not None and node not in path:
        path.add(node)
        node = parents.get(node)
    return frozenset(index for index, entry in enumerate(entries) if entry.id is not None and entry.id not in path)


def _rolled_back(entries: Sequence[Entry]) -> set[int]:
    """Return the positions that Codex took back: of the last prompts that were left then, and of all behind them.

    Where fewer are left than it counts, the first of them is not among the entries, and so all before is taken back.
    """
    prompts: list[int] = []
    taken: set[int] = set()
    for index, entry in enumerate(entries):
        if is_prompt(entry):
            prompts.append(index)
        elif count := _turns_back(entry):
            taken.update(range(prompts[-count] if count <= len(prompts) else 0, index))
            del prompts[-count:]
    return taken


def _turns_back(entry: Entry) -> int:
    """Return how many prompts a line of Codex takes back, 0 for any other line."""
    payload = entry.extra.get("payload") if entry.extra.get("type") == "event_msg" else None
    if not isinstance(payload, dict) or payload.get("type") != "thread_rolled_back":
        return 0
    count = payload.get("num_turns")
    return max(count, 0) if isinstance(count, int) else 0


def _queued_on(entries: Sequence[Entry], taken: set[int]) -> set[int]:
    """Return the positions of queue operations whose last message before them is one of those taken."""
    queued: set[int] = set()
    is_taken = False
    for index, entry in enumerate(entries):
        if entry.kind is EntryKind.SPEECH and entry.id is not None:
            is_taken = index in taken
        elif is_taken and is_queue_operation(entry):
            queued.add(index)
    return queued


def rewind_mark(to: int) -> Entry:
    """Return the mark that a thread goes back to entry `to` (0: to its beginning)."""
    return Entry(kind=EntryKind.OTHER, extra={"type": _MARK, "to": to})


def undo_mark(seq: int) -> Entry:
    """Return the mark that undoes the mark at `seq`."""
    return Entry(kind=EntryKind.OTHER, extra={"type": _MARK, "undoes": seq})


def is_mark(entry: Entry) -> bool:
    """Return True for a mark that a thread went back, or that this was undone."""
    return entry.kind is EntryKind.OTHER and entry.line == 0 and entry.extra.get("type") == _MARK


def marked_ranges(entries: Sequence[Entry]) -> list[tuple[int, int]]:
    """Return the first and last sequence number of each run of entries that a mark takes back, if it was not undone."""
    undone: set[int] = set()
    ranges: list[tuple[int, int]] = []
    for entry in reversed(entries):
        if not is_mark(entry) or entry.seq in undone:
            continue
        if "undoes" in entry.extra:
            undone.add(entry.extra["undoes"])
        else:
            ranges.append((entry.extra["to"] + 1, entry.seq))
    return ranges


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
    """True if an entry may rewind, repeat or withdraw others: with an id or a parent, a mark, a rollback, a queue's."""
    if is_mark(entry) or is_queue_operation(entry) or _turns_back(entry):
        return True
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
        indexes = [root]
        for index in indexes:
            indexes.extend(self.children.get(index, ()))
        return indexes


def _build_tree(entries: Sequence[Entry]) -> _Tree:
    """Return the tree of entries: children linked in a forward pass, branches' last prompts found in a backward one."""
    places: dict[str, int] = {}
    forks: dict[str, list[int]] = defaultdict(list)
    children: dict[int, list[int]] = defaultdict(list)
    parents = [_NEVER] * len(entries)
    for index, entry in enumerate(entries):
        point = _fork_of(entry)
        if point is not None and entry.id not in places:
            forks[point].append(index)
        parent = places.get(_parent(entry) or "", _NEVER)
        if parent != _NEVER:
            parents[index] = parent
            children[parent].append(index)
        if entry.id is not None:
            places.setdefault(entry.id, index)
    return _weigh_branches(entries, forks, children, parents)


def _weigh_branches(
    entries: Sequence[Entry], forks: dict[str, list[int]], children: dict[int, list[int]], parents: list[int]
) -> _Tree:
    count = len(entries)
    opening, last_prompt = [count] * count, [_NEVER] * count
    opens_with_prompt = [False] * count
    for index in range(count - 1, -1, -1):
        entry = entries[index]
        prompt = is_prompt(entry)
        if prompt:
            last_prompt[index] = max(last_prompt[index], index)
        if entry.kind is EntryKind.SPEECH or is_command(entry):
            opening[index], opens_with_prompt[index] = index, prompt or is_command(entry)
        parent = parents[index]
        if parent == _NEVER:
            continue
        last_prompt[parent] = max(last_prompt[parent], last_prompt[index])
        # A boundary does not open anything: the summary behind it speaks of what was before.
        if opening[index] < opening[parent] and entry.kind is not EntryKind.BOUNDARY:
            opening[parent], opens_with_prompt[parent] = opening[index], opens_with_prompt[index]
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
