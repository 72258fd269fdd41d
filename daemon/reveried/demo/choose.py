"""Which sessions the demo shows: those given, else your own newest, else the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.errors import NotFound
from reverie.importers import files
from reveried.demo.sample import SESSION, sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Choice", "choose"]

OWN_MAX = 3
_SUBAGENT = "agent-"


@dataclass(frozen=True, slots=True)
class Choice:
    """The files, and whose they are in words."""

    files: list[Path]
    whose: str
    is_sample: bool = False


def choose(given: Sequence[Path], home: Path, scratch: Path) -> Choice:
    """The sessions at `given`; else the newest under `home`; else the sample, written into `scratch`.

    Raises:
        NotFound: nothing is at a given path.
    """
    if given:
        found = files.find_transcripts(given)
        if not found:
            raise NotFound("no session files there", hint="give *.jsonl or *.jsonl.gz files, or a folder of them")
        return Choice(found, "the session that you gave" if len(found) == 1 else f"the {len(found)} sessions you gave")
    if own := _newest(home / ".claude" / "projects"):
        return Choice(own, "your newest session" if len(own) == 1 else f"your {len(own)} newest sessions")
    path = scratch / f"{SESSION}.jsonl"
    path.write_bytes(sample())
    return Choice([path], "a sample session: an agent mends a small bug", is_sample=True)


def _newest(projects: Path) -> list[Path]:
    """A person's own sessions, newest first; what subagents wrote stands in files of its own and is passed over."""
    if not projects.is_dir():
        return []
    found = [path for path in files.find_transcripts([projects]) if not path.name.startswith(_SUBAGENT)]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)[:OWN_MAX]
