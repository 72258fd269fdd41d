"""The input of each tool and its result as structs, of which the JSON schemas for agents and clients are made."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from reverie.models import NoteCategory
from reverie.wire.documents import PATCHES_MAX

LINE_MAX = 10_000_000  # of a line's number; a memory file has at most a million bytes

FactType: TypeAlias = Literal["fact", "preference", "mistake", "procedure", "skill", "observation"]

_Path = Annotated[
    str,
    Meta(min_length=1, description='Path inside the memory folder, for example "facts/user.md".'),
]


class _Input(Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Base of tool inputs. An unknown field is an error: an agent must learn that it had no effect."""


class SearchInput(_Input):
    """The input of `search`."""

    query: Annotated[
        str,
        Meta(min_length=1, max_length=10_000, description="The words, names or error text that would have been said."),
    ]
    since: Annotated[str, Meta(min_length=1, max_length=64, description="A day or time: 2026-11-21.")] | UnsetType = (
        UNSET
    )
    before: Annotated[str, Meta(min_length=1, max_length=64, description="A day or time.")] | UnsetType = UNSET
    project: (
        Annotated[
            str,
            Meta(min_length=1, max_length=4096, description='A name or path, or "all"; this project if left out.'),
        ]
        | UnsetType
    ) = UNSET
    limit: Annotated[int, Meta(ge=1, le=50, description="Hits at most; 10 if left out.")] = 10


class ReadThreadInput(_Input):
    """The input of `read_thread`."""

    thread: Annotated[str, Meta(min_length=1, max_length=200, description="The thread's id, as search shows it.")]
    around: (
        Annotated[int, Meta(ge=1, le=LINE_MAX, description="A message's number; the end of the thread if left out.")]
        | UnsetType
    ) = UNSET
    limit: Annotated[int, Meta(ge=1, le=50, description="Messages at most; 10 if left out.")] = 10


class RememberInput(_Input):
    """The input of `remember`."""

    fact: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=20_000,
            description="One or two sentences that make sense without this conversation; the user's own words where "
            "it is a wish.",
        ),
    ]
    type: Annotated[FactType, Meta(description="fact if left out.")] = "fact"
    project: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=4096,
                description='"all" for what holds in every project of the user; this project if left out.',
            ),
        ]
        | UnsetType
    ) = UNSET


class NoteInput(_Input):
    """The input of `note`."""

    content: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=20_000,
            description="What to remember, in one or two sentences that will make sense without this conversation.",
        ),
    ]
    category: Annotated[
        NoteCategory,
        Meta(
            description="task: what is half done, what is next. decision: what, and why. correction: what was wrong, "
            "what is right."
        ),
    ]


class MemoryListInput(_Input):
    """The input of `memory_list`: nothing."""


class MemoryReadInput(_Input):
    """The input of `memory_read`."""

    path: _Path
    offset: Annotated[int, Meta(ge=1, le=LINE_MAX, description="The line to begin with; 1 if left out.")] = 1
    limit: (
        Annotated[int, Meta(ge=1, le=LINE_MAX, description="How many lines at most; as many as fit if left out.")]
        | UnsetType
    ) = UNSET


class MemoryWriteInput(_Input):
    """The input of `memory_write`."""

    path: _Path
    content: Annotated[
        str,
        Meta(
            description="The whole new text of the file, as markdown: one `- ` bullet for each fact. Only bullets "
            "are remembered."
        ),
    ]


class MemoryDeleteInput(_Input):
    """The input of `memory_delete`."""

    path: _Path


class TextPatch(_Input):
    """One exact replacement in a document."""

    old_text: Annotated[
        str,
        Meta(
            min_length=1,
            description="Text to find. It must occur in the file exactly once, spaces and line ends included.",
        ),
    ]
    new_text: Annotated[str, Meta(description="Text to put in its place; empty to remove it.")]


class MemoryPatchInput(_Input):
    """The input of `memory_patch`."""

    path: _Path
    patches: Annotated[
        list[TextPatch],
        Meta(min_length=1, max_length=PATCHES_MAX, description="All of these are applied, or none."),
    ]


class MemoryAppendInput(_Input):
    """The input of `memory_append`."""

    path: _Path
    entry: Annotated[
        str,
        Meta(
            min_length=1,
            description="Markdown to put at the end. For a fact: a `- ` bullet. For an episode: a `## ` title, then "
            "`- Summary:` in under ten words, `- Date:`, and what was the problem, the solution and the lesson.",
        ),
    ]
    summary: (
        Annotated[
            str,
            Meta(min_length=1, max_length=200, description="The file's own summary line; made for you if left out."),
        ]
        | UnsetType
    ) = UNSET


class RecallInput(_Input):
    """The input of `recall`."""

    query: Annotated[
        str, Meta(min_length=1, max_length=10_000, description="What you want to know, with the words that matter.")
    ]
    limit: Annotated[int, Meta(ge=1, le=100, description="How many memories at most; 10 if left out.")] = 10
    min_score: (
        Annotated[float, Meta(ge=0, le=1, description="0 shows memories too that have little to do with the query.")]
        | UnsetType
    ) = UNSET


class WorkingStateGetInput(_Input):
    """The input of `working_state_get`: nothing."""


class NoteOutput(Struct, rename="camel"):
    """The result of `note`: the id of the note."""

    success: bool
    id: str


class ListedFile(Struct, rename="camel"):
    """A memory file as `memory_list` returns it; `size` is in bytes."""

    path: str
    summary: str
    size: int


class MemoryListOutput(Struct, rename="camel"):
    """The result of `memory_list`, whose text is the list alone: MCP wants an object."""

    files: list[ListedFile]


class MemoryDeleteOutput(Struct, rename="camel"):
    """The result of `memory_delete`: the operation that `reverie undo` takes back."""

    success: bool
    operation: str


class MemoryWriteOutput(Struct, rename="camel"):
    """The result of `memory_write` and `memory_append`; `note` says that prose became bullets, or is no memory."""

    success: bool
    note: str | UnsetType = UNSET


class MemoryPatchOutput(Struct, rename="camel"):
    """The result of `memory_patch`; `note` says which new paragraphs are no memory."""

    success: bool
    applied_count: int
    note: str | UnsetType = UNSET


class RecalledMemory(Struct, rename={"from_": "from", "updated_at": "updatedAt"}):
    """A memory as `recall` returns it; `from` is its document, `doubt` says since when it is in doubt."""

    type: str
    content: str
    from_: str
    tags: list[str]
    updated_at: str
    doubt: str | UnsetType = UNSET


class RecallOutput(Struct, rename="camel"):
    """The result of `recall`: `about` says that memories are data, `weaker` how many less relevant ones exist."""

    about: str
    memories: list[RecalledMemory]
    weaker: str | UnsetType = UNSET
