"""What Reverie alone writes into a folder: the machine index, the memories as JSON, the archives; and MEMORY.md's list.

All of it can be made anew from the store at any time; a cursor says which operation it was last made from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import projections
from reverie.documents.memory_list import update_memory_list
from reverie.models import Memory
from reverie.projections import ArchiveEntry
from reverie.store import Kind, Write
from reverie.usecases.consolidation import ARCHIVES
from reverie.usecases.records import value
from reverie.usecases.writing import Given, put_texts, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reverie.documents import DocumentEntry
    from reverie.store import Reader, Writer
    from reverie.usecases.listing import Listing

__all__ = [
    "INDEX",
    "LIST",
    "LISTED",
    "MEMORIES",
    "archive_paths",
    "archives",
    "is_listed_anew",
    "record",
    "relist",
    "texts",
]

LIST = "MEMORY.md"
INDEX = "MEMORY-INDEX.json"
MEMORIES = "memory/long-term-memory.json"
LISTED = "memory.list"  # why an operation was made that brings the list up to date
_LISTED = ("listed",)


def is_listed_anew(reader: Reader, entries: Sequence[DocumentEntry]) -> bool:
    """Whether MEMORY.md says something else than it should."""
    held = reader.get(Kind.DOCUMENT, (LIST,))
    return _list_text(reader, held, entries) != (None if held is None else held["content"])


def relist(space: str, entries: Sequence[DocumentEntry]) -> Write[None]:
    """Brings the lines of MEMORY.md that are ours up to date; those of people and other programs stay as they are."""

    def body(writer: Writer) -> None:
        text = _list_text(writer, writer.get(Kind.DOCUMENT, (LIST,)), entries)
        if text is not None:
            put_texts(writer, {LIST: Given(text)}, author="engine", at=writer.at, new_id=_none_new)
        writer.put(Kind.CURSOR, _LISTED, {"paths": [entry.path for entry in entries]})

    return Write(space=space, who="index", why=LISTED, body=body)


def texts(reader: Reader, entries: Sequence[DocumentEntry], *, at: str | None) -> dict[str, bytes]:
    """The machine index and the memories as JSON, as they should stand now; none where there is nothing to tell.

    `at` is when a document last changed; the same store always gives the same bytes.
    """
    shelved = (reader.get(Kind.CURSOR, ARCHIVES) or {"archives": []})["archives"]
    memories = [value(Memory, held) for _, held in reader.scan(Kind.MEMORY)]
    if not (shelved or memories or entries):
        return {}
    kept = [ArchiveEntry(held["sha256"], held["at"], held["entries"]) for held in shelved]
    return {
        INDEX: projections.memory_index(entries, kept, updated_at=max([at or "", *(each.at for each in kept)]) or None),
        MEMORIES: projections.long_term_memory(memories),
    }


def record(reader: Reader, path: str, listing: Listing) -> dict[str, Any] | None:
    """What only Reverie writes, shown as a document is; None where there is no such file."""
    at = listing.updated_at
    found = texts(reader, listing.memories(), at=at).get(path) if path in {INDEX, MEMORIES} else None
    found = next((data for _, data in archives(reader, [path])), found) if path.startswith("archives/") else found
    if found is None:
        return None
    text = found.decode()
    return {
        "path": path,
        "content": text,
        "sha256": sha256(text),
        "size": len(found),
        "version": reader.operation(),
        "updatedAt": at or "",
        "summary": "",
    }


def archive_paths(reader: Reader) -> list[str]:
    """Where every archive of the space belongs, oldest first."""
    shelved = (reader.get(Kind.CURSOR, ARCHIVES) or {"archives": []})["archives"]
    return [f"archives/{held['sha256']}.json" for held in shelved]


def archives(reader: Reader, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of archives by their paths."""
    for path in paths:
        held = reader.get(Kind.ARCHIVE, (path.removeprefix("archives/").removesuffix(".json"),))
        if held is not None:
            yield path, held["body"].encode()


def _list_text(reader: Reader, held: dict[str, Any] | None, entries: Sequence[DocumentEntry]) -> str | None:
    owned = (reader.get(Kind.CURSOR, _LISTED) or {"paths": []})["paths"]
    if held is None and not entries:
        return None
    text = "" if held is None else str(held["content"])
    return update_memory_list(text, entries, owned)


def _none_new() -> str:
    raise AssertionError("MEMORY.md holds no memories")
