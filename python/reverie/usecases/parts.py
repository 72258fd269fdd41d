"""An index of the parts of long documents: which part has a line, and which takes new memories.

Without it, a write of one memory would look at every part of its document. An index describes the documents of one
state of the store, which the checksum of their collection names. A write takes it, changes it as it changes the
documents, and keeps it under the state after the write. Where documents were changed by another way than `put_texts`,
or a write failed, no index is kept under the state, and a new one is made: it is never wrong, only missing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from reverie.documents.escape import bullet, untagged
from reverie.documents.layout import DocumentKind
from reverie.documents.parts import is_full, numbered, open_part, parts_of
from reverie.store import DocumentRecord, Kind, Reader
from reverie.text_caches import text_cache
from reverie.usecases.follow import Kept
from reverie.words import copy_key

if TYPE_CHECKING:
    from reverie.documents.items import Item, Wording

_HASHES_BYTES = 1_000_000  # of lines: those of the part that is written to are looked at after each write
_LINES_MAX = 1 << 15  # of all documents whose lines are kept: some 3 MB
_INDEXES_MAX = 16  # spaces that are written to in turn; of each state only the newest is needed
_DOCUMENTS_MAX = 64  # long documents in one index

_State: TypeAlias = tuple[str, int, int]  # a space, and number and checksum of its documents

_kept: dict[_State, PartIndex] = {}


class _Known(NamedTuple):
    """The lines of a document: the checksum of its record, the hashes of its lines, and whether it is full."""

    checksum: str
    lines: frozenset[int]
    is_full: bool


class _KnownDocuments(Kept):
    """The lines of documents, each by its space and path in its newest state; thread-safe."""

    def __init__(self) -> None:
        self._documents: dict[tuple[str, str], _Known] = {}
        self._lines = 0
        self._lock = threading.Lock()

    def get(self, space: str, path: str, checksum: str) -> _Known | None:
        """Return the cached hashes of the lines of a document whose record has this checksum, or None."""
        entry = self._documents.get((space, path))
        return entry if entry is not None and entry.checksum == checksum else None

    def forget(self, space: str) -> None:  # noqa: ARG002 - of all spaces
        """Drop the lines of all documents, and the indexes of their parts."""
        with self._lock:
            self._documents.clear()
            self._lines = 0
        _kept.clear()

    def put(self, space: str, path: str, known: _Known) -> None:
        """Cache the hashes of a document's lines; if the cache then has too many, all other documents are dropped."""
        with self._lock:
            before = self._documents.pop((space, path), None)
            self._lines += len(known.lines) + 1 - (len(before.lines) + 1 if before is not None else 0)
            if self._lines > _LINES_MAX:
                self._documents.clear()
                self._lines = len(known.lines) + 1
            self._documents[space, path] = known


_read = _KnownDocuments()


@dataclass(slots=True)
class _Parts:
    """The parts of a document by path: lines, and whether it is full; `newest` is the one that takes new memories.

    A set may have lines that were deleted meanwhile. It lacks none that begins a memory.
    """

    lines: dict[str, set[int] | frozenset[int]]
    full: dict[str, bool]
    newest: str | None = None


@dataclass(slots=True)
class PartIndex:
    """The parts of the documents of one space that memories were added to lately, by the path that the caller named."""

    _parts: dict[str, _Parts] = field(default_factory=dict)

    def with_line(self, reader: Reader, path: str, words: Wording) -> list[str]:
        """Return the parts of a document that may have a memory with a near copy of the first line of these words.

        Of episodes all: a section does not begin with its words.
        """
        parts = self._parts_of(reader, path).lines
        if path.startswith("episodes/"):
            return list(parts)
        wanted = _hash(_first_line(bullet(words.content)))
        return [part for part, lines in parts.items() if wanted in lines]

    def with_room(self, reader: Reader, path: str) -> str:
        """Return `path` as long as that document is not full, else the path of its part that takes new memories."""
        parts = self._parts_of(reader, path)
        if not parts.full.get(path, False):
            return path
        if parts.newest is None or parts.full.get(parts.newest, True):

            def full(part: str) -> bool:
                record = reader.load(DocumentRecord, (part,))
                return record is not None and is_full(record.size, len(record.ids))

            parts.newest = open_part(path, lambda part: reader.exists(Kind.DOCUMENT, (part,)), full)
        return parts.newest

    def note_change(self, path: str, kind: DocumentKind, record: DocumentRecord, changed: Iterable[Item]) -> None:
        """Update the index after a document got a new text, in which the items `changed` are new or reworded."""
        for named, parts in list(self._parts.items()):
            if path in parts.full and kind is DocumentKind.FACTS:
                lines = parts.lines[path]
                hashes = parts.lines[path] = lines if isinstance(lines, set) else set(lines)
                hashes.update(_hash(_first_line(item.text)) for item in changed)
                parts.full[path] = is_full(record.size, len(record.ids))
            else:
                self._forget(named, path)

    def note_deletion(self, path: str) -> None:
        """Update the index after a document was deleted."""
        for named in list(self._parts):
            self._forget(named, path)

    def _forget(self, named: str, path: str) -> None:
        """Forget the parts of the document called `named` if `path` is, or would be, one of its parts."""
        if path in self._parts[named].full or numbered(path)[0] in {named, numbered(named)[0]}:
            del self._parts[named]

    def _parts_of(self, reader: Reader, path: str) -> _Parts:
        """Return which parts of the document at `path` are full, and the hashes of their lines; read once."""
        parts = self._parts.get(path)
        if parts is None:
            if len(self._parts) >= _DOCUMENTS_MAX:
                self._parts.clear()
            parts = self._parts[path] = _read_parts(reader, path)
        return parts

    def keep(self, reader: Reader) -> None:
        """Keep this index for the next write of the space, if the documents are then as `reader` has them now."""
        while len(_kept) >= _INDEXES_MAX:
            _kept.pop(next(iter(_kept)), None)
        _kept[_state(reader)] = self


def part_index(reader: Reader) -> PartIndex:
    """Take and return the index kept for the documents' present state, or an empty one; call `keep` after use.

    It is taken out, so that only one thread changes it.
    """
    return _kept.pop(_state(reader), None) or PartIndex()


def _state(reader: Reader) -> _State:
    """Return a value that changes with any document of a space: the space and its documents' checksum state."""
    return (reader.space, *reader.collection_state(Kind.DOCUMENT))


def _read_parts(reader: Reader, path: str) -> _Parts:
    """Return the parts of a document as the store has them; one whose record has not changed is not read again."""
    parts = _Parts({}, {})
    for part in parts_of(path, lambda name: reader.exists(Kind.DOCUMENT, (name,))):
        checksum = reader.record_checksum(Kind.DOCUMENT, (part,)) or ""
        entry = _read.get(reader.space, part, checksum)
        if entry is None:
            document = reader.load(DocumentRecord, (part,))
            assert document is not None
            lines = frozenset(_hash(line) for line in document.content.splitlines())
            entry = _Known(checksum, lines, is_full(document.size, len(document.ids)))
            _read.put(reader.space, part, entry)
        parts.lines[part], parts.full[part] = entry.lines, entry.is_full
    return parts


def _first_line(text: str) -> str:
    """Return the first line of the text of an item, as `str.splitlines` has it."""
    return next(iter(text.splitlines()), "")


@text_cache(bytes_max=_HASHES_BYTES, entry_bytes=150, char_bytes=2)
def _hash(line: str) -> int:
    """Return the hash that near copies of a line have, without its list mark and its tags."""
    return hash(copy_key(untagged(line.removeprefix("- ").strip())[0]))
