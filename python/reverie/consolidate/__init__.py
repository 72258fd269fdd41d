"""Consolidation of candidates into memories, and dreams: pure decisions, and their application to values."""

from reverie.consolidate.add_or_skip import add_or_skip, candidates_to_add
from reverie.consolidate.apply_changes_to_memories import apply, document_of, happened_on
from reverie.consolidate.decide import Decision, Proposal, decide
from reverie.consolidate.distill_new_memories_into_dream_archive import (
    DreamPlan,
    Source,
)
from reverie.consolidate.memory_capacity_tiers_with_merge_and_drop import WINDOW_TOKENS, tier
from reverie.consolidate.plan_dream_of_oldest_memories_within_budget import DreamBatch, plan_oldest
from reverie.consolidate.user_forgotten_statements_and_mass_deletions import hold_large_deletion

__all__ = [
    "WINDOW_TOKENS",
    "Decision",
    "DreamBatch",
    "DreamPlan",
    "Proposal",
    "Source",
    "add_or_skip",
    "apply",
    "candidates_to_add",
    "decide",
    "document_of",
    "happened_on",
    "hold_large_deletion",
    "plan_oldest",
    "tier",
]
