"""Decide a consolidation: candidates meet the existing memories, and become records and texts ready to be written."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple

from msgspec.structs import replace

from reverie import consolidate, texts, tokenizer, wire
from reverie.consolidate import Decision, Proposal
from reverie.consolidate.forgotten import Forgotten, ForgottenStatement
from reverie.consolidate.statements import Relation, parse_statement, relate
from reverie.decode import mapped
from reverie.distill.own_words import own_words
from reverie.documents.edit import apply_changes, new_document
from reverie.documents.escape import clean
from reverie.documents.index import long_term_memory, long_term_memory_bytes_max
from reverie.documents.items import Add as AddItem
from reverie.documents.items import Change as ItemChange
from reverie.documents.items import ChangedDocument, Wording
from reverie.documents.items import Delete as DeleteItem
from reverie.documents.items import Update as UpdateItem
from reverie.documents.layout import PERSON, memory_project
from reverie.documents.parts import is_full, next_part, open_part, room
from reverie.errors import ValidationError
from reverie.ids import ID_RANDOM_BYTES, new_id
from reverie.language_model.pages import SourceEntry
from reverie.language_model.requests import ModelRequest, Outcome
from reverie.lazy_regex import lazy_regex
from reverie.models import (
    DATE_CHARS,
    Add,
    Candidate,
    Change,
    Delete,
    Keep,
    Memory,
    MemoryType,
    Message,
    Skip,
    Tier,
    Update,
)
from reverie.paths import same_file
from reverie.redact import Redactor
from reverie.store import ThreadRecord
from reverie.store.codec import to_ms
from reverie.usecases import projects, review
from reverie.usecases.consolidation import DocumentText, MemoryPlan, MemorySnapshot, Terms, forgotten_statements
from reverie.usecases.memories import record_of
from reverie.usecases.origins import FoundOrigins, Origins
from reverie.usecases.provenance import threads_of
from reverie.words import count_negations, normalize


class Origin(NamedTuple):
    """The thread that candidates were read from, None for a run without one, and the name of its project.

    `project_unknown`: its agent works in folders, and this session names none.
    """

    id: str | None
    project: str | None
    project_unknown: bool = False

    @classmethod
    def of(cls, thread: ThreadRecord) -> Origin:
        """Return a thread as an origin."""
        return cls(thread.id, projects.of_thread(thread), projects.is_project_unknown(thread))


class MemoryWork(NamedTuple):
    """Input of a run: messages not yet learnt from, the memories of the space, and the answers so far.

    `files` are texts that the agent wrote, numbered behind the messages. With `terms.reflection` the model changes the
    memory files by calls of tools, within these bounds, in place of extraction and consolidation.
    """

    messages: Sequence[Message]
    snapshot: MemorySnapshot
    outcomes: Mapping[str, Outcome]
    redactor: Redactor
    terms: Terms
    thread: Origin
    files: Sequence[SourceEntry] = ()


class Worked(NamedTuple):
    """Either the `requests` that have no answer yet, or the `plan`.

    `last_seq` is the last entry that was read, 0 where nothing was; `more` is True where entries behind it wait.
    """

    requests: list[ModelRequest]
    plan: MemoryPlan | None = None
    last_seq: int = 0
    more: bool = False


def decide(
    snapshot: MemorySnapshot,
    candidates: Sequence[Candidate],
    *,
    redactor: Redactor,
    at: str,
    random: bytes,
    thread: Origin | None = None,
    messages: Sequence[Message] = (),
) -> MemoryPlan:
    """Return the plan of the changes that `candidates` make to the memories; pure.

    `random` seeds the ids of new memories; `thread`, which the candidates were read from, goes into their provenance.
    `messages` are those that they were read from: what rests on words from outside waits for a person.
    """
    usable = screened(snapshot, candidates, redactor=redactor, at=at, thread=thread, messages=messages)
    return decide_screened(snapshot, usable, at=at, random=random)


def decide_screened(snapshot: MemorySnapshot, usable: review.Screened, *, at: str, random: bytes) -> MemoryPlan:
    """Return the plan of the changes that screened candidates make to the memories; pure. `random` seeds new ids."""
    existing = snapshot.memories
    tier = Tier(snapshot.tier) if snapshot.tier else tier_of(existing, snapshot.window)
    decision = consolidate.decide(usable.usable, existing, tier)
    return plan_decision(snapshot, usable, decision, tier=tier, at=at, random=random)


def screened(
    snapshot: MemorySnapshot,
    candidates: Sequence[Candidate],
    *,
    redactor: Redactor,
    at: str,
    thread: Origin | None,
    messages: Sequence[Message],
    words: Callable[[str], tuple[str, str]] = own_words,
) -> review.Screened:
    """Redact candidates, add provenance and project, and return the usable and the waiting ones.

    `words` tells what a person typed of a message from what they pasted.
    """
    origins = Origins(messages, words)
    return screen_readable(snapshot, readable_of(candidates, redactor, thread), origins, at=at)


def readable_of(candidates: Iterable[Candidate], redactor: Redactor, thread: Origin | None) -> list[Candidate]:
    """Return the candidates redacted, with provenance and project.

    Those that have no text then are left out, since nothing of them could be written into a document.
    """
    redacted = (_redacted(candidate, redactor, thread) for candidate in candidates)
    return [candidate for candidate in redacted if clean(candidate.content)]


def screen_readable(
    snapshot: MemorySnapshot, readable: list[Candidate], origins: Origins | FoundOrigins, *, at: str
) -> review.Screened:
    """Return the usable and the waiting ones of redacted candidates.

    Those that say in the same words what was forgotten are left out.
    """
    if any(candidate.provenance.get("waits") for candidate in readable):
        # A person need not be asked for what is remembered already.
        texts = {normalize(record.content) for record in snapshot.memories}
        readable = [one for one in readable if not one.provenance.get("waits") or normalize(one.content) not in texts]
    return review.screen(readable, forgotten_statements(snapshot), origins, at=at)


def tier_of(existing: Sequence[Memory], window: int) -> Tier:
    """Return the capacity tier of a space's memories; `window` is `consolidation.window` in tokens."""
    # A token has a byte or more: what is small in bytes need not be counted, nor even be written as JSON.
    if consolidate.tier(long_term_memory_bytes_max(existing), window) is Tier.GENEROUS:
        return Tier.GENEROUS
    json = long_term_memory(existing)
    is_generous = consolidate.tier(len(json), window) is Tier.GENEROUS
    return consolidate.tier(0 if is_generous else tokenizer.count(json.decode()), window)


