"""Documents as the store has them: safe paths, and the listing that opens an agent's first turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reverie import projections, tokens
from reverie.engine.consolidation import FOLDERS
from reverie.errors import ValidationError
from reverie.paths import safe_relative
from reverie.projections import DocumentEntry
from reverie.store import Kind

if TYPE_CHECKING:
    from reverie.store import Reader

__all__ = ["checked", "index_text", "listed"]

INDEX_TOKENS = 1_000  # its ceiling in a context, api.md 2.1


def checked(path: str) -> str:
    """`path` if it names a place inside the space's folder, those included that only Reverie itself writes.

    Raises:
        ValidationError: it could lead outside, or no file may have that name.
    """
    try:
        return str(safe_relative(path, suffixes=None))
    except ValidationError as refused:
        if refused.details["reason"] != "reserved":
            raise
        return path


def listed(reader: Reader) -> list[dict[str, Any]]:
    """The documents that hold memories, by path."""
    held = (record for _, record in reader.scan(Kind.DOCUMENT))
    return sorted((record for record in held if record["path"].startswith(FOLDERS)), key=lambda record: record["path"])


def index_text(reader: Reader) -> str | None:
    """The text of seed 004, section 5; None where nothing is remembered yet."""
    entries = [DocumentEntry(record["path"], record["size"], record["summary"]) for record in listed(reader)]
    return projections.index_text(entries, lambda text: tokens.count(text) <= INDEX_TOKENS) if entries else None
