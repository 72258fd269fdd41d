"""Writes what the store knows as files: documents, indexes and JSON, as pure functions from values to bytes."""

from reverie.projections.documents import documents, is_projected, summary_of
from reverie.projections.index import (
    ArchiveEntry,
    DocumentEntry,
    index_text,
    long_term_memory,
    memory_index,
    memory_md,
)
from reverie.projections.publish import Leave, Nothing, Remove, Write, plan, published_after, watched

__all__ = [
    "ArchiveEntry",
    "DocumentEntry",
    "Leave",
    "Nothing",
    "Remove",
    "Write",
    "documents",
    "index_text",
    "is_projected",
    "long_term_memory",
    "memory_index",
    "memory_md",
    "plan",
    "published_after",
    "summary_of",
    "watched",
]
