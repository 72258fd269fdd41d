"""Speech in file order to messages: a reply's lines together, and its results together behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reverie.models import Entry, Json, Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["blocks_of", "gather", "ids_of"]


def gather(speech: Iterable[tuple[Entry, bool]]) -> list[Message]:
    """The messages of the main line from its entries, each told whether it was rewound.

    A user line belongs behind a reply when it answers one of the reply's calls, or stands before such an answer: the
    API wants the results first, so words typed meanwhile follow them in the same message.
    """
    lines = list(speech)
    table = _Table(_answers(lines))
    for place, (entry, rewound) in enumerate(lines):
        if entry.role == "assistant":
            table.said(entry, rewound=rewound)
        else:
            table.heard(entry, place, rewound=rewound)
    return [draft.message() for draft in table.drafts if draft.parts]


def blocks_of(content: Json) -> list[dict[str, Any]]:
    """A content as blocks; an empty text is none."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return list(content)


def ids_of(content: Json, kind: str, key: str) -> list[str]:
    """The ids of a content's calls, or of the calls that its results answer."""
    if not isinstance(content, list):
        return []
    return [block[key] for block in content if block["type"] == kind and isinstance(block.get(key), str)]


@dataclass(slots=True)
class _Draft:
    """One message in the making: the entries that it is joined from, in file order."""

    role: Role
    rewound: bool
    parts: list[Entry] = field(default_factory=list)
    last_answer: int = -1  # the place where the last of its calls is answered

    def message(self) -> Message:
        first, last = self.parts[0], self.parts[-1]
        usages = [part.usage for part in self.parts if part.usage is not None]
        return Message(
            role=self.role,
            content=self._content(),
            first_seq=first.seq,
            last_seq=last.seq,
            at=first.at,
            tokens=sum(part.tokens for part in self.parts),
            rewound=self.rewound,
            usage=usages[-1] if usages else None,
        )

    def _content(self) -> Json:
        if len(self.parts) == 1:
            return self.parts[0].content
        blocks = [block for part in self.parts for block in blocks_of(part.content)]
        if self.role == "user":
            blocks.sort(key=lambda block: block["type"] != "tool_result")
        return blocks


@dataclass(slots=True)
class _Table:
    """The messages so far. Behind every reply with calls stands a draft for its results, empty until they come."""

    answers: dict[str, int]
    drafts: list[_Draft] = field(default_factory=list)
    replies: dict[str, tuple[_Draft, _Draft]] = field(default_factory=dict)
    owners: dict[str, _Draft] = field(default_factory=dict)  # call id -> where its result goes
    current: tuple[_Draft, _Draft] | None = None

    def said(self, entry: Entry, *, rewound: bool) -> None:
        """An assistant's line: part of its reply when that is still going on, else a new message."""
        pair = self.replies.get(entry.reply or "")
        if pair is None or pair[0].rewound is not rewound:
            pair = (_Draft("assistant", rewound), _Draft("user", rewound))
            self.drafts += pair
            if entry.reply is not None:
                self.replies[entry.reply] = pair
        reply, results = pair
        reply.parts.append(entry)
        for call in ids_of(entry.content, "tool_use", "id"):
            if call not in self.owners:
                self.owners[call] = results
                reply.last_answer = max(reply.last_answer, self.answers.get(call, -1))
        self.current = pair

    def heard(self, entry: Entry, place: int, *, rewound: bool) -> None:
        """A user's line: with the results of the call it answers, with those still to come, or by itself."""
        for call in ids_of(entry.content, "tool_result", "tool_use_id"):
            results = self.owners.get(call)
            if results is not None and results.rewound is rewound:
                results.parts.append(entry)
                return
        if self.current is not None and self.current[0].rewound is rewound and place < self.current[0].last_answer:
            self.current[1].parts.append(entry)
            return
        self.drafts.append(_Draft("user", rewound, [entry]))
        # The conversation went on: what the same reply says after this stands after this.
        self.replies.clear()
        self.current = None


def _answers(lines: list[tuple[Entry, bool]]) -> dict[str, int]:
    """Where each call is answered first."""
    places: dict[str, int] = {}
    for place, (entry, _) in enumerate(lines):
        for call in ids_of(entry.content, "tool_result", "tool_use_id"):
            places.setdefault(call, place)
    return places
