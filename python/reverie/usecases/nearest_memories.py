"""The memories that candidates can change, found by the index of recall, so that learning need not read all others.

The rest are kept unseen. That holds only where memories are few beside the window of consolidation (the tier GENEROUS),
since fuller tiers shrink memories that no candidate is about. `TokenBound` says whether they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reverie import consolidate, index_and_memory_files
from reverie.consolidate.memories_under_consolidation import WISHES
from reverie.consolidate.opposite_wishes import parse_wish
from reverie.consolidate.statement_comparison import parse_statement
from reverie.documents.project_document_paths import PERSON
from reverie.models import MemoryType, Tier
from reverie.sentence_word_analysis import subject_of
from reverie.store import Kind, MemoryRecord, OperationRecord
from reverie.usecases import consolidation_commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.models import Candidate
    from reverie.store import Reader
    from reverie.usecases.consolidation_commit import MemorySnapshot
    from reverie.usecases.memory_indexes_and_recall import MemoryIndex, Recall

__all__ = ["NearestMemories", "TokenBound"]

_NEAREST: Final = 16  # memories of one search: what a candidate covers, extends or replaces shares most of its words
_SAME: Final = 8  # of the search for the same words in another type
# Share of the words of the shorter one that a candidate has in common with a memory that it can say something about:
# all of them where one covers the other, but for inflections and words without meaning; of unrelated ones a fifth.
_SHARED_MIN: Final = 0.4
_WORD: Final = re.compile(r"[a-z0-9_]+|[^\W\x00-\x7f]")  # of scripts without spaces each letter is one
_STEM_CHARS: Final = 4  # by which words are compared, so that "test" and "tests" are the same
_BEHIND_MAX: Final = 2_000  # operations that are followed; behind more, all memories are counted again
_TOKEN_BYTES_MIN: Final = 2  # of JSON; prose has four for each token, Chinese three
_DRIFT: Final = 0.05  # share by which a bound may have grown, or the memories have become fewer, until it is made again


@dataclass(slots=True)
class TokenBound:
    """An upper bound of the tokens of all memories of a space, kept up to date by its operations.

    A changed memory is added again, and a deleted one is not taken away, until all are read anew.
    """

    _operation: int = -1  # the last operation that is in the bound
    _tokens: int = 0
    _read: int = 0  # the bound when all memories were read
    _memories: int = 0  # how many there were then

    def is_generous(self, reader: Reader, window: int) -> bool:
        """Return True if the memories are certainly in the tier GENEROUS of a `window` of so many tokens."""
        if not self._follow(reader) or (not _is_generous(self._tokens, window) and self._has_drifted(reader)):
            self._read_all(reader, window)
        return _is_generous(self._tokens, window)

    def _follow(self, reader: Reader) -> bool:
        """Add the memories that were written since the last call; return False where all are to be read."""
        since, now = self._operation, reader.operation()
        if not 0 <= since <= now <= since + _BEHIND_MAX or reader.first_seq(Kind.OPERATION) > since + 1:
            return False
        written = {
            str(change.key[0])
            for _, operation in (reader.records(OperationRecord, after=(since,)) if now > since else ())
            for change in operation.changes
            if change.kind is Kind.MEMORY and change.after is not None and not change.purged
        }
        records = (reader.load(MemoryRecord, (name,)) for name in sorted(written))
        self._tokens += sum(_tokens_max(record) for record in records if record is not None)
        self._operation = now
        return True

    def _has_drifted(self, reader: Reader) -> bool:
        """Return True if the bound may be far too high, so that it is worth reading all memories."""
        has_grown = self._tokens > (1 + _DRIFT) * self._read
        return has_grown or reader.count(Kind.MEMORY) < (1 - _DRIFT) * self._memories

    def _read_all(self, reader: Reader, window: int) -> None:
        """Add up all memories, or as many as are too many for the window."""
        self._operation, self._tokens, self._memories = reader.operation(), 0, reader.count(Kind.MEMORY)
        for _, record in reader.records(MemoryRecord):
            self._tokens += _tokens_max(record)
            if not _is_generous(self._tokens, window):
                break
        self._read = self._tokens


def _is_generous(tokens: int, window: int) -> bool:
    return consolidate.tier(tokens, window) is Tier.GENEROUS


def _tokens_max(record: MemoryRecord) -> int:
    """Return more than the tokens of one memory in the JSON of all: it has three to four bytes for each."""
    return len(index_and_memory_files.long_term_memory([record])) // _TOKEN_BYTES_MIN


class NearestMemories:
    """Snapshots of the memories that candidates can change, of every space of a store."""

    def __init__(self, recall: Recall) -> None:
        """Take the indexes of recall, which are asked for the memories."""
        self._recall = recall
        self._bounds: dict[str, TokenBound] = {}  # changed under the lock of `recall`

    def snapshot(self, space: str, candidates: Sequence[Candidate], *, window: int, at: str) -> MemorySnapshot | None:
        """Return the memories that a consolidation of `candidates` may change, and the documents with them.

        None where memories may be too many for the tier GENEROUS in `window` tokens: then all of them are needed.
        """

        def found(index: MemoryIndex, reader: Reader) -> MemorySnapshot | None:
            if not self._bounds.setdefault(space, TokenBound()).is_generous(reader, window):
                return None
            near: dict[str, list[_Reading]] = {}
            for candidate in candidates:
                reading = _Reading.of(candidate)
                for name in dict.fromkeys(_nearest(index, candidate)):
                    near.setdefault(name, []).append(reading)
            records = reader.load_many(MemoryRecord, [(name,) for name in sorted(near)])
            concerned = [
                record
                for record in records
                if record is not None and any(reading.may_concern(record) for reading in near[record.id])
            ]
            return consolidation_commit.snapshot_of(reader, concerned, candidates, window=window, at=at)

        return self._recall.ask(space, found)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The words, subject and wish of a candidate, by which it is compared with the memories that a search found."""

    kind: MemoryType
    words: frozenset[str]
    subject: str | None
    resolves: bool  # says of something that it is over
    wishes: frozenset[tuple[str, ...]]  # the keys of the wish that it is

    @classmethod
    def of(cls, candidate: Candidate) -> _Reading:
        """Return the reading of a candidate."""
        return cls(
            kind=candidate.type,
            words=_words(candidate.content),
            subject=_subject(candidate.content),
            resolves=parse_statement(candidate.content).resolves,
            wishes=_wishes(candidate.type, candidate.content),
        )

    def may_concern(self, memory: MemoryRecord) -> bool:
        """Return False for a memory whose words are too different for the candidate to change it or to repeat it.

        A search finds as many as it may, mostly unrelated ones: they need not be read by the rules, nor their
        documents. Wishes exclude each other by few words, and episodes have rules of their own.
        """
        if self.kind is MemoryType.EPISODE or memory.type is MemoryType.EPISODE:
            return True
        if self.resolves and memory.type is MemoryType.MISTAKE:
            return True
        words = _words(memory.content)
        if len(words & self.words) >= _SHARED_MIN * min(len(words), len(self.words)):
            return True
        if self.subject is not None and self.subject == _subject(memory.content):
            return True
        return bool(self.wishes) and not self.wishes.isdisjoint(_wishes(memory.type, memory.content))


