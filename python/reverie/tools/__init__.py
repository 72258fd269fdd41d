"""The tools that agents are offered: their names, when to use each, and the shape of what each takes; no I/O."""

from reverie.tools.definitions import TOOLS, Tool, named
from reverie.tools.forms import FORMATS, Format, definitions
from reverie.tools.inputs import (
    MemoryAppendInput,
    MemoryListInput,
    MemoryPatchInput,
    MemoryReadInput,
    MemoryWriteInput,
    NoteInput,
    RecallInput,
    TextPatch,
    WorkingStateGetInput,
    WorkingStateSetInput,
)

__all__ = [
    "FORMATS",
    "TOOLS",
    "Format",
    "MemoryAppendInput",
    "MemoryListInput",
    "MemoryPatchInput",
    "MemoryReadInput",
    "MemoryWriteInput",
    "NoteInput",
    "RecallInput",
    "TextPatch",
    "Tool",
    "WorkingStateGetInput",
    "WorkingStateSetInput",
    "definitions",
    "named",
]
