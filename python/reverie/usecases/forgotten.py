"""Forgotten and rejected statements: their records, and the error for an agent's write of one.

A record is stored where a memory is deleted, and deleted where a person writes it again. There is one for each project
in which a statement is forgotten, so that what is written again in one of them stays forgotten in the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from msgspec.structs import replace

from reverie.consolidate.forgotten import (
    REJECTED,
    Forgotten,
    ForgottenStatement,
    episode_text,
    statement_key,
    statements_in,
    stems_in_order,
)
from reverie.decode import mapped
from reverie.documents.layout import PERSON, memory_project, type_of_blocks
from reverie.doubts import CORRECTED
from reverie.errors import Conflict
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, MemoryType
from reverie.store import (
    CandidateRecord,
    DocumentRecord,
    ForgottenRecord,
    Kind,
    MemoryRecord,
    OperationRecord,
    Reader,
    Writer,
)
from reverie.usecases import projects
from reverie.usecases.by import PERSONS, is_agent

_SAID_CHARS: Final = 80  # of an agent's words in an error
_MARK: Final = lazy_regex(r"^(?:[\s>#*+|-]|\d+[.)]\s|\[[ x]\])+")  # of a heading, quote, list or table
_BETWEEN_WORDS: Final = lazy_regex(r"[-_]|(?<=[^\W\d_A-Z])(?=[A-Z])")
_PARAGRAPH_END: Final = lazy_regex(r"\n[ \t>]*\n")
_SENTENCE_END: Final = lazy_regex(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])")
_TAGGED_STEMS_MIN: Final = 3  # of a statement that is searched for in all tags of a memory together
_WORDLESS: Final = hashlib.sha256().hexdigest()  # the key of a date or a line alone: nothing that could be said again
_WORDS: Final = ("content", "tags", "title", "fields")  # of a memory, which are compared with what was forgotten


class HeldForPerson(Conflict):
    """An agent wrote what a person forgot, or nearly: `memory`, as a `candidate`, is to wait; nothing was stored."""

    why = "an agent wrote again what a person forgot"

    def __init__(self, memory: MemoryRecord) -> None:
        # In the agent's own words: what was forgotten is not told.
        said = " ".join(memory.content.split())
        said = f"{said[:_SAID_CHARS]}…" if len(said) > _SAID_CHARS else said
        super().__init__(
            f"“{said}” is what a person has forgotten, or near to it: it waits in review, and nothing was written",
            hint="tell the person, who accepts it with: reverie review; anything else can be written without it",
            forgotten=True,
        )
        self.memory, self.candidate = memory, _candidate(memory)


def _as_words(name: str) -> str:
    """Return the words of a tag or of a file's name: "the-pier_is-long" has four, and so has "thePierIsLong"."""
    return _BETWEEN_WORDS.sub(" ", name)


def _candidate(memory: MemoryRecord) -> Candidate:
    subject = "user" if memory.document == "facts/user.md" else "project"
    return mapped(memory, Candidate, subject=subject, at=memory.updated_at, project=memory_project(memory))


def hold_if_forgotten(writer: Writer, memory: MemoryRecord, *, who: str) -> None:
    """Raise HeldForPerson if `who` is an agent and its memory says what a person forgot, in these or other words."""
    if is_agent(who):
        _ForgottenByPersons(writer).hold(writer, memory)


