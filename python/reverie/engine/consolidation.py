"""Brings candidates into the memories: a shelf is read, changes are decided from it, and written as one operation."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from reverie import documents, projections
from reverie.documents import DocumentEntry, Wording
from reverie.engine.records import value
from reverie.errors import Conflict
from reverie.models import Memory
from reverie.projections import ArchiveEntry
from reverie.store import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.store import Reader, Writer

__all__ = [
    "CURSOR",
    "FOLDERS",
    "INDEX_PATH",
    "MemoryPlan",
    "Shelf",
    "apply",
    "keep_archive",
    "nothing",
    "put_document",
    "redraw",
    "refresh_index",
    "sha256",
    "shelf",
    "texts_of",
]

CURSOR = ("memories",)
ARCHIVES = ("archives",)
INDEX_PATH = "MEMORY-INDEX.json"
FOLDERS = ("facts/", "episodes/")


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
    texts = texts_of(memories)
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
    digest = sha256(text)
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
            "summary": documents.read(path, text).summary,
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
    listed = [
        DocumentEntry(held["path"], held["size"], held["summary"])
        for _, held in writer.scan(Kind.DOCUMENT)
        if held["path"].startswith(FOLDERS)
    ]
    archives = [ArchiveEntry(held["sha256"], held["at"], held["entries"]) for held in shelved]
    text = projections.memory_index(listed, archives, updated_at=at).decode()
    return put_document(writer, INDEX_PATH, text, at=at)


def texts_of(memories: Sequence[Memory]) -> dict[str, str]:
    """Every document that memories are written to, and the two listings of them all."""
    by_path: dict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (memory.order, memory.created_at, memory.id)):
        if documents.form_of(memory.document, "") in {documents.Form.FACTS, documents.Form.EPISODES}:
            by_path[memory.document].append(memory)
    texts: dict[str, str] = {}
    for path, held in sorted(by_path.items()):
        day = max(memory.updated_at for memory in held)[:10]
        texts[path] = documents.fresh(path, [(memory.id, _wording(memory)) for memory in held], day=day).text or ""
    told = [(path, len(text.encode()), documents.read(path, text).summary) for path, text in texts.items()]
    return {
        **texts,
        "MEMORY.md": documents.relisted("", [DocumentEntry(*each) for each in told]),
        "memory/long-term-memory.json": projections.long_term_memory(memories).decode(),
    }


def _wording(memory: Memory) -> Wording:
    day = str(memory.provenance.get("at") or memory.created_at)[:10]
    return Wording(memory.content, memory.tags, memory.title, memory.fields, day)


def sha256(text: str) -> str:
    """The SHA-256 of a document's text, in hex: its version, as files and callers know it."""
    return hashlib.sha256(text.encode()).hexdigest()
