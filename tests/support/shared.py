"""Finds the data that tests measure with, and skips clearly where it is absent."""

from __future__ import annotations

from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


def shared(relative: str) -> Path:
    """The file or folder at `../shared/<relative>` beside the project; skips the test where it is absent."""
    path = _ROOT.parent / "shared" / relative
    if not path.exists():
        pytest.skip(f"needs the measurement data: ../shared/{relative} is not here")
    return path


def sessions() -> list[Path]:
    """The real Claude Code sessions, sorted by name; skips the test where they are absent."""
    return sorted(shared("data/transcripts/claude-code").glob("*.jsonl.gz"))
