"""The write path of documents: store new texts, and update the memories that are the blocks of these texts.

Every change of a document ends here: a call of an agent, a saved file, a decision of consolidation. The text is
authoritative for the words; a memory keeps its id for as long as its block can be matched with the block before.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import Any, Final

from msgspec.structs import replace

from reverie.documents.header import written_summary
from reverie.documents.items import Item, ParsedDocument, match_ids
from reverie.documents.layout import PERSON, DocumentKind, folder_of, session_of
from reverie.documents.parse import ParsedSource, ids_of_items, items_by_id, parse_document, parse_source, summary_of
from reverie.documents.summary import shortened
from reverie.doubts import CORRECTED, without_doubt
from reverie.markdown_blocks import BlockKind
from reverie.store import (
    BaselineRecord,
    DocumentRecord,
    Kind,
    MemoriesCursor,
    MemoryRecord,
    OperationRecord,
    ProjectsCursor,
    Reader,
    RetiredRecord,
    Writer,
)
from reverie.store.codec import to_ms
from reverie.sync.plan import Baseline
from reverie.usecases.by import PERSONS, Author, By, is_agent
from reverie.usecases.forgotten import forget, recall_to_mind, says_the_same
from reverie.usecases.parts import part_index
from reverie.words import analyze

VERSIONS_MAX: Final = 50  # read to find who wrote a summary line, or the summary that an earlier same text had
_OF_MEMORIES: Final = frozenset({DocumentKind.FACTS, DocumentKind.EPISODES})
RETURN_MS = 30 * 24 * 3600 * 1000  # a block that comes back unchanged within 30 days gets its old id
_FILE_TEXTS = 20  # the last texts of a deleted document that its file may have: far more than a pass leaves unwritten
_RETIRED_KEPT = 8  # ids stored for one text; the newest are reused first
_WORDS = ("type", "content", "tags", "title", "fields")  # fields of a memory that its block's text determines


@dataclass(frozen=True, slots=True)
class NewText:
    """The new text of a document. `ids` are those of its blocks, in order, where the caller knows them."""

    text: str
    ids: Sequence[str] | None = None


def put_texts(
    writer: Writer,
    texts: Mapping[str, NewText | None],
    by: By,
    *,
    records: Mapping[str, MemoryRecord] | None = None,
    before: Mapping[str, DocumentRecord | None] | None = None,
    forgets: bool = False,
) -> list[str]:
    """Write the texts, delete the documents given as None, and update their memories; return the paths that changed.

    A block with unchanged words keeps its author, a new or changed one gets `by.author`; in a file that names the
    session of an agent it gets the agent. `records` are memory records that the caller has made (consolidation, with
    their provenance); all other new ones get those of `by`, and belong to its project also where they are in its
    folder. What is deleted is forgotten by `by.who` if the write `forgets`: sessions that say it again do not bring it
    back. What a person writes is no longer forgotten. `before` are the records of all paths as the writer sees them,
    where the caller has read them. Emits `workspace.updated` for each document and `memory.written`
    for each memory with new words.
    """
    at, records = writer.at, records or {}
    if before is None:
        before = {path: writer.load(DocumentRecord, (path,)) for path in texts}
    changed = {path: new for path, new in texts.items() if _differs(before[path], new)}
    old_items, pages = _parsed(before, changed)
    ids = _block_ids(writer, before, changed, pages, by)
    kept = {name for names in ids.values() for name in names}
    memories = _MemoryWriter(writer, by, records, forgets=forgets)
    index = part_index(writer)
    removed = [record for path in changed if path not in pages and (record := before[path]) is not None]
    for path, record in before.items():
        if path in changed and record is not None and not kept.issuperset(record.ids):
            for name, item in old_items[path].items():
                if name not in kept:
                    memories.retire(name, item.text)
    for path, new in changed.items():
        if new is None:
            _delete_document(writer, path, before[path], at)
            index.note_deletion(path)
            continue
        old = before[path]
        unchanged = old_items.pop(path, {})
        memories.session = session_of(new.text) if by.author == "person" else None
        edited: list[Item] = []
        for order, (name, item) in enumerate(zip(ids[path], pages[path].items, strict=True)):
            if name in records or not _same_block(unchanged.get(name), item):
                memories.put(name, item, path, order)
                edited.append(item)
        served = None if by.author == "engine" else index_summary(writer, path, new.text, old, removed)
        record = DocumentRecord(
            path=path,
            content=new.text,
            sha256=sha256(new.text),
            size=len(new.text.encode()),
            version=1 if old is None else old.version + 1,
            summary=pages[path].summary if served is None else served,
            ids=ids[path],
            updated_at=at,
        )
        if writer.save(record, (path,)):
            writer.event("workspace.updated", {"path": path, "version": record.version})
        index.note_change(path, pages[path].kind, record, edited)
    index.keep(writer)
    if memories.changed:
        writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)
    return sorted(changed)


def _parsed(
    before: Mapping[str, DocumentRecord | None], changed: Mapping[str, NewText | None]
) -> tuple[dict[str, dict[str, Item]], dict[str, ParsedDocument]]:
    """Return the old blocks of the changed documents by their ids, and their new texts parsed.

    Each once, the new text right after the old one, so that what is equal in both is not parsed twice: of many
    documents the parser's cache has the last few.
    """
    old_items: dict[str, dict[str, Item]] = {}
    pages: dict[str, ParsedDocument] = {}
    for path, new in changed.items():
        old = before[path]
        if old is not None:
            old_items[path] = items_of(old)
        if new is not None:
            pages[path] = parse_document(path, new.text)
    return old_items, pages


def blocks_of(record: DocumentRecord) -> list[tuple[str, str]]:
    """Return id and text of each memory block of a stored document."""
    return [(name, item.text) for name, item in items_of(record).items()]


def items_of(record: DocumentRecord) -> dict[str, Item]:
    """Return the memory blocks of a stored document by their ids, in their order."""
    return items_by_id(record.path, record.content, record.ids)


def _same_block(before: Item | None, after: Item) -> bool:
    """Return True if a block's text and parsed fields are unchanged, so that its memory need not be written again."""
    return before is after or (
        before is not None
        and before.text == after.text
        and before.content == after.content
        and before.type is after.type
        and (before.tags, before.title, before.fields) == (after.tags, after.title, after.fields)
    )


