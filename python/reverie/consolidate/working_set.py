"""The working set: the memories as a consolidation changes them, with an index to find similar ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from reverie.consolidate.opposite_wishes import Wish, parse_wish
from reverie.consolidate.retired_values import Retirement, parse_retirement
from reverie.consolidate.statements import Statement, parse_statement, says_resolved
from reverie.documents.project_document_paths import PERSON, memory_project
from reverie.models import Candidate, Memory, MemoryType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "SAID_IN",
    "VALUES",
    "WISHES",
    "Item",
    "WorkingSet",
    "is_older",
    "neighbours",
    "said_in",
    "scope_of",
    "scopes_of",
    "stated_at",
]

_SCOPES = (*(kind.value for kind in MemoryType if kind is not MemoryType.EPISODE), "fact:user")

WISHES = frozenset({MemoryType.PREFERENCE, MemoryType.MISTAKE})  # types that say what a person wants
VALUES = frozenset({MemoryType.FACT, MemoryType.PROCEDURE})  # types that name a value, which may be over
SAID_IN = "said_in"  # field of a person's wish's provenance: the project in whose session it was said
_POSTINGS_MAX = 1000  # items; a word that more of them have finds too much, as a stop word does
_SIMILAR_MAX = 64  # items that one statement is compared with, the most similar of those found
_LAST = ("\U0010ffff", "")  # sorts after every scope
_NOW = "9999"  # sorts after every time: a candidate without one is stated in this run


@dataclass(slots=True)
class Item:
    """A memory after the consolidation: an existing one, or a candidate that will be added."""

    scope: str
    statement: Statement  # its content
    tags: tuple[str, ...]
    stated_at: str | None
    memory: Memory | None = None  # the existing memory
    index: int | None = None  # the candidate that it was last written from
    candidate: Candidate | None = None  # set where it will be added
    alive: bool = True  # False: it will be deleted, or not be added
    written_now: bool = False  # a candidate of this run wrote it or is covered by it
    said_in: str = ""  # the project in whose session its content was said, for a wish of the person

    @property
    def content(self) -> str:
        """The text of the item."""
        return self.statement.text

    @property
    def owned_by_person(self) -> bool:
        """True if a person wrote the memory last, so that only a person may change it."""
        return self.memory is not None and self.memory.trust == "person"

    @property
    def project(self) -> str:
        """The project of the memory, empty for the person."""
        return self.scope.partition("@")[2]

    @property
    def type(self) -> MemoryType:
        """The type of the memory."""
        if self.memory is not None:
            return self.memory.type
        assert self.candidate is not None
        return self.candidate.type

    @property
    def wish(self) -> Wish | None:
        """The content read as a wish; None for a type that holds none."""
        return parse_wish(self.content, self.project) if self.scope.partition("@")[0] in WISHES else None

    @property
    def retirement(self) -> Retirement | None:
        """The value that the content says is over; None for a type that names none."""
        return parse_retirement(self.content) if self.scope.partition("@")[0] in VALUES else None

    def write(self, written: Candidate, index: int) -> None:
        """Note that a candidate gave this item its content: take the candidate's index and time, and add its tags."""
        self.tags = tuple(dict.fromkeys((*self.tags, *written.tags)))
        self.stated_at, self.index, self.written_now = written.at, index, True
        self.said_in = said_in(written.provenance)
        if self.candidate is not None:
            provenance = {key: value for key, value in self.candidate.provenance.items() if key != SAID_IN}
            if self.said_in:
                provenance[SAID_IN] = self.said_in
            self.candidate = replace(
                self.candidate, content=self.content, tags=self.tags, at=written.at, provenance=provenance
            )


