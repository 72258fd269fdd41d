"""The memory index that a thread was opened with, without what was forgotten or deleted since."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reverie.documents.index import DocumentEntry, flat, size_text
from reverie.documents.parse import parse_document
from reverie.documents.summary import sentence
from reverie.lazy_regex import lazy_regex
from reverie.store import DocumentRecord
from reverie.usecases.projections import ProjectListings

if TYPE_CHECKING:
    import re

    from reverie.store import Reader, ThreadRecord

_LINE: Final = lazy_regex(r"- (?P<path>.+?) \((?P<size>[\d.]+(?:B|KB|MB))\)(?:: (?P<summary>.*))?")


def current_index(reader: Reader, thread: ThreadRecord) -> str | None:
    """Return a thread's memory index as it was made, but for documents that lost something since; None if it is empty.

    It stays the same text for as long as it is true, because providers cache the beginning of a request. The line of a
    document that was deleted is left out. A line whose sentence its document no longer has gets the summary of today.
    """
    if not thread.index:
        return None
    lines: list[str] = []
    documents = 0
    for line in thread.index.split("\n"):
        match = _LINE.fullmatch(line)
        kept: str | None = line
        if match is not None:
            kept = _current_line(reader, thread, line, match)
            documents += kept is not None
        if kept is not None:
            lines.append(kept)
    return "\n".join(lines) if documents else None


def _current_line(reader: Reader, thread: ThreadRecord, line: str, match: re.Match[str]) -> str | None:
    """Return the line of one document as it may be shown today; None if the document is gone."""
    record = reader.load(DocumentRecord, (match["path"],))
    if record is None:
        return None
    if _is_true(match["summary"] or "", record):
        return line
    entry = DocumentEntry(record.path, record.size, record.summary)
    shown = ProjectListings().entries(reader, [entry], thread.project)
    if not shown:
        return None
    entry = replace(entry, summary=shown[0].summary)
    return f"- {entry.path} ({size_text(entry.size)}): {flat(entry.summary)}".rstrip(": ")


def _is_true(summary: str, record: DocumentRecord) -> bool:
    """Return True if a summary is that of today, or a sentence that is still in the document."""
    if summary == flat(record.summary):
        return True
    return any(sentence(item) == summary for item in parse_document(record.path, record.content).items)