def sha256(text: str) -> str:
    """Return the SHA-256 of a document's text in hex: its ETag, and its version for the folder."""
    return hashlib.sha256(text.encode()).hexdigest()


def _differs(before: DocumentRecord | None, new: NewText | None) -> bool:
    if before is None or new is None:
        return (before is None) != (new is None)
    return before.content != new.text or (new.ids is not None and list(new.ids) != before.ids)


def _block_ids(
    writer: Writer,
    before: Mapping[str, DocumentRecord | None],
    changed: Mapping[str, NewText | None],
    pages: Mapping[str, ParsedDocument],
    by: By,
) -> dict[str, list[str]]:
    """Return the ids of the blocks of every changed text.

    In this order: the id that the caller gave; the id of the matching block of the old texts, where a block may have
    moved from one changed document to another; the id of a block deleted a short while ago; a new one.
    """
    unnamed = {path for path in pages if (new := changed[path]) is not None and new.ids is None}
    old_blocks = {
        path: blocks_of(record)
        for path, record in before.items()
        if record is not None and path in changed and (path in unnamed or path not in pages)
    }
    matched = match_ids(old_blocks, {path: [item.text for item in pages[path].items] for path in sorted(unnamed)})
    used = {name for names in matched.values() for name in names if name is not None}
    ids: dict[str, list[str]] = {}
    for path, page in pages.items():
        new = changed[path]
        if path not in unnamed and new is not None and new.ids is not None:
            ids[path] = list(ids_of_items(path, new.text, new.ids))
            continue
        names: list[str] = []
        for item, name in zip(page.items, matched[path], strict=True):
            block_id = name or _retired_id(writer, item.text, used) or by.new_id("mem")
            used.add(block_id)
            names.append(block_id)
        ids[path] = names
    return ids


def _retired_id(writer: Writer, text: str, used: set[str]) -> str | None:
    """Return the newest unused id of a block with this text that was deleted within RETURN_MS, or None."""
    retired = writer.load(RetiredRecord, (sha256(text.strip()),))
    for name, since in reversed(retired.ids if retired is not None else []):
        recent = to_ms(writer.at) - to_ms(since) <= RETURN_MS
        if recent and name not in used and writer.load(MemoryRecord, (name,)) is None:
            return name
    return None


