"""The measures behind `reverie eval`: what an agent would get after a transcript, as text."""

from __future__ import annotations

from reverie.evals.texts import context_text, knowledge_text

__all__ = ["context_text", "knowledge_text"]
