"""Writes what the store knows as files: indexes and JSON, as pure functions from values to bytes."""

from reverie.documents import DocumentEntry
from reverie.projections.index import ArchiveEntry, index_text, long_term_memory, memory_index

__all__ = ["ArchiveEntry", "DocumentEntry", "index_text", "long_term_memory", "memory_index"]
