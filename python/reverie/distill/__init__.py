"""Distillation of a thread: working state, summary, excerpts, memories and digest."""
