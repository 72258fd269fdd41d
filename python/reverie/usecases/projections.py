"""Projections of the store: the listing of documents, MEMORY.md's list, the machine index, memories as JSON, archives.

All of it can be made again from the store at any time. The files among it are written by Reverie alone, except for
MEMORY.md, in which people and other programs have lines of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from msgspec import Struct

from reverie import tokenizer, wire
from reverie.decode import mapped
from reverie.documents import index
from reverie.documents.edit import is_listed
from reverie.documents.index import ArchiveEntry, DocumentEntry, update_memory_list
from reverie.documents.layout import PERSON, folder_of, memory_project
from reverie.documents.parse import parse_document
from reverie.documents.summary import summary_line
from reverie.store import (
    ArchiveRecord,
    ArchivesCursor,
    DocumentRecord,
    Kind,
    ListedCursor,
    MemoryRecord,
    PurgesCursor,
    Reader,
    RecordCache,
    Writer,
)
from reverie.usecases import projects
from reverie.usecases.by import ENGINE, By, writes
from reverie.usecases.follow import UNKNOWN, Follow, Kept
from reverie.usecases.put import NewText, put_texts, sha256

LIST = "MEMORY.md"
INDEX = "MEMORY-INDEX.json"
MEMORIES = "memory/long-term-memory.json"
WHY_LISTED = "memory.list"  # the reason of an operation that updates the list in MEMORY.md
INDEX_TOKENS = 1_000  # maximum of the index in a context (seed 001)

# The listing of documents

_CACHED_MAX: Final = 4_096  # entries of documents in all projects; some 300 bytes each


class ListedDocument(Struct, frozen=True):
    """One document without its text. `operation` wrote this version."""

    path: str
    size: int
    sha256: str
    version: int
    updated_at: str
    summary: str
    operation: int


class Listing(Follow[DocumentRecord, ListedDocument]):
    """The documents of one space by path, updated by the operations since the last call instead of read again.

    Any thread may read it; one at a time may call `catch_up`.
    """

    def __init__(self) -> None:
        super().__init__(DocumentRecord, _listed)
        self.documents: dict[str, ListedDocument] = {}
        self.operation: int | None = None

    def catch_up(self, reader: Reader) -> set[str]:
        """Update the listing to the reader's snapshot; return the paths of the documents that changed.

        A reader with an older snapshot than the listing changes nothing.
        """
        if self.operation is not None and reader.operation() < self.operation:
            return set()
        self.documents, changed = self.caught_up(reader)
        self.operation = reader.operation()
        return changed

    def forget(self, space: str) -> None:
        """Read all documents again the next time; which ones went since the last time is known by those there are."""
        with self._lock:
            self._held = {name: (UNKNOWN if name == space else at, values) for name, (at, values) in self._held.items()}

    def entries(self) -> list[DocumentEntry]:
        """Return the documents that agents are shown, by path: those that people and agents write."""
        return [
            DocumentEntry(document.path, document.size, document.summary, document.updated_at)
            for _, document in sorted(self.documents.items())
            if is_listed(document.path)
        ]

    @property
    def updated_at(self) -> str | None:
        """The time of the last change of a document, or None without documents."""
        return max((document.updated_at for document in list(self.documents.values())), default=None)


def _listed(reader: Reader, record: DocumentRecord) -> ListedDocument:
    return mapped(record, ListedDocument, operation=reader.version(Kind.DOCUMENT, (record.path,)) or 0)


def index_text(entries: Iterable[DocumentEntry]) -> str | None:
    """Return the memory index for an agent's first turn (seed 004, section 5), or None without documents."""
    entries = list(entries)
    return index.index_text(entries, lambda text: tokenizer.count(text) <= INDEX_TOKENS) if entries else None


