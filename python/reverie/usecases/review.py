"""Candidates that wait for a person: made by a consolidation, then accepted or rejected, each in one operation."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from reverie import wire
from reverie.canonical_json import canonical
from reverie.consolidate.apply import document_of
from reverie.consolidate.decide import Proposal
from reverie.consolidate.forgotten import Forgotten, ForgottenStatement, Nearness
from reverie.decode import mapped
from reverie.documents.items import Update, Wording
from reverie.documents.layout import memory_project, session_of
from reverie.errors import Conflict, NotFound
from reverie.lazy_regex import lazy_regex
from reverie.models import Candidate, Memory, MemoryType
from reverie.models import Delete as DeleteMemory
from reverie.models import Update as UpdateMemory
from reverie.store import (
    CandidateRecord,
    DocumentRecord,
    ForgottenRecord,
    Kind,
    MemoryRecord,
    PendingChange,
    Reader,
    Writer,
)
from reverie.usecases import memories as use_memories
from reverie.usecases import provenance
from reverie.usecases.by import ENGINE, By, Files, writes
from reverie.usecases.documents import as_spelled
from reverie.usecases.forgotten import HeldForPerson, forget_rejected, forgotten_again

if TYPE_CHECKING:
    from reverie.sync.plan import Plan
from reverie.usecases.origins import WHY, FoundOrigins, Origins

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
    return _record(reason, why, [mapped(candidate, PendingChange, action="ADD", memory=None, before=None)], at=at)


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
    for change in candidate.changes if candidate.reason == "contradiction" else ():
        source = change.provenance
        if change.memory is not None and source:
            at = source.get("at") or candidate.created_at
            provenance.mark(
                writer, provenance.Mark(change.memory, at, source.get("thread") or "", source.get("seqs") or [])
            )


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
    reader: Reader, *, memories: Collection[str], thread: str | None, matches: Callable[[Any, Any], bool]
) -> tuple[list[str], list[str]]:
    """Return ids of candidates and keys of forgotten statements that a purge of memories or a thread must remove.

    Those that name one of the memories, candidates from the thread, and all whose texts match, in any version.
    """

    def concerns(record: CandidateRecord) -> bool:
        of_thread = any(change.provenance.get("thread", "") == thread for change in record.changes)
        return (
            of_thread
            or any(change.memory in memories for change in record.changes)
            or matches(CandidateRecord, record.as_json())
        )

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
                past.value and (past.value.memory in memories or matches(ForgottenRecord, past.value.as_json()))
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
            paths.add(as_spelled(reader, document_of(_candidate(change), at=change.at or "")))
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
    result = [name for change in fitting for name in _made(to, by, record, change)]
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
        provenance.clear(to, change.memory)
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


def _tags(reader: Reader, record: CandidateRecord, change: PendingChange, memory: MemoryRecord) -> tuple[str, ...]:
    """Return the tags of a memory after an accepted change: those of the change, and those given since it waits."""
    proposed = min(version.operation for version in reader.record_versions(CandidateRecord, (record.id,)))
    past = reader.record_versions(MemoryRecord, (memory.id,))
    before = next((version.value for version in past if version.operation <= proposed), None)
    given = (tag for tag in memory.tags if before is None or tag not in before.tags)
    return tuple(dict.fromkeys((*change.tags, *given)))


def _made(to: Writer, by: By, record: CandidateRecord, change: PendingChange) -> Iterator[str]:
    """Apply one change of an accepted candidate; yield the id of the memory that was written."""
    if change.memory is None:
        new = use_memories.remember(to, dataclasses.replace(by, author="person"), _candidate(change))
        if not new.existed:
            kept = use_memories.get(to, new.id)
            said_at = {} if change.at is None else {"at": change.at}
            to.save(replace(kept, provenance={**change.provenance, **said_at, "by": by.who}), (new.id,))
        yield new.id
        return
    memory = use_memories.get(to, change.memory)
    if change.action == "DELETE":
        use_memories.remove(to, dataclasses.replace(by, author=memory.trust), memory)
        return
    words = Wording(change.content, _tags(to, record, change, memory), memory.title, memory.fields)
    # A memory keeps its trust, as nobody has weighed each word of a set with many updates; who wants what was forgotten
    # has.
    author = "person" if record.reason == "forgotten" else memory.trust
    use_memories.edit_block(to, dataclasses.replace(by, author=author), memory.document, Update(memory.id, words))
    provenance.clear(to, memory.id)
    yield memory.id


def _candidate(change: PendingChange) -> Candidate:
    return mapped(change, Candidate, type=change.type or MemoryType.FACT)


# Files that an agent saved: what a person forgot is taken out of them again. A save is committed as it is, since a file
# cannot be refused as a call can; the next operation takes the lines out.


WHY_HELD: Final = "folder.author"


def sessions_of(plan: Plan) -> dict[str, str]:
    """Return the session of an agent that each file of a plan names, as Claude Code's auto memory does, by path."""
    return {put.path: session for put in plan.puts if (session := session_of(put.text)) is not None}