class _ForgottenByPersons:
    """The statements that persons forgot or rejected, read and indexed once for all memories of a write."""

    def __init__(self, reader: Reader) -> None:
        statements = forgotten_statements(reader, _is_by_person) if reader.count(Kind.FORGOTTEN) else ()
        self._statements = [one for one in statements if one.key != _WORDLESS]  # which releases before this one stored
        self._index = Forgotten(self._statements)

    def leave_said(self, writer: Writer) -> None:
        """Leave out the statements that a person's memory of their project says.

        A person who copied a file and deleted the first one has forgotten nothing. It reads every memory, so it is for
        a write that would be held otherwise. What this write says itself does not count.
        """
        said = {
            (statement_key(statement_of(memory)), memory_project(memory))
            for _, memory in writer.records(MemoryRecord)
            if memory.trust == "person" and writer.latest(Kind.MEMORY, (memory.id,)) != writer.number
        }
        self._statements = [one for one in self._statements if (one.key, one.project) not in said]
        self._index = Forgotten(self._statements)

    def hold(self, writer: Writer, memory: MemoryRecord) -> None:
        """Raise HeldForPerson if a memory says one of the statements.

        One that had the words of a statement before this write was left when another one with them was forgotten.
        """
        if not self.has(memory):
            return
        self.leave_said(writer)
        if self.has(memory):
            before, keys = _before(writer, memory), {one.key for one in self._statements}
            left = keys if before is None else keys - {statement_key(statement_of(before))}
            if left == keys or statement_key(statement_of(memory)) in left:
                raise HeldForPerson(memory)

    def has(self, memory: MemoryRecord) -> bool:
        """Return True if a memory is the same as, or near to, one of the statements.

        The same words count whichever project an agent names. Title, fields and tags are compared too, as lines that
        may say all of a forgotten statement. Of a file with front matter the description is compared as the memory is,
        since it is the file's line in MEMORY.md.
        """
        fields = dict(memory.fields)
        description = "" if memory.type is MemoryType.EPISODE else fields.get("description", "")
        compared = [memory, *([replace(memory, content=description)] if description else [])]
        if any(self._index.nearest(_candidate(one), in_all_projects=True) is not None for one in compared):
            return True
        return self.says(memory, [*fields.values(), memory.title or ""]) or self._is_tagged(memory)

    def _is_tagged(self, memory: MemoryRecord) -> bool:
        """Return True if a tag, or all tags together, have all words of a statement, of whichever project.

        Example: "release-captain-mira-lund", or "release-captain" beside "mira-lund", in a memory of a ship's paint.
        Two words, as of "no emojis in documentation", are two honest tags.
        """
        tags = [_as_words(tag) for tag in memory.tags]
        if not tags:
            return False
        long = [one for one in self._statements if len(set(stems_in_order(one.content))) >= _TAGGED_STEMS_MIN]
        return self._is_said(tags, self._statements) or self._is_said([" ".join(tags)], long)

    def says(self, memory: MemoryRecord, values: Sequence[str]) -> bool:
        """Return True if one of these texts says all of a statement that concerns the memory's project."""
        project = memory_project(memory)
        concerning = [one for one in self._statements if one.project == project or PERSON in {one.project, project}]
        return self._is_said(values, concerning)

    def _is_said(self, values: Sequence[str], statements: Sequence[ForgottenStatement]) -> bool:
        """Return True if one of these texts says all of one of the statements, or is the same as any."""
        keys = {one.key for one in self._statements}
        return bool(statements_in(values, [one.content for one in statements])) or any(
            statement_key(value) in keys for value in values
        )


def _is_by_person(record: ForgottenRecord) -> bool:
    return record.threads is None and record.by in PERSONS


Removals: TypeAlias = Collection[tuple[str, int]]
"""Files, each with an operation of a save that an agent's tool made."""


def removed_by_agent(writer: Writer, removals: Removals, who: str) -> None:
    """Let saves of files, taken for a person's, have removed what they took out as the agent's `who`."""
    _, _, thread = who.partition("thread:")
    for number in {number for _, number in removals}:
        operation = writer.load(OperationRecord, (number,))
        for change in () if operation is None else operation.changes:
            key = tuple(change.key)
            record = writer.load(ForgottenRecord, key) if change.kind is Kind.FORGOTTEN else None
            if record is None or writer.version(Kind.FORGOTTEN, key) != number or record.replaced:
                continue
            earlier = (version.value for version in writer.record_versions(ForgottenRecord, key))
            before = next(islice(earlier, 1, None), None)
            memory = _deleted(writer, record, number)
            if memory is None or (memory.document, number) not in removals or (before and _is_by_person(before)):
                continue
            threads = sorted({str(memory.provenance.get("thread") or ""), thread} - {""})
            writer.save(replace(record, by=who, threads=threads), key)


def _deleted(reader: Reader, record: ForgottenRecord, operation: int) -> MemoryRecord | None:
    """Return the memory that an operation deleted, as it was before."""
    past = reader.record_versions(MemoryRecord, (record.memory,))
    return next((version.value for version in past if version.operation < operation), None)


