"""Projections: files made from the store, as pure functions from values to bytes.

The index text that opens an agent's first turn, MEMORY-INDEX.json and memory/long-term-memory.json.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from reverie.documents.index import flat, newest_first, ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reverie.documents import DocumentEntry
    from reverie.models import MemoryType

INDEX_VERSION = 1
_ESCAPED = 6  # bytes that JSON has for a character at most
_FRAME = 256  # bytes of the keys of a memory, with indents and punctuation
_FRAME_OF_TAG = 16
_HEAD = "Available memory:"
_FOOT = "Use memory_read to load relevant files before responding."


class _ListedMemory(Protocol):
    """The fields of a memory, or of its record, that `long-term-memory.json` has."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> MemoryType: ...
    @property
    def content(self) -> str: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    @property
    def created_at(self) -> str: ...
    @property
    def updated_at(self) -> str: ...
    @property
    def document(self) -> str: ...


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One archive as MEMORY-INDEX.json lists it; `entries` is the number of its sources."""

    sha256: str
    at: str
    entries: int


def index_text(documents: Sequence[DocumentEntry], fits: Callable[[str], bool] = lambda _: True) -> str:
    """Return the list of documents that opens an agent's first turn (seed 004 section 5).

    `fits` returns True for a text that is small enough; the last documents are left out until it is, and counted.
    """
    lines = [
        f"- {entry.path} ({size_text(entry.size)}): {flat(entry.summary)}".rstrip(": ")
        for entry in newest_first(documents)
    ]
    return _bounded(_HEAD, lines, f"\n{_FOOT}", fits)


def size_text(size: int) -> str:
    """Return a size in bytes as people read it: `320B`, `1.2KB`, `3.4MB`."""
    for unit, factor in (("MB", 1024 * 1024), ("KB", 1024)):
        if size >= factor:
            return f"{size / factor:.1f}{unit}"
    return f"{size}B"


def memory_index(
    documents: Sequence[DocumentEntry], archives: Sequence[ArchiveEntry], *, updated_at: str | None
) -> bytes:
    """Return `MEMORY-INDEX.json`: the same bytes for the same arguments, with no text but the documents' summaries.

    `archives` are oldest first; `archiveChecksum` is the address of the newest, null when there is none.
    """
    newest = archives[-1] if archives else None
    body = {
        "version": INDEX_VERSION,
        "archiveChecksum": None if newest is None else newest.sha256,
        "entryCount": 0 if newest is None else newest.entries,
        "updatedAt": updated_at,
        "archives": [{"sha256": entry.sha256, "at": entry.at, "entries": entry.entries} for entry in archives],
        "documents": [
            {"path": entry.path, "size": entry.size, "summary": entry.summary} for entry in ordered(documents)
        ],
    }
    return _json(body)


def long_term_memory(memories: Sequence[_ListedMemory]) -> bytes:
    """Return `memory/long-term-memory.json`: every memory by id (seed 003).

    Access counts are left out: reading must not change a file that may be kept in git.
    """
    return long_term_memory_of(map(long_term_entry, sorted(memories, key=lambda memory: memory.id)))


def long_term_entry(memory: _ListedMemory) -> bytes:
    """Return one memory as `memory/long-term-memory.json` has it, without the comma after it."""
    entry = {
        "id": memory.id,
        "type": memory.type.value,
        "content": memory.content,
        "tags": list(memory.tags),
        "createdAt": memory.created_at,
        "updatedAt": memory.updated_at,
        "document": memory.document,
    }
    return orjson.dumps([entry], option=orjson.OPT_INDENT_2)[len("[\n") : -len("\n]")]


def long_term_memory_of(entries: Iterable[bytes]) -> bytes:
    """Return `memory/long-term-memory.json` of entries by `long_term_entry`, which are in the order of their ids."""
    body = b",\n".join(entries)
    return b"[\n" + body + b"\n]\n" if body else b"[]\n"


def long_term_memory_bytes_max(memories: Sequence[_ListedMemory]) -> int:
    """Return an upper bound for the bytes of `long_term_memory`, without writing it; it is several times too high."""
    return _FRAME + sum(
        _FRAME
        + _ESCAPED * (len(memory.id) + len(memory.content) + len(memory.document))
        + _ESCAPED * (len(memory.created_at) + len(memory.updated_at))
        + sum(_FRAME_OF_TAG + _ESCAPED * len(tag) for tag in memory.tags)
        for memory in memories
    )


def _json(value: Any) -> bytes:
    """Return indented JSON with a newline at its end."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _bounded(head: str, lines: list[str], foot: str, fits: Callable[[str], bool]) -> str:
    """Return head, as many of the first lines as fit, a line that counts the others, and foot."""

    def text(kept: int) -> str:
        omitted = len(lines) - kept
        more = [f"- … and {omitted} more: memory_list names them all"] if omitted else []
        return "\n".join((head, *lines[:kept], *more)) + "\n" + foot

    if fits(text(len(lines))):
        return text(len(lines))
    low, high = 0, len(lines) - 1  # bisection: `fits` counts tokens, which is slow
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text(middle)) else (low, middle - 1)
    return text(low)
