"""The plan of a dream: what is new since the last one, distilled under a token budget into one reproducible archive.

An archive is a function of its sources and its budget alone: it contains no time, no id and no order of reading, so the
same memories give the same bytes and the same address everywhere. Inside it a source is named by its SHA-256.

Counted against the budget are the tokens of every source as it is read, and of the archive's summary, memories and
changes as compact JSON. All sources must be read; of the memories in the archive, the least useful are left out first.
`plan_dream_of_oldest_memories_within_budget` chooses the sources where there are more than a budget can hold.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from reverie import canonical_json, count_and_truncate_tokens
from reverie.consolidate.statements import Relation, parse_statement, relate
from reverie.consolidate.working_set import NOW, Item, WorkingSet, scope_of
from reverie.documents.project_document_paths import memory_project
from reverie.models import Change, Delete, Memory, MemoryType, Update
from reverie.sentence_word_analysis import analyze, strip_markers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "ARCHIVE_VERSION",
    "Archive",
    "DreamPlan",
    "Source",
    "counted_sources",
    "distilled",
    "fitted",
]

ARCHIVE_VERSION = 1  # of an archive's JSON
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
_NAMES = {kind: f"{kind.value}s" for kind in MemoryType}


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


@dataclass(frozen=True, slots=True)
class DreamPlan:
    """The result of a dream: `body` is the archive, `data` its canonical bytes and `sha256` their address.

    `changes` are for the memories themselves and name them by id; `sources` are in the order of the archive.
    """

    body: dict[str, Any]
    data: bytes
    sha256: str
    budget: int
    tokens_used: int
    sources: tuple[Source, ...]
    changes: tuple[Change, ...]


def distilled(sources: Iterable[Source], *, budget: int, redact: Callable[[str], str]) -> Archive:
    """Return the archive of all distinct sources, before some are left out to fit the budget."""
    by_address = sorted(sources, key=_address)
    kept, duplicates, tags = _distinct(by_address)
    deletable = [source for source in duplicates if not source.is_persons]
    return Archive(
        read=tuple(by_address),
        deletes=(*_tagged(kept, tags), *(Delete(source.id) for source in deletable)),
        budget=budget,
        summary=redact(_summary(by_address)),
        memories=[_entry(source) for source in kept],
        changes=[{"action": "DELETE", "id": source.sha256} for source in deletable],
    )


def fitted(archive: Archive, input_tokens: int) -> DreamPlan:
    """Return the plan with as many memories as the budget has room for; reading the sources took `input_tokens`."""
    budget = archive.budget
    shown = _largest(len(archive.memories), lambda size: input_tokens + archive.tokens(size) <= budget)
    body = archive.body(shown)
    data = canonical_json.canonical(body)
    used = input_tokens + archive.tokens(shown)
    return DreamPlan(body, data, canonical_json.sha256(data), budget, used, archive.read, archive.deletes)


@dataclass(frozen=True, slots=True)
class Archive:
    """The result of a dream: summary, changes, and memories in order of usefulness, of which the first are shown.

    `read` are its sources by address; `deletes` are the changes for the memories themselves, and updates of those that
    get the tags of a deleted one; `changes` are the deletions as the archive names them.
    """

    read: tuple[Source, ...]
    deletes: tuple[Change, ...]
    budget: int
    summary: str
    memories: list[dict[str, Any]]
    changes: list[dict[str, str]]

    def tokens(self, shown: int) -> int:
        """Return the tokens of the archive's output with `shown` memories, as compact JSON."""
        output = {"changes": self.changes, "memories": self.memories[:shown], "summary": self.summary}
        return count_and_truncate_tokens.count(canonical_json.canonical(output).decode())

    def body(self, shown: int) -> dict[str, Any]:
        """Return the archive with `shown` memories in the form of `archives/<sha256>.json`."""
        return {
            "version": ARCHIVE_VERSION,
            "kind": "dream",
            "sources": [{"ref": source.memory.document, "sha256": source.sha256} for source in self.read],
            "budget": self.budget,
            "tokenizer": count_and_truncate_tokens.TOKENIZER,
            "summary": self.summary,
            "memories": self.memories[:shown],
            "changes": self.changes,
        }


