"""Forgotten and rejected statements: the error for an agent's write of one, and the records of rejected candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reverie.consolidate.forgotten_statements_and_mass_deletions import statement_key
from reverie.documents.project_document_paths import memory_project
from reverie.errors import Conflict
from reverie.models import Candidate, MemoryType
from reverie.store import ForgottenRecord, Kind, MemoryRecord
from reverie.usecases.write_documents_and_memories import statement_of

if TYPE_CHECKING:
    from reverie.store import CandidateRecord, DocumentRecord, Writer

__all__ = ["HeldForPerson", "forget_rejected", "hold_forgotten", "hold_if_forgotten"]

_PERSONS = frozenset({"owner", "person"})  # authors of operations; each other one is the name of an agent


class HeldForPerson(Conflict):
    """An agent wrote what a person forgot: `candidate` is what is to wait; nothing of the write was stored."""

    why = "an agent wrote again what a person forgot"

    def __init__(self, memory: MemoryRecord) -> None:
        super().__init__(
            "a person has forgotten this: it waits in review, and nothing was written",
            hint="tell the person, who accepts it with: reverie review",
            forgotten=True,
        )
        self.candidate = Candidate(
            type=memory.type,
            content=memory.content,
            tags=memory.tags,
            title=memory.title,
            fields=memory.fields,
            at=memory.updated_at,
            provenance=memory.provenance,
            project=memory_project(memory),
        )


def hold_if_forgotten(writer: Writer, memory: MemoryRecord, *, who: str) -> None:
    """Raise HeldForPerson if `who` is an agent and the words of its memory are those that a person forgot."""
    if who in _PERSONS or not writer.count(Kind.FORGOTTEN):
        return
    forgotten = writer.load(ForgottenRecord, (statement_key(statement_of(memory)),))
    if forgotten is None or forgotten.by not in _PERSONS:
        return
    project = memory_project(memory)
    if forgotten.project == project or not forgotten.project or not project:
        raise HeldForPerson(memory)


def hold_forgotten(writer: Writer, after: DocumentRecord, before: DocumentRecord | None, *, who: str) -> None:
    """Raise HeldForPerson if `who` is an agent and wrote a line into a document that a person forgot."""
    if who in _PERSONS or not writer.count(Kind.FORGOTTEN):
        return
    known = set() if before is None else set(before.ids)
    for name in after.ids:
        memory = writer.load(MemoryRecord, (name,))
        if memory is not None and (name not in known or memory.updated_at == writer.at):
            hold_if_forgotten(writer, memory, who=who)


def forget_rejected(writer: Writer, candidate: CandidateRecord, *, who: str) -> None:
    """Store the statements that a rejected candidate would have added, so that none is learnt without a person."""
    for change in candidate.changes:
        if change.action != "ADD":
            continue
        memory = MemoryRecord(
            id="",
            type=change.type or MemoryType.FACT,
            content=change.content,
            title=change.title,
            fields=change.fields,
            document="",
            created_at=writer.at,
            updated_at=writer.at,
        )
        statement = statement_of(memory)
        key = statement_key(statement)
        if writer.load(ForgottenRecord, (key,)) is None:
            record = ForgottenRecord(
                sha256=key,
                memory="",
                content=statement,
                type=memory.type,
                project=change.project,
                by=who,
                at=writer.at,
            )
            writer.save(record, (key,))
