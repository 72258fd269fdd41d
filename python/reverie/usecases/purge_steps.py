"""The writes of a purge, in small steps; each may be repeated, so that a purge can be continued after a crash.

The order matters. What repeats the words is found by the words of the sources, so the sources go last: after a crash
before that, everything is found again. `finish` ends the purge in the same commit that asks for a compaction.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from reverie.documents.edit import apply_changes
from reverie.documents.items import Delete
from reverie.documents.parse import parse_document
from reverie.errors import ReverieError
from reverie.store import (
    ArchiveRecord,
    CompactionCursor,
    DocumentRecord,
    Kind,
    MemoriesCursor,
    MemoryRecord,
    PendingPurge,
    PurgesCursor,
    RegionRecord,
    RetiredRecord,
    Write,
    Writer,
)
from reverie.sync.plan import Baseline, Save
from reverie.usecases import consolidation, imported, redactions, runs
from reverie.usecases.by import By, writes
from reverie.usecases.forgotten import forget
from reverie.usecases.provenance import without_thread
from reverie.usecases.purge_targets import ArchiveBody, Findings, Matcher, Sources, lines_without, text_records
from reverie.usecases.put import NewText, note_file_texts, put_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from reverie.models import Json
    from reverie.store import Key

WHY = "purge"
BATCH = 50  # records in one write, so that agents' writes wait for milliseconds
ANSWERS = 200  # stored answers looked at in one write


@writes(WHY)
def begin(to: Writer, _: By, purge: PendingPurge) -> None:
    """Record a purge as begun, so that the daemon continues it after a crash."""
    cursor = to.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()
    if purge not in cursor.pending:
        to.save(replace(cursor, pending=[*cursor.pending, purge]), PurgesCursor.KEY)
    if purge.kind == "thread":  # from here on no import adds words that the purge has not seen
        imported.leave_mark(to, purge.key)


@writes(WHY)
def remove_blocks(to: Writer, by: By, found: Sources) -> list[str]:
    """Take the memories out of the current documents, delete those that are purged, and return the paths that changed.

    The versions before are still kept. Of the memories of a purged thread the hashes are kept as forgotten, as those of
    a purged memory are.
    """
    purged = set(found.memories)
    if found.thread is not None:  # another session that says the same would else bring back what was purged
        for name in found.memories:
            if (memory := to.load(MemoryRecord, (name,))) is not None:
                forget(to, memory, by.who, words_left=False)
    texts: dict[str, NewText | None] = {}
    paths = {record.document for name in found.memories if (record := to.load(MemoryRecord, (name,)))}
    for path in {*paths, *found.documents}:
        document = to.load(DocumentRecord, (path,))
        if document is None:
            continue
        own = [name for name in document.ids if name in purged]
        if path in found.documents:
            texts[path] = None
        elif own:
            changes = [Delete(name) for name in own]
            edited = apply_changes(path, document.content, document.ids, changes, day=to.at[:10])
            texts[path] = None if edited.text is None else NewText(edited.text, edited.ids)
    return put_texts(to, texts, by)


@writes(WHY)
def cover_copies(to: Writer, by: By, found: Findings) -> list[str]:
    """Take the lines with purged words out of the copies of open conflicts."""
    texts: dict[str, NewText | None] = {}
    for path in found.copies:
        document = to.load(DocumentRecord, (path,))
        if document is not None:
            texts[path] = NewText(lines_without(document.content, found.matcher))
    return put_texts(to, texts, by)


@writes(WHY, bulk=True)
def _step(to: Writer, _: By, change: Callable[..., int], *given: Any) -> int:
    """Make one step, and return how much it changed, 0 where it is done."""
    return change(to, *given)


@writes(WHY, bulk=True)
def without_names(to: Writer, _: By, records: Sequence[tuple[Kind, int]], paths: Collection[str]) -> None:
    """Take the paths of purged documents out of a part of the log: operations have the hashes instead.

    The last step: who follows the log has to have seen the deletions.
    """

    def without(value: dict[str, Any], gone: Collection[str]) -> dict[str, Any]:
        if "data" in value:
            path = value["data"]["path"]
            return {**value, "data": {**value["data"], "path": "[purged]" if path in gone else path}}
        changes = [
            {**change, "key": [sha256(change["key"][0].encode()).hexdigest()]}
            if change["kind"] == Kind.DOCUMENT and change["key"][0] in gone
            else change
            for change in value["changes"]
        ]
        return {**value, "changes": changes}

    gone = {path for path in paths if not to.exists(Kind.DOCUMENT, (path,))}  # one may be written again by now
    for kind, number in records:
        to.rewrite(kind, (number,), partial(without, gone=gone))


# What repeats the words


def rewrites(by: By, found: Findings, sources: Sources) -> Iterator[Write[int]]:
    """Yield the writes that remove purged words from all that repeats them; each is repeated until it returns 0."""
    purged = frozenset(sources.memories)
    yield _step.write(by, _rewrite_current, found, sources)
    for name in found.forgotten:
        yield _step.write(by, _rewrite_forgotten, name)
    for address in found.archives:
        yield _step.write(by, _replace_archive, address, found.wide, sources.thread)
    for kind, key in found.versions:
        yield _step.write(by, _rewrite_versions, kind, key, found.matcher_of(kind), purged)


@writes(WHY, bulk=True)
def forget_answers(to: Writer, _: By, holds: Callable[[Json], bool], after: bytes | None) -> bytes | None:
    """Empty stored answers for which `holds` is true; return where to continue."""
    return to.purge_answers(holds, after, ANSWERS)


def _rewrite_current(writer: Writer, found: Findings, sources: Sources) -> int:
    """Take purged words out of current records, with the tags in events, inherited notes and candidates.

    A new version of each, so that nobody goes on from the one before. Done in one write, so it returns 0: no step is
    left.
    """
    records = text_records()
    for kind, key in found.current:
        value, matcher = writer.get(kind, key), found.matcher_of(kind)
        if value is not None:
            changed = dict(matcher.without(records[kind], value, "derived"))
            if kind is Kind.CONFLICT:  # as the copy has it after `cover_copies`
                changed["text"] = lines_without(value["text"], matcher)
                changed["regions"] = [
                    region for region in value["regions"] if not matcher.in_record(RegionRecord, region)
                ]
            writer.put(kind, key, changed)
    for number in found.events:
        writer.rewrite(Kind.EVENT, (number,), _without_tags)
    for key in found.notes:
        writer.purge(Kind.NOTE, key, 1)
    for name in found.candidates:
        writer.purge(Kind.CANDIDATE, (name,), 1)
    for name in sources.kept:
        memory = writer.load(MemoryRecord, (name,))
        if memory is not None and sources.thread is not None:
            provenance = without_thread(memory.provenance, sources.thread)
            writer.save(replace(memory, provenance=provenance), (name,))
            writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)
    return 0


def _rewrite_versions(writer: Writer, kind: Kind, key: Key, matcher: Matcher, purged: frozenset[str]) -> int:
    """Take the words out of every version of one record; done in one write, so it returns 0."""
    record_type = text_records()[kind]

    def rewrite(value: dict[str, Any]) -> dict[str, Any]:
        return _past_document(value, matcher, purged) if kind is Kind.DOCUMENT else matcher.without(record_type, value)

    if kind is Kind.DOCUMENT:
        note_file_texts(writer, str(key[0]), writer.at)
    writer.rewrite(kind, key, rewrite)
    return 0


def _rewrite_forgotten(writer: Writer, name: str) -> int:
    """Empty a forgotten statement's words; its hash stays, so that they are not learnt again. Returns 0: it is done."""
    writer.rewrite(Kind.FORGOTTEN, (name,), lambda value: {**value, "content": ""})
    return 0