def forgotten_again(writer: Writer, memory: MemoryRecord, removals: Removals = ()) -> Candidate | None:
    """Return the candidate for a forgotten memory that an agent saved in a file; None if it is not forgotten.

    The save was taken for a person's, and a person's words lift what was forgotten: that is forgotten again. The caller
    removes the memory, and its candidate waits for the person. What one of the agent's own `removals` took out, as a
    line that it moved to another file, no person has forgotten.
    """
    saved = writer.latest(Kind.MEMORY, (memory.id,))
    for key in keys_of(writer, memory):
        if writer.load(ForgottenRecord, (key,)) is not None:
            continue
        versions = writer.record_versions(ForgottenRecord, (key,))
        deletion, lifted = next(versions, None), next(versions, None)
        is_by_save = deletion is not None and deletion.operation == saved
        if not is_by_save or lifted is None or lifted.value is None or not _is_by_person(lifted.value):
            continue
        before = _deleted(writer, lifted.value, lifted.operation)
        if before is None or (before.document, lifted.operation) not in removals:
            writer.save(lifted.value, (key,))
    return _candidate(memory) if _ForgottenByPersons(writer).has(memory) else None


def hold_forgotten(writer: Writer, after: DocumentRecord | None, *, who: str) -> None:
    """Raise HeldForPerson if `who` is an agent and this write puts a line into a document that a person forgot.

    It may have been written, moved or restored by an undo: of the memories of `after`, None for a deleted document,
    those are compared that had no words or other ones before. The document's summary and its name are compared too,
    since both are in the index that opens each new thread, and what else it says.
    """
    if after is None or not is_agent(who) or not writer.count(Kind.FORGOTTEN):
        return
    written = [
        memory
        for name in after.ids
        if (memory := writer.load(MemoryRecord, (name,))) is not None and _has_new_words(writer, memory)
    ]
    forgotten = _ForgottenByPersons(writer)
    label = MemoryRecord(
        id="",
        type=MemoryType.FACT,
        content=after.summary,
        tags=(),
        title=_as_words(PurePosixPath(after.path).stem),
        document=after.path,
        created_at=writer.at,
        updated_at=writer.at,
    )
    for memory in written:
        forgotten.hold(writer, memory)
    texts = [after.summary, label.title or "", *_new_prose(writer, after)]
    if forgotten.says(label, texts):
        forgotten.leave_said(writer)
    if forgotten.says(label, texts):
        said = next(text for text in texts if forgotten.says(label, [text]))
        raise HeldForPerson(replace(label, content=said, title=label.title if said == after.summary else None))


def _new_prose(writer: Writer, after: DocumentRecord) -> list[str]:
    """Return what this write adds to a document of memories outside its memories, as agents read it with the rest.

    These are headings, rows and cells of tables, quotes, code, and sentences of paragraphs that go over several lines.
    """
    if type_of_blocks(after.path) is None:
        return []
    past = writer.record_versions(DocumentRecord, (after.path,))
    before = next((version.value for version in past if version.operation < writer.number), None)
    lines_before = set() if before is None else set(before.content.splitlines())
    texts: dict[str, None] = {}
    for paragraph in _PARAGRAPH_END.split(after.content):
        lines = [(_MARK.sub("", line).strip(" |"), line not in lines_before) for line in paragraph.splitlines()]
        new = [text for text, is_new in lines if is_new]
        if new:
            cells = [cell for text in new if "|" in text for cell in text.split("|")]
            texts |= dict.fromkeys([*new, *cells, *_SENTENCE_END.split(" ".join(text for text, _ in lines))])
    return [text for text in texts if text.strip()]


def _has_new_words(writer: Writer, memory: MemoryRecord) -> bool:
    """Return True if this write gives a memory words that it had not right before: it is new, changed or restored."""
    if writer.latest(Kind.MEMORY, (memory.id,)) != writer.number:
        return False
    before = _before(writer, memory)
    return before is None or any(getattr(before, name) != getattr(memory, name) for name in _WORDS)


def _before(writer: Writer, memory: MemoryRecord) -> MemoryRecord | None:
    """Return a memory as it was before this write, None if there was none."""
    past = writer.record_versions(MemoryRecord, (memory.id,))
    return next((version.value for version in past if version.operation < writer.number), None)


def forget_rejected(writer: Writer, candidate: CandidateRecord, *, who: str) -> None:
    """Store the statements that a rejected candidate would have added, so that none is learnt without a person."""
    for change in candidate.changes:
        if change.action != "ADD":
            continue
        memory = MemoryRecord(
            id="",
            type=change.type or MemoryType.FACT,
            content=change.content,
            tags=(),
            title=change.title,
            fields=change.fields,
            document="",
            created_at=writer.at,
            updated_at=writer.at,
        )
        statement = statement_of(memory)
        words = statement_key(statement)
        key = record_key(words, change.project)
        before = writer.load(ForgottenRecord, (key,))
        if before is None or before.threads is not None:  # an agent's removal holds for its threads alone
            record = ForgottenRecord(
                sha256=key,
                memory="",
                content=statement,
                type=memory.type,
                project=change.project,
                by=who,
                at=writer.at,
                words=None if key == words else words,
            )
            writer.save(record, (key,))


