"""Files that an agent saved: what a person forgot is taken out of them again, and waits for the person.

A save is committed as it is, since a file cannot be refused as a call can. The next operation takes the lines out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.documents.layout import session_of
from reverie.store import DocumentRecord, Kind, MemoryRecord
from reverie.usecases import memories, review
from reverie.usecases.by import ENGINE, By, writes
from reverie.usecases.forgotten_writes import HeldForPerson, forgotten_again

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reverie.models import Candidate
    from reverie.store import Writer
    from reverie.sync.plan import Plan

WHY = "folder.author"


def sessions_of(plan: Plan) -> dict[str, str]:
    """Return the session of an agent that each file of a plan names, as Claude Code's auto memory does, by path."""
    return {put.path: session for put in plan.puts if (session := session_of(put.text)) is not None}


@writes(WHY)
def hold_saves(to: Writer, _: By, paths: Iterable[str], operations: Mapping[str, int]) -> None:
    """Take forgotten statements out of files that name an agent's session.

    `operations` committed the texts at these paths: of their memories those that came by them are compared.
    """
    copies = []
    for path in paths:
        document = to.load(DocumentRecord, (path,)) if to.count(Kind.FORGOTTEN) else None
        for name in [] if document is None else document.ids:
            memory = to.load(MemoryRecord, (name,))
            came = memory is not None and to.latest(Kind.MEMORY, (name,)) == operations.get(path)
            candidate = forgotten_again(to, memory) if memory is not None and came else None
            if memory is not None and candidate is not None:
                copies.append((memory, candidate))
    move_to_review(to, copies)


def move_to_review(writer: Writer, held: Iterable[tuple[MemoryRecord, Candidate]]) -> None:
    """Remove memories from their documents, and let their candidates wait for a person."""
    for memory, candidate in held:
        waiting = review.quarantined(candidate, HeldForPerson.why, at=writer.at, reason="forgotten")
        review.keep_waiting(writer, [waiting])
        memories.remove(writer, ENGINE, memory)