def plan_decision(
    snapshot: MemorySnapshot,
    candidates: review.Screened,
    decision: Decision,
    *,
    tier: Tier | None,
    at: str,
    random: bytes,
    revise: Callable[[Memory], Memory] = lambda memory: memory,
) -> MemoryPlan:
    """Return the plan that applies a decision to the snapshot's memories and the usable candidates.

    Every decision about memories passes here, a model's as well. The changes of a person's memories wait, and where
    more than a fifth of all memories would be deleted, all updates and deletions wait as one candidate. `random` seeds
    the ids of new memories; `revise` returns a new or changed memory as it is to be stored.
    """
    usable, existing, others = candidates.usable, snapshot.memories, snapshot.others
    before = {memory.id: memory for memory in existing}
    waiting = [review.proposal(item, before, at=at) for item in decision.proposals]
    decision, deletions = consolidate.hold_large_deletion(decision, len(existing) + others)
    if deletions:
        waiting.append(review.change_set(deletions, before, at=at, others=others))
    after = consolidate.apply(decision.changes, existing, usable, at=at, new_ids=_new_ids(at, random))
    # Most are the same object, and need not be compared.
    put = [revise(one) for one in after if one is not before.get(one.id) and one != before.get(one.id)]
    deleted = [before[name] for name in sorted(set(before) - {memory.id for memory in after})]
    documents, placed = edited(snapshot.documents, put, deleted, snapshot.parts, day=at[:DATE_CHARS])
    added = iter([memory.id for memory in after if memory.id not in before])
    counts: Counter[str] = Counter(change.action for change in decision.changes)
    if others:
        counts["KEEP"] += others  # nothing that was said is about them
    return MemoryPlan(
        operation=snapshot.operation,
        candidates=len(usable),
        tier="" if tier is None else tier.value,
        put=[record_of(memory) for memory in placed],
        deleted=[memory.id for memory in deleted],
        documents=documents,
        changes=[_change_answer(change, added) for change in decision.changes],
        proposals=[_proposal_answer(item.change, item.why) for item in decision.proposals],
        counts=dict(counts),
        archived=[{"type": memory.type.value, "content": memory.content, "tags": list(memory.tags)} for memory in put],
        waiting=[*candidates.waiting, *waiting],
        forgotten=candidates.dropped,
        repeated=_repeated(decision.changes, {memory.id: memory for memory in after}, usable),
        proposed=[
            wire.ProposedMemory(type=one.type.value, content=one.content, tags=list(one.tags), title=one.title)
            for one in usable
        ],
    )


