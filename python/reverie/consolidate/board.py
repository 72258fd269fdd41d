"""The memory as it stands while a consolidation is decided, with a quick way to the items like a statement."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reverie.consolidate.relation import Reading, read
from reverie.models import Candidate, Memory, MemoryType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["SCOPES", "Board", "Item", "said_at", "scope_of"]

SCOPES = (*(kind.value for kind in MemoryType if kind is not MemoryType.EPISODE), "fact:user")
"""Every scope that items are compared in."""

_POSTINGS_MAX = 1000  # a word that so many items share tells nothing apart
_LOOKALIKES_MAX = 64
_NOW = "9999"  # later than every time of a candidate


@dataclass(slots=True)
class Item:
    """One memory to be: an existing one, or a candidate that is going to be added."""

    scope: str  # only items of one scope are compared
    reading: Reading  # its content, read
    tags: tuple[str, ...]
    said_at: str | None
    memory: Memory | None = None  # the existing memory it is
    index: int | None = None  # the candidate that it was last written from
    candidate: Candidate | None = None  # set when it is to be added
    alive: bool = True
    touched: bool = False  # a candidate of this run wrote it or is covered by it

    @property
    def content(self) -> str:
        """What it says."""
        return self.reading.text

    @property
    def fixed(self) -> bool:
        """Whether only a person may change it."""
        return self.memory is not None and self.memory.trust == "person"

    @property
    def type(self) -> MemoryType:
        """The kind of memory it is."""
        if self.memory is not None:
            return self.memory.type
        assert self.candidate is not None
        return self.candidate.type

    def write(self, tags: Iterable[str], index: int, at: str | None) -> None:
        """Takes over from a candidate what goes with its words; the tags of both stay."""
        self.tags = tuple(dict.fromkeys((*self.tags, *tags)))
        self.said_at, self.index, self.touched = at, index, True
        if self.candidate is not None:
            self.candidate = replace(self.candidate, content=self.content, tags=self.tags, at=at)


@dataclass(slots=True)
class Board:
    """Every item of a consolidation, with an inverted index over the words of each."""

    items: list[Item] = field(default_factory=list)
    # Sets of positions that keep the order in which they were put in: the keys of dictionaries without values.
    _postings: dict[str, dict[int, None]] = field(default_factory=dict)
    _by_flat: dict[str, dict[int, None]] = field(default_factory=dict)
    _by_subject: dict[tuple[str, str], dict[int, None]] = field(default_factory=dict)
    _stored: dict[tuple[str, str], int] = field(default_factory=dict)  # scope and content at any time -> the item

    @classmethod
    def of(cls, existing: Sequence[Memory]) -> Board:
        """The board of existing memories; episodes are not on it, they are compared by their own rule."""
        board = cls()
        for memory in existing:
            if memory.type is not MemoryType.EPISODE:
                scope = scope_of(memory.type, user=memory.document == "facts/user.md")
                board.add(Item(scope, read(memory.content), memory.tags, said_at(memory), memory=memory))
        return board

    def add(self, item: Item) -> None:
        """Puts an item on the board."""
        self.items.append(item)
        self._file(len(self.items) - 1)

    def rewrite(self, position: int, reading: Reading) -> None:
        """Gives the item at `position` another content, and makes it findable by that alone."""
        for positions in self._entries(position):
            positions.pop(position, None)
        self.items[position].reading = reading
        self._file(position)

    def _file(self, position: int) -> None:
        """Makes the item at `position` findable by what it says."""
        for positions in self._entries(position):
            positions[position] = None

    def _entries(self, position: int) -> Iterator[dict[int, None]]:
        """The sets of the index that an item is in by what it says."""
        item = self.items[position]
        reading = item.reading
        yield self._by_flat.setdefault(reading.flat, {})
        if reading.subject is not None:
            yield self._by_subject.setdefault((item.scope, reading.subject[0]), {})
        for word in reading.words:
            yield self._postings.setdefault(word, {})

    def as_stored(self, candidates: Sequence[Candidate]) -> None:
        """Make every item what the next consolidation would read if this one ended here.

        Then a pass that changes nothing is one that the next consolidation repeats, so that it changes nothing either.
        """
        self._keep_what_is_added_again()
        additions: dict[int, Item] = {}
        for _, item in self.alive():
            if item.memory is None:
                assert item.candidate is not None
                assert item.index is not None
                item.said_at = item.candidate.at or _NOW
                # One candidate is one memory: of two items that were last written from it, the later one is stored.
                if item.index in additions:
                    additions[item.index].alive = False
                additions[item.index] = item
            elif item.content == item.memory.content:  # kept, and with it the time and the tags that are stored
                item.said_at, item.tags = said_at(item.memory), item.memory.tags
            elif item.index is not None:
                item.said_at = candidates[item.index].at or _NOW
            else:  # merged by upkeep, of words that were said before
                item.said_at = item.memory.provenance.get("at") or _NOW

    def _keep_what_is_added_again(self) -> None:
        """Keep what this run dropped where it added the same again: the memory, with its id, in place of a new one.

        Example: one candidate says that a mistake is over, which drops it, and another one merges to the same mistake.
        """
        for position, item in self.alive():
            earlier = self._stored.setdefault((item.scope, item.content), position)
            kept = self.items[earlier]
            if item.memory is None and not kept.alive:
                item.alive, kept.alive = False, True
                self.rewrite(earlier, item.reading)
                kept.index = item.index
                kept.candidate = None if kept.candidate is None else item.candidate

    def alive(self) -> Iterator[tuple[int, Item]]:
        """Every item that is going to stay, with its position."""
        return ((position, item) for position, item in enumerate(self.items) if item.alive)

    def same(self, reading: Reading) -> int | None:
        """The item, of whatever type, that says exactly this."""
        found = (place for place in self._by_flat.get(reading.flat, ()) if self._says(place, reading))
        return min(found, default=None, key=lambda place: (not self.items[place].fixed, place))

    def like(self, reading: Reading, scope: str) -> list[int]:
        """Items of a scope that share words or the subject with a statement, the most alike first."""
        shared: Counter[int] = Counter()
        for word in reading.words:
            postings = self._postings.get(word, ())
            if len(postings) <= _POSTINGS_MAX:
                shared.update(dict.fromkeys(postings, 1))
        if reading.subject is not None:
            shared.update(dict.fromkeys(self._by_subject.get((scope, reading.subject[0]), ()), 1))
        found = [place for place in shared if self.items[place].alive and self.items[place].scope == scope]
        found.sort(key=lambda place: (-shared[place], self.items[place].reading.flat, place))
        return found[:_LOOKALIKES_MAX]

    def state(self) -> tuple[int, int]:
        """What is going to stay, however it came about: how many items, and the sum of their hashes.

        It tells two moments of one run apart, and nothing beyond the run.
        """
        hashes = [hash((place, item.content, item.said_at)) for place, item in self.alive()]
        return len(hashes), sum(hashes)

    def contents(self) -> tuple[list[tuple[str, str]], list[str]]:
        """What is going to stay, sorted and in the board's order; in every run the same of the same items."""
        found = [(item.scope, item.content) for _, item in self.alive()]
        return sorted(found), [content for _, content in found]

    def _says(self, place: int, reading: Reading) -> bool:
        item = self.items[place]
        return item.alive and item.reading.flat == reading.flat


def scope_of(kind: MemoryType, *, user: bool) -> str:
    """Facts about the user and other facts are compared apart; every other type is one scope."""
    return "fact:user" if kind is MemoryType.FACT and user else kind.value


def said_at(memory: Memory) -> str | None:
    """When what a memory says was said: the time of the candidate behind it, else of its last change."""
    at = memory.provenance.get("at")
    return at if isinstance(at, str) else memory.updated_at
