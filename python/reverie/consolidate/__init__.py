"""Consolidation of candidates into memories, and dreams: pure decisions, and their application to values."""

from reverie.consolidate.additions import candidates_to_add
from reverie.consolidate.apply import apply, document_of, happened_on
from reverie.consolidate.capacity import WINDOW_TOKENS, tier
from reverie.consolidate.decide import Decision, Proposal, decide
from reverie.consolidate.dreams import ArchivePlan, DreamBatch, Source, plan_oldest
from reverie.consolidate.forgotten import hold_large_deletion

__all__ = [
    "WINDOW_TOKENS",
    "ArchivePlan",
    "Decision",
    "DreamBatch",
    "Proposal",
    "Source",
    "apply",
    "candidates_to_add",
    "decide",
    "document_of",
    "happened_on",
    "hold_large_deletion",
    "plan_oldest",
    "tier",
]
