"""The documents of a project: `facts/<project>/…` and `episodes/<project>-YYYY-MM.md`, and the project of a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from reverie.git import slug
from reverie.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from collections.abc import Mapping

PERSON: Final = ""
"""The project of a memory that is of no project but of the person: it is recalled everywhere."""

_EPISODES: Final = lazy_regex(r"episodes/(?P<project>.+)-\d{4}-\d{2}(?:-\d+)?\.md")


class _OfProject(Protocol):
    """The fields of a memory that its project is computed from."""

    @property
    def project(self) -> str | None: ...
    @property
    def provenance(self) -> Mapping[str, Any]: ...


def memory_project(memory: _OfProject) -> str:
    """Return the name of the project that a memory belongs to, `PERSON` for none.

    Older releases recorded it with the provenance alone, as the folder's name: `My App` counts as `my-app`.
    """
    if memory.project is not None:
        return memory.project
    recorded = memory.provenance.get("project")
    return slug(recorded) if isinstance(recorded, str) else PERSON


def folder_of(path: str) -> str | None:
    """Return the project's name in a document's path, by the path's form alone; None for a path without one.

    Examples: `facts/harbour/mistakes.md` and `episodes/harbour-2026-11.md` are of `harbour`, if that is a project;
    `facts/user.md` and `episodes/2026-11.md` are of nobody.
    """
    if path.startswith("facts/"):
        return path.split("/")[1] if path.count("/") > 1 else None
    match = _EPISODES.fullmatch(path)
    return None if match is None else match["project"]


def in_project(path: str, project: str) -> str:
    """Return a project's own path of the document `path`; for the person the path itself.

    Examples: of `facts/mistakes.md` and `episodes/2026-11.md` it is `facts/harbour/mistakes.md` and
    `episodes/harbour-2026-11.md`.
    """
    if project == PERSON:
        return path
    folder, name = path.split("/", 1)
    return f"{folder}/{project}/{name}" if folder == "facts" else f"{folder}/{project}-{name}"


def moved_to_project(path: str, own: str, project: str) -> str:
    """Return the path of the project `project` for a document that the project `own` has at `path`.

    Example: `facts/harbour/mistakes.md` of `harbour` is `facts/pier/mistakes.md` of `pier`.
    """
    folder, rest = path.split("/", 1)
    return f"{folder}/{project}{rest.removeprefix(own)}"
