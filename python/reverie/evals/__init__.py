"""Evaluations behind `reverie eval`: the text after a transcript, continuity of contexts, distillation frequency."""
