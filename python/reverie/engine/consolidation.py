"""Brings candidates into the memories: a shelf is read, changes are decided from it, and written as one operation."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import consolidate, ids, projections, tokens
from reverie.consolidate import Decision
from reverie.engine.records import record, value
from reverie.errors import Conflict
from reverie.models import Add, Candidate, Delete, Keep, Memory, Skip, Update
from reverie.projections import ArchiveEntry, DocumentEntry
from reverie.store import Kind
from reverie.store.moments import to_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.models import Change
    from reverie.redact import Redactor
    from reverie.store import Reader, Writer

__all__ = [
    "CURSOR",
    "FOLDERS",
    "MemoryPlan",
    "Shelf",
    "apply",
    "carry_out",
    "decide",
    "keep_archive",
    "nothing",
    "put_document",
    "redraw",
    "refresh_index",
    "shelf",
]

CURSOR = ("memories",)
ARCHIVES = ("archives",)
INDEX_PATH = "MEMORY-INDEX.json"
FOLDERS = ("facts/", "episodes/")
ID_RANDOM_BYTES = 10


class Shelf(msgspec.Struct):
    """The memories of a space as they stood at `operation`, the last one that changed them."""

    operation: int
    memories: list[dict[str, Any]]
    documents: dict[str, str]  # path -> SHA-256 of its text
    window: int


class MemoryPlan(msgspec.Struct):
    """What consolidation will write.

    `changes` and `proposals` are worded as seed 003 words them; `archived` is what an archive keeps of the memories.
    """

    operation: int
    candidates: int
    tier: str
    put: list[dict[str, Any]]
    deleted: list[str]
    documents: dict[str, str]
    gone: list[str]
    changes: list[dict[str, Any]]
    proposals: list[dict[str, Any]]
    counts: dict[str, int]
    archived: list[dict[str, Any]]


def shelf(reader: Reader, *, window: int) -> Shelf:
    """Reads what consolidation is decided from; `window` is `consolidation.window` in tokens."""
    cursor = reader.get(Kind.CURSOR, CURSOR) or {"operation": 0}
    stored = []
    for _, held in reader.scan(Kind.MEMORY):
        access = reader.get(Kind.ACCESS, (held["id"],)) or {}
        stored.append({**held, "access_count": access.get("count", 0)})
    documents = {held["path"]: held["sha256"] for _, held in reader.scan(Kind.DOCUMENT)}
    return Shelf(operation=cursor["operation"], memories=stored, documents=documents, window=window)


def decide(
    given: Shelf,
    candidates: Sequence[Candidate],
    *,
    redactor: Redactor,
    at: str,
    random: bytes,
    thread: str | None = None,
) -> MemoryPlan:
    """The changes that `candidates` make, as records and texts ready to be written; pure.

    `random` seeds the ids of new memories; `thread` goes into their provenance.
    """
    existing = [value(Memory, held) for held in given.memories]
    clean = [_clean(candidate, redactor, thread) for candidate in candidates]
    tier = consolidate.tier(tokens.count(projections.long_term_memory(existing).decode()), given.window)
    decision = consolidate.decide(clean, existing, tier)
    after = consolidate.apply(decision.changes, existing, clean, at=at, new_ids=_ids(at, random))
    return _plan(given, existing, after, decision, candidates=len(clean), tier=tier.value)


def carry_out(given: Shelf, changes: Sequence[Change], *, at: str) -> MemoryPlan:
    """Changes that were decided elsewhere, as records and texts ready to be written; pure."""
    existing = [value(Memory, held) for held in given.memories]
    after = consolidate.apply(changes, existing, at=at, new_ids=())
    return _plan(given, existing, after, Decision(tuple(changes)), candidates=0, tier="")


def _plan(
    given: Shelf,
    existing: Sequence[Memory],
    after: Sequence[Memory],
    decision: Decision,
    *,
    candidates: int,
    tier: str,
) -> MemoryPlan:
    before = {memory.id: memory for memory in existing}
    put = [memory for memory in after if before.get(memory.id) != memory]
    deleted = sorted(set(before) - {memory.id for memory in after})
    changed = bool(put or deleted)
    texts = _texts(after) if changed else {}
    fresh = {path: text for path, text in texts.items() if given.documents.get(path) != _sha256(text)}
    added = iter([memory.id for memory in after if memory.id not in before])
    return MemoryPlan(
        operation=given.operation,
        candidates=candidates,
        tier=tier,
        put=[record(memory) for memory in put],
        deleted=deleted,
        documents=fresh,
        gone=sorted({*given.documents} - {*texts, INDEX_PATH}) if changed else [],
        changes=[_worded(change, added) for change in decision.changes],
        proposals=[{"change": _worded(item.change, added), "why": item.why} for item in decision.proposals],
        counts=dict(Counter(change.action for change in decision.changes)),
        archived=[{"type": memory.type.value, "content": memory.content, "tags": list(memory.tags)} for memory in put],
    )


def nothing(given: Shelf) -> MemoryPlan:
    """A plan that changes nothing."""
    return MemoryPlan(given.operation, 0, "", [], [], {}, [], [], [], {}, [])


def apply(writer: Writer, plan: MemoryPlan, *, at: str) -> dict[str, Any]:
    """Writes the plan's memories and documents, with the events that announce them.

    Raises Conflict with `details["stale"]` when a memory changed since the plan's snapshot.
    """
    cursor = writer.get(Kind.CURSOR, CURSOR) or {"operation": 0}
    if cursor["operation"] != plan.operation:
        raise Conflict("the memories changed meanwhile", hint="try again", stale=True)
    for held in plan.put:
        writer.put(Kind.MEMORY, (held["id"],), held)
        writer.event(
            "memory.written", {"memoryRef": f"space:{writer.space}", "memoryId": held["id"], "tags": held["tags"]}
        )
    for memory_id in plan.deleted:
        writer.delete(Kind.MEMORY, (memory_id,))
    for path, text in plan.documents.items():
        put_document(writer, path, text, at=at)
    for path in plan.gone:
        writer.delete(Kind.DOCUMENT, (path,))
    if plan.put or plan.deleted or plan.documents or plan.gone:
        writer.put(Kind.CURSOR, CURSOR, {"operation": writer.number})
        writer.event(
            "agent.memory.consolidated",
            {"memoryRef": f"space:{writer.space}", "inputCount": plan.candidates, "outputCount": len(plan.put)},
        )
    return {
        "candidates": plan.candidates,
        "counts": plan.counts,
        "tier": plan.tier,
        "operation": str(writer.number),
    }


def redraw(writer: Writer, *, at: str) -> None:
    """Writes every document anew from the memories as this write leaves them."""
    memories = [value(Memory, held) for _, held in writer.scan(Kind.MEMORY)]
    texts = _texts(memories)
    stale = [held["path"] for _, held in writer.scan(Kind.DOCUMENT) if held["path"] not in {*texts, INDEX_PATH}]
    for path, text in texts.items():
        put_document(writer, path, text, at=at)
    for path in stale:
        writer.delete(Kind.DOCUMENT, (path,))
    refresh_index(writer, at=at)
    writer.put(Kind.CURSOR, CURSOR, {"operation": writer.number})


def put_document(writer: Writer, path: str, text: str, *, at: str) -> bool:
    """Stores a document's new text and announces it; False where it says the same already."""
    held = writer.get(Kind.DOCUMENT, (path,))
    digest = _sha256(text)
    if held is not None and held["sha256"] == digest:
        return False
    version = 1 if held is None else held["version"] + 1
    data = text.encode()
    writer.put(
        Kind.DOCUMENT,
        (path,),
        {
            "path": path,
            "content": text,
            "sha256": digest,
            "size": len(data),
            "version": version,
            "updatedAt": at,
            "summary": projections.summary_of(text) if path.endswith(".md") else "",
        },
    )
    writer.event("workspace.updated", {"path": path, "version": version})
    return True