class _MemoryWriter:
    """Writes the memories of one write of documents. `changed` becomes True with the first record that changes."""

    def __init__(self, writer: Writer, by: By, records: Mapping[str, MemoryRecord], *, forgets: bool) -> None:
        self._writer = writer
        self._author = by.author
        self._at = writer.at
        self._records = records
        self._provenance = by.provenance
        self._project = by.project
        self._who = by.who
        self._forgotten_by = by.who if forgets else None
        self._projects: dict[str, str] | None = None  # by each name the project's, read where a folder may be one
        self._anything_forgotten = writer.count(Kind.FORGOTTEN) > 0
        self.session: str | None = None  # of the agent that wrote the file, whoever's process saved it
        self.changed = False

    def put(self, name: str, item: Item, path: str, order: int) -> None:
        """Write the memory of one block; no change if it has the same words in the same document."""
        words: dict[str, Any] = {
            "type": item.type,
            "content": item.content,
            "tags": tuple(item.tags),
            "title": item.title,
            "fields": tuple(item.fields),
        }
        trust: Author = self._author if self.session is None else "agent"
        provenance = self._provenance if self.session is None else {"by": "agent", "session": self.session}
        stored = self._writer.load(MemoryRecord, (name,))
        made_by_caller = self._records.get(name)
        base = made_by_caller or stored or self._last_version(name)
        if base is None:
            record = MemoryRecord(
                id=name,
                document=path,
                created_at=self._at,
                updated_at=self._at,
                trust=trust,
                provenance=provenance,
                order=order,
                project=self._project_of(None, path),
                **words,
            )
        elif made_by_caller is not None:
            project = self._project_of_version(made_by_caller, path)
            record = replace(made_by_caller, document=path, order=order, project=project, **words)
        elif stored is None and (self.session is not None or is_agent(self._provenance.get("by"))):
            # What was deleted, and an agent writes again, is the agent's: else it would have a person's trust.
            record = replace(
                base,
                document=path,
                updated_at=self._at,
                trust=trust,
                provenance=provenance,
                project=self._project_of(base, path),
                **words,
            )
        elif _words_equal(base, words):
            record = replace(base, document=path, project=self._project_of(base, path))
        else:
            project = self._project_of(base, path)
            provenance = {**base.provenance, **_author_of(provenance)}
            if trust == "person":
                provenance = {**without_doubt(base.provenance), CORRECTED: self._at}
            record = replace(
                base, document=path, updated_at=self._at, trust=trust, provenance=provenance, project=project, **words
            )
            if trust == "person":
                self._replace_learnt(base, record)
        # An equal record needs no comparison by the store: of a document with 1,000 blocks, one edit changes one.
        if record != stored and self._writer.save(record, (name,)):
            self.changed = True
            if trust == "person" and self._anything_forgotten:
                recall_to_mind(self._writer, record, who="person")
            if stored is None or not _words_equal(stored, words):
                self._writer.event(
                    "memory.written",
                    {"memoryRef": f"space:{self._writer.space}", "memoryId": name, "tags": list(item.tags)},
                )

    def _replace_learnt(self, before: MemoryRecord, after: MemoryRecord) -> None:
        """Have the last words that no person wrote not learnt again, where a person has given the memory others.

        Not those between the two: an editor may save every state of what a person is writing.
        """
        learnt: MemoryRecord | None = before
        if before.trust == "person" and CORRECTED in before.provenance:
            versions = (version.value for version in self._writer.record_versions(MemoryRecord, (before.id,)))
            learnt = next((old for old in versions if old is not None and _is_learnt(old)), None)
        if learnt is not None and _is_learnt(learnt) and not says_the_same(learnt, after):
            forget(self._writer, learnt, self._who, replaced=True)
            self._anything_forgotten = True

    def _project_of(self, memory: MemoryRecord | None, path: str) -> str | None:
        """Return the project of the memory at `path`: that of its folder, else the one that its older record names.

        In a project's folder it belongs to that. Taken out of such a folder it is the person's: of a line that somebody
        moves from `facts/harbour/mistakes.md` to `facts/mistakes.md` every project is to know. Where it was before, as
        after an undo, it is what it was there. Else it is as before.
        """
        folder = self._project_folder(path)
        if folder is not None:
            return folder
        if memory is None:
            return self._project
        if memory.document == path or self._project_folder(memory.document) is None:
            return memory.project
        versions = (version.value for version in self._writer.record_versions(MemoryRecord, (memory.id,)))
        return next((old.project for old in versions if old is not None and old.document == path), PERSON)

    def _project_of_version(self, memory: MemoryRecord, path: str) -> str | None:
        """Return the project of a memory whose record the caller has, an earlier version maybe.

        What it says itself of its folder's project holds, as before a join that is being undone.
        """
        folder = self._project_folder(path)
        return memory.project if folder is None or memory.project == folder_of(path) else folder

    def _project_folder(self, path: str) -> str | None:
        """Return the project whose folder, or a joined one's, has the document at `path`; None if none has it."""
        folder = folder_of(path)
        if folder is not None and self._projects is None:
            stored = self._writer.load(ProjectsCursor, ProjectsCursor.KEY) or ProjectsCursor()
            self._projects = {project.name: project.joined or project.name for project in stored.projects}
        return None if folder is None or self._projects is None else self._projects.get(folder)

    def retire(self, name: str, text: str) -> None:
        """Delete a memory, and store its id under its text, so that it is found if the text comes back."""
        memory = None if self._forgotten_by is None else self._writer.load(MemoryRecord, (name,))
        if memory is not None and self._forgotten_by is not None:
            forget(self._writer, memory, self._forgotten_by, thread=str(self._provenance.get("thread") or ""))
            self._anything_forgotten = True
        if self._writer.delete(Kind.MEMORY, (name,)):
            self.changed = True
        key = (sha256(text.strip()),)
        retired = self._writer.load(RetiredRecord, key) or RetiredRecord()
        ids = [entry for entry in retired.ids if entry[0] != name]
        self._writer.save(RetiredRecord(ids=[*ids, (name, self._at)][-_RETIRED_KEPT:]), key)

    def _last_version(self, name: str) -> MemoryRecord | None:
        versions = (version.value for version in self._writer.record_versions(MemoryRecord, (name,)))
        return next((value for value in versions if value is not None), None)