def index_answer(
    entries: Sequence[DocumentEntry], documents: Iterable[ListedDocument], project: str | None = None
) -> wire.IndexAnswer:
    """Return the memory index as the API shows it: the text, and the listed documents in the same order."""
    by_path = {document.path: document for document in documents}
    listed = ((by_path[entry.path], entry.summary) for entry in entries if entry.path in by_path)
    items = [mapped(one, wire.Document, etag=one.sha256, summary=summary) for one, summary in listed]
    return wire.IndexAnswer(text=index_text(entries) or "", items=items, project=project or wire.ABSENT)


# The list in MEMORY.md


def needs_relisting(reader: Reader, entries: Sequence[DocumentEntry]) -> bool:
    """Return True if MEMORY.md has to be rewritten to list exactly `entries`."""
    document = reader.load(DocumentRecord, (LIST,))
    return _list_text(reader, document, entries) != (None if document is None else document.content)


@writes(WHY_LISTED)
def relist(to: Writer, _: By, entries: Sequence[DocumentEntry]) -> None:
    """Update the lines of MEMORY.md that Reverie wrote; other lines stay."""
    text = _list_text(to, to.load(DocumentRecord, (LIST,)), entries)
    if text is not None:
        put_texts(to, {LIST: NewText(text)}, ENGINE)
    to.save(ListedCursor(paths=[entry.path for entry in entries]), ListedCursor.KEY)


def _list_text(reader: Reader, document: DocumentRecord | None, entries: Sequence[DocumentEntry]) -> str | None:
    """Return MEMORY.md with these entries, or None if there is no file and nothing to list.

    Lines for the paths of the cursor are Reverie's own, so they may be changed and removed; another line that links to
    a document is a person's.
    """
    if document is None and not entries:
        return None
    return update_memory_list("" if document is None else document.content, entries, listed(reader))


def listed(reader: Reader) -> list[str]:
    """Return the paths of the documents of which Reverie wrote the lines in MEMORY.md."""
    return (reader.load(ListedCursor, ListedCursor.KEY) or ListedCursor()).paths


# Files that Reverie alone writes


def memory_entries() -> RecordCache[MemoryRecord, bytes]:
    """Return an empty cache for the JSON entries of memories that `texts` writes, for one space."""
    return RecordCache(MemoryRecord, index.long_term_entry)


def texts(
    reader: Reader,
    entries: Sequence[DocumentEntry],
    *,
    at: str | None,
    written: bool = False,
    cache: RecordCache[MemoryRecord, bytes] | None = None,
) -> dict[str, bytes]:
    """Return the machine index and the memories as JSON, by path; nothing for a space that is empty.

    If they were `written` before, they are empty lists then: the files must not keep what was deleted last. `at` is
    when a document last changed. The same store always gives the same bytes. With the `cache` of an earlier call only
    memories that changed since then are read.
    """
    stored = _archives_cursor(reader).archives
    memories = list((memory_entries() if cache is None else cache).values(reader))
    if not (stored or memories or entries or written):
        return {}
    listed = [ArchiveEntry(archive.sha256, archive.at, archive.entries) for archive in stored]
    updated_at = max([at or "", *(archive.at for archive in listed)]) or None
    return {
        INDEX: index.memory_index(entries, listed, updated_at=updated_at),
        MEMORIES: index.long_term_memory_of(memories),
    }


def document_of(reader: Reader, path: str, listing: Listing) -> DocumentRecord | None:
    """Return a file that only Reverie writes in the form of a document, or None if there is no such file."""
    at = listing.updated_at
    data: bytes | None = None
    if path in {INDEX, MEMORIES}:
        data = texts(reader, listing.entries(), at=at).get(path)
    elif path.startswith("archives/"):
        data = next((body for _, body in archives(reader, [path])), None)
    if data is None:
        return None
    text = data.decode()
    return DocumentRecord(
        path=path,
        content=text,
        sha256=sha256(text),
        size=len(data),
        version=reader.operation(),
        summary="",
        updated_at=at or "",
    )


def archive_paths(reader: Reader) -> list[str]:
    """Return the paths of all archives of the space, oldest first."""
    return [f"archives/{archive.sha256}.json" for archive in _archives_cursor(reader).archives]