def _repeated(
    changes: Sequence[Change], after: Mapping[str, Memory], candidates: Sequence[Candidate]
) -> list[tuple[str, str]]:
    """Return the engine's memories that a candidate of another thread says again, each with that thread."""
    pairs: dict[tuple[str, str], None] = {}
    for change in changes:
        if not isinstance(change, Skip) or change.candidate_index >= len(candidates):
            continue
        memory = after.get(change.covered_by or "")
        if memory is None or memory.trust != "engine":
            continue
        thread = str(candidates[change.candidate_index].provenance.get("thread") or "")
        if thread and thread not in threads_of(memory.provenance):
            pairs[memory.id, thread] = None
    return list(pairs)


def plan_changes(
    snapshot: MemorySnapshot, changes: Sequence[Change], *, at: str, proposals: Sequence[consolidate.Proposal] = ()
) -> MemoryPlan:
    """Return the plan of changes that were decided elsewhere (by a dream); pure."""
    decision = Decision(tuple(changes), tuple(proposals))
    return plan_decision(snapshot, review.Screened([], [], 0), decision, tier=None, at=at, random=b"")


def _redacted(candidate: Candidate, redactor: Redactor, thread: Origin | None) -> Candidate:
    """Return the candidate with secrets redacted, before anything is decided on its words, and with its provenance.

    What was said of "this project" names the project, so that it can be read beside those of others. A wish that would
    hold in every project, and does not say so, waits; so does whatever is not about the person in a session whose
    project nobody knows.
    """
    clean = texts.redacted(candidate, redactor)
    if thread is None:
        return clean
    provenance = {**({} if thread.id is None else {"thread": thread.id}), **clean.provenance}
    project = thread.project or PERSON
    if project and not concerns_person(candidate, project):
        content = clean.content
        if candidate.type is not MemoryType.PREFERENCE:  # what is quoted stays as it was said
            content = content.replace("this project", f"the project {project}")
        return replace(clean, content=content, project=project, provenance={**provenance, "project": project})
    if not holds_everywhere(candidate) and (
        (thread.project and candidate.type is MemoryType.PREFERENCE)
        or (thread.project_unknown and (candidate.type is not MemoryType.FACT or candidate.subject != "user"))
    ):
        provenance = {"waits": "scope", **provenance}
    return replace(clean, provenance=provenance)


def _new_ids(at: str, random: bytes) -> Iterator[str]:
    """Yield new memory ids without end: the time of the run, and a number drawn from `random` that is counted up.

    So the memories of one run sort in the order they were found, the same in every store: where two answer a query
    equally well, the order of their ids decides which comes first.
    """
    moment = to_ms(at)
    drawn = hashlib.sha256(random).digest()[:ID_RANDOM_BYTES]
    # Halved, so that counting up does not overflow the ten bytes.
    for number in count(int.from_bytes(drawn, "big") >> 1):
        yield new_id("mem", moment, number.to_bytes(ID_RANDOM_BYTES, "big"))


def _change_answer(change: Change, added: Iterator[str]) -> wire.Change:
    """Return a change as the API (and seed 003) writes it; `added` are the ids of new memories in order."""
    match change:
        case Keep():
            return wire.KeepChange(id=change.id)
        case Delete():
            return wire.DeleteChange(id=change.id)
        case Update():
            return mapped(change, wire.UpdateChange, tags=list(change.tags))
        case Add():
            new = change.candidate
            return mapped(
                new,
                wire.AddChange,
                type=new.type.value,
                tags=list(new.tags),
                id=next(added),
                candidate_index=change.candidate_index,
            )
        case Skip():
            return wire.SkipChange(candidate_index=change.candidate_index)


def _proposal_answer(change: Update | Delete, why: str) -> wire.Proposal:
    if isinstance(change, Update):
        return wire.Proposal(
            change=wire.UpdateChange(id=change.id, content=change.content, tags=list(change.tags)), why=why
        )
    return wire.Proposal(change=wire.DeleteChange(id=change.id), why=why)


