"""Importers of other programs' transcripts: lines to entries, entries to messages."""

from __future__ import annotations

from reverie.importers.chunks import ChunkPlan, PartialLine, plan_chunk
from reverie.importers.lines import Problem

__all__ = ["ChunkPlan", "PartialLine", "Problem", "plan_chunk"]
