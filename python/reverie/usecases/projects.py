"""Projects of a space: the repository, or the folder, that threads work in and that memories belong to.

A project is known by its name, which is also that of its folder below `facts/`. The remotes and folders that lead to
it are stored with it, so that worktrees, subfolders and clones, and transcripts whose folder is gone, find it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from msgspec.structs import replace

from reverie.documents.layout import folder_of, memory_project
from reverie.errors import NotFound, ValidationError
from reverie.git import Checkout, is_shared_folder, project_name, readable_names, slug
from reverie.store import (
    DocumentRecord,
    Kind,
    MemoriesCursor,
    MemoryRecord,
    MovedThreadsCursor,
    OperationRecord,
    ProjectRecord,
    ProjectsCursor,
    Reader,
    ThreadRecord,
    Writer,
)
from reverie.usecases.by import By, writes

FOLDERS_MAX: Final = 100  # folders stored of one project; worktrees come and go
_NAMES_MAX: Final = 10_000  # of the names tried for one project


def known(reader: Reader) -> list[ProjectRecord]:
    """Return the projects of a space, in the order in which they became known."""
    return (reader.load(ProjectsCursor, ProjectsCursor.KEY) or ProjectsCursor()).projects


def named(projects: Sequence[ProjectRecord], name: str) -> ProjectRecord | None:
    """Return the project of this name, in any spelling of it that has the same slug; None for an unknown one.

    The name of a project that was joined to another one is that one's second name.
    """
    wanted = {slug(name), project_name(name)}
    match = next((project for project in projects if project.name in wanted), None)
    if match is None or not match.joined:
        return match
    return next((project for project in projects if project.name == match.joined), match)


def names_of(reader: Reader, name: str) -> list[str]:
    """Return the name of a project, and behind it those of the projects that were joined to it."""
    return [name, *(project.name for project in known(reader) if project.joined == name)]


def at_path(reader: Reader, path: str, project: str) -> str:
    """Return the project of a new memory at `path`: its folder's, else `project`; a joined one has the other's name."""
    names = {one.name: one.joined or one.name for one in known(reader)}
    return names.get(folder_of(path) or "") or names.get(project, project)


def left_without_folders(before: Sequence[ProjectRecord], after: Sequence[ProjectRecord]) -> list[str]:
    """Return the names of projects without a remote that have lost every folder to another project.

    They are the same repository: its remote was seen later, and another checkout of it was known by that already.
    """
    had = {project.name for project in before if project.folders and not project.remotes}
    return [project.name for project in after if project.name in had and not project.folders and not project.remotes]


def join(writer: Writer, joined: Mapping[str, str], operation: int) -> None:
    """Join projects to others: the keys of `joined` become second names of the projects that are its values.

    `operation` moves their memories, 0 where they have none: with its undo `separate` makes them projects again.
    """
    projects = [
        replace(project, joined=joined[project.name], joined_in=operation) if project.name in joined else project
        for project in known(writer)
    ]
    writer.save(ProjectsCursor(projects=projects), ProjectsCursor.KEY)


def separate(writer: Writer, operation: int) -> None:
    """Undo a join of projects: those that `operation` made second names of others are projects again.

    They have what their folders have, also what was written there since.
    """
    projects = known(writer)
    apart_names = [one.name for one in projects if one.joined_in == operation]
    if apart_names:
        paths = [document.path for _, document in writer.records(DocumentRecord)]
        for name in apart_names:
            _adopt(writer, name, paths)
        apart = [replace(one, joined="", joined_in=0) if one.joined_in == operation else one for one in projects]
        writer.save(ProjectsCursor(projects=apart), ProjectsCursor.KEY)


def require(projects: Sequence[ProjectRecord], name: str) -> ProjectRecord:
    """Return the record of the project with this name.

    Raises:
        NotFound: no project has it.
    """
    project = named(projects, name)
    if project is None:
        raise NotFound(f"no project is called {name[:100]!r}", hint="reverie projects lists them", field="project")
    return project


def of_thread(thread: ThreadRecord) -> str | None:
    """Return the name of the project that a thread works in, or None.

    A thread of an older release has the name of a folder there, such as `My App`: its slug counts.
    """
    return slug(thread.project or "") or None


def is_project_unknown(thread: ThreadRecord) -> bool:
    """Return True for a session of a client that works in folders, which names none: its project is not known."""
    from reverie.importers.detect import FORMATS  # not at the daemon's start, which reads no transcripts

    return of_thread(thread) is None and thread.agent in FORMATS


def counts(reader: Reader) -> tuple[Counter[str], Counter[str]]:
    """Return how many threads and how many memories each project has, by its name."""
    threads = Counter(of_thread(thread) or "" for _, thread in reader.records(ThreadRecord))
    return threads, Counter(memory_project(memory) for _, memory in reader.records(MemoryRecord))


def find(projects: Sequence[ProjectRecord], checkout: Checkout) -> ProjectRecord | None:
    """Return the known project that a checkout is of, or None.

    A remote decides where there is one: `/home/ann/x` may have been another repository before. Without a remote it is
    the project known by its folder. A folder that is gone belongs to the nearest known folder above it:
    `/home/ann/harbour/src` of an old transcript is of `/home/ann/harbour`.
    """
    if checkout.remote:
        match = next((project for project in projects if checkout.remote in project.remotes), None)
        # Before its first remote a repository was known by its folder.
        return match or _by_folder([project for project in projects if not project.remotes], checkout.folders[0])
    folder = checkout.folders[0]
    match = _by_folder(projects, folder)
    if match is not None or checkout.exists:
        return match
    above = (str(parent) for parent in PurePosixPath(folder).parents if not is_shared_folder(str(parent)))
    return next((match for parent in above if (match := _by_folder(projects, parent)) is not None), None)


def _by_folder(projects: Sequence[ProjectRecord], folder: str) -> ProjectRecord | None:
    return next((project for project in projects if folder in project.folders), None)


@writes("project.register")
def register(to: Writer, _: By, checkout: Checkout | None, *, name: str = "", paths: Collection[str] = ()) -> str:
    """Make a project known, of a checkout or by its name alone, and return its name.

    A checkout of a known project adds its remote and folders to that. `paths` are the documents of the space: what a
    person wrote into a new project's folder before belongs to it from now on. Raises ValidationError for a name without
    a letter or digit.
    """
    if checkout is None and not slug(name):
        raise ValidationError(
            f"{name[:100]!r} is no name of a project",
            hint="give a name with a letter, or an absolute path",
            field="project",
        )
    projects = known(to)
    if checkout is None:
        project = named(projects, name) or ProjectRecord(name=project_name(name))
    else:
        existing = find(projects, checkout)
        project = _with_checkout(existing or _new(projects, checkout, paths), checkout)
    # Each folder has one project.
    others = (other for other in projects if other.name != project.name)
    after = [replace(other, folders=[one for one in other.folders if one not in project.folders]) for other in others]
    after.append(project)
    if {entry.name: entry for entry in after} != {entry.name: entry for entry in projects}:
        to.save(ProjectsCursor(projects=after), ProjectsCursor.KEY)
    if named(projects, project.name) is None:
        _adopt(to, project.name, paths)
    return project.name


def make_known(writer: Writer, names: Collection[str]) -> None:
    """Add projects that have only a name, as for threads of older releases; known names stay as they are."""
    projects = known(writer)
    new = [ProjectRecord(name=name) for name in sorted({*names} - {project.name for project in projects})]
    if new:
        writer.save(ProjectsCursor(projects=[*projects, *new]), ProjectsCursor.KEY)


def _new(projects: Sequence[ProjectRecord], checkout: Checkout, paths: Collection[str]) -> ProjectRecord:
    """Return a project for a checkout: the first readable name that is free or was given without a folder.

    A name is not free where a person has a folder below `facts/` in another spelling, such as `facts/Harbour/`: on
    systems that do not tell the two apart they would be one.
    """
    given = {one.name: one for one in projects if not (one.remotes or one.folders or one.joined)}
    folders = {path.split("/")[1] for path in paths if path.startswith("facts/") and path.count("/") > 1}
    taken = {project.name for project in projects} - given.keys()
    taken |= {slug(folder) for folder in folders if slug(folder) != folder}
    names = islice(readable_names(checkout), _NAMES_MAX)
    name = next(name for name in names if name and name not in taken)
    return given.get(name) or ProjectRecord(name=name)


def _adopt(writer: Writer, name: str, paths: Collection[str]) -> None:
    """Set the project of all memories in the documents of the new project's folder."""
    for path in paths:
        document = writer.load(DocumentRecord, (path,)) if folder_of(path) == name else None
        for memory_id in document.ids if document is not None else ():
            memory = writer.load(MemoryRecord, (memory_id,))
            if memory is not None and memory.project != name:
                writer.save(replace(memory, project=name), (memory_id,))
                writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)