def edited(
    documents: Mapping[str, DocumentText],
    put: Iterable[Memory],
    deleted: Iterable[Memory],
    full_parts: Sequence[str] = (),
    *,
    day: str,
) -> tuple[dict[str, DocumentText], list[Memory]]:
    """Write `put` and remove `deleted` in the documents' texts; return these, and `put` with their documents.

    Documents are edited in place, so that all other text in them stays. A new memory whose document has no room for it
    (it is full, or something in it is left open to its end, such as a code fence) goes into one of `<name>-2.md`,
    `<name>-3.md`, … that has; `full_parts` have none. A changed memory that its document does not contain is added.
    """
    changes: dict[str, list[ItemChange]] = defaultdict(list)
    memories = {memory.id: memory for memory in put}
    new_paths = {memory.document for memory in memories.values()} - documents.keys()
    spelled = {path: same_file(path, documents) for path in new_paths}
    ids_in = {path: set(text.ids) for path, text in documents.items()}
    for memory in memories.values():
        is_there = memory.id in ids_in.get(memory.document, ())
        changes[spelled.get(memory.document, memory.document)].append(
            (UpdateItem if is_there else AddItem)(memory.id, _wording(memory))
        )
    for memory in deleted:
        if memory.id in ids_in.get(memory.document, ()):
            changes[memory.document].append(DeleteItem(memory.id))
    texts: dict[str, DocumentText] = {}
    for path, item_changes in sorted(changes.items()):
        texts |= _with_overflow({**documents, **texts}, path, item_changes, day, full_parts)
    path_of = {name: path for path, text in texts.items() for name in text.ids}
    return texts, [replace(memory, document=path_of[memory.id]) for memory in memories.values()]


def _with_overflow(
    documents: Mapping[str, DocumentText], path: str, changes: Sequence[ItemChange], day: str, full: Sequence[str]
) -> dict[str, DocumentText]:
    """Return the documents after changes of the one at `path`; new items without room go into numbered parts.

    It has no room if it is full, as those of `full` are, or if it refuses them: something is left open in it.
    """
    added = [change for change in changes if isinstance(change, AddItem)]
    others = [change for change in changes if not isinstance(change, AddItem)]
    texts = {**documents, **({path: _text(documents, path, others, day)} if others else {})}

    def exists(target: str) -> bool:
        return target in full if target not in texts else texts[target].text is not None

    def has_no_room(target: str) -> bool:
        document = texts.get(target)
        return document is None or is_full(len((document.text or "").encode()), len(document.ids))

    target = path
    while added:
        target = open_part(target, exists, has_no_room)
        before = texts.get(target) or DocumentText(None, [], "")
        sizes = [len(change.words.content.encode()) for change in added]
        count = room(len((before.text or "").encode()), len(before.ids), sizes)
        try:
            texts[target] = _text(texts, target, added[:count], day)
        except ValidationError as error:
            if error.details.get("reason") != "breaks_out":
                raise
            target = next_part(target, exists)
        else:
            added = added[count:]
    return {name: text for name, text in texts.items() if documents.get(name) is not text}


def _text(documents: Mapping[str, DocumentText], path: str, changes: Sequence[ItemChange], day: str) -> DocumentText:
    """Return the document at `path` after `changes`: edited, or written anew where there is none."""
    before = documents.get(path)
    if before is None or before.text is None:
        new_items = [(change.id, change.words) for change in changes if isinstance(change, AddItem)]
        after: ChangedDocument = new_document(path, new_items, day=day)
    else:
        after = apply_changes(path, before.text, before.ids, changes, day=day)
    return DocumentText(after.text, list(after.ids), "" if before is None else before.basis)


def _wording(memory: Memory) -> Wording:
    day = str(memory.provenance.get("at") or memory.created_at)[:DATE_CHARS]
    return Wording(memory.content, memory.tags, memory.title, memory.fields, day)


# Whose a candidate is


# How the agent talks to the person, whatever the project is.
_TALK: Final = lazy_regex(
    r"\b(?:answers?|repl(?:y|ies)|respond|explain\w*|apologi\w+|summari[sz]e|tone|concise|terse|verbose|emojis?"
    r"|(?:call|address|remind|ask|tell) me)\b",
    re.IGNORECASE,
)
# What a wish names of a project: quoted code, a path, a file, an option, an identifier, a number.
_NAMED: Final = lazy_regex(
    r"`|\w/\w|\w\.[a-z]{1,5}\b|(?<!\w)-{1,2}[a-z]|\w_\w|(?-i:[a-z][A-Z])|\b(?:this|the|our) (?:project|repo\w*|code\w*"
    r"|app|service|api)\b",
    re.IGNORECASE,
)
_EVERYWHERE: Final = lazy_regex(
    r"\b(?:every|each|all|any)(?: of)?(?: my| the| our)? (?:projects?|repos?\w*)\b", re.IGNORECASE
)


def concerns_person(candidate: Candidate, project: str) -> bool:
    """Return True for a candidate that is the person's in every project: a fact about them, or how agents talk to them.

    Examples: "Always answer in German" is the person's. "Always run `make lint`" and "we never mock the database" are
    the project's in which they were said. What a wish says of every project is everybody's too.
    """
    if "prompt" in candidate.provenance:  # a model read the scope from the words around
        return candidate.subject == "user" and candidate.type is not MemoryType.EPISODE
    if candidate.type is not MemoryType.PREFERENCE:
        return candidate.type is MemoryType.FACT and candidate.subject == "user"
    if holds_everywhere(candidate):
        return True
    text = candidate.content
    return not (_NAMED.search(text) or project in text.casefold()) and _TALK.search(text) is not None


