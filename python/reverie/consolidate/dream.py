"""Decides a dream: what is new since the last one, distilled under a token budget into one reproducible archive.

An archive is a function of its sources and its budget alone: no time, no id, no order of reading goes into it, so the
same memories give the same bytes and the same address everywhere. Inside it a source is known by its SHA-256.

Counted against the budget are the tokens of every source as it is read and of the archive's summary, memories and
changes as compact JSON. All sources must be read; of what is said about them, the least telling is left out first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from reverie import canonical, tokens
from reverie.consolidate.board import Board, Item, scope_of
from reverie.consolidate.budget import MAX_TOKEN_BUDGET
from reverie.consolidate.relation import Relation, read, relate
from reverie.errors import TokenBudgetExceeded
from reverie.models import Change, Delete, Memory, MemoryType
from reverie.words import markers_removed, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reverie.models import Json

__all__ = ["ARCHIVE_VERSION", "DreamPlan", "Source", "plan_dream"]

ARCHIVE_VERSION = 1
_CHUNK = 1000
_TOPICS_MAX = 8
# What is most telling comes first in an archive, and is left out last.
_RANK = (
    MemoryType.MISTAKE,
    MemoryType.PREFERENCE,
    MemoryType.PROCEDURE,
    MemoryType.FACT,
    MemoryType.SKILL,
    MemoryType.OBSERVATION,
    MemoryType.EPISODE,
)
_NAMES = {kind: f"{kind.value}s" for kind in MemoryType}


@dataclass(frozen=True, slots=True)
class Source:
    """One memory that a dream read: redacted, with its address. `id` is None for a memory of an earlier archive."""

    ref: str
    sha256: str
    type: MemoryType
    content: str
    tags: tuple[str, ...]
    title: str | None
    document: str
    person: bool
    id: str | None
    seniority: str  # orders sources that say the same


@dataclass(frozen=True, slots=True)
class DreamPlan:
    """What a dream will write. `body` is the archive, `data` its canonical bytes and `sha256` their address.

    `changes` are for the memories themselves and name them by id; `sources` are in the order of the archive.
    """

    body: dict[str, Any]
    data: bytes
    sha256: str
    budget: int
    tokens_used: int
    sources: tuple[Source, ...]
    changes: tuple[Change, ...]


def plan_dream(
    memories: Iterable[Memory],
    *,
    budget: int,
    redact: Callable[[str], str],
    previous_archives: Sequence[tuple[str, Mapping[str, Json]]] = (),
) -> DreamPlan | None:
    """The dream about `memories` (what is new since the last one); None when there is nothing to dream about.

    `budget` is as `validate_budget` gives it. `redact` is put over every text before anything is hashed.
    `previous_archives` (address, body) are distilled again together with the memories.
    Raises TokenBudgetExceeded, with the least budget that would do, when even the shortest archive does not fit.
    """
    sources, input_tokens, number = _gather(memories, previous_archives, redact, budget)
    if number == 0:
        return None
    fitting = sources if sources is not None else []
    kept, doubles = _distinct(fitting)
    changes = tuple(Delete(source.id) for source in doubles if source.id is not None and not source.person)
    archive = _Archive(
        sources=[{"ref": source.ref, "sha256": source.sha256} for source in fitting],
        budget=budget,
        summary=redact(_summary(fitting)),
        memories=[_entry(source) for source in kept],
        changes=[{"action": "DELETE", "id": s.sha256} for s in doubles if s.id is not None and not s.person],
    )
    minimum = input_tokens + archive.tokens(0)
    if sources is None or minimum > budget:
        raise TokenBudgetExceeded(
            f"{number} memories cannot be distilled within {budget} tokens; the least is {minimum}",
            budget=budget,
            minimum_required=minimum,
            hint=f"give a budget of {minimum} tokens or more",
        )
    shown = _most(len(kept), lambda size: input_tokens + archive.tokens(size) <= budget)
    body = archive.body(shown)
    data = canonical.canonical(body)
    used = input_tokens + archive.tokens(shown)
    return DreamPlan(body, data, canonical.sha256(data), budget, used, tuple(fitting), changes)


@dataclass(frozen=True, slots=True)
class _Archive:
    """An archive of which as many memories are shown as fit."""

    sources: list[dict[str, str]]
    budget: int
    summary: str
    memories: list[dict[str, Any]]
    changes: list[dict[str, str]]

    def tokens(self, shown: int) -> int:
        """Tokens of what the archive says, as compact JSON."""
        said = {"changes": self.changes, "memories": self.memories[:shown], "summary": self.summary}
        return tokens.count(canonical.canonical(said).decode())

    def body(self, shown: int) -> dict[str, Any]:
        """The archive as api.md 2.2 shapes it."""
        return {
            "version": ARCHIVE_VERSION,
            "kind": "dream",
            "sources": self.sources,
            "budget": self.budget,
            "tokenizer": tokens.TOKENIZER,
            "summary": self.summary,
            "memories": self.memories[:shown],
            "changes": self.changes,
        }


def _gather(
    memories: Iterable[Memory],
    archives: Sequence[tuple[str, Mapping[str, Json]]],
    redact: Callable[[str], str],
    budget: int,
) -> tuple[list[Source] | None, int, int]:
    """The sources by address, the tokens of reading them, and their number.

    Once reading alone is beyond every budget, nothing is kept any more (None) and the rest is only counted: a million
    memories need no more room than the largest budget.
    """
    room = max(budget, MAX_TOKEN_BUDGET)
    sources: list[Source] | None = []
    total = number = 0
    reading = _sources(memories, archives, redact)
    while chunk := list(islice(reading, _CHUNK)):
        number += len(chunk)
        total += sum(tokens.count_items([_told(source) for source in chunk]))
        if sources is not None:
            sources = [*sources, *chunk] if total <= room else None
    if sources is not None:
        sources.sort(key=lambda source: (source.sha256, source.ref, source.seniority))
    return sources, total, number


def _sources(
    memories: Iterable[Memory], archives: Sequence[tuple[str, Mapping[str, Json]]], redact: Callable[[str], str]
) -> Iterator[Source]:
    for memory in memories:
        yield _source(
            memory.document,
            memory.type,
            {"content": memory.content, "tags": list(memory.tags), "title": memory.title, "fields": memory.fields},
            redact,
            person=memory.trust == "person",
            document=memory.document,
            owner=(memory.id, memory.created_at),
        )
    for address, body in archives:
        for entry in body["memories"]:
            yield _source(
                f"archives/{address}",
                MemoryType(entry["type"]),
                entry,
                redact,
                person=False,
                document=entry["document"],
            )


def _source(
    ref: str,
    kind: MemoryType,
    said: Mapping[str, Json],
    redact: Callable[[str], str],
    *,
    person: bool,
    document: str,
    owner: tuple[str, str] | None = None,
) -> Source:
    content = redact(said["content"])
    tags = tuple(redact(tag) for tag in said["tags"])
    title = None if said.get("title") is None else redact(said["title"])
    fields = [[redact(key), redact(value)] for key, value in said.get("fields", ())]
    hashed = {"type": kind.value, "content": content, "tags": list(tags), "title": title, "fields": fields}
    identity, seniority = (None, "") if owner is None else (owner[0], f"{owner[1]} {owner[0]}")
    return Source(
        ref=ref,
        sha256=canonical.sha256({**hashed, "person": person}),
        type=kind,
        content=content,
        tags=tags,
        title=title,
        document=document,
        person=person,
        id=identity,
        seniority=seniority,
    )


def _distinct(sources: Sequence[Source]) -> tuple[list[Source], list[Source]]:
    """The sources that say something of their own, most telling first, and those that another one covers."""
    board = Board()
    kept: list[Source] = []
    doubles: list[Source] = []
    for source in sorted(sources, key=_fullest):
        reading = read(f"{source.title or ''}\n{source.content}".strip())
        scope = scope_of(source.type, user=source.document == "facts/user.md")
        if not markers_removed(reading.text).strip():
            continue
        if any(
            relate(reading, board.items[place].reading, keyed=False) in {Relation.SAME, Relation.COVERED}
            for place in board.like(reading, scope)
        ):
            if source.type is not MemoryType.EPISODE:
                doubles.append(source)
            continue
        board.add(Item(scope, reading, source.tags, None))
        kept.append(source)
    kept.sort(key=lambda source: (_RANK.index(source.type), source.sha256, source.ref))
    doubles.sort(key=lambda source: (source.sha256, source.ref, source.seniority))
    return kept, doubles


def _fullest(source: Source) -> tuple[bool, int, bool, str, str, str]:
    """In which order sources are compared: a later one may be covered by an earlier one.

    Memories come before archives, so that only a memory makes another one superfluous; then long before short, a
    person's words before others, then by content, then the oldest.
    """
    size = len(split(source.content).sequence)
    return (source.id is None, -size, not source.person, source.sha256, source.ref, source.seniority)


def _entry(source: Source) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": source.type.value,
        "content": source.content,
        "tags": list(source.tags),
        "document": source.document,
    }
    return entry if source.title is None else {**entry, "title": source.title}


def _told(source: Source) -> str:
    """A source as it is read: one line."""
    return " ".join(" ".join((source.type.value, source.title or "", source.content, *source.tags)).split())


def _summary(sources: Sequence[Source]) -> str:
    """How many memories of each kind were read, and the words that most of them share."""
    kinds = Counter(source.type for source in sources)
    counted = ", ".join(
        f"{kinds[kind]} {_NAMES[kind] if kinds[kind] > 1 else kind.value}" for kind in _RANK if kinds[kind]
    )
    words: Counter[str] = Counter()
    for source in sources:
        words.update({word for word in split(markers_removed(source.content)).content if len(word) > 2})
    shared = sorted((word for word in words if words[word] > 1), key=lambda word: (-words[word], word))[:_TOPICS_MAX]
    return f"{counted}. About: {', '.join(shared)}." if shared else f"{counted}."


def _most(size: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `size` that fits; 0 fits."""
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
