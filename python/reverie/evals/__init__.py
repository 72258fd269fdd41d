"""Evaluations behind `reverie eval`: the text after a transcript, continuity of contexts, distillation frequency."""

from __future__ import annotations

from reverie.evals.after_transcript import context_text, knowledge_text

__all__ = ["context_text", "knowledge_text"]
