"""Consolidation: the snapshot of memories that candidates are decided against, and the commit of the plan.

The decision is in `screening` and runs in the compute process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Any, Final

import msgspec
import orjson

from reverie import wire
from reverie.canonical_json import canonical
from reverie.compression import pack, unpack
from reverie.consolidate.apply import document_of
from reverie.consolidate.forgotten import ForgottenStatement
from reverie.decode import from_msgpack, mapped
from reverie.documents.parts import is_full, open_part
from reverie.errors import Conflict, Damaged
from reverie.language_model.requests import ReflectionBounds
from reverie.models import Candidate, Json, Tier
from reverie.store import (
    AccessRecord,
    ArchiveEntryRecord,
    ArchiveRecord,
    ArchivesCursor,
    CandidateRecord,
    DistillationRecord,
    DocumentRecord,
    DreamRecord,
    Key,
    Kind,
    MemoriesCursor,
    MemoryRecord,
    PurgesCursor,
    Reader,
    Writer,
)
from reverie.usecases import forgotten as use_forgotten
from reverie.usecases import projects, provenance, review
from reverie.usecases.by import ENGINE
from reverie.usecases.documents import as_spelled
from reverie.usecases.put import NewText, put_texts
from reverie.usecases.redactions import RedactRules

_NEVER = AccessRecord()
_NO_ACCESS: Final[tuple[Key | None, AccessRecord]] = (None, _NEVER)
_PART_STATEMENTS: Final = 256  # forgotten statements that are in this process at one time
MEMORY_FOLDERS = ("facts/", "episodes/")  # the folders of documents that consolidation writes memories into


class Terms(msgspec.Struct, frozen=True):
    """The settings, the time and the seed of a decision.

    `window` is `consolidation.window` in tokens, `redact` makes the redactor, `random` seeds the ids of new memories.
    With `reflection` a model changes the files of memories by calls of tools, within these bounds.
    """

    window: int
    at: str
    redact: RedactRules = msgspec.field(default_factory=RedactRules)
    random: bytes = b""
    reflection: ReflectionBounds | None = None


class DocumentText(msgspec.Struct):
    """A document with memories, and the ids of its blocks; `text` is None for one that is deleted.

    `basis` is the SHA-256 of the text that it was made from, empty for a new document.
    """

    text: str | None
    ids: list[str]
    basis: str


class MemorySnapshot(msgspec.Struct):
    """The memories of a space and the documents with them; `operation` is the last one that changed a memory.

    `window` is `consolidation.window` in tokens, by which the capacity tier is chosen. `forgotten` is not learnt again
    (`forgotten_statements`): compressed, since there may be thousands, of which a consolidation needs few or none.
    `others` counts the memories that are not in it, since no candidate is about them; else it has all. Then `tier` is
    the capacity tier of all of them; it is empty where it can be counted. `parts` are full parts of long documents that
    are not in `documents`: a new memory goes into a part behind them.
    """

    operation: int
    memories: list[MemoryRecord]
    documents: dict[str, DocumentText]
    window: int
    forgotten: list[bytes] = []
    others: int = 0
    tier: str = ""
    parts: list[str] = []


class MemoryPlan(msgspec.Struct):
    """The changes of memories and documents that a consolidation will write.

    `put` are the records of new and changed memories, `documents` the texts that the changes lead to. `changes` and
    `proposals` have the form of seed 003, `archived` is what an archive stores of `put`, `counts` are the decisions by
    action. `proposed` are the candidates in the order of their indexes. `fallback` says what a model did not decide,
    and why; it is empty where it decided all, or where there is no model.
    `waiting` are candidates for a person, `forgotten` is how many were dropped since they were forgotten, and `doubts`
    are marks of memories that the thread speaks against. `repeated` are memories that the named thread says again.
    """

    operation: int
    candidates: int
    tier: str
    put: list[MemoryRecord]
    deleted: list[str]
    documents: dict[str, DocumentText]
    changes: list[wire.Change]
    proposals: list[wire.Proposal]
    counts: dict[str, int]
    archived: list[dict[str, Any]]
    proposed: list[wire.ProposedMemory] = []
    fallback: str = ""
    waiting: list[CandidateRecord] = []
    forgotten: int = 0
    doubts: list[provenance.Mark] = []
    repeated: list[tuple[str, str]] = []


def snapshot(reader: Reader, *, window: int) -> MemorySnapshot:
    """Return a MemorySnapshot: the memories and documents that a consolidation is decided from.

    `window` is `consolidation.window` in tokens.
    """
    documents = {
        record.path: DocumentText(record.content, record.ids, record.sha256)
        for _, record in reader.records(DocumentRecord)
        if record.ids or record.path.startswith(MEMORY_FOLDERS)
    }
    return MemorySnapshot(
        operation=_last_change(reader),
        memories=list(_memories(reader)),
        documents=documents,
        window=window,
        forgotten=_forgotten(reader),
    )


def snapshot_of(
    reader: Reader,
    records: Sequence[MemoryRecord],
    candidates: Iterable[Candidate],
    *,
    window: int,
    at: str,
    tier: Tier,
) -> MemorySnapshot:
    """Return the snapshot of these memories, with the documents that their consolidation with `candidates` may change.

    `tier` is the capacity tier of all memories of the space.
    """
    parts: dict[str, DocumentRecord | None] = {}
    for path in dict.fromkeys(document_of(candidate, at=at) for candidate in candidates):
        parts |= _parts_looked_at(reader, as_spelled(reader, path))
    for path in sorted({record.document for record in records}):
        parts[path] = parts.get(path) or reader.load(DocumentRecord, (path,))
    accesses = reader.load_many(AccessRecord, [(record.id,) for record in records])
    return MemorySnapshot(
        operation=_last_change(reader),
        memories=[_with_access(record, access or _NEVER) for record, access in zip(records, accesses, strict=True)],
        documents={
            path: DocumentText(record.content, record.ids, record.sha256)
            for path, record in sorted(parts.items())
            if record is not None
        },
        window=window,
        forgotten=_forgotten(reader),
        others=reader.count(Kind.MEMORY) - len(records),
        tier=tier.value,
        parts=sorted(
            path for path, record in parts.items() if record is None and reader.exists(Kind.DOCUMENT, (path,))
        ),
    )


def _parts_looked_at(reader: Reader, path: str) -> dict[str, DocumentRecord | None]:
    """Return the parts of a document that decide which one takes a new memory, those that exist or not.

    The first and the last are read; of those between them it counts that they exist.
    """
    looked_at: dict[str, DocumentRecord | None] = {path: None}

    def exists(part: str) -> bool:
        looked_at.setdefault(part, None)
        return reader.exists(Kind.DOCUMENT, (part,))

    def full(part: str) -> bool:
        record = looked_at[part] = looked_at.get(part) or reader.load(DocumentRecord, (part,))
        return record is not None and is_full(record.size, len(record.ids))

    taking = open_part(path, exists, full)
    looked_at[taking] = looked_at.get(taking) or reader.load(DocumentRecord, (taking,))
    return looked_at


def _memories(reader: Reader) -> Iterator[MemoryRecord]:
    """Yield every memory with its access count; counts of deleted memories, which stay for an undo, are skipped."""
    accesses = reader.records(AccessRecord)
    key, access = next(accesses, _NO_ACCESS)
    for _, record in reader.records(MemoryRecord):  # both come in the order of the memories' ids
        while key is not None and str(key[0]) < record.id:
            key, access = next(accesses, _NO_ACCESS)
        yield _with_access(record, access if key is not None and key[0] == record.id else _NEVER)


def _with_access(record: MemoryRecord, now: AccessRecord) -> MemoryRecord:
    if (record.access_count, record.last_accessed_at) == (now.count, now.at):
        return record
    return msgspec.structs.replace(record, access_count=now.count, last_accessed_at=now.at)


def _forgotten(reader: Reader) -> list[bytes]:
    """Return the forgotten statements, packed in parts as `MemorySnapshot` has them. Raises MemoryError."""
    statements = use_forgotten.forgotten_statements(reader)
    parts: list[bytes] = []
    while part := list(islice(statements, _PART_STATEMENTS)):
        packed = pack(msgspec.msgpack.encode(part))
        if packed is None:
            raise MemoryError("the forgotten statements cannot be compressed")
        parts.append(packed)
    return parts


def forgotten_statements(snapshot: MemorySnapshot) -> Iterator[ForgottenStatement]:
    """Yield the forgotten statements, one for each project. Raises Damaged."""
    for part in snapshot.forgotten:
        unpacked = unpack(part)
        if unpacked is None:
            raise Damaged("the forgotten statements of a snapshot cannot be read", hint="try again")
        yield from from_msgpack(unpacked, list[ForgottenStatement])


def empty_plan(snapshot: MemorySnapshot) -> MemoryPlan:
    """Return a plan that changes nothing."""
    return MemoryPlan(snapshot.operation, 0, "", [], [], {}, [], [], {}, [])


def commit(writer: Writer, plan: MemoryPlan) -> wire.MemoryChanges:
    """Write the plan's memories and documents, with their events; return the answer about the changes.

    Raises Conflict with `details["stale"]` if a memory, or any byte of a document, changed since the snapshot: the
    plan has whole texts, and would overwrite the change.
    """
    if _last_change(writer) != plan.operation:
        raise Conflict("the memories changed meanwhile", hint="try again", stale=True)
    for path, new in plan.documents.items():
        document = writer.load(DocumentRecord, (path,))
        if (document.sha256 if document is not None else "") != new.basis:
            raise Conflict(f"{path} changed meanwhile", hint="try again", stale=True)
    projects.make_known(writer, {record.project or "" for record in plan.put} - {""})
    put_texts(
        writer,
        {path: None if new.text is None else NewText(new.text, new.ids) for path, new in plan.documents.items()},
        ENGINE,
        records={record.id: record for record in plan.put},
    )
    # Memories whose block is in no document, so that no text was edited for them.
    orphans = [memory_id for memory_id in plan.deleted if writer.delete(Kind.MEMORY, (memory_id,))]
    if orphans:
        writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)
    if plan.put or plan.deleted:
        writer.event(
            "agent.memory.consolidated",
            {"memoryRef": f"space:{writer.space}", "inputCount": plan.candidates, "outputCount": len(plan.put)},
        )
    waiting = review.keep_waiting(writer, plan.waiting)
    for doubt in plan.doubts:
        provenance.mark(writer, doubt)
    for memory_id, thread in plan.repeated:
        provenance.note(writer, memory_id, thread)
    return changes_answer(plan, operation=str(writer.number), waiting=waiting)


def changes_answer(plan: MemoryPlan, *, operation: str | None, waiting: Sequence[str] = ()) -> wire.MemoryChanges:
    """Return the API's answer about a plan; `operation` is None for a plan that is not written.

    Memories that stay as they are are counted and not listed: a store may have a hundred thousand.
    """
    return mapped(
        plan,
        wire.MemoryChanges,
        operation=operation,
        changes=[change for change in plan.changes if not isinstance(change, wire.KeepChange)],
        fallback=plan.fallback or None,
        waiting=list(waiting),
    )


def save_archive(
    writer: Writer, body: bytes, *, kind: str, ref: str, entries: int, at: str
) -> tuple[ArchiveRecord, bool]:
    """Store an archive, and announce the changed index; return its record, and False if it was stored already.

    Its values are redacted once more, and then it is hashed: what is stored is what its address says.
    """
    record = archive_record(writer, orjson.loads(body), kind=kind, ref=ref, entries=entries, at=at)
    if writer.exists(Kind.ARCHIVE, (record.sha256,)):
        return record, False
    cursor = writer.load(ArchivesCursor, ArchivesCursor.KEY) or ArchivesCursor()
    entry = ArchiveEntryRecord(sha256=record.sha256, at=at, entries=entries)
    named = cursor.named or not cursor.archives
    writer.save(ArchivesCursor(archives=[*cursor.archives, entry], named=named), ArchivesCursor.KEY)
    writer.event("workspace.updated", {"path": "MEMORY-INDEX.json", "version": len(cursor.archives) + 1})
    return record, writer.save_redacted(record, (record.sha256,))


def archive_record(writer: Writer, body: Json, *, kind: str, ref: str, entries: int, at: str) -> ArchiveRecord:
    """Return the record of an archive with its values redacted, named by the hash of that."""
    data = canonical(writer.redacted(body))
    return ArchiveRecord(
        sha256=sha256(data).hexdigest(), kind=kind, ref=ref, at=at, size=len(data), entries=entries, body=data.decode()
    )


def replace_archive(writer: Writer, address: str, new: ArchiveRecord | None) -> None:
    """Put a new archive in the place of another one, or only remove it; indexes and references follow.

    The file of the old one is removed when the projections are brought up to date.
    """
    cursor = writer.load(ArchivesCursor, ArchivesCursor.KEY) or ArchivesCursor()
    archive_sha256s = {entry.sha256 for entry in cursor.archives}
    entries: list[ArchiveEntryRecord] = []
    for entry in cursor.archives:
        if entry.sha256 != address:
            entries.append(entry)
        elif new is not None and new.sha256 not in archive_sha256s:
            entries.append(msgspec.structs.replace(entry, sha256=new.sha256))
    if new is not None:
        writer.save_redacted(new, (new.sha256,))
    writer.save(msgspec.structs.replace(cursor, archives=entries), ArchivesCursor.KEY)
    writer.purge(Kind.ARCHIVE, (address,), 1)
    _follow_archive(writer, address, None if new is None else new.sha256)
    purges = writer.load(PurgesCursor, PurgesCursor.KEY) or PurgesCursor()
    gone = sorted({*purges.archives, address} - {entry.sha256 for entry in entries})
    writer.save(msgspec.structs.replace(purges, archives=gone), PurgesCursor.KEY)
    writer.event("workspace.updated", {"path": "MEMORY-INDEX.json", "version": len(entries)})


def misnamed_archives(reader: Reader) -> list[str] | None:
    """Return the addresses of archives that are not what these say; None where no archive can be so.

    Earlier releases redacted an archive again after it was named.
    """
    cursor = reader.load(ArchivesCursor, ArchivesCursor.KEY)
    if cursor is None or cursor.named or not cursor.archives:
        return None
    return [record.sha256 for _, record in reader.records(ArchiveRecord) if record.sha256 != _address(record)]


def name_archives(writer: Writer, addresses: Iterable[str]) -> None:
    """Give these archives the names that they should have; from then on each is what its name says."""
    for address in addresses:
        if (archive := writer.load(ArchiveRecord, (address,))) is not None:
            new = msgspec.structs.replace(archive, sha256=_address(archive), size=len(archive.body.encode()))
            replace_archive(writer, address, new)
    cursor = writer.load(ArchivesCursor, ArchivesCursor.KEY) or ArchivesCursor()
    writer.save(msgspec.structs.replace(cursor, named=True), ArchivesCursor.KEY)


def _address(archive: ArchiveRecord) -> str:
    return sha256(archive.body.encode()).hexdigest()


def remove_thread_archives(writer: Writer, thread_id: str) -> None:
    """Remove the archives of a thread's distillations."""
    for key, archive in list(writer.records(ArchiveRecord)):
        if archive.ref == f"thread:{thread_id}":
            replace_archive(writer, str(key[0]), None)


def _follow_archive(writer: Writer, old: str, new: str | None) -> None:
    """Let dreams and distillations refer to the archive that replaced another one."""
    for key, dream in list(writer.records(DreamRecord)):
        if dream.archive == old:
            writer.save(msgspec.structs.replace(dream, archive=new), key)
    for thread in list(writer.keys(Kind.THREAD)):
        for key, distillation in list(writer.records(DistillationRecord, thread)):
            if distillation.archive == old:
                writer.save(msgspec.structs.replace(distillation, archive=new), key)


def _last_change(reader: Reader) -> int:
    return (reader.load(MemoriesCursor, MemoriesCursor.KEY) or MemoriesCursor()).operation
