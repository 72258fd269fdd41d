"""The result of each tool that returns an object, as a struct; clients of MCP get its JSON schema."""

from msgspec import UNSET, Struct, UnsetType

__all__ = [
    "ListedFile",
    "MemoryDeleteOutput",
    "MemoryListOutput",
    "MemoryPatchOutput",
    "MemoryWriteOutput",
    "NoteOutput",
    "RecallOutput",
    "RecalledMemory",
    "StateSourcesOutput",
    "WorkingStateOutput",
]


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


class WorkingStateOutput(Struct, rename="camel"):
    """The result of `working_state_get` and `working_state_set`."""

    current_task: str
    task_chain: list[str]
    completed_steps: list[str]
    next_steps: list[str]
    open_files: list[str]
    recent_decisions: list[str]
    blockers: list[str]
    updated_at: str | None
    sources: "StateSourcesOutput"


class StateSourcesOutput(Struct, rename="camel"):
    """The number of the entry that each item of a working state came from; 0 if unknown."""

    current_task: int
    task_chain: list[int]
    completed_steps: list[int]
    next_steps: list[int]
    open_files: list[int]
    recent_decisions: list[int]
    blockers: list[int]


class MemoryWriteOutput(Struct, rename="camel"):
    """The result of `memory_write` and `memory_append`; `note` says what was made of prose."""

    success: bool
    note: str | UnsetType = UNSET


class MemoryPatchOutput(Struct, rename="camel"):
    """The result of `memory_patch`."""

    success: bool
    applied_count: int


class RecalledMemory(Struct, rename={"from_": "from", "updated_at": "updatedAt"}):
    """A memory as `recall` returns it; `from` is its document."""

    type: str
    content: str
    from_: str
    tags: list[str]
    updated_at: str


class RecallOutput(Struct, rename="camel"):
    """The result of `recall`; `weaker` says how many memories are not shown."""

    about: str
    memories: list[RecalledMemory]
    weaker: str | UnsetType = UNSET