@dataclass(slots=True)
class WorkingSet:
    """Every item of a consolidation, with inverted indexes over words, subjects and whole texts."""

    items: list[Item] = field(default_factory=list)
    # Sets of positions in insertion order: the keys of dictionaries without values. The order makes results repeatable.
    _postings: dict[str, dict[int, None]] = field(default_factory=dict)
    _by_text: dict[str, dict[int, None]] = field(default_factory=dict)
    _by_subject: dict[tuple[str, str], dict[int, None]] = field(default_factory=dict)
    _by_wish: dict[tuple[str, ...], dict[int, None]] = field(default_factory=dict)
    _resolving: dict[str, dict[int, None]] = field(default_factory=dict)  # by scope, what says that something is over
    _retiring: dict[str, dict[int, None]] = field(default_factory=dict)  # by scope, what says that a value is over
    _written: dict[int, None] = field(default_factory=dict)  # items of candidates, and those with other words since
    _first_with: dict[tuple[str, str], int] = field(default_factory=dict)  # scope and content at any time -> position

    _wanted: frozenset[str] | None = None  # the words that `similar` is asked for; None for any

    @classmethod
    def of_memories(cls, existing: Sequence[Memory], wanted: frozenset[str] | None = None) -> WorkingSet:
        """Return the working set of existing memories, without episodes, which have a rule of their own.

        With `wanted` it is only asked what is similar to statements of these words, and only they are indexed.
        """
        working = cls(_wanted=wanted)
        for memory in existing:
            if memory.type is not MemoryType.EPISODE:
                user = memory.document == "facts/user.md"
                scope = scope_of(memory.type, user=user, project=memory_project(memory))
                statement = parse_statement(memory.content)
                said = said_in(memory.provenance)
                working.add(Item(scope, statement, memory.tags, stated_at(memory), memory=memory, said_in=said))
        return working

    def add(self, item: Item) -> None:
        """Add an item to the working set, and index it by its content."""
        position = len(self.items)
        self.items.append(item)
        self._index(position)
        if item.memory is None:
            self._written[position] = None
        else:
            self._first_with.setdefault((item.scope, item.content), position)

    def rewrite(self, position: int, statement: Statement) -> None:
        """Give the item at `position` another content, and index it by that alone."""
        for positions in self._index_sets(position):
            positions.pop(position, None)
        self.items[position].statement = statement
        self._index(position)
        self._written[position] = None

    def _index(self, position: int) -> None:
        """Enter the item at `position` into the indexes."""
        for positions in self._index_sets(position):
            positions[position] = None

    def _index_sets(self, position: int) -> Iterator[dict[int, None]]:
        """Yield the sets of positions, one per index entry, that an item with its content is in."""
        item = self.items[position]
        statement = item.statement
        yield self._by_text.setdefault(statement.normalized, {})
        if statement.subject is not None:
            yield self._by_subject.setdefault((item.scope, statement.subject[0]), {})
        for word in statement.words if self._wanted is None else statement.words & self._wanted:
            yield self._postings.setdefault(word, {})
        if says_resolved(statement):
            yield self._resolving.setdefault(item.scope, {})
        if item.retirement is not None:
            yield self._retiring.setdefault(item.scope, {})
        wish = item.wish
        for key in wish.index_keys() if wish is not None else ():
            yield self._by_wish.setdefault(key, {})

    def as_stored(self, candidates: Sequence[Candidate]) -> None:
        """Give every item the time and tags that will be stored for it, so that the next consolidation sees the same.

        Then a pass that changes nothing is one that the next consolidation repeats, so that it changes nothing either.
        """
        self._restore_what_is_added_again()
        additions: dict[int, Item] = {}
        for _, item in self._written_alive():
            if item.memory is None:
                assert item.candidate is not None
                assert item.index is not None
                item.stated_at = item.candidate.at or _NOW
                # One candidate is one memory: of two items that were last written from it, the later one is stored.
                if item.index in additions:
                    additions[item.index].alive = False
                additions[item.index] = item
            elif item.content == item.memory.content:  # kept, and with it the time and the tags that are stored
                item.stated_at, item.tags = stated_at(item.memory), item.memory.tags
                item.said_in = said_in(item.memory.provenance)
            elif item.index is not None:
                item.stated_at = candidates[item.index].at or _NOW
            else:  # merged by `capacity.shrink`, of words that were stated before
                item.stated_at = item.memory.provenance.get("at") or _NOW

    def _restore_what_is_added_again(self) -> None:
        """If a memory was dropped and the same content added again, keep the memory with its id instead.

        Example: one candidate says that a mistake is over, which drops it, and another one merges to the same mistake.
        """
        for position, item in self._written_alive():
            earlier = self._first_with.setdefault((item.scope, item.content), position)
            kept = self.items[earlier]
            if item.memory is None and not kept.alive:
                item.alive, kept.alive = False, True
                self.rewrite(earlier, item.statement)
                kept.index = item.index
                kept.candidate = None if kept.candidate is None else item.candidate

    def alive(self) -> Iterator[tuple[int, Item]]:
        """Yield every item that will be stored, with its position."""
        return ((position, item) for position, item in enumerate(self.items) if item.alive)

    def identical(self, statement: Statement, project: str, session_project: str = PERSON) -> int | None:
        """Return the position of an item of any type with the same normalized text, a person's first; or None.

        Only items of the project, and those that concern the person, count: what another project says is not recalled
        in this one. A wish of the person is said already where the project of its session has it.
        """
        projects = {project, session_project, PERSON}
        matches = (
            position
            for position in self._by_text.get(statement.normalized, ())
            if self._has_text(position, statement.normalized) and self.items[position].project in projects
        )
        return min(matches, default=None, key=lambda position: (not self.items[position].owned_by_person, position))

    def similar(self, statement: Statement, scope: str) -> list[int]:
        """Return positions of items in `scope` that share words or the subject with a statement, most similar first."""
        shared: Counter[int] = Counter()
        for word in statement.words:
            postings = self._postings.get(word, ())
            if len(postings) <= _POSTINGS_MAX:
                shared.update(dict.fromkeys(postings, 1))
        if statement.subject is not None:
            shared.update(dict.fromkeys(self._by_subject.get((scope, statement.subject[0]), ()), 1))
        matches = [
            position for position in shared if self.items[position].alive and self.items[position].scope == scope
        ]
        matches.sort(key=lambda position: (-shared[position], self.items[position].statement.normalized, position))
        return matches[:_SIMILAR_MAX]

    def has_resolving(self, scope: str) -> bool:
        """Return True if an item of a scope, removed or not, says that a problem is resolved."""
        return bool(self._resolving.get(scope))

    def has_retiring(self, scope: str) -> bool:
        """Return True if an item of a scope says that a value is over."""
        return bool(self._retiring.get(scope))

    def opposed(self, wish: Wish, scopes: Collection[str]) -> list[int]:
        """Return positions of items of the scopes whose wish may exclude another one, in order."""
        positions = {position for key in wish.index_keys() for position in self._by_wish.get(key, ())}
        alive = [at for at in positions if self.items[at].alive and self.items[at].scope in scopes]
        return sorted(alive)[:_SIMILAR_MAX]

    def fingerprint(self) -> tuple[int, int]:
        """Return count and hash sum of the items that differ from the store; if equal, a pass has changed nothing.

        Only valid inside one run: Python's hash of a text differs from process to process.
        """
        hashes = [hash(position) for position, item in enumerate(self.items) if not item.alive]
        hashes += [
            hash((position, item.content, item.stated_at))
            for position, item in self._written_alive()
            if item.memory is None or (item.content, item.stated_at) != (item.memory.content, stated_at(item.memory))
        ]
        return len(hashes), sum(hashes)

    def _written_alive(self) -> list[tuple[int, Item]]:
        """Return the items that a run has added or written and that will be stored, in order."""
        return [(at, self.items[at]) for at in sorted(self._written) if self.items[at].alive]

    def contents(self) -> tuple[list[tuple[str, str]], list[str]]:
        """Return all contents to be stored in two lists: sorted by scope and text, and in the order of the items.

        With an end that sorts last, so that items that two states share do not decide which one is less.
        """
        contents = [(item.scope, item.content) for _, item in self.alive()]
        return [*sorted(contents), _LAST], [content for _, content in contents]

    def _has_text(self, position: int, normalized: str) -> bool:
        item = self.items[position]
        return item.alive and item.statement.normalized == normalized