def _words(text: str) -> frozenset[str]:
    """Return the beginnings of the words of a text."""
    return frozenset(word[:_STEM_CHARS] for word in _WORD.findall(text.casefold()))


def _wishes(kind: MemoryType, text: str) -> frozenset[tuple[str, ...]]:
    """Return the keys of the wish that a text is; none for a type that holds no wishes."""
    wish = parse_wish(text) if kind in WISHES else None
    return frozenset() if wish is None else frozenset(wish.index_keys())


def _subject(text: str) -> str | None:
    """Return the subject of a `Subject: value` line."""
    found = subject_of(text)
    return None if found is None else found[0]


def _nearest(index: MemoryIndex, candidate: Candidate) -> Iterable[str]:
    """Yield ids of the memories that a candidate may be compared with, some of them more than once.

    They are those near it of its own type, any that say the same in its project or of the person, those with its
    subject, whose value it may replace, wishes that it may exclude, and mistakes that it may say are over.
    """
    own = [candidate.project]
    text = "\n".join((candidate.title or "", candidate.content, *(value for _, value in candidate.fields)))
    yield from index.nearest(text, _NEAREST, types=[candidate.type], projects=own)
    if candidate.type is MemoryType.EPISODE:
        return
    statement = parse_statement(candidate.content)
    yield from index.nearest(text, _SAME, projects=[candidate.project, PERSON])
    if candidate.type is MemoryType.MISTAKE:  # any type may say that it is over
        yield from index.nearest(text, _NEAREST, projects=own)
    elif candidate.type is MemoryType.PREFERENCE or statement.resolves:
        yield from index.nearest(text, _NEAREST, types=[MemoryType.MISTAKE], projects=own)
    if statement.subject is not None:
        yield from index.nearest(statement.subject[0], _NEAREST, types=[candidate.type], projects=own)
