"""Sort what older releases learnt into projects: threads by the folder of their sessions, memories by their threads.

The memories move into the documents of their projects in one operation, which an undo reverts. A person's lines stay
where they are, and only count as their project's.
"""

from __future__ import annotations

from dataclasses import replace as with_fields
from itertools import islice
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.documents.project_document_paths import PERSON, folder_of, in_project, memory_project
from reverie.errors import Conflict
from reverie.importers import detect_and_read_line_format
from reverie.store import EntryRecord, MemoryRecord, ThreadRecord, Write
from reverie.usecases import consolidation_commit, project_identity
from reverie.usecases.consolidation_commit import MemorySnapshot
from reverie.usecases.memory_changes import memory_of, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.models import Memory
    from reverie.store import Reader, Writer

__all__ = ["SortJob", "SortPlan", "commit", "decide", "folders", "set_projects", "snapshot"]

_ENTRIES_READ: Final = 50  # of a thread; the first message of a session names its folder
_DATE_CHARS: Final = 10  # of an RFC 3339 time: `2026-11-21`


class SortJob(msgspec.Struct):
    """A snapshot: all memories with their documents, and the project of each thread that has one."""

    memories: MemorySnapshot
    threads: dict[str, str]
    at: str


class SortPlan(msgspec.Struct):
    """The memories whose project changes, with the documents that they are in then."""

    operation: int
    memories: list[MemoryRecord]
    documents: dict[str, consolidation_commit.DocumentText]


def folders(reader: Reader) -> dict[str, str]:
    """Return the folder of each imported thread, by the first message that names one."""
    found: dict[str, str] = {}
    for _, thread in reader.records(ThreadRecord):
        if thread.source is None:
            continue
        for _, entry in islice(reader.records(EntryRecord, (thread.id,)), _ENTRIES_READ):
            folder = detect_and_read_line_format.folder_of(entry.extra)
            if folder is not None and folder.startswith("/"):
                found[thread.id] = folder
                break
    return found


def set_projects(space: str, who: str, names: Mapping[str, str]) -> Write[int]:
    """Return the write that gives threads their projects; the body returns how many had another one."""

    def body(writer: Writer) -> int:
        changed = 0
        for thread_id, name in names.items():
            thread = writer.load(ThreadRecord, (thread_id,))
            if thread is not None and thread.project != name:
                writer.save(replace(thread, project=name), (thread_id,))
                changed += 1
        return changed

    return Write(space=space, who=who, why="threads.sort", body=body)


def snapshot(reader: Reader, *, window: int, at: str) -> SortJob:
    """Read what sorting the memories needs; `window` is `consolidation.window` in tokens."""
    threads = {thread.id: project_identity.of_thread(thread) or "" for _, thread in reader.records(ThreadRecord)}
    return SortJob(consolidation_commit.snapshot(reader, window=window), threads, at)


def decide(job: SortJob) -> SortPlan:
    """Return the plan that moves memories of older releases to their projects' documents; pure."""
    from reverie.usecases import consolidation_plan

    before = {record.id: memory_of(record) for record in job.memories.memories}
    sorted_memories = [
        sorted_memory
        for memory in before.values()
        if memory.project is None and (sorted_memory := _sorted(memory, job.threads)) != memory
    ]
    moved = [before[memory.id] for memory in sorted_memories if memory.document != before[memory.id].document]
    documents, placed = consolidation_plan.edited(
        job.memories.documents,
        [memory for memory in sorted_memories if memory.document != before[memory.id].document],
        moved,
        day=job.at[:_DATE_CHARS],
    )
    stay = [memory for memory in sorted_memories if memory.document == before[memory.id].document]
    return SortPlan(job.memories.operation, [record_of(memory) for memory in (*placed, *stay)], documents)


def _sorted(memory: Memory, threads: Mapping[str, str]) -> Memory:
    """Return a memory of an older release with its project, in the document of that where an engine wrote it last."""
    recorded = memory_project(memory)
    if recorded == PERSON:
        return memory
    name = threads.get(str(memory.provenance.get("thread"))) or recorded
    is_general = memory.document.startswith(("facts/", "episodes/")) and folder_of(memory.document) is None
    document = in_project(memory.document, name) if is_general and memory.trust != "person" else memory.document
    provenance = {**memory.provenance, "project": name}
    return with_fields(memory, project=name, document=document, provenance=provenance)


def commit(plan: SortPlan, *, space: str, who: str, threads: int) -> Write[wire.ProjectsSorted]:
    """Return the write that moves the memories, in one operation; `threads` is how many got another project.

    Its body raises Conflict with `details["stale"]` if a memory or a document changed since the snapshot.
    """

    def body(writer: Writer) -> wire.ProjectsSorted:
        if not plan.memories:
            return wire.ProjectsSorted(threads=threads, memories=0)
        changes = consolidation_commit.MemoryPlan(
            plan.operation, 0, "", plan.memories, [], plan.documents, [], [], {}, []
        )
        consolidation_commit.commit(writer, changes, at=writer.at)
        for record in plan.memories:
            stored = writer.load(type(record), (record.id,))
            if stored is None:
                raise Conflict(f"memory {record.id} was deleted meanwhile", hint="try again", stale=True)
            if stored.project != record.project:  # its block stays where it is, so that no text of it was written
                writer.save(replace(stored, project=record.project, provenance=record.provenance), (record.id,))
        return wire.ProjectsSorted(threads=threads, memories=len(plan.memories), operation=str(writer.number))

    return Write(space=space, who=who, why="memories.sort", body=body, answers=wire.ProjectsSorted)