def keep_archive(writer: Writer, address: str, body: bytes, *, kind: str, ref: str, entries: int, at: str) -> bool:
    """Stores an archive under its address; False where those bytes are there already."""
    if writer.get(Kind.ARCHIVE, (address,)) is not None:
        return False
    shelved = (writer.get(Kind.CURSOR, ARCHIVES) or {"archives": []})["archives"]
    writer.put(Kind.CURSOR, ARCHIVES, {"archives": [*shelved, {"sha256": address, "at": at, "entries": entries}]})
    held = {
        "sha256": address,
        "kind": kind,
        "ref": ref,
        "at": at,
        "size": len(body),
        "entries": entries,
        "body": body.decode(),
    }
    return writer.put(Kind.ARCHIVE, (address,), held)


def refresh_index(writer: Writer, *, at: str) -> bool:
    """Writes MEMORY-INDEX.json anew from what the space holds now; False where it says the same already."""
    shelved = (writer.get(Kind.CURSOR, ARCHIVES) or {"archives": []})["archives"]
    documents = [
        DocumentEntry(held["path"], held["size"], held["summary"])
        for _, held in writer.scan(Kind.DOCUMENT)
        if held["path"].startswith(FOLDERS)
    ]
    archives = [ArchiveEntry(held["sha256"], held["at"], held["entries"]) for held in shelved]
    text = projections.memory_index(documents, archives, updated_at=at).decode()
    return put_document(writer, INDEX_PATH, text, at=at)


def _texts(memories: Sequence[Memory]) -> dict[str, str]:
    """Every document that memories are written to, and the two listings of them all."""
    texts = {path: data.decode() for path, data in projections.documents(memories).items()}
    entries = [DocumentEntry(path, len(text.encode()), projections.summary_of(text)) for path, text in texts.items()]
    return {
        **texts,
        "MEMORY.md": projections.memory_md(entries),
        "memory/long-term-memory.json": projections.long_term_memory(memories).decode(),
    }


def _clean(candidate: Candidate, redactor: Redactor, thread: str | None) -> Candidate:
    """The candidate without secrets, its words decided upon only after that; and where it was read."""
    told, _ = redactor.value(record(candidate))
    if thread is not None:
        told["provenance"] = {"thread": thread, **told["provenance"]}
    return value(Candidate, told)


def _ids(at: str, random: bytes) -> Iterator[str]:
    """New ids, as many as are asked for: the time of the run, and bytes drawn from `random`."""
    moment = to_ms(at)
    number = 0
    while True:
        digest = hashlib.sha256(random + number.to_bytes(4, "big")).digest()
        yield ids.new_id("mem", moment, digest[:ID_RANDOM_BYTES])
        number += 1


def _worded(change: Change, added: Iterator[str]) -> dict[str, Any]:
    """A change as `003_…` writes it."""
    match change:
        case Keep() | Delete():
            return {"action": change.action, "id": change.id}
        case Update():
            return {"action": "UPDATE", "id": change.id, "content": change.content, "tags": list(change.tags)}
        case Add():
            new = change.candidate
            return {
                "action": "ADD",
                "type": new.type.value,
                "content": new.content,
                "tags": list(new.tags),
                "id": next(added),
            }
        case Skip():
            return {"action": "SKIP", "candidateIndex": change.candidate_index}


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
