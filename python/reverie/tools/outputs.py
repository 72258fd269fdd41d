"""The result of each tool that returns an object, as a struct; clients of MCP get its JSON schema."""

from msgspec import UNSET, Struct, UnsetType

__all__ = ["MemoryPatchOutput", "MemoryWriteOutput", "NoteOutput", "RecallOutput", "RecalledMemory"]


class NoteOutput(Struct, rename="camel"):
    """The result of `note`: the id of the note."""

    success: bool
    id: str


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
