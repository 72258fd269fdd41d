"""Notes in the result of a tool that wrote a file: what of it is no memory, and what it deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from reverie.documents.layout import DocumentKind, folder_of, kind_of
from reverie.documents.prose import prose_note
from reverie.store import DocumentRecord, ProjectsCursor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reverie.store import Reader
    from reveried.services import Services

Way: TypeAlias = Literal["whole", "patch", "append"]


def note_about_write(
    services: Services, space: str, stored: DocumentRecord, *, made: int = 0, way: Way, project: str | None
) -> str:
    """Return what an agent must know of its write, "" for nothing; a repeated request gets the note of the first.

    Of `made` bullets the caller made paragraphs; `way` is how it wrote, in a thread of `project`.
    """
    with services.store.reader(space) as reader:
        return "; ".join(_notes(reader, stored, made=made, way=way, project=project))


def _notes(reader: Reader, stored: DocumentRecord, *, made: int, way: Way, project: str | None) -> Iterator[str]:
    before = _version_before(reader, stored)
    if made:
        yield f'only a "- " bullet is a memory: {made} bullet{"s were" if made > 1 else " was"} made of it'
    elif prose := prose_note(stored.path, stored.content, before.content if before is not None else ""):
        yield prose
    # A line in other words is none that is gone, and of a patch the agent has named what goes.
    gone = len(before.ids) - len(stored.ids) if before is not None and way == "whole" else 0
    if gone > 0:
        yield f"{gone} {'memory' if gone == 1 else 'memories'} of the file deleted by this; an undo brings them back"
    if way == "append" and kind_of(stored.path, stored.content) is DocumentKind.PLAIN:
        yield "this file holds no memories: facts/ and episodes/ do"
    folder = folder_of(stored.path) if way == "append" else None
    if folder is not None and project and folder != project and folder in _projects(reader):
        yield f"this file is of the project {folder}, and you are in {project}"


def _version_before(reader: Reader, stored: DocumentRecord) -> DocumentRecord | None:
    versions = reader.record_versions(DocumentRecord, (stored.path,))
    older = (one.value for one in versions if one.value is None or one.value.version < stored.version)
    return next(older, None)


def _projects(reader: Reader) -> set[str]:
    cursor = reader.load(ProjectsCursor, ProjectsCursor.KEY) or ProjectsCursor()
    return {project.name for project in cursor.projects}
