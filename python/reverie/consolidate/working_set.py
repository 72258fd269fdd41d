"""The memories as a consolidation changes them, with indexes to find those that say the same or something similar."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reverie.consolidate.statements import Statement, parse_statement
from reverie.documents.layout import PERSON, memory_project
from reverie.doubts import said_at
from reverie.models import Memory, MemoryType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

NOW = "9999"  # sorts after every time: a candidate without one is stated in this run
_POSTINGS_MAX = 1000  # items; a word that more of them have finds too much, as a stop word does
_SIMILAR_MAX = 64  # items that one statement is compared with, the most similar of those found


@dataclass(slots=True)
class Item:
    """A memory after the consolidation: an existing one, or a candidate that will be added."""

    scope: str
    statement: Statement  # its content
    tags: tuple[str, ...]
    stated_at: str
    memory: Memory | None = None  # the existing memory
    index: int | None = None  # the candidate that it was last written from
    is_alive: bool = True  # False: it will be deleted
    is_touched: bool = False  # a candidate of this run is in it, or was left out because of it

    @property
    def content(self) -> str:
        """The text of the item."""
        return self.statement.text

    @property
    def is_persons(self) -> bool:
        """True if a person wrote the memory last, so that only a person may change it."""
        return self.memory is not None and self.memory.trust == "person"

    @property
    def project(self) -> str:
        """The project of the memory, empty for the person."""
        return self.scope.partition("@")[2]


@dataclass(slots=True)
class WorkingSet:
    """Every item of a consolidation, with inverted indexes over words, subjects and whole texts."""

    items: list[Item] = field(default_factory=list)
    # Sets of positions in insertion order: the keys of dictionaries without values. The order makes results repeatable.
    _sets: defaultdict[tuple[str, str, str], dict[int, None]] = field(default_factory=lambda: defaultdict(dict))
    _wanted: frozenset[str] | None = None  # the words that `similar` is asked for; None for any

    @classmethod
    def of_memories(
        cls, existing: Iterable[Memory], asked: Collection[Statement] | None = None, projects: Collection[str] = ()
    ) -> WorkingSet:
        """Return the working set of existing memories, without episodes, which have a rule of their own.

        With `asked` it is only asked about statements of these words, of these projects and the person: then nothing
        else is in it, or indexed.
        """
        working = cls()
        if asked is not None:
            working._wanted = frozenset().union(*(statement.words for statement in asked))
        for memory in existing:
            project = memory_project(memory)
            if memory.type is MemoryType.EPISODE or (asked is not None and project not in {PERSON, *projects}):
                continue
            scope = scope_of(memory.type, user=memory.document == "facts/user.md", project=project)
            statement = parse_statement(memory.content)
            working.add(Item(scope, statement, memory.tags, stated_at(memory), memory=memory))
        return working

    def add(self, item: Item) -> None:
        """Add an item to the working set, and index it by its content."""
        self.items.append(item)
        for key in self._keys(item):
            self._sets[key][len(self.items) - 1] = None

    def rewrite(self, position: int, statement: Statement) -> None:
        """Give the item at `position` another content, and index it by that alone."""
        item = self.items[position]
        for key in self._keys(item):
            self._sets[key].pop(position, None)
        item.statement = statement
        for key in self._keys(item):
            self._sets[key][position] = None

    def _keys(self, item: Item) -> Iterator[tuple[str, str, str]]:
        statement = item.statement
        yield "text", "", statement.normalized
        if statement.subject is not None:
            yield "subject", item.scope, statement.subject[0]
        for word in statement.words if self._wanted is None else statement.words & self._wanted:
            yield "word", item.scope, word

    def alive(self) -> Iterator[tuple[int, Item]]:
        """Yield every item that will be stored, with its position."""
        return ((position, item) for position, item in enumerate(self.items) if item.is_alive)

    def identical(self, statement: Statement, project: str) -> int | None:
        """Return the position of an item of any type with the same normalized text, a person's first; or None.

        Only items of the project, and those that concern the person, count: what another project says is not recalled
        in this one.
        """
        found = self._sets.get(("text", "", statement.normalized), {})
        matches = [at for at in found if self.items[at].is_alive and self.items[at].project in {project, PERSON}]
        return min(matches, default=None, key=lambda at: (not self.items[at].is_persons, at))

    def similar(self, statement: Statement, scope: str) -> list[int]:
        """Return positions of items in `scope` that share words or the subject with a statement, most similar first."""
        shared: Counter[int] = Counter()
        for word in statement.words:
            postings = self._sets.get(("word", scope, word), {})
            if len(postings) <= _POSTINGS_MAX:
                shared.update(postings.keys())
        if statement.subject is not None:
            shared.update(self._sets.get(("subject", scope, statement.subject[0]), {}).keys())
        matches = [position for position in shared if self.items[position].is_alive]
        matches.sort(key=lambda position: (-shared[position], self.items[position].statement.normalized, position))
        return matches[:_SIMILAR_MAX]


def scope_of(kind: MemoryType, *, user: bool, project: str) -> str:
    """Return the scope in which items are compared, type and project: `fact@harbour`, `fact:user`, `mistake`."""
    scope = "fact:user" if kind is MemoryType.FACT and user else kind.value
    return f"{scope}@{project}" if project else scope


def stated_at(memory: Memory) -> str:
    """Return when the content of a memory was said: by a person or in the candidate behind it; else its last change."""
    return said_at(memory.provenance) or memory.updated_at
