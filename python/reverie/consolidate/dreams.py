"""The plan of a dream: what is new since the last one, distilled under a token budget into one reproducible archive.

An archive is a function of its sources and its budget alone: it contains no time, no id and no order of reading, so the
same memories give the same bytes and the same address everywhere. Inside it a source is named by its SHA-256.

Counted against the budget are the tokens of every source as it is read, and of the archive's summary, memories and
changes as compact JSON. All sources must be read; of the memories in the archive, the least useful are left out first.

A backlog can be larger than any budget: 1,501 memories need 184,655 tokens where a dream may use 100,000. A dream that
insisted on all of them would fail every night, so it takes the oldest ones and leaves the rest to the next dreams.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from reverie import canonical_json, tokenizer
from reverie.consolidate.statements import Relation, parse_statement, relate
from reverie.consolidate.working_set import NOW, Item, WorkingSet, scope_of
from reverie.documents.layout import memory_project
from reverie.errors import TokenBudgetExceeded
from reverie.models import Change, Delete, Memory, MemoryType, Update
from reverie.words import analyze, strip_markers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ARCHIVE_VERSION = 1  # of an archive's JSON
# Memories that a dream takes at least. With fewer a backlog shrinks slower than it grows: an import of one long
# session brings about that many in a day.
BATCH_MIN = 20
_CHUNK = 1000  # sources whose tokens are counted in one call
_TOPICS_MAX = 8  # words of the summary
# The most useful types come first in an archive and are left out last: a mistake prevents a failure, an episode only
# tells of one.
_RANK = (
    MemoryType.MISTAKE,
    MemoryType.PREFERENCE,
    MemoryType.PROCEDURE,
    MemoryType.FACT,
    MemoryType.SKILL,
    MemoryType.OBSERVATION,
    MemoryType.EPISODE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """One memory that a dream reads: redacted, with its content address."""

    memory: Memory
    sha256: str
    is_unchanged: bool  # the redactor has left its words as they are

    @property
    def id(self) -> str:
        """The id of the memory."""
        return self.memory.id

    @property
    def is_persons(self) -> bool:
        """True if a person wrote the memory last, so that it is not changed."""
        return self.memory.trust == "person"

    @property
    def address(self) -> tuple[str, str, str, str]:
        """The sort key; sources with equal content are ordered by document, the oldest first."""
        return self.sha256, self.memory.document, self.memory.created_at, self.memory.id


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """The result of a dream: `body` is the archive, `data` its canonical bytes and `sha256` their address.

    `changes` are for the memories themselves and name them by id; `sources` are in the order of the archive.
    """

    body: dict[str, Any]
    data: bytes
    sha256: str
    tokens_used: int
    sources: tuple[Source, ...]
    changes: tuple[Change, ...]


class DreamBatch(NamedTuple):
    """The plan of a dream about the oldest memories, the ids it takes, and the ids of oversized memories.

    `taken` and `oversized` are ids in the order of the memories. An oversized memory needs more than the largest budget
    by itself; it is passed over. `plan` is None where there are no memories.
    """

    plan: ArchivePlan | None
    taken: tuple[str, ...] = ()
    oversized: tuple[str, ...] = ()


class Archive:
    """The archive of sources, before some memories are left out to fit the budget; these are the least useful."""

    def __init__(self, sources: Iterable[Source], redact: Callable[[str], str]) -> None:
        """Distil the sources: what one says that another covers is left out, and deleted unless it is an episode."""
        self.read = tuple(sorted(sources, key=lambda source: source.address))
        kept, duplicates, tags = _distinct(self.read)
        deletable = [source for source in duplicates if not source.is_persons]
        self.changes: tuple[Change, ...] = (*_tagged(kept, tags), *(Delete(source.id) for source in deletable))
        self.memories = [_entry(source.memory) for source in kept]
        self._told = {
            "summary": redact(_summary(self.read)),
            "changes": [{"action": "DELETE", "id": source.sha256} for source in deletable],
        }

    def tokens(self, shown: int) -> int:
        """Return the tokens of the archive's output with `shown` memories, as compact JSON."""
        output = self._told | {"memories": self.memories[:shown]}
        return tokenizer.count(canonical_json.canonical(output).decode())

    def plan(self, budget: int, input_tokens: int) -> ArchivePlan:
        """Return the plan with as many memories as fit `budget`; reading the sources took `input_tokens`."""
        shown = bisect_right(range(1, len(self.memories) + 1), budget - input_tokens, key=self.tokens)
        body = self._told | {
            "version": ARCHIVE_VERSION,
            "kind": "dream",
            "sources": [{"ref": source.memory.document, "sha256": source.sha256} for source in self.read],
            "budget": budget,
            "tokenizer": tokenizer.TOKENIZER,
            "memories": self.memories[:shown],
        }
        data = canonical_json.canonical(body)
        used = input_tokens + self.tokens(shown)
        return ArchivePlan(body, data, canonical_json.sha256(data), used, self.read, self.changes)