def purged_archives(reader: Reader) -> list[str]:
    """Return the addresses of archives that are gone from the store, and whose files have to go."""
    return (reader.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()).archives


def archives(reader: Reader, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of the archives at these paths, without those that are gone."""
    for path in paths:
        archive = reader.load(ArchiveRecord, (path.removeprefix("archives/").removesuffix(".json"),))
        if archive is not None:
            yield path, archive.body.encode()


def _archives_cursor(reader: Reader) -> ArchivesCursor:
    return reader.load(ArchivesCursor, ArchivesCursor.KEY) or ArchivesCursor()


class ProjectListings(Kept):
    """Filters lists of documents by project, and remembers the entries of documents that several projects share.

    Thread-safe: an entry that two threads make at once is the same.
    """

    def __init__(self) -> None:
        self._shared: dict[tuple[str, frozenset[str], str, int], DocumentEntry | None] = {}

    def forget(self, space: str) -> None:  # noqa: ARG002 - of all spaces
        """Drop the entries of all spaces."""
        self._shared.clear()

    def entries(self, reader: Reader, entries: Iterable[DocumentEntry], project: str | None) -> list[DocumentEntry]:
        """Return the entries of documents of `project` and of the person, in order; all entries if it is None.

        A document that holds memories of other projects too, as those of older releases do, is listed with a summary
        of the others, and left out where it has no others.
        """
        if project is None:
            return list(entries)
        projects_by_name, names = _project_names(reader, project)
        shown: list[DocumentEntry] = []
        for entry in entries:
            folder = folder_of(entry.path)
            if folder in projects_by_name:
                shown += [entry] if folder in names else []
                continue
            version = reader.version(DocumentRecord.KIND, (entry.path,)) or 0
            key = (reader.space, names, entry.path, version)
            if key not in self._shared:
                if len(self._shared) >= _CACHED_MAX:
                    self._shared.clear()
                self._shared[key] = _shared_entry(reader, entry, names)
            shared_entry = self._shared.get(key, entry)
            shown += [] if shared_entry is None else [shared_entry]
        return shown


def holds_only(reader: Reader, paths: Iterable[str], project: str) -> set[str]:
    """Return the paths among `paths` of documents that belong to `project` or to none: by folder and by memories."""
    every, names = _project_names(reader, project)
    return {path for path in set(paths) if _holds_only(reader, path, every, names)}


def _project_names(reader: Reader, project: str) -> tuple[set[str], frozenset[str]]:
    """Return the names of all projects, and those that the memories of `project` have: its own, joined ones', none."""
    known = projects.known(reader)
    joined = (stored.name for stored in known if stored.joined == project and project != PERSON)
    return {stored.name for stored in known}, frozenset((project, PERSON, *joined))


def _holds_only(reader: Reader, path: str, every: set[str], names: frozenset[str]) -> bool:
    """Return True if a document is of the project with these names, or of none and has no memory of another one."""
    folder = folder_of(path)
    if folder in every:
        return folder in names
    if path == LIST:  # it names the files of all projects, with their summaries
        return every <= names
    document = reader.load(DocumentRecord, (path,))
    records = (reader.load(MemoryRecord, (name,)) for name in (document.ids if document is not None else ()))
    return all(record is None or memory_project(record) in names for record in records)


def _shared_entry(reader: Reader, entry: DocumentEntry, names: frozenset[str]) -> DocumentEntry | None:
    """Return a document's entry with a summary of the memories of the project with these names; None if it has none."""
    document = reader.load(DocumentRecord, (entry.path,))
    if document is None or not document.ids:
        return entry
    items = parse_document(document.path, document.content).items
    records = (reader.load(MemoryRecord, (memory_id,)) for memory_id in document.ids)
    visible = [
        item for item, record in zip(items, records, strict=True) if record is None or memory_project(record) in names
    ]
    if not visible:
        return None
    return entry if len(visible) == len(items) else replace(entry, summary=summary_line(visible))