def holds_everywhere(candidate: Candidate) -> bool:
    """Return True where the words themselves say that they hold in every project, or a model read it from them."""
    return "prompt" in candidate.provenance or _EVERYWHERE.search(candidate.content) is not None


# Updates by a model that wait for a person: near to what was forgotten, turned round, or without a person's words.
#
# A candidate is compared with what was forgotten before it is consolidated (`review.screen`). The words of an UPDATE
# are a model's own: they may say what neither the memory nor a candidate says.


_SHOWN_CHARS: Final = 160  # of the forgotten statement that a proposal quotes
_LOSES_WORDS: Final = "it would change words that the person said"
_TURNED: Final = "it would say the opposite of the memory, or deny less"
_QUOTED: Final = lazy_regex(r"“[^”]+”")


def held_updates(
    changes: Mapping[str, Update | Delete],
    existing: Mapping[str, Memory],
    forgotten: Iterable[ForgottenStatement],
    candidates: Sequence[Candidate] = (),
) -> list[Proposal]:
    """Return proposals in place of the updates that wait; `changes` and `existing` are by the memory's id.

    `candidates` are those of the run, which the updates name by index.

    One whose new words are near to a forgotten statement, unless the memory was before. Example: with "The release
    captain is Mira" forgotten, "The loader runs at night; the release captain is Mira" for "The loader runs daily".
    One that turns its memory round. And one of a wish or a choice that does not keep all of its words: adding to them
    is no change of what was said.
    """
    updates = [change for change in changes.values() if isinstance(change, Update)]
    if not updates:
        return []
    statements = Forgotten(forgotten)
    proposals = []
    for change in updates:
        memory = existing[change.id]
        near = _near(statements, memory, change.content)
        if near is not None and near != _near(statements, memory, memory.content):
            proposals.append(Proposal(change, f"it is near to what was forgotten: {near[:_SHOWN_CHARS]}", "forgotten"))
        elif turns(memory, change.content) and not _is_superseded(memory, change, candidates):
            proposals.append(Proposal(change, _TURNED, "contradiction"))
        elif _is_persons_word(memory) and not _keeps(memory, change.content):
            proposals.append(Proposal(change, _LOSES_WORDS, "contradiction"))
    return proposals


def turns(memory: Memory, content: str) -> bool:
    """Return True if a content contradicts a memory, or denies less: "push to main" for "never push to main"."""
    if memory.type is MemoryType.EPISODE:
        return False
    new, old = parse_statement(content), parse_statement(memory.content)
    is_less = count_negations(new.sequence) < count_negations(old.sequence)
    return is_less or relate(new, old, keyed=False) is Relation.CONTRADICTS


def _is_superseded(memory: Memory, change: Update, candidates: Sequence[Candidate]) -> bool:
    """Return True for a state of things that a candidate says is another one now, and the update no more than that.

    Example: "The cache is in Postgres" and the candidate "The cache is in SQLite, not in Postgres". What chooses or
    forbids ("use pnpm, not npm") is no state of things, and no wish is.
    """
    if change.candidate_index is None or memory.type in {MemoryType.PREFERENCE, MemoryType.MISTAKE}:
        return False
    new, old = parse_statement(change.content), parse_statement(memory.content)
    said = parse_statement(candidates[change.candidate_index].content)
    return not count_negations(old.sequence) and relate(new, said, keyed=False) in {Relation.SAME, Relation.COVERED}


def _near(statements: Forgotten, memory: Memory, content: str) -> str | None:
    """Return the forgotten statement nearest to a content of a memory, "" for a purged one; None where none is near."""
    kind = MemoryType.FACT if memory.type is MemoryType.EPISODE else memory.type
    nearest = statements.nearest(Candidate(kind, content, project=memory_project(memory)))
    return None if nearest is None else nearest[1]


def _is_persons_word(memory: Memory) -> bool:
    """Return True for a wish, and for what quotes the person: a choice has question and answer in “…”."""
    return memory.type is MemoryType.PREFERENCE or (
        memory.type is MemoryType.FACT and _QUOTED.search(memory.content) is not None
    )


def _keeps(memory: Memory, content: str) -> bool:
    """Return True if a content has all words of a memory, in order, and denies no more of them and no less."""
    relation = relate(parse_statement(content), parse_statement(memory.content), keyed=False)
    return relation in {Relation.SAME, Relation.EXTENDS}
