"""Candidates that wait for a person: made by a consolidation, then accepted or rejected, each in one operation."""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from reverie import wire
from reverie.canonical_json import canonical
from reverie.consolidate.apply import document_of
from reverie.consolidate.forgotten import Forgotten, ForgottenStatement, Nearness
from reverie.decode import mapped
from reverie.documents.items import Update, Wording
from reverie.documents.layout import memory_project
from reverie.errors import Conflict, NotFound
from reverie.models import Candidate, MemoryType
from reverie.models import Delete as DeleteMemory
from reverie.models import Update as UpdateMemory
from reverie.store import CandidateRecord, ForgottenRecord, Kind, MemoryRecord, PendingChange
from reverie.usecases import doubts
from reverie.usecases import memories as use_memories
from reverie.usecases.by import By, Files, writes
from reverie.usecases.forgotten_writes import HeldForPerson, forget_rejected
from reverie.usecases.origins import WHY
from reverie.usecases.risky_grants import harm_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from reverie.consolidate.decide import Proposal
    from reverie.models import Memory
    from reverie.store import Reader, Writer
    from reverie.usecases.origins import FoundOrigins, Origins

_ID_CHARS = 26  # hex digits of the hash in a candidate's id
_SHOWN_CHARS = 160  # of a forgotten statement that a candidate's `why` quotes


class Screened(NamedTuple):
    """Usable and waiting candidates; `dropped` is the number that repeat a forgotten statement's exact words."""

    usable: list[Candidate]
    waiting: list[CandidateRecord]
    dropped: int


def screen(
    candidates: Sequence[Candidate],
    forgotten: Iterable[ForgottenStatement],
    origins: Origins | FoundOrigins | None,
    *,
    at: str,
) -> Screened:
    """Compare candidates with forgotten statements and their origins; return usable and waiting ones.

    `forgotten` are read only where there are candidates. Those wait that are near one, that a rule was not sure of, or
    whose words are from outside: quarantined, whatever they say.
    """
    result = Screened([], [], 0)
    if not candidates:
        return result
    statements = Forgotten(forgotten)
    for candidate in candidates:
        nearest = statements.nearest(candidate, in_all_projects=not candidate.provenance.get("seqs"))  # an agent's file
        outside = WHY.get(candidate.provenance.get("waits", ""))
        if outside is None:
            outside = (origins.outside(candidate) if origins else None) or harm_of_file(candidate)
        if nearest is None and outside is not None:
            result.waiting.append(quarantined(candidate, outside, at=at))
        elif nearest is None:
            result.usable.append(candidate)
        elif nearest[0] == Nearness.REJECTED and outside is not None:
            result.waiting.append(quarantined(candidate, outside, at=at))  # if it was rejected as that, not asked again
        elif nearest[0] != Nearness.SAME:
            said = f"it is near to what was forgotten: {nearest[1][:_SHOWN_CHARS]}".removesuffix(": ")
            result.waiting.append(quarantined(candidate, said, at=at, reason="forgotten"))
        else:
            result = result._replace(dropped=result.dropped + 1)
    return result


def quarantined(candidate: Candidate, why: str, *, at: str, reason: Any = "quarantined") -> CandidateRecord:
    """Return the waiting record of a candidate whose words come from outside; `why` names where from."""
    return _record(reason, why, [mapped(candidate, PendingChange, action="ADD")], at=at)


def refused(reader: Reader, held: HeldForPerson, *, at: str) -> CandidateRecord:
    """Return the waiting record of an agent's refused write: the change of the memory that it would have changed."""
    new, old = held.memory, reader.load(MemoryRecord, (held.memory.id,))
    if old is None or old.content == new.content or (old.title, old.fields) != (new.title, new.fields):
        return quarantined(held.candidate, held.why, at=at, reason="forgotten")
    change = _pending(UpdateMemory(old.id, new.content, new.tags), {old.id: old})
    return _record("forgotten", held.why, [change], at=at)


def proposal(proposed: Proposal, existing: Mapping[str, Memory], *, at: str) -> CandidateRecord:
    """Return the waiting record of a proposal: a change to a person's memory that only a person may make."""
    change = replace(_pending(proposed.change, existing), provenance=proposed.source)
    return _record(proposed.reason, proposed.why, [change], at=at)


def change_set(
    changes: Sequence[UpdateMemory | DeleteMemory], existing: Mapping[str, Memory], *, at: str, others: int = 0
) -> CandidateRecord:
    """Return the record of a consolidation's updates and deletions that wait together, since they delete too much.

    `others` is how many memories there are beside `existing`.
    """
    deletions = sum(isinstance(change, DeleteMemory) for change in changes)
    why = f"a consolidation would have deleted {deletions} of {len(existing) + others} memories"
    return _record("large_deletion", why, [_pending(change, existing) for change in changes], at=at)


def _pending(change: UpdateMemory | DeleteMemory, existing: Mapping[str, Memory]) -> PendingChange:
    before = existing[change.id].content
    if isinstance(change, DeleteMemory):
        return PendingChange(action="DELETE", memory=change.id, before=before)
    return PendingChange(action="UPDATE", memory=change.id, before=before, content=change.content, tags=change.tags)


