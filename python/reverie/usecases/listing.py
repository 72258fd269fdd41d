"""What documents a space has, at a glance: kept in step with the store by its operations, never read whole again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie import projections, tokens
from reverie.documents import DocumentEntry
from reverie.documents.write import is_listed
from reverie.store import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reverie.store import Reader

__all__ = ["Listed", "Listing", "index_text"]

INDEX_TOKENS = 1_000  # its ceiling in a context, api.md 2.1
BEHIND_MAX = 2_000  # operations; further behind, reading all documents again is quicker


@dataclass(frozen=True, slots=True)
class Listed:
    """One document without its text. `operation` wrote the version that it is at."""

    path: str
    size: int
    sha256: str
    version: int
    updated_at: str
    summary: str
    operation: int


class Listing:
    """The documents of one space by path. Any thread may read it; it is brought up by one at a time."""

    def __init__(self) -> None:
        self.documents: dict[str, Listed] = {}
        self.operation: int | None = None

    def catch_up(self, reader: Reader) -> set[str]:
        """Takes in what was committed since the last call; the paths of the documents that changed.

        A reader that sees less than was taken in already changes nothing.
        """
        now = reader.operation()
        if self.operation is not None and now <= self.operation:
            return set()
        if self.operation is None or now - self.operation > BEHIND_MAX:
            before = self.documents
            self.documents = {record["path"]: _listed(reader, record) for _, record in reader.scan(Kind.DOCUMENT)}
            changed = {path for path in {*before, *self.documents} if before.get(path) != self.documents.get(path)}
        else:
            changed = self._follow(reader, self.operation)
        self.operation = now
        return changed

    def memories(self) -> list[DocumentEntry]:
        """The documents that agents are told of: those people and agents write, by path."""
        return [
            DocumentEntry(held.path, held.size, held.summary)
            for _, held in sorted(self.documents.items())
            if is_listed(held.path)
        ]

    @property
    def updated_at(self) -> str | None:
        """When a document last changed."""
        return max((held.updated_at for held in list(self.documents.values())), default=None)

    def _follow(self, reader: Reader, since: int) -> set[str]:
        changed = set(reader.touched(Kind.DOCUMENT, since))
        for path in changed:
            record = reader.get(Kind.DOCUMENT, (path,))
            if record is None:
                self.documents.pop(path, None)
            else:
                self.documents[path] = _listed(reader, record)
        return changed


def index_text(entries: Iterable[DocumentEntry]) -> str | None:
    """The text of seed 004, section 5; None where nothing is remembered yet."""
    found = list(entries)
    return projections.index_text(found, lambda text: tokens.count(text) <= INDEX_TOKENS) if found else None


def _listed(reader: Reader, record: dict[str, Any]) -> Listed:
    return Listed(
        path=record["path"],
        size=record["size"],
        sha256=record["sha256"],
        version=record["version"],
        updated_at=record["updatedAt"],
        summary=record["summary"],
        operation=reader.version(Kind.DOCUMENT, (record["path"],)) or 0,
    )
