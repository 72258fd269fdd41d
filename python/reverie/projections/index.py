"""Says what is known at a glance: `MEMORY.md` for people and clients, the index text for agents, JSON for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reverie.models import Memory

__all__ = [
    "ArchiveEntry",
    "DocumentEntry",
    "index_text",
    "long_term_memory",
    "memory_index",
    "memory_md",
    "ordered",
    "size_text",
]

LINES_MAX = 200
BYTES_MAX = 25_000
INDEX_VERSION = 1
_FIRST = ("user", "preferences", "project", "mistakes", "procedures", "skills", "observations")
_HEAD = "Available memory:"
_FOOT = "Use memory_read to load relevant files before responding."
_PLAIN_LINK = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./")


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """One document as an index names it: `size` in bytes, `summary` its file-level summary."""

    path: str
    size: int
    summary: str


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """One archive as the machine index names it: `entries` is the number of its sources."""

    sha256: str
    at: str
    entries: int


def ordered(documents: Sequence[DocumentEntry]) -> list[DocumentEntry]:
    """Facts in a fixed order, other facts by name, episodes newest first, the rest by name."""
    episodes = [entry for entry in documents if entry.path.startswith("episodes/")]
    others = [entry for entry in documents if not entry.path.startswith("episodes/")]
    others.sort(key=_rank)
    episodes.sort(key=lambda entry: entry.path, reverse=True)
    facts = [entry for entry in others if entry.path.startswith("facts/")]
    return [*facts, *episodes, *(entry for entry in others if not entry.path.startswith("facts/"))]


def memory_md(documents: Sequence[DocumentEntry]) -> str:
    """`MEMORY.md`: a heading and one link for each document, at most 200 lines and 25,000 bytes.

    What does not fit is counted in the last line.
    """
    lines = [f"- [{_label(e.path)}]({_target(e.path)}) — {_flat(e.summary)}".rstrip(" —") for e in ordered(documents)]
    return _bounded(
        "# Memory\n", lines, "", lambda text: text.count("\n") <= LINES_MAX and len(text.encode()) <= BYTES_MAX
    )


def index_text(documents: Sequence[DocumentEntry], fits: Callable[[str], bool] = lambda _: True) -> str:
    """The listing that opens an agent's first turn (seed 004 section 5).

    `fits` says whether a text is small enough; the last documents are left out until it is, and counted.
    """
    lines = [
        f"- {entry.path} ({size_text(entry.size)}): {_flat(entry.summary)}".rstrip(": ") for entry in ordered(documents)
    ]
    return _bounded(_HEAD, lines, f"\n{_FOOT}\n", fits)


def size_text(size: int) -> str:
    """Bytes as people read them: `320B`, `1.2KB`, `3.4MB`."""
    for unit, factor in (("MB", 1024 * 1024), ("KB", 1024)):
        if size >= factor:
            return f"{size / factor:.1f}{unit}"
    return f"{size}B"


def memory_index(
    documents: Sequence[DocumentEntry], archives: Sequence[ArchiveEntry], *, updated_at: str | None
) -> bytes:
    """`MEMORY-INDEX.json`: the same arguments give the same bytes, and no text but file-level summaries is in it.

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


def long_term_memory(memories: Sequence[Memory]) -> bytes:
    """`memory/long-term-memory.json`: every memory by id, without what reading changes (seed 003, api.md 2.2)."""
    return _json(
        [
            {
                "id": memory.id,
                "type": memory.type.value,
                "content": memory.content,
                "tags": list(memory.tags),
                "createdAt": memory.created_at,
                "updatedAt": memory.updated_at,
                "document": memory.document,
            }
            for memory in sorted(memories, key=lambda memory: memory.id)
        ]
    )


def _is_small(text: str) -> bool:
    return text.count("\n") <= LINES_MAX and len(text.encode()) <= BYTES_MAX


def _json(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _bounded(head: str, lines: list[str], foot: str, fits: Callable[[str], bool]) -> str:
    """Head, lines and foot; with as many of the first lines as fit, found by halving, and a line for the rest."""

    def text(kept: int) -> str:
        left = len(lines) - kept
        more = [f"- … and {left} more: memory_list names them all"] if left else []
        return "\n".join((head, *lines[:kept], *more)) + "\n" + foot

    if fits(text(len(lines))):
        return text(len(lines))
    low, high = 0, len(lines) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(text(middle)) else (low, middle - 1)
    return text(low)


def _rank(entry: DocumentEntry) -> tuple[int, str]:
    stem = entry.path.removeprefix("facts/").removesuffix(".md")
    return (_FIRST.index(stem) if stem in _FIRST else len(_FIRST), entry.path)


def _label(path: str) -> str:
    return "".join(f"\\{char}" if char in "[]\\" else char for char in path)


def _target(path: str) -> str:
    return path if _PLAIN_LINK.issuperset(path) else f"<{path}>"


def _flat(summary: str) -> str:
    return " ".join(summary.split())
