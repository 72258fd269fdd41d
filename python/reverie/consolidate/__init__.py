"""Brings candidates into the memories that are there, and dreams: pure decisions, and their application as values."""

from reverie.consolidate.apply import apply
from reverie.consolidate.decide import Decision, Proposal, decide
from reverie.consolidate.placement import document_of, happened_on
from reverie.consolidate.tiers import WINDOW_TOKENS, tier

__all__ = ["WINDOW_TOKENS", "Decision", "Proposal", "apply", "decide", "document_of", "happened_on", "tier"]
