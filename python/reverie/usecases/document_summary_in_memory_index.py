"""The summary by which the index names a document, also where its `> Summary:` line is older than its memories."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from reverie.documents.memory_layout_types_and_conflict_copy_names import DocumentKind
from reverie.documents.parser import parse_source, summary_of
from reverie.documents.summary import shortened
from reverie.documents.summary_and_updated_lines import written_summary
from reverie.match_and_edit_markdown_blocks import BlockKind
from reverie.sentence_word_analysis import analyze
from reverie.store import DocumentRecord, OperationRecord
from reverie.usecases.reserved_author_names_and_agent_authors import PERSONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.documents.parser import ParsedSource
    from reverie.store import Reader

VERSIONS_MAX: Final = 50  # read to find who wrote a summary line, or the summary that an earlier same text had
_OF_MEMORIES: Final = frozenset({DocumentKind.FACTS, DocumentKind.EPISODES})


def index_summary(
    reader: Reader, path: str, text: str, before: DocumentRecord | None, removed: Iterable[DocumentRecord]
) -> str | None:
    """Return the summary for the index of a text that a person or an agent saved; None: what the text itself says.

    A person who edits or deletes a line of a file leaves its `> Summary:` line as it was, and that goes on naming what
    is gone. The line is replaced by a sentence of the memories if the same save did not touch it, and an engine wrote
    it, or an agent wrote it and it names what the save took out. A person's line stays. `before` is the document
    before; if there was none, it may be one of `removed`, under its new name.
    """
    line = written_summary(path, text)
    if line is None:
        return None
    if before is None:
        before = next((record for record in removed if written_summary(record.path, record.content) == line), None)
    if before is None:
        return None
    source = parse_source(path, text)
    if written_summary(before.path, before.content) != line:
        return _summary_of_same_text(reader, path, text, line)
    old = parse_source(before.path, before.content)
    is_of_memories = source.document.kind in _OF_MEMORIES
    if is_of_memories and before.summary == summary_of(old):
        return summary_of(source)
    replaced = before.summary != old.document.summary
    if replaced or (_gone_words(line, old, source) and not _is_of_a_person(reader, path, line)):
        return summary_of(source) if is_of_memories else _first_heading(source)
    return None


def _gone_words(line: str, old: ParsedSource, new: ParsedSource) -> bool:
    """Return True if a summary line has a content word that is in the old text below it and not in the new one."""
    words = set(analyze(line).content)
    return bool(words & set(analyze(_body(old)).content) - set(analyze(_body(new)).content))


def _body(source: ParsedSource) -> str:
    lines = (source.data[block.start : block.end] for block in source.blocks if block.kind is not BlockKind.SUMMARY)
    return b"".join(lines).decode("utf-8", "replace") if source.blocks else source.data.decode("utf-8", "replace")


def _first_heading(source: ParsedSource) -> str:
    headings = {BlockKind.TITLE, BlockKind.HEADING, BlockKind.SECTION}
    return shortened(next((block.text for block in source.blocks if block.kind in headings and block.text), ""))


def _is_of_a_person(reader: Reader, path: str, line: str) -> bool:
    """Return True if a person wrote the summary line of a document: the oldest of the last versions that have it."""
    operation = None
    for version in islice(reader.record_versions(DocumentRecord, (path,)), VERSIONS_MAX):
        if version.value is None or written_summary(path, version.value.content) != line:
            break
        operation = version.operation
    record = None if operation is None else reader.load(OperationRecord, (operation,))
    return record is None or record.who in PERSONS


def _summary_of_same_text(reader: Reader, path: str, text: str, line: str) -> str | None:
    """Return the summary that an earlier version with the same text had, which an undo restores; None if it has none.

    Versions are read only if the line is not the one that the memories give.
    """
    source = parse_source(path, text)
    if source.document.kind not in _OF_MEMORIES or summary_of(source) == line:
        return None
    versions = islice(reader.record_versions(DocumentRecord, (path,)), VERSIONS_MAX)
    return next((old.value.summary for old in versions if old.value is not None and old.value.content == text), None)
