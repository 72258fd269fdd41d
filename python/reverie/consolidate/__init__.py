"""Brings candidates into the memories that are there, and dreams: pure decisions, and their application as values."""

from reverie.consolidate.apply import apply
from reverie.consolidate.budget import MAX_TOKEN_BUDGET, validate_budget
from reverie.consolidate.decide import Decision, Proposal, decide
from reverie.consolidate.dream import DreamPlan, Source, plan_dream
from reverie.consolidate.placement import document_of, happened_on
from reverie.consolidate.tiers import WINDOW_TOKENS, tier

__all__ = [
    "MAX_TOKEN_BUDGET",
    "WINDOW_TOKENS",
    "Decision",
    "DreamPlan",
    "Proposal",
    "Source",
    "apply",
    "decide",
    "document_of",
    "happened_on",
    "plan_dream",
    "tier",
    "validate_budget",
]