def plan_oldest(memories: Sequence[Memory], *, budget: int, maximum: int, redact: Callable[[str], str]) -> DreamBatch:
    """Return the plan of a dream about all `memories` (oldest first), or about the oldest ones that fit `budget`.

    All are taken where reading them leaves room for the shortest archive. Otherwise as many are taken as fit together
    with their place in the archive, so that a batch is not read in vain; at least `BATCH_MIN`, even if the archive
    then has to leave some out. `maximum` is the largest budget that a caller may give.

    Raises TokenBudgetExceeded where `budget` cannot hold the least batch. `minimum_required` is at most `maximum` and
    works when it is given; only where every memory is oversized it is what the maximum would have to be.
    """
    if not memories:
        return DreamBatch(None)
    sources, sizes, oversized, complete = _usable(memories, budget, maximum, redact)
    if not sources:
        name, needed = min(oversized, key=lambda item: item[1])
        raise TokenBudgetExceeded(
            f"{name} alone needs {needed} tokens, and a dream may use {maximum}",
            budget=maximum,
            minimum_required=needed,
            hint=f"shorten the memory, or set dream.maxTokenBudget to {needed} or more",
        )
    reading = [0, *accumulate(sizes)]

    @cache
    def archive(number: int) -> Archive:
        return Archive(sources[:number], redact)

    def least(number: int) -> int:
        return reading[number] + archive(number).tokens(0)

    def whole(number: int) -> int:
        return reading[number] + archive(number).tokens(number)

    number = len(sources)
    if not complete or reading[number] > budget or least(number) > budget:
        floor = min(BATCH_MIN, number)
        while floor > 1 and least(floor) > maximum:
            floor -= 1
        if least(floor) > budget:
            raise TokenBudgetExceeded(
                f"the oldest {floor} memories cannot be distilled within {budget} tokens; the least is {least(floor)}",
                budget=budget,
                minimum_required=least(floor),
                hint=f"give a budget of {least(floor)} tokens or more",
            )
        number = floor + bisect_right(range(floor + 1, bisect_right(reading, budget)), budget, key=whole)
    return DreamBatch(
        archive(number).plan(budget, reading[number]),
        tuple(source.id for source in sources[:number]),
        tuple(name for name, _ in oversized),
    )


def _usable(
    memories: Sequence[Memory], budget: int, maximum: int, redact: Callable[[str], str]
) -> tuple[list[Source], list[int], list[tuple[str, int]], bool]:
    """Return sources, the tokens of each, oversized memories, and True if all memories were looked at.

    Reading ends where neither the budget nor the least batch can hold more: of a million memories that wait, a few
    thousand are looked at. An oversized memory is returned by its id with the budget that it needs.
    """
    sources: list[Source] = []
    sizes: list[int] = []
    oversized: list[tuple[str, int]] = []
    total = 0
    for source, size in counted_sources(memories, redact):
        if total > maximum or (total > budget and len(sources) >= BATCH_MIN):
            return sources, sizes, oversized, False
        if size > maximum // 2:  # the archive of one memory is shorter than its text
            alone = size + Archive([source], redact).tokens(0)
            if alone > maximum:
                oversized.append((source.id, alone))
                continue
        sources.append(source)
        sizes.append(size)
        total += size
    return sources, sizes, oversized, True


def counted_sources(memories: Iterable[Memory], redact: Callable[[str], str]) -> Iterator[tuple[Source, int]]:
    """Yield the memories as sources, each with the tokens of reading it."""
    reading = (_source(memory, redact) for memory in memories)
    while chunk := list(islice(reading, _CHUNK)):
        yield from zip(chunk, tokenizer.count_items([_line(one.memory) for one in chunk]), strict=True)


