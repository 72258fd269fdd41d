"""Sort what older releases learnt into projects: threads by the folder of their sessions, memories by their threads.

A project that turned out to be the repository of another one is joined to it: its memories are that one's from then on,
without those that say what is known there already.

Threads get their projects, and memories move into the documents of theirs, in one operation, which an undo reverts.
A person's lines stay where they are, and only count as their project's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from reverie import wire
from reverie.consolidate.statements import parse_statement
from reverie.documents.layout import PERSON, folder_of, in_project, memory_project, moved_to_project
from reverie.errors import Conflict
from reverie.git import Checkout, main_folder, posix_folder, readable_names, slug
from reverie.importers import detect
from reverie.models import DATE_CHARS, Memory, MemoryType
from reverie.store import EntryRecord, MemoryRecord, Reader, ThreadRecord, Writer
from reverie.usecases import consolidation
from reverie.usecases import projects as use_projects
from reverie.usecases.by import By, Decided, writes
from reverie.usecases.consolidation import MemorySnapshot
from reverie.usecases.memories import record_of
from reverie.wire.spaces import ProjectMove

_ENTRIES_READ: Final = 50  # of a thread; the first message of a session names its folder
_NAMES_READ: Final = 4  # of the names that a folder may give: `cli`, `devenv-cli`, …
_NONE: Mapping[str, str] = MappingProxyType({})


class SortJob(msgspec.Struct):
    """A snapshot: all memories with their documents, and the project of each thread that has one.

    `joined` are names of projects, each with that of the project that it is joined to.
    """

    memories: MemorySnapshot
    threads: dict[str, str]
    at: str
    joined: dict[str, str] = {}


class SortPlan(msgspec.Struct):
    """The memories that get another project, the new texts of their documents, and ids of duplicates to delete.

    What is known says the same as a memory of the project that its own is joined to.
    """

    operation: int
    memories: list[MemoryRecord]
    documents: dict[str, consolidation.DocumentText]
    known: list[str] = []
    joined: dict[str, str] = {}


def folders(reader: Reader) -> dict[str, tuple[str, str]]:
    """Return the folder of each imported thread, by the first message that names one, and the remote recorded with it.

    The remote is "" for clients that record none.
    """
    folders_by_thread: dict[str, tuple[str, str]] = {}
    for _, thread in reader.records(ThreadRecord):
        if thread.source is None:
            continue
        for _, entry in islice(reader.records(EntryRecord, (thread.id,)), _ENTRIES_READ):
            folder = detect.folder_of(entry.extra)
            if folder is not None and (here := posix_folder(folder)) is not None:
                folders_by_thread[thread.id] = here, detect.stated_remote(entry.extra, folder)
                break
    return folders_by_thread


@writes("threads.sort")
def set_projects(to: Writer, _: By, names: Mapping[str, str]) -> None:
    """Give threads their projects."""
    use_projects.move_threads(to, names)


def threads_of(reader: Reader, names: Container[str]) -> dict[str, str]:
    """Return thread and project of each thread whose project is among `names`."""
    threads = ((thread.id, use_projects.of_thread(thread)) for _, thread in reader.records(ThreadRecord))
    return {thread: project for thread, project in threads if project is not None and project in names}


def same_repositories(reader: Reader, names: Mapping[str, str], folders_of: Mapping[str, str]) -> dict[str, str]:
    """Return the projects that are the repository of another project, each with the other's name.

    `names` are the projects that threads have by their `folders_of`. A project without folders and remotes, which is
    named as its threads' folders are, has lost its folders to the one that all of these threads have now.
    """
    projects = use_projects.known(reader)
    with_remote = {project.name for project in projects if project.remotes}
    by_name = {one.name: set[str]() for one in projects if not (one.remotes or one.folders or one.joined)}
    for thread, project in threads_of(reader, by_name).items():
        by_name[project].add(thread)
    target_by_name: dict[str, str] = {}
    for name, own in by_name.items():
        targets = {names.get(thread) for thread in own}
        target = targets.pop() if len(targets) == 1 else None
        if target is None or target == name or target not in with_remote:
            continue
        places = {main_folder(folders_of[thread]) or folders_of[thread] for thread in own}
        checkouts = (Checkout("", (folder,), is_repository=False) for folder in places)
        if all(name in islice(readable_names(checkout), _NAMES_READ) for checkout in checkouts):
            target_by_name[name] = target
    return target_by_name


def snapshot(
    reader: Reader, *, window: int, at: str, threads: Mapping[str, str], joined: Mapping[str, str] = _NONE
) -> SortJob:
    """Return a SortJob, read from the store: all memories with their documents, and each thread's project.

    `window` is `consolidation.window` in tokens.

    `threads` are the threads that get a project with it, `joined` the projects to be joined to others, each with the
    name of that.
    """
    projects = {thread.id: use_projects.of_thread(thread) or "" for _, thread in reader.records(ThreadRecord)}
    return SortJob(consolidation.snapshot(reader, window=window), {**projects, **threads}, at, dict(joined))


def decide(job: SortJob) -> SortPlan:
    """Return the plan that moves memories of older releases to their projects' documents; pure."""
    from reverie.usecases import screening

    before = {record.id: record for record in job.memories.memories}
    sorted_memories = [
        sorted_memory
        for memory in before.values()
        if memory.project is None and (sorted_memory := _sorted(memory, job.threads)) != memory
    ]
    joining = [
        _joined(memory, job.joined[memory.project]) for memory in before.values() if memory.project in job.joined
    ]
    duplicates = {memory.id for memory in joining if _is_known(memory, before.values())}
    sorted_memories += [memory for memory in joining if memory.id not in duplicates]
    moved = [before[memory.id] for memory in sorted_memories if memory.document != before[memory.id].document]
    documents, placed = screening.edited(
        job.memories.documents,
        [memory for memory in sorted_memories if memory.document != before[memory.id].document],
        [*moved, *(before[name] for name in duplicates)],
        day=job.at[:DATE_CHARS],
    )
    stay = [memory for memory in sorted_memories if memory.document == before[memory.id].document]
    return SortPlan(
        job.memories.operation,
        [record_of(memory) for memory in (*placed, *stay)],
        documents,
        sorted(duplicates),
        job.joined,
    )


