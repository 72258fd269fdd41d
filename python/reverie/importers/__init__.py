"""Other programs' transcripts read into entries, and entries read as a conversation."""

from __future__ import annotations

from reverie.importers.plan import ChunkPlan, Inside, plan_chunk
from reverie.importers.problem import Problem

__all__ = ["ChunkPlan", "Inside", "Problem", "plan_chunk"]