def counted_sources(memories: Iterable[Memory], redact: Callable[[str], str]) -> Iterator[tuple[Source, int]]:
    """Yield the memories as sources, each with the tokens of reading it."""
    reading = (_source(memory, redact) for memory in memories)
    while chunk := list(islice(reading, _CHUNK)):
        yield from zip(chunk, count_and_truncate_tokens.count_items([_line(source) for source in chunk]), strict=True)


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


def _address(source: Source) -> tuple[str, str, str, str]:
    """Return the sort key by address; sources with equal content are ordered by document, the oldest first."""
    memory = source.memory
    return source.sha256, memory.document, memory.created_at, memory.id


def _tagged(kept: Iterable[Source], tags: Mapping[str, tuple[str, ...]]) -> Iterator[Update]:
    """Yield the updates that give memories the tags of deleted ones with the same words, `tags` by the memory's id."""
    for source in kept:
        if source.id in tags and source.is_unchanged and not source.is_persons:
            joined = tuple(dict.fromkeys((*source.memory.tags, *tags[source.id])))
            if joined != source.memory.tags:
                yield Update(source.id, source.memory.content, joined)


def _distinct(sources: Sequence[Source]) -> tuple[list[Source], list[Source], dict[str, tuple[str, ...]]]:
    """Return the sources that no other one covers, most useful first, the duplicates, and tags of identical ones by id.

    A long one is compared before a short one, because it may cover the short one and not the reverse; a person's before
    others. Episodes are left out of the archive as well where another covers them, but are never deleted.
    """
    tags: dict[str, tuple[str, ...]] = {}
    working = WorkingSet()
    kept: list[Source] = []
    duplicates: list[Source] = []
    sizes = {source.id: len(analyze(source.memory.content).sequence) for source in sources}
    for source in sorted(sources, key=lambda one: (-sizes[one.id], not one.is_persons, _address(one))):
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
            same = kept[covering[1]].id
            tags[same] = (*tags.get(same, ()), *memory.tags)
        if memory.type is not MemoryType.EPISODE:
            duplicates.append(source)
    kept.sort(key=lambda source: (_RANK.index(source.memory.type), _address(source)))
    return kept, sorted(duplicates, key=_address), tags


def _entry(source: Source) -> dict[str, Any]:
    """Return a source as the archive lists it."""
    memory = source.memory
    entry: dict[str, Any] = {
        "type": memory.type.value,
        "content": memory.content,
        "tags": list(memory.tags),
        "document": memory.document,
    }
    optional = {"title": memory.title, "project": memory_project(memory) or None}
    return entry | {key: value for key, value in optional.items() if value is not None}


def _line(source: Source) -> str:
    """Return a source on one line: type, title, content and tags."""
    memory = source.memory
    return " ".join(" ".join((memory.type.value, memory.title or "", memory.content, *memory.tags)).split())


def _summary(sources: Sequence[Source]) -> str:
    """Return one line: how many memories of each type were read, and the words that most of them share.

    Example: "3 mistakes, 1 fact. About: login, test."
    """
    kinds = Counter(source.memory.type for source in sources)
    counted = ", ".join(
        f"{kinds[kind]} {_NAMES[kind] if kinds[kind] > 1 else kind.value}" for kind in _RANK if kinds[kind]
    )
    words: Counter[str] = Counter()
    for source in sources:
        words.update({word for word in analyze(strip_markers(source.memory.content)).content if len(word) > 2})
    shared = sorted((word for word in words if words[word] > 1), key=lambda word: (-words[word], word))[:_TOPICS_MAX]
    return f"{counted}. About: {', '.join(shared)}." if shared else f"{counted}."


def _largest(size: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number up to `size` that fits, by bisection; 0 fits."""
    low, high = 0, size
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
