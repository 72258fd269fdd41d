"""Brings candidates into the memories: a shelf is read, edits are decided from it, and written as one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from reverie import wire
from reverie.errors import Conflict
from reverie.store import Kind
from reverie.usecases.writing import MEMORIES, Given, put_texts

if TYPE_CHECKING:
    from reverie.store import Reader, Writer

__all__ = [
    "ARCHIVES",
    "MemoryPlan",
    "Shelf",
    "Text",
    "apply",
    "keep_archive",
    "nothing",
    "shelf",
]

HOLDING = ("facts/", "episodes/")  # the folders of documents that engines write memories into
ARCHIVES = ("archives",)  # the cursor that names every archive, oldest first


class Text(msgspec.Struct):
    """A document that holds memories, and the ids of its blocks; `text` is None for one that goes.

    `basis` is the SHA-256 of the text that it was made from, empty where there was none.
    """

    text: str | None
    ids: list[str]
    basis: str


class Shelf(msgspec.Struct):
    """The memories of a space, and the documents that hold them, as they stood at `operation`, the last change."""

    operation: int
    memories: list[dict[str, Any]]
    documents: dict[str, Text]
    window: int


class MemoryPlan(msgspec.Struct):
    """What consolidation will write.

    `documents` are the texts that the changes lead to, `put` the records of those memories that are new or changed.
    `changes` and `proposals` are worded as seed 003 words them; `archived` is what an archive keeps of the memories.
    """

    operation: int
    candidates: int
    tier: str
    put: list[dict[str, Any]]
    deleted: list[str]
    documents: dict[str, Text]
    changes: list[wire.Change]
    proposals: list[wire.Proposal]
    counts: dict[str, int]
    archived: list[dict[str, Any]]


def shelf(reader: Reader, *, window: int) -> Shelf:
    """Reads what consolidation is decided from; `window` is `consolidation.window` in tokens."""
    cursor = reader.get(Kind.CURSOR, MEMORIES) or {"operation": 0}
    stored = []
    for _, held in reader.scan(Kind.MEMORY):
        access = reader.get(Kind.ACCESS, (held["id"],)) or {}
        stored.append({**held, "access_count": access.get("count", 0)})
    documents = {
        held["path"]: Text(held["content"], held["ids"], held["sha256"])
        for _, held in reader.scan(Kind.DOCUMENT)
        if held["ids"] or held["path"].startswith(HOLDING)
    }
    return Shelf(operation=cursor["operation"], memories=stored, documents=documents, window=window)


def nothing(given: Shelf) -> MemoryPlan:
    """A plan that changes nothing."""
    return MemoryPlan(given.operation, 0, "", [], [], {}, [], [], {}, [])


def apply(writer: Writer, plan: MemoryPlan, *, at: str) -> wire.MemoryChanges:
    """Writes the plan's memories and documents, with the events that announce them.

    Raises Conflict with `details["stale"]` when a memory, or any byte of a document, changed since the plan's snapshot.
    """
    cursor = writer.get(Kind.CURSOR, MEMORIES) or {"operation": 0}
    if cursor["operation"] != plan.operation:
        raise Conflict("the memories changed meanwhile", hint="try again", stale=True)
    for path, each in plan.documents.items():
        held = writer.get(Kind.DOCUMENT, (path,))
        if (held["sha256"] if held is not None else "") != each.basis:
            raise Conflict(f"{path} changed meanwhile", hint="try again", stale=True)
    put_texts(
        writer,
        {path: None if each.text is None else Given(each.text, each.ids) for path, each in plan.documents.items()},
        author="engine",
        at=at,
        new_id=_none_new,
        known={held["id"]: held for held in plan.put},
    )
    lost = [name for name in plan.deleted if writer.delete(Kind.MEMORY, (name,))]  # those that no document held
    if lost:
        writer.put(Kind.CURSOR, MEMORIES, {"operation": writer.number})
    if plan.put or plan.deleted:
        writer.event(
            "agent.memory.consolidated",
            {"memoryRef": f"space:{writer.space}", "inputCount": plan.candidates, "outputCount": len(plan.put)},
        )
    return wire.MemoryChanges(
        candidates=plan.candidates,
        counts=plan.counts,
        tier=plan.tier,
        operation=str(writer.number),
        proposals=plan.proposals,
    )


def keep_archive(writer: Writer, address: str, body: bytes, *, kind: str, ref: str, entries: int, at: str) -> bool:
    """Stores an archive under its address, and announces the index that names it; False where it is there already."""
    if writer.get(Kind.ARCHIVE, (address,)) is not None:
        return False
    shelved = (writer.get(Kind.CURSOR, ARCHIVES) or {"archives": []})["archives"]
    writer.put(Kind.CURSOR, ARCHIVES, {"archives": [*shelved, {"sha256": address, "at": at, "entries": entries}]})
    writer.event("workspace.updated", {"path": "MEMORY-INDEX.json", "version": len(shelved) + 1})
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


def _none_new() -> str:
    raise AssertionError("a plan names every block")
