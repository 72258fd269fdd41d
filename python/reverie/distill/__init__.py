"""Distillation of a thread: working state, structured summary, excerpts, candidate memories and digest."""
