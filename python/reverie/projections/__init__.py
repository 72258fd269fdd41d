"""Writes what the store knows as files: indexes and JSON, as pure functions from values to bytes."""

from reverie.documents import DocumentEntry
from reverie.projections.index import ArchiveEntry, index_text, long_term_memory, memory_index
from reverie.projections.publish import Leave, Nothing, Remove, Write, plan, published_after, watched

__all__ = [
    "ArchiveEntry",
    "DocumentEntry",
    "Leave",
    "Nothing",
    "Remove",
    "Write",
    "index_text",
    "long_term_memory",
    "memory_index",
    "plan",
    "published_after",
    "watched",
]
