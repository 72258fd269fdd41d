"""Records of forgotten statements: stored where a memory is deleted, and deleted where a person writes it again.

There is one for each project in which a statement is forgotten, so that what is written again in one of them stays
forgotten in the others.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from reverie.consolidate.forgotten import (
    REJECTED,
    ForgottenStatement,
    episode_text,
    statement_key,
)
from reverie.documents.layout import PERSON, memory_project
from reverie.models import MemoryType
from reverie.store import ForgottenRecord, Kind, ProjectsCursor
from reverie.usecases.authors import is_agent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from reverie.store import MemoryRecord, Reader, Writer


def record_key(words: str, project: str) -> str:
    """Return the key of a forgotten statement in the store, by the hash of its words and its project."""
    return words if project == PERSON else hashlib.sha256(f"{words}\n{project}".encode()).hexdigest()


def forgotten_statement(record: ForgottenRecord) -> ForgottenStatement:
    """Return a record as the comparison with candidates has it."""
    words = record.words or record.sha256
    return ForgottenStatement(
        words if record.memory else f"{REJECTED}{words}",
        record.content,
        record.project,
        None if record.threads is None else tuple(record.threads),
    )


def forget(writer: Writer, memory: MemoryRecord, who: str, *, thread: str = "", words_left: bool = True) -> None:
    """Store the statement of a deleted memory, so that it is not learnt again.

    Where the agent `who` removed it, in `thread`, that does not hold against a person who says it in another session,
    and not against what a person forgot before. Without `words_left`, as after a purge, its hash alone is stored.
    """
    statement, project = statement_of(memory), memory_project(memory)
    words = statement_key(statement)
    key = record_key(words, project)
    threads = None
    if is_agent(who):
        before = writer.load(ForgottenRecord, (key,))
        if before is not None and before.threads is None:
            return
        threads = sorted({str(memory.provenance.get("thread") or ""), thread} - {""})
    record = ForgottenRecord(
        sha256=key,
        memory=memory.id,
        content=statement if words_left else "",
        type=memory.type,
        project=project,
        by=who,
        at=writer.at,
        words=None if key == words else words,
        threads=threads,
    )
    writer.save(record, (key,))


def keys_of(reader: Reader, memory: MemoryRecord) -> Iterator[str]:
    """Yield the keys under which a memory's statement may be forgotten: without a project, in its own, in any.

    Releases that had one record for all projects stored that under the hash of the words alone.
    """
    project = memory_project(memory)
    projects: Iterable[str] = (PERSON, project)
    if project == PERSON:
        stored = reader.load(ProjectsCursor, ProjectsCursor.KEY) or ProjectsCursor()
        projects = (PERSON, *(record.name for record in stored.projects))
    words = statement_key(statement_of(memory))
    yield from (record_key(words, name) for name in dict.fromkeys(projects))


def recall_to_mind(writer: Writer, memory: MemoryRecord, *, who: str) -> None:
    """Delete the forgotten statement of a memory, because the same was written again: by an agent that of agents."""
    if not writer.count(Kind.FORGOTTEN):
        return
    project = memory_project(memory)
    for key in keys_of(writer, memory):
        record = writer.load(ForgottenRecord, (key,))
        if record is None or (is_agent(who) and record.threads is None):
            continue
        if record.project == project or PERSON in {project, record.project}:
            writer.delete(Kind.FORGOTTEN, (key,))


def statement_of(memory: MemoryRecord) -> str:
    """Return the words of a memory by which it is forgotten: of an episode its title and summary."""
    if memory.type is MemoryType.EPISODE:
        return episode_text(memory.title, memory.fields, memory.content)
    return memory.content