def _record(reason: Any, why: str, changes: list[PendingChange], *, at: str) -> CandidateRecord:
    """Return a waiting candidate; its id is a hash of its changes, so that a rejected one is recognised again."""
    said = [[change.action, change.memory or "", change.title or "", change.content] for change in changes]
    said += [[reason]] if reason == "forgotten" else []  # the person may say what was rejected as a paste
    name = hashlib.sha256(canonical(said)).hexdigest()[:_ID_CHARS]
    return CandidateRecord(id=f"cnd_{name}", reason=reason, why=why, changes=changes, created_at=at)


def keep_waiting(writer: Writer, candidates: Iterable[CandidateRecord]) -> list[str]:
    """Write the candidates that are not stored yet; return the ids of all that wait for a decision.

    Change sets are joined: of each memory the newest change waits, and a rejection or acceptance is about all of them.
    A memory that a candidate contradicts is in doubt from then on.
    """
    waiting = []
    for candidate in candidates:
        stored = writer.load(CandidateRecord, (candidate.id,))
        if stored is not None:
            if stored.state == "waiting":
                waiting.append(stored.id)
            continue
        if candidate.reason == "large_deletion":
            candidate = _joined(writer, candidate)  # noqa: PLW2901 - what is written in its place
        writer.save(candidate, (candidate.id,))
        waiting.append(candidate.id)
        _put_in_doubt(writer, candidate)
    return waiting


def _put_in_doubt(writer: Writer, candidate: CandidateRecord) -> None:
    """Put the memories in doubt that something said in a thread contradicts."""
    for change in candidate.changes if candidate.reason == "contradiction" else ():
        source = change.provenance
        if change.memory is not None and source:
            at = source.get("at") or candidate.created_at
            doubts.mark(writer, doubts.Mark(change.memory, at, source.get("thread") or "", source.get("seqs") or []))


def _joined(writer: Writer, candidate: CandidateRecord) -> CandidateRecord:
    """Return the change set joined with the earlier waiting one, whose changes of the same memories it replaces."""
    for key, other in list(writer.records(CandidateRecord)):
        if other.reason == "large_deletion" and other.state == "waiting":
            own = {change.memory for change in candidate.changes}
            earlier = [change for change in other.changes if change.memory not in own]
            writer.delete(Kind.CANDIDATE, key)
            if earlier:
                return _record(candidate.reason, candidate.why, [*earlier, *candidate.changes], at=candidate.created_at)
    return candidate


# Read


def get(reader: Reader, candidate_id: str) -> CandidateRecord:
    """Return a candidate. Raises NotFound."""
    record = reader.load(CandidateRecord, (candidate_id,))
    if record is None:
        raise NotFound(f"no candidate is called {candidate_id!r}", hint="reverie review list shows them")
    return record


def page(reader: Reader, *, state: str | None, after: str, limit: int) -> wire.Page[wire.Candidate]:
    """Return one page of the candidates, oldest first; `state` limits it to those waiting, accepted or rejected."""
    records = sorted(
        (record for _, record in reader.records(CandidateRecord) if state is None or record.state == state),
        key=_place,
    )
    rest = [record for record in records if not after or _place(record) > tuple(after.split("/", 1))]
    items = [candidate_answer(reader, record) for record in rest[:limit]]
    following = "/".join(_place(rest[limit - 1])) if len(rest) > limit else None
    return wire.Page(items, following)


def _place(record: CandidateRecord) -> tuple[str, str]:
    return record.created_at, record.id


def candidate_answer(reader: Reader, record: CandidateRecord) -> wire.Candidate:
    """Return a candidate as the API shows it."""
    return mapped(
        record,
        wire.Candidate,
        changes=[_change_answer(reader, change, record) for change in record.changes],
        memories=record.result,
    )


def _change_answer(reader: Reader, change: PendingChange, record: CandidateRecord) -> wire.PendingChange:
    memory = None if change.memory is None else reader.load(MemoryRecord, (change.memory,))
    kind = change.type if memory is None else memory.type
    return mapped(
        change,
        wire.PendingChange,
        content=change.content if change.action != "DELETE" else None,
        type=None if kind is None else kind.value,
        tags=list(change.tags),
        fields=dict(change.fields),
        project=(change.project if memory is None else memory_project(memory)) or None,
        stale=record.state == "waiting" and not _fits(reader, change),
    )


def _fits(reader: Reader, change: PendingChange) -> bool:
    """Return True if a change's memory still has the words that it had when the change was decided."""
    if change.memory is None:
        return True
    memory = reader.load(MemoryRecord, (change.memory,))
    return memory is not None and memory.content == change.before


