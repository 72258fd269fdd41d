"""Other programs' transcripts read into entries, and entries read as a conversation."""

from __future__ import annotations

from reverie.importers.chunks import ChunkPlan, PartialLine, plan_chunk
from reverie.importers.jsonline import Problem

__all__ = ["ChunkPlan", "PartialLine", "Problem", "plan_chunk"]
