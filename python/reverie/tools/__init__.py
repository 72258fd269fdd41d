"""The tools for agents: name, description and input type of each, and their definitions for model APIs; no I/O."""

from reverie.tools.definitions import FORMATS, LISTED, TOOLS, Format, Tool, definitions, input_schema, tool_named
from reverie.tools.structs import (
    MemoryAppendInput,
    MemoryDeleteInput,
    MemoryListInput,
    MemoryPatchInput,
    MemoryReadInput,
    MemoryWriteInput,
    NoteInput,
    ReadThreadInput,
    RecallInput,
    RememberInput,
    SearchInput,
    TextPatch,
    WorkingStateGetInput,
)

__all__ = [
    "FORMATS",
    "LISTED",
    "TOOLS",
    "Format",
    "MemoryAppendInput",
    "MemoryDeleteInput",
    "MemoryListInput",
    "MemoryPatchInput",
    "MemoryReadInput",
    "MemoryWriteInput",
    "NoteInput",
    "ReadThreadInput",
    "RecallInput",
    "RememberInput",
    "SearchInput",
    "TextPatch",
    "Tool",
    "WorkingStateGetInput",
    "definitions",
    "input_schema",
    "tool_named",
]
