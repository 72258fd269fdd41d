"""Writes documents: their texts, and the memories that the blocks of these texts are.

Every way to change a document ends here: an agent's call, a person's saved file, what an engine decided. The text is
the truth of the words; a memory keeps its id for as long as its block can be told to be the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from reverie import documents
from reverie.documents.identity import match_ids
from reverie.store import Kind
from reverie.store.codec import to_ms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reverie.documents import Item, ParsedDocument
    from reverie.store import Reader, Writer

__all__ = ["MEMORIES", "Author", "Given", "blocks_of", "put_texts", "sha256"]

MEMORIES = ("memories",)  # the cursor that says which operation last changed a memory
RETURN_MS = 30 * 24 * 3600 * 1000  # a block that comes back unchanged within this time takes its own id back
_RETIRED_KEPT = 8  # ids remembered for one text; the newest are taken first
_WORDS = ("type", "content", "tags", "title", "fields")

Author: TypeAlias = Literal["person", "agent", "engine"]


@dataclass(frozen=True, slots=True)
class Given:
    """A document's next text.

    `ids` names its blocks where the caller knows them. `operation` is the version of the document that the text was
    made from, and `summary` what the listing says instead of what the text says.
    """

    text: str
    ids: Sequence[str] | None = None


def put_texts(
    writer: Writer,
    texts: Mapping[str, Given | None],
    *,
    author: Author,
    at: str,
    new_id: Callable[[], str],
    known: Mapping[str, dict[str, Any]] | None = None,
    provenance: dict[str, Any] | None = None,
) -> list[str]:
    """Puts the texts, deletes the documents given as None, and lets the memories follow; the paths that changed.

    A block whose words are as they were keeps its last author, one that is new or reads differently gets `author`.
    `known` has memory records that the caller made (an engine's, with their provenance); `provenance` is that of all
    other new ones. Announces `workspace.updated` for each document and `memory.written` for each memory.
    """
    held = {path: writer.get(Kind.DOCUMENT, (path,)) for path in texts}
    moving = {path: given for path, given in texts.items() if _differs(held[path], given)}
    pages = {path: documents.parse_document(path, given.text) for path, given in moving.items() if given is not None}
    ids = _identities(writer, held, moving, pages, at=at, new_id=new_id)
    kept = {name for names in ids.values() for name in names}
    maker = _Maker(writer, author, at, known or {}, provenance or {})
    for path, record in held.items():
        if path in moving and record is not None:
            for name, text in blocks_of(record):
                if name not in kept:
                    maker.retire(name, text)
    for path, given in moving.items():
        if given is None:
            _forget(writer, path, held[path])
            continue
        for order, (name, item) in enumerate(zip(ids[path], pages[path].items, strict=True)):
            maker.put(name, item, path, order)
        _put_document(writer, _record(path, given.text, ids[path], pages[path], held[path]), at)
    if maker.moved:
        writer.put(Kind.CURSOR, MEMORIES, {"operation": writer.number})
    return sorted(moving)


def blocks_of(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The memory blocks of a stored document, each with its id."""
    items = documents.parse_document(record["path"], record["content"]).items
    return [(name, item.text) for name, item in zip(record["ids"], items, strict=True)]


def sha256(text: str) -> str:
    """The SHA-256 of a document's text, in hex: its version, as files and callers know it."""
    return hashlib.sha256(text.encode()).hexdigest()


def _differs(held: dict[str, Any] | None, given: Given | None) -> bool:
    if held is None or given is None:
        return (held is None) != (given is None)
    return bool(held["content"] != given.text or (given.ids is not None and list(given.ids) != held["ids"]))


def _identities(
    writer: Reader,
    held: Mapping[str, dict[str, Any] | None],
    moving: Mapping[str, Given | None],
    pages: Mapping[str, ParsedDocument],
    *,
    at: str,
    new_id: Callable[[], str],
) -> dict[str, list[str]]:
    """The id of every block of every text that changes: given, carried on, come back, or new."""
    open_ = {path for path, page in pages.items() if (given := moving[path]) is not None and given.ids is None}
    before = {
        path: blocks_of(record)
        for path, record in held.items()
        if record is not None and path in moving and (path in open_ or path not in pages)
    }
    carried = match_ids(before, {path: [item.text for item in pages[path].items] for path in sorted(open_)})
    used = {name for names in carried.values() for name in names if name is not None}
    ids: dict[str, list[str]] = {}
    for path, page in pages.items():
        given = moving[path]
        if path not in open_ and given is not None and given.ids is not None:
            ids[path] = list(given.ids)
            continue
        names: list[str] = []
        for item, name in zip(page.items, carried[path], strict=True):
            found = name or _come_back(writer, item.text, used, at) or new_id()
            used.add(found)
            names.append(found)
        ids[path] = names
    return ids


def _come_back(reader: Reader, text: str, used: set[str], at: str) -> str | None:
    """The id of a block with these words that went a short while ago, and is not in use again."""
    held = reader.get(Kind.RETIRED, (sha256(text.strip()),))
    for name, since in reversed(held["ids"] if held is not None else []):
        fresh = to_ms(at) - to_ms(since) <= RETURN_MS
        if fresh and name not in used and reader.get(Kind.MEMORY, (name,)) is None:
            return str(name)
    return None


class _Maker:
    """Writes the memories of one write."""

    def __init__(
        self, writer: Writer, author: Author, at: str, known: Mapping[str, dict[str, Any]], provenance: dict[str, Any]
    ) -> None:
        self._writer = writer
        self._author = author
        self._at = at
        self._known = known
        self._provenance = provenance
        self.moved = False

    def put(self, name: str, item: Item, path: str, order: int) -> None:
        """The memory of one block; nothing where it says what it said, in the same document."""
        words = {
            "type": item.type.value,
            "content": item.content,
            "tags": list(item.tags),
            "title": item.title,
            "fields": [list(field) for field in item.fields],
        }
        before = self._writer.get(Kind.MEMORY, (name,))
        made = self._known.get(name) or before or self._last(name)
        if made is None:
            record = self._fresh(name, path, order) | words
        elif name not in self._known and all(made[key] == words[key] for key in _WORDS):
            record = {**made, "document": path}
        elif name in self._known:
            record = {**made, **words, "document": path, "order": order}
        else:
            record = {**made, **words, "document": path, "updated_at": self._at, "trust": self._author}
        if self._writer.put(Kind.MEMORY, (name,), record):
            self.moved = True
            if before is None or any(before[key] != words[key] for key in _WORDS):
                self._writer.event(
                    "memory.written",
                    {"memoryRef": f"space:{self._writer.space}", "memoryId": name, "tags": words["tags"]},
                )

    def retire(self, name: str, text: str) -> None:
        """Takes a memory away, and notes what it said, so that it is known again when it comes back."""
        if self._writer.delete(Kind.MEMORY, (name,)):
            self.moved = True
        key = (sha256(text.strip()),)
        held = self._writer.get(Kind.RETIRED, key) or {"ids": []}
        ids = [entry for entry in held["ids"] if entry[0] != name]
        self._writer.put(Kind.RETIRED, key, {"ids": [*ids, [name, self._at]][-_RETIRED_KEPT:]})

    def _last(self, name: str) -> dict[str, Any] | None:
        """What a memory that went was, so that its history goes on."""
        past = (version.value for version in self._writer.past(Kind.MEMORY, (name,)))
        return next((value for value in past if value is not None), None)

    def _fresh(self, name: str, path: str, order: int) -> dict[str, Any]:
        return {
            "id": name,
            "document": path,
            "created_at": self._at,
            "updated_at": self._at,
            "access_count": 0,
            "last_accessed_at": None,
            "trust": self._author,
            "provenance": self._provenance,
            "order": order,
        }


def _record(path: str, text: str, ids: list[str], page: ParsedDocument, held: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "path": path,
        "content": text,
        "sha256": sha256(text),
        "size": len(text.encode()),
        "version": 1 if held is None else held["version"] + 1,
        "summary": page.summary,
        "ids": ids,
    }


def _put_document(writer: Writer, record: dict[str, Any], at: str) -> None:
    if writer.put(Kind.DOCUMENT, (record["path"],), {**record, "updatedAt": at}):
        writer.event("workspace.updated", {"path": record["path"], "version": record["version"]})


def _forget(writer: Writer, path: str, held: dict[str, Any] | None) -> None:
    writer.delete(Kind.DOCUMENT, (path,))
    if held is not None:
        writer.event("workspace.updated", {"path": path, "version": held["version"] + 1})
