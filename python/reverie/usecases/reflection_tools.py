"""The tools of a reflection: the memory tools of agents, with the words of the record that a change rests on."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, UnsetType

from reverie import tools, wire
from reverie.errors import ValidationError
from reverie.language_model.requests import ToolDefinition, ToolResult
from reverie.usecases.reflection_folder import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.language_model.requests import ToolUse
    from reverie.language_model.source_pages import Quotable, SourceEntry
    from reverie.usecases.reflection_folder import Folder

__all__ = ["TOOL_NAMES", "registry", "run_call"]

_Quotes: TypeAlias = Annotated[
    list[Annotated[str, Meta(max_length=2000)]],
    Meta(
        max_length=20,
        description="The words of the record that the change rests on, copied character by character, each from one "
        "entry. A wish quotes the person. Without quotes the change waits for a person.",
    ),
]


class _Write(tools.MemoryWriteInput):
    """The input of `memory_write` with quotes."""

    quotes: _Quotes = msgspec.field(default_factory=list)


class _Patch(tools.MemoryPatchInput):
    """The input of a reflection's `memory_patch`, with the quotes that justify the change."""

    quotes: _Quotes = msgspec.field(default_factory=list)


class _Append(tools.MemoryAppendInput):
    """The input of `memory_append` with quotes."""

    quotes: _Quotes = msgspec.field(default_factory=list)


_INPUTS: Final[Mapping[str, type[Any]]] = {
    "memory_list": tools.MemoryListInput,
    "memory_read": tools.MemoryReadInput,
    "memory_write": _Write,
    "memory_patch": _Patch,
    "memory_append": _Append,
}
TOOL_NAMES: Final = tuple(_INPUTS)


@cache
def registry() -> tuple[ToolDefinition, ...]:
    """Return the definitions of the tools of a reflection: no other tool is offered, or run."""
    return tuple(
        ToolDefinition(name, tool.description, tools.input_schema(kind))
        for name, kind in _INPUTS.items()
        if (tool := tools.tool_named(name)) is not None
    )


def run_call(call: ToolUse, folder: Folder, record: Quotable) -> ToolResult:
    """Return the result of one call; one that was refused changed nothing, and is counted in `folder.refused`.

    Raises:
        ModelFailed: the call contradicts an earlier one, so that none of the calls is to be trusted.
    """
    try:
        given = _input(call)
        return ToolResult(call.id, _RUN[call.name](given, folder, record))
    except Refused as refused:
        folder.refused[refused.kind] += 1
        return ToolResult(call.id, refused.why, is_error=True)


def _input(call: ToolUse) -> Any:
    kind = _INPUTS.get(call.name)
    if kind is None:
        known = ", ".join(TOOL_NAMES)
        raise Refused(f"there is no tool {call.name[:80]!r}; the tools are {known}", "an unknown tool")
    try:
        return wire.parse(kind, dict(call.input))
    except ValidationError as error:
        known = ", ".join(kind.__struct_encode_fields__) or "nothing"
        raise Refused(f"{error.message}; {call.name} takes {known}", "an input that a tool does not take") from None


def _sources(quotes: Sequence[str], record: Quotable) -> list[SourceEntry]:
    """Return the entries that hold the quotes. Raises Refused for a quote that none has."""
    found = []
    for number, quote in enumerate(quotes, 1):
        entry = record.entry_with(quote)
        if entry is None:
            raise Refused(
                f"quote {number} is not in the record; copy it exactly, from one entry",
                "a quote that is not in the record",
            )
        found.append(entry)
    return found


def _list(_: tools.MemoryListInput, folder: Folder, __: Quotable) -> str:
    entries = [{"path": path, "summary": summary, "size": size} for path, summary, size in folder.listed()]
    return msgspec.json.encode(entries).decode()


def _read(given: tools.MemoryReadInput, folder: Folder, _: Quotable) -> str:
    limit = None if isinstance(given.limit, UnsetType) else given.limit
    return folder.read(given.path, offset=given.offset, limit=limit)


def _write(given: _Write, folder: Folder, record: Quotable) -> str:
    folder.write(given.path, given.content, _sources(given.quotes, record))
    return '{"success":true}'


def _patch(given: _Patch, folder: Folder, record: Quotable) -> str:
    pairs = [(replacement.old_text, replacement.new_text) for replacement in given.patches]
    count = folder.patch(given.path, pairs, _sources(given.quotes, record))
    return msgspec.json.encode({"success": True, "appliedCount": count}).decode()


def _append(given: _Append, folder: Folder, record: Quotable) -> str:
    folder.append(given.path, given.entry, _sources(given.quotes, record))
    return '{"success":true}'


_RUN: Final[Mapping[str, Callable[[Any, Folder, Quotable], str]]] = {
    "memory_list": _list,
    "memory_read": _read,
    "memory_write": _write,
    "memory_patch": _patch,
    "memory_append": _append,
}