def _joined(memory: Memory, name: str) -> Memory:
    """Return a memory of one project as one of the project `name`, in its documents unless a person wrote it."""
    own = memory.project or ""
    provenance = {**memory.provenance, "project": name}
    if memory.trust == "person" or folder_of(memory.document) != own:
        return replace(memory, project=name, provenance=provenance)
    content = re.sub(rf"\bthe project {re.escape(own)}(?![\w-])", f"the project {name}", memory.content)
    document = moved_to_project(memory.document, own, name)
    return replace(memory, project=name, document=document, content=content, provenance=provenance)


def _is_known(memory: Memory, others: Iterable[Memory]) -> bool:
    """Return True if an engine's memory repeats one of `others` in its project, or is a second command for a purpose.

    A procedure is the command of most threads, which the next session of the project counts anew.
    """
    if memory.trust != "engine":
        return False
    said = parse_statement(memory.content)
    purpose = said.subject[0] if memory.type is MemoryType.PROCEDURE and said.subject is not None else None
    same = (
        parse_statement(other.content)
        for other in others
        if other.id != memory.id and other.project == memory.project and other.type is memory.type
    )
    return any(
        other.normalized == said.normalized or (other.subject is not None and other.subject[0] == purpose)
        for other in same
    )


def _sorted(memory: Memory, threads: Mapping[str, str]) -> Memory:
    """Return an older release's memory with its project, in the project's document unless a person wrote it last."""
    recorded = memory_project(memory)
    if recorded == PERSON:
        return memory
    name = threads.get(str(memory.provenance.get("thread"))) or recorded
    is_general = memory.document.startswith(("facts/", "episodes/")) and folder_of(memory.document) is None
    document = in_project(memory.document, name) if is_general and memory.trust != "person" else memory.document
    provenance = {**memory.provenance, "project": name}
    return replace(memory, project=name, document=document, provenance=provenance)


def _why(plan: SortPlan, **_: Any) -> str:
    return "projects.join" if plan.joined else "memories.sort" if plan.memories or plan.known else "threads.sort"


@writes(_why, answers=wire.ProjectsSorted)
def commit(to: Writer, _: By, plan: SortPlan, *, threads: Mapping[str, str]) -> wire.ProjectsSorted:
    """Move memories, and `threads` to their projects, in one operation.

    Raises Conflict with `details["stale"]` if a memory or a document changed since the snapshot.
    """
    moves = _Moves()
    for _thread, before, after in use_projects.move_threads(to, threads):
        moves.threads[slug(before or "") or None, after or ""] += 1
    is_changed = bool(moves.threads or plan.memories or plan.known)
    if plan.joined:
        use_projects.join(to, plan.joined, to.number if is_changed else 0)
    if plan.memories or plan.known:
        _commit_memories(to, plan, moves)
    return wire.ProjectsSorted(
        threads=moves.threads.total(),
        memories=len(plan.memories) + len(plan.known),
        operation=str(to.number) if is_changed else None,
        moves=moves.answers(),
    )


DECIDED = Decided("sort", SortPlan, commit, bulk=True)


@dataclass(slots=True)
class _Moves:
    """How many threads and memories got another project, by the project before (None: none) and after."""

    threads: Counter[tuple[str | None, str]] = field(default_factory=Counter)
    memories: Counter[tuple[str | None, str]] = field(default_factory=Counter)

    def answers(self) -> list[ProjectMove]:
        """Return the moves as the API shows them, by the names of the projects."""
        # A memory that only got its project's document has moved between no projects.
        changed = {move for move in (*self.threads, *self.memories) if move[0] != move[1]}
        both = sorted(changed, key=lambda move: (move[0] or "", move[1]))
        return [ProjectMove(*move, self.threads[move], self.memories[move]) for move in both]


def _commit_memories(writer: Writer, plan: SortPlan, moves: _Moves) -> None:
    """Write the memories of a plan with their documents, and count them in `moves`."""
    for memory_id, project in [(record.id, record.project) for record in plan.memories] + [
        (memory_id, None) for memory_id in plan.known
    ]:
        stored = writer.load(MemoryRecord, (memory_id,))
        if stored is not None:
            before = memory_project(stored)
            moves.memories[before or None, project or plan.joined.get(before, before)] += 1
    changes = consolidation.MemoryPlan(plan.operation, 0, "", plan.memories, plan.known, plan.documents, [], [], {}, [])
    consolidation.commit(writer, changes)
    for record in plan.memories:
        stored = writer.load(type(record), (record.id,))
        if stored is None:
            raise Conflict(f"memory {record.id} was deleted meanwhile", hint="try again", stale=True)
        if stored.project != record.project:  # its block stays where it is, so that no text of it was written
            writer.save(replace(stored, project=record.project, provenance=record.provenance), (record.id,))