@writes(WHY_HELD)
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
        waiting = quarantined(candidate, HeldForPerson.why, at=writer.at, reason="forgotten")
        keep_waiting(writer, [waiting])
        use_memories.remove(writer, ENGINE, memory)


# Harm of what an agent's files and working memory say: words for a person, rights, data sent away, orders in secret.
#
# A file may have copied its sentences from anywhere, so in doubt one waits for a person: where it names another
# machine, in any language, or has one of a few words of wishes, rights and secrets.


# Another machine, whatever is said of it: "https://…", "ann@…", "203.0.113.7", "collect.evil.example".
_FILE: Final = (
    r"(?!\S*\.(?:py|[jt]sx?|json|toml|ya?ml|lock|txt|csv|log|html?|css|cfg|ini|xml|sql|java|go|rs|rb|sh|md)\b)"
)
_FAR_AWAY: Final = lazy_regex(
    r"\b(?:https?|ftp|ssh|s3|wss?)://(?!localhost|127\.|0\.0\.0\.0|\[::1\])\S|[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}"
    rf"|(?<![\w.])(?!127\.)\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.])|\\\\[\w.-]+\\\w|(?<![a-z0-9./`-]){_FILE}(?:[a-z0-9-]+\.){{2,}}[a-z]{{2,}}(?![a-z0-9(])"
    rf"|(?<![a-z0-9./`-]){_FILE}[a-z0-9-]+\.(?:example|com|net|org|io|dev)(?![a-z0-9])",
    re.IGNORECASE,
)
_PERSON: Final = r"(?:user|person|owner|maintainer|boss|customer|management|team)"
_SECRETS: Final = r"(?:secrets?|credentials?|passwords?|tokens?|private keys?)\b|\.env\b|\.ssh\b"
# Orders not to ask, rights, secrets given away, wishes of others; `mem_…` is an order about another memory.
_RISKY: Final = lazy_regex(
    r"\bwithout (?:\w+ )?(?:asking|telling|permission|approval|confirmation)\b|\b(?:not|don't)(?: to)? (?:ask|tell)\b"
    r"|\b(?:skip|bypass|ignore|auto-?approve)\b.*\b(?:confirmation|approval|permission|previous|check)"
    r"|\b(?:granted?|grants|full|write|unlimited|has) (?:\w+ )?access\b|\bagents? may (?:\w+ )?(?:to|every|all|any)\b"
    rf"|\bmay \w+ (?:every|all|any)\b.*\b(?:spaces?|memor\w+|{_SECRETS})"
    rf"|\b(?:send|upload|post|copy|mail|export|push)\b.*(?:{_SECRETS})"
    rf"|\b{_PERSON}(?:s|'s|\u2019s)? (?:\w+ ){{0,5}}(?:wants?|wish\w*|prefers?|said|asked|requires?|allows?|trusts)\b"
    rf"|\b{_PERSON}_\w+:|\bmem_[0-9a-z]{{20,}}|\bno longer true\b",
    re.IGNORECASE,
)


def harm_of_file(candidate: Candidate) -> str | None:
    """Return why a candidate of a file or of working memory has to wait for a person; None where it is harmless."""
    from reverie.language_model.extraction import UNSAFE

    if candidate.provenance.get("seqs"):
        return None
    # "release.md" has the form of a host.
    text = candidate.content.removesuffix(f" (from {candidate.provenance.get('path')})")
    if _FAR_AWAY.search(text):
        return "it names another machine"
    if UNSAFE.search(text) or _RISKY.search(text):
        return "its advice could do harm where it is followed"
    return None