def _source(memory: Memory, redact: Callable[[str], str]) -> Source:
    content, tags = redact(memory.content), tuple(redact(tag) for tag in memory.tags)
    title = None if memory.title is None else redact(memory.title)
    fields = tuple((redact(key), redact(text)) for key, text in memory.fields)
    hashed: dict[str, Any] = {"type": memory.type.value, "content": content, "tags": list(tags), "title": title}
    hashed |= {"fields": [list(pair) for pair in fields], "person": memory.trust == "person"}
    return Source(
        replace(memory, content=content, tags=tags, title=title, fields=fields),
        canonical_json.sha256(hashed),
        (content, tags) == (memory.content, memory.tags),
    )


def _line(memory: Memory) -> str:
    return " ".join(" ".join((memory.type.value, memory.title or "", memory.content, *memory.tags)).split())


def _tagged(kept: Iterable[Source], tags: dict[str, list[str]]) -> Iterator[Update]:
    """Yield the updates that give memories the tags of deleted ones with the same words, `tags` by the memory's id."""
    for source in kept:
        joined = tuple(dict.fromkeys((*source.memory.tags, *tags[source.id])))
        if joined != source.memory.tags and source.is_unchanged and not source.is_persons:
            yield Update(source.id, source.memory.content, joined)


def _distinct(sources: Sequence[Source]) -> tuple[list[Source], list[Source], dict[str, list[str]]]:
    """Return the sources that no other one covers, most useful first, the duplicates, and tags of identical ones by id.

    A long one is compared before a short one, because it may cover the short one and not the reverse; a person's before
    others. Episodes are left out of the archive as well where another covers them, but are never deleted.
    """
    tags: dict[str, list[str]] = defaultdict(list)
    working = WorkingSet()
    kept: list[Source] = []
    duplicates: list[Source] = []
    sizes = {source.id: len(analyze(source.memory.content).sequence) for source in sources}
    for source in sorted(sources, key=lambda one: (-sizes[one.id], not one.is_persons, one.address)):
        memory = source.memory
        statement = parse_statement(f"{memory.title or ''}\n{memory.content}".strip())
        scope = scope_of(memory.type, user=memory.document == "facts/user.md", project=memory_project(memory))
        if not strip_markers(statement.text).strip():
            continue  # everything in it was redacted
        relations = (
            (relate(statement, working.items[position].statement, keyed=False), position)
            for position in working.similar(statement, scope)
        )
        covering = next((one for one in relations if one[0] in {Relation.SAME, Relation.COVERED}), None)
        if covering is None:
            working.add(Item(scope, statement, memory.tags, NOW))
            kept.append(source)
            continue
        if covering[0] is Relation.SAME and not source.is_persons:
            tags[kept[covering[1]].id] += memory.tags
        if memory.type is not MemoryType.EPISODE:
            duplicates.append(source)
    kept.sort(key=lambda source: (_RANK.index(source.memory.type), source.address))
    return kept, sorted(duplicates, key=lambda source: source.address), tags


def _entry(memory: Memory) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": memory.type.value,
        "content": memory.content,
        "tags": list(memory.tags),
        "document": memory.document,
    }
    optional = {"title": memory.title, "project": memory_project(memory) or None}
    return entry | {key: value for key, value in optional.items() if value is not None}


def _summary(sources: Sequence[Source]) -> str:
    """Return one line: how many memories of each type were read, and the words that most of them share.

    Example: "3 mistakes, 1 fact. About: login, test."
    """
    kinds = Counter(source.memory.type for source in sources)
    counted = ", ".join(f"{kinds[kind]} {kind.value}{'s'[: kinds[kind] > 1]}" for kind in _RANK if kinds[kind])
    words: Counter[str] = Counter()
    for source in sources:
        words.update({word for word in analyze(strip_markers(source.memory.content)).content if len(word) > 2})
    shared = sorted((word for word in words if words[word] > 1), key=lambda word: (-words[word], word))[:_TOPICS_MAX]
    return f"{counted}. About: {', '.join(shared)}." if shared else f"{counted}."
