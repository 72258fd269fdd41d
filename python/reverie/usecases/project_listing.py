"""The documents that a project's threads are shown: its own and the person's, without what others know."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reverie import documents
from reverie.documents.project_folder import PERSON, folder_of, memory_project
from reverie.documents.summary_line import summary_line
from reverie.store import DocumentRecord, MemoryRecord
from reverie.usecases import projects
from reverie.usecases.projections import LIST

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.documents import DocumentEntry
    from reverie.store import Reader

__all__ = ["ProjectListings", "holds_only"]

_CACHED_MAX: Final = 4_096  # entries of documents in all projects; some 300 bytes each


class ProjectListings:
    """Filters lists of documents by project, and remembers the entries of documents that several projects share.

    Thread-safe: an entry that two threads make at once is the same.
    """

    def __init__(self) -> None:
        self._shared: dict[tuple[str, str, str, int], DocumentEntry | None] = {}

    def entries(self, reader: Reader, entries: Iterable[DocumentEntry], project: str | None) -> list[DocumentEntry]:
        """Return the entries of documents of `project` and of the person, in their order; all of them for None.

        A document that holds memories of other projects too, as those of older releases do, is listed with a summary
        of the others, and left out where it has no others.
        """
        if project is None:
            return list(entries)
        names = {stored.name for stored in projects.known(reader)}
        shown: list[DocumentEntry] = []
        for entry in entries:
            folder = folder_of(entry.path)
            if folder in names:
                shown += [entry] if folder == project else []
                continue
            version = reader.version(DocumentRecord.KIND, (entry.path,)) or 0
            key = (reader.space, project, entry.path, version)
            if key not in self._shared:
                if len(self._shared) >= _CACHED_MAX:
                    self._shared.clear()
                self._shared[key] = _shared_entry(reader, entry, project)
            found = self._shared.get(key, entry)
            shown += [] if found is None else [found]
        return shown


def holds_only(reader: Reader, paths: Iterable[str], project: str) -> set[str]:
    """Return those of these documents in which nothing is of another project than `project`."""
    names = {stored.name for stored in projects.known(reader)}
    return {path for path in set(paths) if _holds_only(reader, path, project, names)}


def _holds_only(reader: Reader, path: str, project: str, names: set[str]) -> bool:
    """Return True if a document is of `project`, or of no project and has no memory of another one."""
    folder = folder_of(path)
    if folder in names:
        return folder == project
    if path == LIST:  # it names the files of all projects, with their summaries
        return names <= {project}
    document = reader.load(DocumentRecord, (path,))
    records = (reader.load(MemoryRecord, (name,)) for name in (document.ids if document is not None else ()))
    return all(record is None or memory_project(record) in {project, PERSON} for record in records)


def _shared_entry(reader: Reader, entry: DocumentEntry, project: str) -> DocumentEntry | None:
    """Return the entry of a document as a project sees it; None where every memory in it is another project's."""
    document = reader.load(DocumentRecord, (entry.path,))
    if document is None or not document.ids:
        return entry
    items = documents.parse_document(document.path, document.content).items
    records = (reader.load(MemoryRecord, (memory_id,)) for memory_id in document.ids)
    visible = [
        item
        for item, record in zip(items, records, strict=True)
        if record is None or memory_project(record) in {project, PERSON}
    ]
    if not visible:
        return None
    return entry if len(visible) == len(items) else replace(entry, summary=summary_line(visible))
