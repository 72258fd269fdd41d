"""The outline of a thread: parts whose entries join into messages by themselves, so that a page need not read all.

Which entries join into one message depends on what stands around them: the lines of one reply, results after their
calls, words typed before a result. Whether one was rewound, or repeats an earlier one, depends on the whole thread. An
outline has both for each part, so that a part's messages are found from its own entries alone.

Entries that are appended later change the outline before them in two cases: a transcript's lines, which may continue
or repeat any earlier line, and a result whose call is further back. Then it is made again from all entries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie.importers.join import group_messages, independent_runs, tool_ids, without_repeats
from reverie.importers.rewinds import belongs_to_tree, rewound_positions
from reverie.models import EntryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Entry, Message

PART_MESSAGES: Final = 32  # messages of a part at least; a page reads one part more than it shows


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """The entries `first..through` of a thread, which join into `messages` messages by themselves.

    `rewound` are the first and last of each run of entries on an abandoned branch, `repeats` the entries that count
    once although they are there twice.
    """

    first: int
    through: int
    messages: int = 0
    rewound: tuple[tuple[int, int], ...] = ()
    repeats: tuple[int, ...] = ()


def outline(entries: Sequence[Entry], known: OutlinePart | None = None) -> list[OutlinePart]:
    """Return the parts of a thread, of all its entries in order; the last part is the one that may still grow.

    With `known`, the last part of an outline that `is_continued` by the entries: the parts from that one on.
    """
    if not entries:
        return []
    if known is None:
        kept = without_repeats(entries)
        repeats = {entry.seq for entry in entries} - {entry.seq for entry in kept}
        rewound = {kept[index].seq for index in rewound_positions(kept)}
    else:
        repeats, rewound = set(known.repeats), _numbers(known.rewound)
        kept = [entry for entry in entries if entry.seq not in repeats]
    runs = independent_runs((entry, entry.seq in rewound) for entry in kept if entry.kind is EntryKind.SPEECH)
    starts, counts = [entries[0].seq], [0]
    for seq, messages in runs:
        if counts[-1] >= PART_MESSAGES:
            starts.append(seq)
            counts.append(0)
        counts[-1] += messages
    ends = [start - 1 for start in starts[1:]] + [entries[-1].seq]
    return [
        OutlinePart(first, through, count, _ranges(rewound, first, through), tuple(_within(repeats, first, through)))
        for first, through, count in zip(starts, ends, counts, strict=True)
    ]


def messages_of_part(part: OutlinePart, entries: Iterable[Entry]) -> list[Message]:
    """Return the verbatim messages of a part from its entries: those of the whole thread's main line."""
    rewound = _numbers(part.rewound)
    repeats = set(part.repeats)
    return group_messages(
        (entry, entry.seq in rewound)
        for entry in entries
        if entry.kind is EntryKind.SPEECH and entry.seq not in repeats
    )


def is_continued(entries: Sequence[Entry], through: int) -> bool:
    """Return True if the entries after `through` continue an outline's last part, and change nothing before it.

    `entries` are those of the last part and all after it.
    """
    calls: set[str] = set()
    for entry in entries:
        if entry.role == "assistant":
            calls.update(tool_ids(entry.content, "tool_use", "id"))
        if entry.seq <= through:
            continue
        if belongs_to_tree(entry) or not calls.issuperset(tool_ids(entry.content, "tool_result", "tool_use_id")):
            return False
    return True


def _numbers(ranges: Iterable[tuple[int, int]]) -> set[int]:
    return {number for first, last in ranges for number in range(first, last + 1)}


def _ranges(seqs: set[int], first: int, last: int) -> tuple[tuple[int, int], ...]:
    """Return the runs of numbers of `seqs` between `first` and `last`: {1, 2, 5} gives ((1, 2), (5, 5))."""
    runs: list[tuple[int, int]] = []
    for seq in _within(seqs, first, last):
        if runs and runs[-1][1] == seq - 1:
            runs[-1] = (runs[-1][0], seq)
        else:
            runs.append((seq, seq))
    return tuple(runs)


def _within(seqs: set[int], first: int, last: int) -> list[int]:
    return [seq for seq in range(first, last + 1) if seq in seqs] if seqs else []
