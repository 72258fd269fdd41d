"""The prompts: versioned text files of the package, read once. A changed prompt gets a new number and keeps the old."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Final

EXTRACT: Final = "extract-5"
CONSOLIDATE: Final = "consolidate-2"
STATE: Final = "state-2"
SUMMARY: Final = "summary-4"
REFLECT: Final = "reflect-1"


@cache
def prompt(version: str) -> str:
    """Return the text of a prompt by its version, such as `extract-5`."""
    folder = resources.files("reverie.language_model") / "prompts"
    return (folder / f"{version}.md").read_text(encoding="utf-8")