def _without_tags(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event about a memory without the tags of it."""
    return {**event, "data": {**event["data"], "tags": []}}


def _past_document(value: dict[str, Any], matcher: Matcher, purged: frozenset[str]) -> dict[str, Any]:
    """Return a version of a document without the blocks and lines that are purged.

    Where a line is part of another memory's block, so that its removal would change which ids are left, the words are
    masked instead.
    """
    text, ids, path = value["content"], list(value.get("ids", ())), value["path"]
    own = [Delete(name) for name in ids if name in purged]
    if not own and not matcher.holds(text) and not matcher.holds(value.get("summary", "")):
        return value
    if own:
        try:
            edited = apply_changes(path, text, ids, own, day=value["updatedAt"][:10])
            text, ids = edited.text or "", list(edited.ids)
        except ReverieError:
            text, ids = "", []
    return with_text(value, (lines_without(text, matcher), matcher.masked(text)), ids, matcher.masked)


def with_text(
    value: dict[str, Any], texts: Iterable[str], ids: list[str], change: Callable[[str], str]
) -> dict[str, Any]:
    """Return a version of a document with the first of the texts that has as many memories as ids, "" if none has.

    Its summary gets the `change`.
    """
    text = next((text for text in texts if _fits(value["path"], text, ids)), "")
    page, data = parse_document(value["path"], text), text.encode()
    changed = {"content": text, "ids": ids[: len(page.items)], "summary": change(page.summary)}
    return {**value, **changed, "sha256": sha256(data).hexdigest(), "size": len(data)}


def _fits(path: str, text: str, ids: list[str]) -> bool:
    """Return True if a text parses into as many memories as there are ids."""
    return len(parse_document(path, text).items) == len(ids)


def _replace_archive(writer: Writer, address: str, matcher: Matcher, thread: str | None) -> int:
    """Replace an archive by one without the purged words; delete one of the purged thread. Returns 0: all is done."""
    archive = writer.load(ArchiveRecord, (address,))
    if archive is not None:
        left = None if archive.ref == f"thread:{thread}" else _archive_without(writer, archive, matcher)
        consolidation.replace_archive(writer, address, left)
    return 0


def _archive_without(writer: Writer, archive: ArchiveRecord, matcher: Matcher) -> ArchiveRecord | None:
    """Return an archive without the memories that have purged words; elsewhere in it these are masked.

    None for one that is no JSON, as earlier releases may have stored it: whole words cannot be told apart in it.
    """
    try:
        body = orjson.loads(archive.body)
    except orjson.JSONDecodeError:
        return None
    body["memories"] = [memory for memory in body.get("memories", []) if not matcher.in_record(ArchiveBody, memory)]
    return consolidation.archive_record(
        writer,
        matcher.without(ArchiveBody, body),
        kind=archive.kind,
        ref=archive.ref,
        entries=archive.entries,
        at=archive.at,
    )


# Sources


def erase(by: By, found: Sources) -> Iterator[Write[int]]:
    """Yield the writes that remove purged records with their versions; each is repeated until it returns 0."""
    for name in found.conflicts:
        yield _step.write(by, _erase_versions, Kind.CONFLICT, name)
    for name in found.memories:
        yield _step.write(by, _erase_memory, name)
    for path in found.documents:
        yield _step.write(by, _erase_versions, Kind.DOCUMENT, path)
    if found.thread is not None:
        yield _step.write(by, _erase_runs, found.thread)
        yield _step.write(by, Writer.purge_thread, found.thread, 10 * BATCH)


def _erase_versions(writer: Writer, kind: Kind, name: str) -> int:
    return writer.purge(kind, (name,), 1)


def _erase_runs(writer: Writer, thread: str) -> int:
    """Remove the runs of a thread with their files; done in one write, so it returns 0."""
    for run in runs.of_thread(writer, thread):
        runs.erase(writer, run)
    return 0


def _erase_memory(writer: Writer, name: str) -> int:
    """Remove a memory with its versions, access count and hashes of its texts; return how many records went."""
    for key, retired in list(writer.records(RetiredRecord)):
        if any(entry[0] == name for entry in retired.ids):
            writer.delete(Kind.RETIRED, key)
    writer.delete(Kind.ACCESS, (name,))
    return writer.purge(Kind.MEMORY, (name,), 1)


@writes(WHY)
def finish(to: Writer, by: By, purge: PendingPurge) -> int:
    """End a purge: its record is removed, and an event without content announces it."""
    cursor = to.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()
    left = [entry for entry in cursor.pending if entry != purge]
    to.save(replace(cursor, pending=left), PurgesCursor.KEY)
    redactions.forget_purged(to)
    to.event("memory.purged", {"memoryRef": f"space:{by.space}", "kind": purge.kind})
    return to.operation()


@writes("compaction.due")
def needs_compaction(to: Writer, _: By, at: str) -> None:
    """Ask for a compaction: the bytes of a purge, which ended `at`, are still in free pages."""
    to.save(CompactionCursor(since=at), CompactionCursor.KEY)


@writes("compaction.done")
def compacted(to: Writer, _: By, due: CompactionCursor) -> None:
    """Note a compaction: no bytes of the purges until `due` are left in the file."""
    if to.load(CompactionCursor, CompactionCursor.KEY) == due:  # else a purge came after the copy was made
        to.delete(Kind.CURSOR, CompactionCursor.KEY)


@writes("archives.named", bulk=True)
def name_archives(to: Writer, _: By, addresses: Iterable[str]) -> None:
    """Rename archives which are not what their names say."""
    consolidation.name_archives(to, addresses)


@writes("archives.removed")
def files_gone(to: Writer, _: By, addresses: Iterable[str]) -> None:
    """Note that the files of purged archives are removed."""
    gone = set(addresses)
    cursor = to.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()
    to.save(replace(cursor, archives=[name for name in cursor.archives if name not in gone]), PurgesCursor.KEY)


def without_words(baseline: Baseline, holds: Callable[[str], bool]) -> Baseline:
    """Return a baseline without the texts of saves for which `holds` is true."""

    def covered(save: Save | None) -> Save | None:
        return Save(save.operation) if save is not None and save.text and holds(save.text) else save

    earlier = tuple(save for save in baseline.earlier if not (save.text and holds(save.text)))
    return dataclasses.replace(baseline, saved=covered(baseline.saved), earlier=earlier)
