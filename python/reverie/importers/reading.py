"""Entries read as a conversation: one message per API reply, each call with its result right behind it.

The main line is the speech in file order; following `parentUuid` would lose what hangs beside the chain. Lines that
share a reply (`message.id`) become one assistant message, also where results of its parallel calls stand in between;
those results become the one user message after it. What was taken back is marked `rewound` and stays in its place.

A source may lack a result (the client was stopped, or compacted in the middle of a turn) or hold one whose call is
gone. `join` makes such a pair whole, so that the API takes the conversation: a call without a result gets one that
says so (NO_RESULT, an error), a result without its call becomes a text, and so does a call whose id was used before.
`verbatim=True` leaves all of it as it stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie.importers.branches import rewound
from reverie.importers.messages import gather
from reverie.importers.tool_pairs import NO_RESULT, made_whole
from reverie.models import Entry, EntryKind, Json, Message

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NO_RESULT", "PastSummary", "join", "past_summaries"]


@dataclass(frozen=True, slots=True)
class PastSummary:
    """A compaction that the source's client made: `text` replaced what stood before entry `seq`.

    `number` counts from 1 in the order of the file; `seq` is the boundary's entry, or the summary's own where no
    boundary precedes it; `tokens_before` is what the client said that the conversation weighed.
    """

    number: int
    text: str
    seq: int
    tokens_before: int | None = None
    at: str | None = None


def join(entries: Iterable[Entry], *, verbatim: bool = False) -> list[Message]:
    """The main line of a thread; give every entry of it, of all kinds, in order.

    An entry repeated with the same id and the same content counts once. Nothing else is left out.
    """
    held = _once(entries)
    taken = rewound(held)
    messages = gather((entry, place in taken) for place, entry in enumerate(held) if entry.kind is EntryKind.SPEECH)
    return messages if verbatim else made_whole(messages)


def past_summaries(entries: Iterable[Entry]) -> list[PastSummary]:
    """The compactions of a thread, oldest first."""
    found: list[PastSummary] = []
    boundary: Entry | None = None
    for entry in _once(entries):
        if entry.kind is EntryKind.BOUNDARY:
            boundary = entry
        elif entry.kind is EntryKind.SUMMARY:
            found.append(_past(len(found) + 1, boundary, entry))
            boundary = None
    return found


def _past(number: int, boundary: Entry | None, summary: Entry) -> PastSummary:
    start = boundary or summary
    metadata = start.extra.get("compactMetadata")
    before = metadata.get("preTokens") if isinstance(metadata, dict) else None
    return PastSummary(
        number=number,
        text=_text(summary.content),
        seq=start.seq,
        tokens_before=before if isinstance(before, int) else None,
        at=start.at,
    )


def _text(content: Json) -> str:
    if isinstance(content, str):
        return content
    blocks: list[dict[str, Any]] = content or []
    return "\n".join(block["text"] for block in blocks if isinstance(block.get("text"), str))


def _once(entries: Iterable[Entry]) -> list[Entry]:
    """Without repetitions. An id that comes again with other words is another message, and kept."""
    first: dict[str, Entry] = {}
    kept: list[Entry] = []
    for entry in entries:
        if entry.id is not None:
            known = first.setdefault(entry.id, entry)
            if known is not entry and (known.kind, known.role, known.content) == (
                entry.kind,
                entry.role,
                entry.content,
            ):
                continue
        kept.append(entry)
    return kept
