"""Importers of other programs' transcripts: lines to entries, entries to messages."""

from __future__ import annotations

from reverie.importers.parse_and_repair_json_line import Problem
from reverie.importers.split_chunks_into_entries import ChunkPlan, PartialLine, plan_chunk

__all__ = ["ChunkPlan", "PartialLine", "Problem", "plan_chunk"]