def record_key(words: str, project: str) -> str:
    """Return the key of a forgotten statement in the store, by the hash of its words and its project."""
    return words if project == PERSON else hashlib.sha256(f"{words}\n{project}".encode()).hexdigest()


def forgotten_statements(
    reader: Reader, admits: Callable[[ForgottenRecord], bool] = lambda _: True
) -> Iterator[ForgottenStatement]:
    """Yield the records as the comparison with candidates has them, under the projects that theirs were joined to."""
    joined = {project.name: project.joined for project in projects.known(reader) if project.joined}
    for _, record in reader.records(ForgottenRecord):
        words = record.words or record.sha256
        if admits(record):
            yield ForgottenStatement(
                words if record.memory else f"{REJECTED}{words}",
                "" if record.replaced else record.content,
                joined.get(record.project, record.project),
                None if record.threads is None else tuple(record.threads),
            )


def forget(
    writer: Writer,
    memory: MemoryRecord,
    who: str,
    *,
    thread: str = "",
    words_left: bool = True,
    replaced: bool = False,
) -> None:
    """Store the statement of a deleted memory, so that it is not learnt again; or the words that a person `replaced`.

    Where the agent `who` removed it, in `thread`, that does not hold against a person who says it in another session,
    and not against what a person forgot before. Without `words_left`, as after a purge, its hash alone is stored.
    """
    statement, project = statement_of(memory), memory_project(memory)
    words = statement_key(statement)
    if words == _WORDLESS:
        return
    key = record_key(words, project)
    threads = None
    if replaced or is_agent(who):
        before = writer.load(ForgottenRecord, (key,))
        if before is not None and before.threads is None:
            return
    if not replaced and is_agent(who):
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
        replaced=replaced or None,
    )
    writer.save(record, (key,))


def learn_replaced(writer: Writer, memory: MemoryRecord, *, since: str) -> None:
    """Let the words be learnt again that a memory had before the corrections since a time, which no person made."""
    for version in writer.record_versions(MemoryRecord, (memory.id,)):
        before = version.value
        if before is not None and CORRECTED in before.provenance and before.updated_at >= since:
            continue
        if before is not None:
            key = record_key(statement_key(statement_of(before)), memory_project(before))
            record = writer.load(ForgottenRecord, (key,))
            if record is not None and record.replaced and record.memory == memory.id:
                writer.delete(Kind.FORGOTTEN, (key,))
        return


def keys_of(reader: Reader, memory: MemoryRecord) -> Iterator[str]:
    """Yield the keys under which a memory's statement may be forgotten: without a project, in its own, in any.

    Releases that had one record for all projects stored that under the hash of the words alone.
    """
    project = memory_project(memory)
    names = (
        [record.name for record in projects.known(reader)] if project == PERSON else projects.names_of(reader, project)
    )
    words = statement_key(statement_of(memory))
    yield from (record_key(words, name) for name in dict.fromkeys((PERSON, *names)))


def recall_to_mind(writer: Writer, memory: MemoryRecord, *, who: str) -> None:
    """Delete the forgotten statement of a memory, because the same was written again: by an agent that of agents."""
    if not writer.count(Kind.FORGOTTEN):
        return
    project = memory_project(memory)
    for key in keys_of(writer, memory):
        record = writer.load(ForgottenRecord, (key,))
        if record is None or (is_agent(who) and record.threads is None):
            continue
        if PERSON in {project, record.project} or record.project in projects.names_of(writer, project):
            writer.delete(Kind.FORGOTTEN, (key,))


def says_the_same(memory: MemoryRecord, other: MemoryRecord) -> bool:
    """Return True if two memories have one statement: other case, punctuation or tags are no other words."""
    return statement_key(statement_of(memory)) == statement_key(statement_of(other))


def statement_of(memory: MemoryRecord) -> str:
    """Return the words of a memory by which it is forgotten: of an episode its title and summary."""
    if memory.type is MemoryType.EPISODE:
        return episode_text(memory.title, memory.fields, memory.content)
    return memory.content
