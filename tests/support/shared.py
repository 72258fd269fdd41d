"""Optional measurement data in `../shared`: tests run on it where it is present, and none needs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.story import generated_files

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
_SESSIONS = "data/transcripts/claude-code"


def has_shared(relative: str) -> bool:
    """Return True if `../shared/<relative>` exists."""
    return (SHARED / relative).exists()


def shared_files(relative: str, pattern: str) -> list[Path]:
    """Return the files below `../shared/<relative>` that match `pattern`, sorted; none where the folder is absent."""
    return sorted(path for path in (SHARED / relative).rglob(pattern) if path.is_file())


def shared_rows(relative: str) -> list[dict[str, Any]]:
    """Return the objects of a JSON lines file in `../shared`; none where it is absent."""
    path = SHARED / relative
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]  # may hold lone surrogates


def real_sessions() -> list[Path]:
    """Return the recorded Claude Code sessions, sorted by name; none where they are absent."""
    return shared_files(_SESSIONS, "*.jsonl.gz")


def all_sessions(generated: int, *, step: int = 1, count: int | None = None) -> list[Path]:
    """Return the first `generated` generated sessions, then every `step`-th recorded one, at most `count` of them."""
    return [*generated_files()[:generated], *real_sessions()[::step][:count]]
