"""Moves of threads and memories to another project, and their undo.

A thread has no older versions to put back, so the operation that gives it another project stores the one before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reverie.store import Kind, MemoryRecord, MovedThreadsCursor, ThreadRecord
from reverie.usecases import projects as use_projects
from reverie.usecases.by import By, writes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reverie.store import OperationRecord, Reader, Writer


def move_threads(writer: Writer, projects: Mapping[str, str | None]) -> list[tuple[str, str | None, str | None]]:
    """Set the project of threads; return (thread, project before, after) of each that changed, None for no project.

    Threads that are gone are left out. The operation of this write can be undone.
    """
    moved = []
    for thread_id, project in projects.items():
        thread = writer.load(ThreadRecord, (thread_id,))
        if thread is not None and thread.project != project:
            writer.save(replace(thread, project=project), (thread_id,))
            moved.append((thread_id, thread.project, project))
    if moved:
        writer.save(MovedThreadsCursor(threads=moved), MovedThreadsCursor.key(writer.number))
    return moved


@writes("session.project")
def set_first_project(to: Writer, _: By, thread_id: str, project: str | None) -> None:
    """Give a session's thread its project, before it has any line that names a folder."""
    thread = to.load(ThreadRecord, (thread_id,))
    if thread is not None and use_projects.of_thread(thread) is None:
        to.save(replace(thread, project=project), (thread_id,))


def moved_threads(reader: Reader, operation: OperationRecord) -> list[tuple[str, str | None, str | None]]:
    """Return (thread, project before, project after) of each thread that an operation moved; None is no project."""
    if not any(change.kind is Kind.THREAD for change in operation.changes):
        return []
    cursor = reader.load(MovedThreadsCursor, MovedThreadsCursor.key(operation.seq))
    return [] if cursor is None else cursor.threads


def undo(writer: Writer, operation: OperationRecord) -> None:
    """Give threads and memories the project they had before `operation`, and part the projects that it joined.

    Those that were moved again since stay where they are.
    """
    moved = moved_threads(writer, operation)
    threads = {thread_id: writer.load(ThreadRecord, (thread_id,)) for thread_id, _, _ in moved}
    move_threads(
        writer,
        {
            thread_id: before
            for thread_id, before, after in moved
            if (thread := threads[thread_id]) is not None and thread.project == after
        },
    )
    _restore_memories(writer, operation)
    use_projects.separate(writer, operation.seq)


def _restore_memories(writer: Writer, operation: OperationRecord) -> None:
    """Restore the project of memories of which `operation` changed the project and not the document."""
    for change in operation.changes:
        key = tuple(change.key)
        memory = writer.load(MemoryRecord, key) if change.kind is Kind.MEMORY else None
        if memory is None or writer.version(Kind.MEMORY, key) != operation.seq:
            continue
        versions = (version for version in writer.record_versions(MemoryRecord, key))
        before = next((version.value for version in versions if version.operation == change.before), None)
        if before is not None and before.document == memory.document and before.project != memory.project:
            writer.save(replace(memory, project=before.project, provenance=before.provenance), key)
