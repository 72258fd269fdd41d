"""Spaces with their projects, their access tokens, and the privacy settings."""

from typing import Annotated

from msgspec import Meta, field

from reverie.wire.base import Count, Id, ListQuery, Reply, Request

# No path has a zero byte: the system's calls refuse it. Each text of a request that may be a path has one of these.
ABSOLUTE_PATH = r"^/[^\x00]*$"
_NAME_OR_PATH = r"^[^\x00]+$"

AbsolutePath = Annotated[
    str, Meta(min_length=2, max_length=4096, pattern=ABSOLUTE_PATH, description="An absolute path.")
]
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

SpaceName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=64,
        pattern=r"^[a-z0-9][a-z0-9_-]*(?!\n)$",
        description="A lower-case letter or digit, then such characters, `_` and `-`: also the name of its folder.",
    ),
]


class Project(Reply):
    """A project. `remotes` are without credentials; `folders` are those in which it was seen, the newest last.

    One that turned out to be the repository of another project is a second name of it: `joined` names that one, and
    undo of `joined_in` moves the memories back.
    """

    name: str
    remotes: list[str]
    folders: list[str]
    threads: Count
    memories: Count
    joined: str | None = None
    joined_in: str | None = None


class ProjectMove(Reply):
    """Threads and memories that sorting took from one project, or from none, to another."""

    before: str | None
    after: str
    threads: Count
    memories: Count


class ProjectsSorted(Reply):
    """Result of sorting: how many threads and memories changed their project; undo `operation` to move them back."""

    threads: Count
    memories: Count
    operation: str | None = None
    moves: list[ProjectMove] = field(default_factory=list)


class ProjectsQuery(ListQuery):
    """The query of `GET /v1/projects`: all of them, or the one that `of` names or is a folder of."""

    of: ProjectText | None = None


class Space(Reply):
    """A space and the folder of its documents."""

    id: str
    root: str


class CreateSpace(Request):
    """`POST /v1/spaces`: the name of a new space. Its folder is beside that of the default space."""

    id: SpaceName


class Token(Reply):
    """An access token. `token` is the secret itself, only in the answer of the call that made it.

    `agent` is the author of what its holder writes; without one its holder is a person, who may purge too.
    """

    id: str
    space: str
    agent: str | None = None
    created_at: str | None = None
    token: str | None = None


class CreateToken(Request):
    """`POST /v1/tokens`: the space that the holder reads and writes, and the agent as which it writes."""

    space: SpaceName = "default"
    agent: Id | None = None


class Privacy(Reply):
    """Privacy settings: folders whose sessions are not recorded, and whether any are now."""

    ignored: list[str] = field(default_factory=list)
    paused: bool = False
    paused_since: str | None = None


class ChangePrivacy(Request):
    """`PATCH /v1/privacy`: pause the recording of sessions or go on; ignore a folder, or no longer."""

    paused: bool | None = None
    ignore: AbsolutePath | None = None
    unignore: AbsolutePath | None = None
