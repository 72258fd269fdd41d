"""What becomes of a document when an agent writes it whole: nobody's words go that the agent has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reverie.errors import Conflict
from reverie.merge import merge3
from reverie.store import Kind
from reverie.usecases.sync import WHO

if TYPE_CHECKING:
    from reverie.store import Reader

__all__ = ["Seen", "by_person", "rewritten"]

_READ = "memory_read it, then write it again whole, or change a part of it with memory_patch"


@dataclass(frozen=True, slots=True)
class Seen:
    """What an agent knows of a document: its text, and the version that this is (0 where it is none's)."""

    version: int
    text: str


def by_person(reader: Reader, held: dict[str, Any]) -> bool:
    """Whether a person wrote the document as it is, or a memory in it."""
    operation = reader.get(Kind.OPERATION, (reader.version(Kind.DOCUMENT, (held["path"],)) or 0,))
    if operation is not None and operation["who"] == WHO:
        return True
    found = (reader.get(Kind.MEMORY, (name,)) for name in held["ids"])
    return any(memory is not None and memory["trust"] == "person" for memory in found)


def rewritten(given: str, held: dict[str, Any] | None, seen: Seen | None, *, person: bool) -> str:
    """The text to put for the whole text that an agent gave: with what came since the agent looked merged in.

    `held` is the document as it is, `person` whether a person's words are in it.

    Raises:
        Conflict: what came since does not go together with it, or the agent never looked at what a person wrote.
    """
    if held is None or (seen is not None and seen.version == held["version"]):
        return given
    if seen is None:
        if person:
            raise Conflict(f"{held['path']} holds what a person wrote, and you have not read it", hint=_READ)
        return given
    merged = merge3(seen.text, held["content"], given)
    if not merged.clean:
        raise Conflict(f"{held['path']} was changed since you read it, where you changed it too", hint=_READ)
    return merged.text