def _with_checkout(project: ProjectRecord, checkout: Checkout) -> ProjectRecord:
    """Return a project with the remote and folders of a checkout added, the newest last."""
    remotes = [*project.remotes, *([checkout.remote] if checkout.remote not in {"", *project.remotes} else [])]
    if set(checkout.folders) <= set(project.folders):
        return replace(project, remotes=remotes)
    is_part = not checkout.is_repository and find([project], checkout) is not None  # a subfolder needs no entry
    new = [] if is_part else [folder for folder in checkout.folders if folder not in project.folders]
    return replace(project, remotes=remotes, folders=[*project.folders, *new][-FOLDERS_MAX:])


# Moves to another project. A thread has no older versions to put back, so the operation that gives it another project
# stores the one before.


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
    if thread is not None and of_thread(thread) is None:
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
    separate(writer, operation.seq)


def _restore_memories(writer: Writer, operation: OperationRecord) -> None:
    """Restore project, trust and provenance of memories of which `operation` changed nothing else."""
    for change in operation.changes:
        key = tuple(change.key)
        memory = writer.load(MemoryRecord, key) if change.kind is Kind.MEMORY else None
        if memory is None or writer.version(Kind.MEMORY, key) != operation.seq:
            continue
        versions = (version for version in writer.record_versions(MemoryRecord, key))
        before = next((version.value for version in versions if version.operation == change.before), None)
        if before is None:
            continue
        restored = replace(memory, project=before.project, trust=before.trust, provenance=before.provenance)
        if restored == replace(before, updated_at=memory.updated_at) and writer.save(restored, key):
            writer.save(MemoriesCursor(operation=writer.number), MemoriesCursor.KEY)
