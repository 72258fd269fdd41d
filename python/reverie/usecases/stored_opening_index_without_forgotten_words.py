"""The memory index that a thread was opened with, without what was forgotten or deleted since."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reverie.documents.update_own_lines_of_memory_md import DocumentEntry, flat
from reverie.lazy_regex import lazy_regex
from reverie.render_index_text_and_json_files import size_text
from reverie.sentence_word_analysis import is_stop_word
from reverie.store import DocumentRecord
from reverie.usecases.document_summary_in_memory_index import text_without_summary
from reverie.usecases.projections import ProjectListings

if TYPE_CHECKING:
    from reverie.store import Reader, ThreadRecord

__all__ = ["current_index"]

_LINE: Final = lazy_regex(r"- (?P<path>.+?) \((?P<size>[\d.]+(?:B|KB|MB))\)(?:: (?P<summary>.*))?")
_KNOWN_MAX: Final = 4_096  # answers, of some 300 bytes each
_known: dict[tuple[str, str, str, str], bool] = {}  # by path, digest and summary of a document, and the summary shown
_WORD: Final = lazy_regex(r"\w(?:[\w.@/+-]*\w)?")


def current_index(reader: Reader, thread: ThreadRecord) -> str | None:
    """Return a thread's memory index as it was made, but for documents that lost something since; None if it is empty.

    It stays the same text for as long as it is true, because providers cache the beginning of a request. The line of a
    document that was deleted is left out. A line that names something which its document no longer has gets the
    document's summary of today.
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
    summary = match["summary"] or ""
    if not _names_what_is_gone(summary, record):
        return line
    entry = DocumentEntry(record.path, record.size, record.summary)
    shown = ProjectListings().entries(reader, [entry], thread.project)
    if not shown:
        return None
    entry = replace(entry, summary=shown[0].summary)
    return f"- {entry.path} ({size_text(entry.size)}): {flat(entry.summary)}".rstrip(": ")


def _names_what_is_gone(summary: str, record: DocumentRecord) -> bool:
    """Return True if a summary has a word that neither the document nor its summary of today has."""
    if summary == flat(record.summary):
        return False
    key = (record.path, record.sha256, record.summary, summary)
    if key not in _known:
        if len(_known) >= _KNOWN_MAX:
            _known.clear()
        _known[key] = _has_other_words(summary, record)
    return _known.get(key, True)


def _has_other_words(summary: str, record: DocumentRecord) -> bool:
    today = f"{text_without_summary(record.path, record.content)}\n{record.summary}".casefold()
    words = {word.casefold() for word in _WORD.findall(summary)}
    return any(
        not is_stop_word(word) and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", today) is None for word in words
    )
