"""Projects: the repositories and folders that threads work in and memories belong to."""

from typing import Annotated

from msgspec import Meta

from reverie.wire.base import Count, ListQuery, Reply

__all__ = ["ABSOLUTE_PATH", "Folder", "Project", "ProjectText", "ProjectsQuery", "ProjectsSorted"]

# No path has a zero byte: the system's calls refuse it. Each text of a request that may be a path has one of these.
ABSOLUTE_PATH = r"^/[^\x00]*$"
_NAME_OR_PATH = r"^[^\x00]+$"

ProjectText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        pattern=_NAME_OR_PATH,
        description="A project's name, or the absolute path of a folder that is in it.",
    ),
]
"""A project in a request."""
Folder = Annotated[
    str,
    Meta(pattern=ABSOLUTE_PATH, max_length=4096, description="The absolute path of the folder that the caller is in."),
]
"""A folder in a request: its project is taken if the store knows it, else all projects."""


class Project(Reply):
    """A project. `remotes` are without credentials; `folders` are those in which it was seen, the newest last."""

    name: str
    remotes: list[str]
    folders: list[str]
    threads: Count
    memories: Count


class ProjectsSorted(Reply):
    """Result of sorting: threads and memories that have another project now; undo `operation` to move them back."""

    threads: Count
    memories: Count
    operation: str | None = None


class ProjectsQuery(ListQuery):
    """The query of `GET /v1/projects`: all of them, or the one that `of` names or is a folder of."""

    of: ProjectText | None = None