def repeating(
    reader: Reader, *, memories: Collection[str], thread: str | None, matches: Callable[[Any], bool]
) -> tuple[list[str], list[str]]:
    """Return ids of candidates and keys of forgotten statements that a purge of memories or a thread must remove.

    Those that name one of the memories, candidates from the thread, and all whose texts match, in any version.
    """

    def concerns(record: CandidateRecord) -> bool:
        of_thread = any(change.provenance.get("thread", "") == thread for change in record.changes)
        return of_thread or any(change.memory in memories for change in record.changes) or matches(record.as_json())

    candidates = {*reader.keys(Kind.CANDIDATE), *reader.versioned_keys(Kind.CANDIDATE)}
    forgotten = {*reader.keys(Kind.FORGOTTEN), *reader.versioned_keys(Kind.FORGOTTEN)}
    return (
        [
            str(key[0])
            for key in sorted(candidates)
            if any(past.value and concerns(past.value) for past in reader.record_history(CandidateRecord, key))
        ],
        [
            str(key[0])
            for key in sorted(forgotten)
            if any(
                past.value and (past.value.memory in memories or matches(past.value.content))
                for past in reader.record_history(ForgottenRecord, key)
            )
        ],
    )


# Decided by a person


def _decided_files(reader: Reader, candidate_id: str) -> Files:
    """Return the files of the memories that a candidate changes, and of the documents that it adds to."""
    paths = set()
    for change in get(reader, candidate_id).changes:
        if change.memory is None:
            paths.add(document_of(_candidate(change), at=change.at or ""))
        elif (memory := reader.load(MemoryRecord, (change.memory,))) is not None:
            paths.add(memory.document)
    return Files(paths)


@writes("candidate.accept", answers=wire.CandidateDecided, files=_decided_files, scans=True, projects=True)
def accept(to: Writer, by: By, candidate_id: str) -> wire.CandidateDecided:
    """Make a candidate's changes; undo takes them back, and lets the candidate wait again.

    A new memory has a person's trust, since a person has read and wanted it. A change of a memory that has other words
    by now is left out, and named in the answer. Raises Conflict where that is so of all of them, or where the candidate
    was decided before.
    """
    record = _waiting(to, candidate_id)
    fitting = [change for change in record.changes if _fits(to, change)]
    if not fitting:
        raise Conflict(
            f"what candidate {candidate_id} would change has other words by now",
            hint=f"reverie review reject {candidate_id}",
        )
    result = [name for change in fitting for name in _made(to, by, change, record.reason)]
    stale = [change.memory or "" for change in record.changes if change not in fitting]
    return _decide(to, by, record, "accepted", result=result, stale=stale)


@writes("candidate.reject", answers=wire.CandidateDecided, files=_decided_files, scans=True, projects=True)
def reject(to: Writer, by: By, candidate_id: str) -> wire.CandidateDecided:
    """Reject a candidate; its statement is forgotten, and undo lets it wait again.

    A memory that it would have changed stays, and is no longer in doubt.
    """
    record = _waiting(to, candidate_id)
    answer = _decide(to, by, record, "rejected", result=[], stale=[])
    for change in record.changes:
        doubts.clear(to, change.memory)
    forget_rejected(to, record, who=by.who)
    return answer


@writes("candidate.add")
def hold(to: Writer, _: By, refusal: HeldForPerson) -> list[str]:
    """Let what an agent wrote though a person forgot it wait for the person."""
    return keep_waiting(to, [refused(to, refusal, at=to.at)])


def _waiting(reader: Reader, candidate_id: str) -> CandidateRecord:
    record = get(reader, candidate_id)
    if record.state != "waiting":
        raise Conflict(
            f"candidate {candidate_id} was {record.state} at {record.decided_at}",
            hint=f"reverie undo {reader.latest(Kind.CANDIDATE, (candidate_id,))} takes the decision back",
            state=record.state,
        )
    return record


def _decide(
    to: Writer, by: By, record: CandidateRecord, state: Any, *, result: list[str], stale: list[str]
) -> wire.CandidateDecided:
    to.save(replace(record, state=state, decided_at=to.at, decided_by=by.who, result=result), (record.id,))
    return wire.CandidateDecided(id=record.id, state=state, operation=str(to.number), memories=result, stale=stale)


def _made(to: Writer, by: By, change: PendingChange, reason: str) -> Iterator[str]:
    """Apply one change of an accepted candidate; yield the id of the memory that was written."""
    if change.memory is None:
        record = use_memories.remember(to, dataclasses.replace(by, author="person"), _candidate(change))
        if not record.existed:
            kept = use_memories.get(to, record.id)
            to.save(replace(kept, provenance={**change.provenance, "by": by.who}), (record.id,))
        yield record.id
        return
    memory = use_memories.get(to, change.memory)
    if change.action == "DELETE":
        use_memories.remove(to, dataclasses.replace(by, author=memory.trust), memory)
        return
    words = Wording(change.content, change.tags, memory.title, memory.fields)
    # A memory keeps its trust, as nobody has weighed each word of a set with many updates; who wants what was forgotten
    # has.
    author = "person" if reason == "forgotten" else memory.trust
    use_memories.edit_block(to, dataclasses.replace(by, author=author), memory.document, Update(memory.id, words))
    doubts.clear(to, memory.id)
    yield memory.id


def _candidate(change: PendingChange) -> Candidate:
    return mapped(change, Candidate, type=change.type or MemoryType.FACT)