def neighbours(
    candidates: Iterable[Candidate], statements: Iterable[Statement], existing: Sequence[Memory]
) -> list[Memory]:
    """Return the existing memories that share a word, text or wish with a candidate and its project, in their order.

    They share a word that carries meaning, the subject, the text or what is wished with a candidate, and are of a
    candidate's project or of the person: all that `identical`, `similar` and `opposed` can find for one. `statements`
    are those of the candidates.
    """
    projects = {PERSON}
    words: set[str] = set()
    texts: set[str] = set()
    keys: set[tuple[str, ...]] = set()
    for candidate, statement in zip(candidates, statements, strict=True):
        projects |= {candidate.project, said_in(candidate.provenance)}
        words |= statement.words
        texts.add(statement.normalized)
        keys.update(_keys(candidate.type, statement, candidate.project))
    memories = []
    for memory in existing:
        if memory_project(memory) not in projects:
            continue
        statement = parse_statement(memory.content)
        if (
            not words.isdisjoint(statement.words)
            or statement.normalized in texts
            or (keys and not keys.isdisjoint(_keys(memory.type, statement, memory_project(memory))))
        ):
            memories.append(memory)
    return memories


def _keys(kind: MemoryType, statement: Statement, project: str) -> Iterator[tuple[str, ...]]:
    """Yield the subject of a statement, and the keys of the wish that it is."""
    if statement.subject is not None:
        yield ("subject", statement.subject[0])
    wish = parse_wish(statement.text, project) if kind in WISHES else None
    if wish is not None:
        yield from wish.index_keys()


def scope_of(kind: MemoryType, *, user: bool, project: str) -> str:
    """Return the scope in which items are compared, type and project: `fact@harbour`, `fact:user`, `mistake`.

    It is the type, `:user` for a fact about the user, and the project, if it belongs to one.
    """
    scope = "fact:user" if kind is MemoryType.FACT and user else kind.value
    return f"{scope}@{project}" if project else scope


def scopes_of(project: str) -> list[str]:
    """Return every scope of a project, or of the person."""
    return [f"{scope}@{project}" if project else scope for scope in _SCOPES]


def said_in(provenance: Mapping[str, Any]) -> str:
    """Return the project in whose session the content of a person's wish was said; "" where that is unknown.

    `provenance` is that of a candidate or a memory; of a memory the last of its updates counts.
    """
    updates = provenance.get("updates")
    source = updates[-1] if updates else provenance
    project = source.get(SAID_IN)
    return project if isinstance(project, str) else PERSON


def stated_at(memory: Memory) -> str | None:
    """Return when the content of a memory was stated: the time of the candidate behind it, else of its last change."""
    at = memory.provenance.get("at")
    return at if isinstance(at, str) else memory.updated_at


def is_older(one: str | None, other: str | None) -> bool:
    """Return True if `one` is an earlier time than `other`; an unknown time is not earlier."""
    return one is not None and other is not None and one < other
