"""Memories by a model: the requests that are still to be answered, and the plan of the answers; pure.

A job carries the answers that have come so far. Deciding it again and again asks first for the extraction of each page,
then for the consolidation of what was extracted, and needs nothing more after that. What a model did not decide is
decided by rule, and said in the plan's `fallback`:

| what failed | what happens |
|---|---|
| the extraction of a page | nothing of it and of the pages behind it; those messages are read again by the next run |
| a candidate's quote | that candidate is refused |
| the consolidation of a page, or its answer | its candidates: duplicates SKIP, the rest ADD; no memory is touched |
| an UPDATE near to what was forgotten | it waits for a person, and its candidate is added |
| an UPDATE to the opposite, which nobody said | it waits, and so does its candidate, if it says the opposite too |
| more than 20 % of all memories deleted | as if the consolidation had failed: that waits for a person |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from reverie.consolidate import Decision, Proposal, candidates_to_add
from reverie.distill.own_words import typed_by_person, typed_words
from reverie.distill.steps import Interrupted, ToolCall, Utterance, read_trace
from reverie.documents.layout import PERSON
from reverie.errors import ModelFailed
from reverie.language_model import extraction
from reverie.language_model.consolidation import DELETED_SHARE_MAX, PageChanges, consolidate_request, consolidated
from reverie.language_model.consolidation_pages import Nearby, neighbourhood
from reverie.language_model.extraction import WrongMemory
from reverie.language_model.pages import PAGES_MAX, Page, SourceEntry, Speaker, pages_of
from reverie.language_model.requests import ModelRequest, Outcome
from reverie.lazy_regex import lazy_regex
from reverie.models import Add, Candidate, Change, Delete, Keep, Memory, Message, Skip, Tier, Update
from reverie.redact import Redactor
from reverie.store import CandidateRecord
from reverie.tagged_spans import without_tagged
from reverie.usecases import review, screening
from reverie.usecases.consolidation import empty_plan, forgotten_statements
from reverie.usecases.reflection import reflect
from reverie.usecases.screening import MemoryWork, Worked, held_updates, turns

REFUSED_SHOWN = 5  # kinds of refusals that a fallback names
_SPEAKERS: Final[dict[str, Speaker]] = {"user": "person", "assistant": "agent"}  # others in their role are "other"
_LISTING_TOOLS: Final = frozenset({"Glob", "LS"})
_LISTING: Final = lazy_regex(r"\s*(?:cd [\w./~-]+ && )?(?:git (?:ls-files|status)|ls|rg --files)(?: [\w./*~-]+)*\s*")
_REMINDER = lazy_regex(r"<(system-reminder)>")  # a client's words inside a tool's output


def work_on(work: MemoryWork) -> Worked:
    """Return a Worked: the requests to a model that are needed next, or the plan of the memories."""
    source = [*source_of(work.messages, work.redactor), *work.files]
    if work.terms.reflection is not None:
        return reflect(work, source, work.terms.reflection)
    existing = work.snapshot.memories
    all_pages = pages_of(source)
    pages = all_pages[:PAGES_MAX]
    project = work.thread.project or PERSON
    nearby = Nearby(existing)
    nearby_memories = [nearby.known(_topics(page), project) for page in pages]
    asked = [
        extraction.extract_request(page, near, number=number, of=len(pages))
        for number, (page, near) in enumerate(zip(pages, nearby_memories, strict=True), 1)
    ]
    if missing := _unanswered(asked, work.outcomes):
        return Worked(missing)
    read = _Extraction.of(work, pages, nearby_memories, asked)
    if not read.pages:
        plan = empty_plan(work.snapshot)
        plan.fallback = read.fallback
        return Worked([], plan, 0, more=bool(pages))
    screened = screening.screened(
        work.snapshot,
        read.candidates,
        redactor=work.redactor,
        at=work.terms.at,
        thread=work.thread,
        messages=work.messages,
        words=typed_words,
    )
    tier = screening.tier_of(existing, work.snapshot.window)
    consolidation = _Consolidation(work, screened.usable, existing, tier, wrong=read.wrong, nearby=nearby)
    if missing := consolidation.unanswered():
        return Worked(missing)
    decision, notes = consolidation.decide()
    plan = screening.plan_decision(
        work.snapshot, screened, decision, tier=tier, at=work.terms.at, random=work.terms.random
    )
    plan.waiting += _quarantined(work, read.waiting)
    if consolidation.held:
        by_id = {memory.id: memory for memory in existing}
        plan.waiting.append(review.change_set(consolidation.held, by_id, at=work.terms.at))
    plan.fallback = "; ".join(filter(None, (read.fallback, *notes)))
    return Worked([], plan, max(page.last_seq for page in read.pages), more=len(read.pages) < len(all_pages))


def _quarantined(work: MemoryWork, waiting: Sequence[tuple[Candidate, str]]) -> list[CandidateRecord]:
    """Return the records of candidates that only a person may accept, redacted, without those that were forgotten."""
    records = []
    for candidate, why in waiting:
        screened = screening.screened(
            work.snapshot, [candidate], redactor=work.redactor, at=work.terms.at, thread=work.thread, messages=()
        )
        records += [review.quarantined(usable, why, at=work.terms.at) for usable in screened.usable]
    return records


class _Extraction(NamedTuple):
    """Candidates and wrong memories of the answers, up to the first page whose answer failed."""

    pages: list[Page]
    candidates: list[Candidate]
    wrong: list[WrongMemory]
    waiting: list[tuple[Candidate, str]]
    fallback: str

    @classmethod
    def of(
        cls, work: MemoryWork, pages: Sequence[Page], known: Sequence[Sequence[Memory]], asked: Sequence[ModelRequest]
    ) -> _Extraction:
        """Return the candidates of all pages before the first failed one; the pages from there are read again later."""
        read: list[Page] = []
        candidates: list[Candidate] = []
        wrong: list[WrongMemory] = []
        waiting: list[tuple[Candidate, str]] = []
        refused: Counter[str] = Counter()
        failure = ""
        for page, near, request in zip(pages, known, asked, strict=True):
            try:
                outcome = work.outcomes[request.id]
                result = extraction.extracted(
                    outcome, page, near, at=work.terms.at, redactor=work.redactor, typed=typed_by_person
                )
            except ModelFailed as error:
                failure = (
                    f"extraction failed ({error.reason}): {error.message.rstrip('.')}. Nothing was added from entry "
                    f"{page.entries[0].seq} on; the next run reads it again"
                )
                break
            read.append(page)
            candidates.extend(result.candidates)
            wrong.extend(result.wrong)
            waiting.extend(result.waiting)
            refused.update(result.refused)
        named = [f"refused {count} x {what}" for what, count in refused.most_common(REFUSED_SHOWN)]
        return cls(read, candidates, wrong, waiting, "; ".join(filter(None, (*named, failure))))


class _Consolidation:
    """The consolidation of candidates: its pages, requests and the decision that the answers lead to."""

    def __init__(
        self,
        work: MemoryWork,
        candidates: Sequence[Candidate],
        existing: Sequence[Memory],
        tier: Tier,
        *,
        wrong: Sequence[WrongMemory],
        nearby: Nearby,
    ) -> None:
        self._work = work
        self._candidates = candidates
        self._existing = existing
        self._wrong = wrong
        self.held: list[Update | Delete] = []  # changes that wait for a person, since they delete too much
        said_wrong = [item.id for item in wrong]
        pages = neighbourhood(candidates, existing, tier, nearby, wrong=said_wrong) if candidates or wrong else []
        # Beside candidates without any memory there is nothing to weigh: no model is asked about them.
        self._pages = [page for page in pages if page.memories]
        self._alone = [index for page in pages if not page.memories for index in page.indexes]
        self._asked = [consolidate_request(page, candidates, tier, wrong) for page in self._pages]

    def unanswered(self) -> list[ModelRequest]:
        """Return the requests without an answer so far."""
        return _unanswered(self._asked, self._work.outcomes)

    def decide(self) -> tuple[Decision, list[str]]:
        """Return the decision, and notes about the parts that rules decided in place of the model."""
        notes: list[str] = []
        answers: list[PageChanges] = []
        undecided = list(self._alone)
        redact = self._work.redactor.text
        for page, request in zip(self._pages, self._asked, strict=True):
            outcome = self._work.outcomes[request.id]
            try:
                answers.append(consolidated(outcome, page, self._candidates, redact=redact, wrong=self._wrong))
            except ModelFailed as error:
                notes.append(_by_rule(error.reason, error.message))
                undecided += page.indexes
        deleted = sum(isinstance(change, Delete) for answer in answers for change in answer.memories.values())
        if deleted > DELETED_SHARE_MAX * len(self._existing):
            notes.append(
                _by_rule(
                    "too many deletions",
                    f"{deleted} of {len(self._existing)} memories would be deleted, more than 20 %: "
                    "that waits for a person.",
                )
            )
            self.held = [change for answer in answers for change in answer.memories.values()]
            return self._decision((), ()), notes
        return self._decision(answers, undecided), [*notes, *(note for answer in answers for note in answer.notes)]

    def _decision(self, answers: Sequence[PageChanges], undecided: Sequence[int]) -> Decision:
        """Return the decision of the usable answers; candidates that none of them mentions are added or skipped."""
        changed: dict[str, Update | Delete] = {}
        placed: dict[int, Change] = {}
        proposals: list[Proposal] = []
        for answer in answers:
            changed |= answer.memories
            placed |= answer.candidates
            proposals += [Proposal(*proposed) for proposed in answer.proposals]
        by_id = {memory.id: memory for memory in self._existing}
        for proposal in held_updates(changed, by_id, forgotten_statements(self._work.snapshot), self._candidates):
            if changed.pop(proposal.change.id, None) is None:
                continue
            proposals.append(proposal)
            index = proposal.change.candidate_index if isinstance(proposal.change, Update) else None
            if index is None:
                continue
            if turns(by_id[proposal.change.id], self._candidates[index].content):
                # It says the opposite of a memory that stays, and waits within the update.
                placed[index] = Skip(index, proposal.change.id)
            elif isinstance(placed.get(index), Skip):
                # The candidate that the update would have taken over is not lost: it was screened by itself.
                del placed[index]
        rest = sorted({*undecided, *(index for index in range(len(self._candidates)) if index not in placed)})
        # What an ADD of the model says already is not added once more for a candidate that it did not mention; what a
        # memory says, before or after its UPDATE, is added for none, whatever the model asks for.
        added = [index for index, change in sorted(placed.items()) if isinstance(change, Add)]
        updated = [
            replace(by_id[name], content=one.content) for name, one in changed.items() if isinstance(one, Update)
        ]
        by_rule = candidates_to_add([*added, *rest], self._candidates, [*self._existing, *updated])
        for change in by_rule:
            assert isinstance(change, Add | Skip)
            if change.candidate_index in rest or isinstance(change, Skip):
                placed[change.candidate_index] = change
        memories = [changed.get(memory.id) or Keep(memory.id) for memory in self._existing]
        return Decision((*memories, *(placed[index] for index in range(len(self._candidates)))), tuple(proposals))


def _by_rule(reason: str, message: str) -> str:
    return (
        f"consolidation failed ({reason}): {message} Its candidates were added unless a memory says the same, and no "
        "memory was touched"
    )


def _unanswered(requests: Sequence[ModelRequest], outcomes: Mapping[str, Outcome]) -> list[ModelRequest]:
    return list({request.id: request for request in requests if request.id not in outcomes}.values())


def _topics(page: Page) -> list[str]:
    """Return the texts by which the memories near a page are searched: what the person said, else the agent."""
    said = [entry.text for entry in page.entries if entry.speaker == "person"]
    return (said or [entry.text for entry in page.entries if entry.speaker == "agent"])[-20:]


def source_of(messages: Sequence[Message], redactor: Redactor) -> list[SourceEntry]:
    """Return the messages as the entries of a source, redacted, in the order of their numbers."""
    entries: list[SourceEntry] = []
    for step in read_trace(messages).steps:
        match step:
            case Utterance():
                named = f"({step.name}) {step.text}" if step.name else step.text
                entries.append(SourceEntry(step.seq, _SPEAKERS.get(step.role, "other"), named, step.at))
            case ToolCall():
                given = msgspec.json.encode(step.input).decode()
                entries.append(SourceEntry(step.seq, "call", f"{step.tool} {given}", step.at))
                if step.answered:
                    failed = "(failed) " if step.failed else ""
                    printed = without_tagged(step.result, _REMINDER).strip()
                    is_listing = step.tool in _LISTING_TOOLS or (
                        step.tool == "Bash" and _LISTING.fullmatch(str(step.input.get("command", ""))) is not None
                    )
                    entries.append(SourceEntry(step.result_seq, "result", f"{failed}{printed}", step.at, is_listing))
            case Interrupted():
                entries.append(SourceEntry(step.seq, "call", "(the person stopped the agent here)", step.at))
    clean, _ = redactor.value([entry.text for entry in entries])
    shown = [entry._replace(text=text) for entry, text in zip(entries, clean, strict=True)]
    return sorted(shown, key=lambda entry: entry.seq)