def _is_learnt(memory: MemoryRecord) -> bool:
    """Return True for what an engine or an agent wrote, and for what a person said in a session."""
    return memory.trust != "person" or ("thread" in memory.provenance and CORRECTED not in memory.provenance)


def _author_of(provenance: Mapping[str, Any]) -> dict[str, Any]:
    return {"by": provenance["by"]} if "by" in provenance else {}


def _words_equal(memory: MemoryRecord, words: Mapping[str, Any]) -> bool:
    return all(getattr(memory, name) == words[name] for name in _WORDS)


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


def with_unrecorded_texts(reader: Reader, path: str, baseline: Baseline | None) -> Baseline:
    """Return a path's baseline with the hashes of the texts that its file may have got since.

    Baselines are saved later than the files that they are of. Example: an agent creates a document, a second later the
    person undoes that, and the daemon is killed before the file is removed: without a baseline the file looks new.
    """
    known = Baseline(path, "", 0) if baseline is None else baseline
    past = islice(reader.record_versions(DocumentRecord, (path,)), _FILE_TEXTS)
    newer = takewhile(lambda version: version.operation > (known.operation or 0), past)
    texts = {sha256(version.value.content) for version in newer if version.value is not None}
    return known if texts <= known.intended else dataclasses.replace(known, intended=known.intended | texts)


def note_file_texts(writer: Writer, path: str, at: str) -> None:
    """Save the baseline of a document that is about to be deleted, or whose versions change, with what it may show."""
    record = writer.load(BaselineRecord[Baseline], (path,))
    known = None if record is None else record.baseline
    baseline = with_unrecorded_texts(writer, path, known)
    if baseline != known:
        writer.save(BaselineRecord(path=path, baseline=baseline, at=at), (path,))


def _delete_document(writer: Writer, path: str, before: DocumentRecord | None, at: str) -> None:
    note_file_texts(writer, path, at)
    writer.delete(Kind.DOCUMENT, (path,))
    if before is not None:
        writer.event("workspace.updated", {"path": path, "version": before.version + 1})
