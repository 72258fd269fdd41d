"""A hundred prompts about nothing that the tests store: questions, requests, small talk."""

from __future__ import annotations

from pathlib import Path

_PROMPTS = Path(__file__).parents[1] / "vectors" / "unrelated_prompts.txt"
UNRELATED: tuple[str, ...] = tuple(_PROMPTS.read_text("utf-8").splitlines())
"""Prompts about nothing that the tests store: questions, requests, small talk."""
