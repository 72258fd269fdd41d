"""The context of a thread: every tier of memory read in one snapshot, assembled into a request under a token budget.

Reading happens in the daemon, assembling (`decide`) in the compute process, which keeps what it opened for the next
context of the same thread.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from reverie import tokenizer, wire
from reverie.consolidate.forgotten import lines_without, statements_in
from reverie.context.assemble import assemble
from reverie.context.inputs import Context, Limits, Parts, RecallLine, ceilings
from reverie.context.text import render, text_of, text_of_tokens
from reverie.context.tiers import summary_room
from reverie.decode import convert
from reverie.distill import state_text, summary_text
from reverie.documents.index import DocumentEntry, flat, size_text
from reverie.documents.parse import parse_document
from reverie.documents.summary import sentence
from reverie.errors import TokenBudgetExceeded
from reverie.importers.join import main_line
from reverie.lazy_regex import lazy_regex
from reverie.models import Entry, Message, Note, Passage, WorkingState
from reverie.store import (
    DigestRecord,
    DistillationRecord,
    DocumentRecord,
    ForgottenRecord,
    Kind,
    NoteRecord,
    Reader,
    ThreadRecord,
    open_sealed_as,
)
from reverie.usecases import threads
from reverie.usecases.distill import distillation_of
from reverie.usecases.entries import OpenedEntries, SealedEntry, sealed_after
from reverie.usecases.follow import Kept
from reverie.usecases.limits import DistillationCache, Written, sized_context
from reverie.usecases.projections import ProjectListings

CHARS_OF_TOKEN = 3  # characters of a token at least in nearly every text, so that the tiers fill the size asked for
FILLED = 0.7  # share of the characters asked for, below which a text that left something out is made once more
ENLARGED_MAX = 4  # then for so many times the tokens at most
TEXT_TOKENS_MIN = 500  # a smaller context is made as this one, and cut

Placement: TypeAlias = Literal["system", "late"]

_OPENED = OpenedEntries()  # of the compute process, which runs one job at a time


class ContextJob(msgspec.Struct):
    """A snapshot of every tier of a thread.

    `index` is the memory index as it was when the thread was created, without what is gone. `distillation` is the
    newest one, still sealed: the compute process opens each only once. Lines of the digest and of the stored summary
    that say what is `forgotten` are left out; it has only the statements that such a line says. `recall` are memories
    as (text, memory id, document path), best first.

    A context for a given size (`max_tokens`) distills for that size: `distillation` is then the one before the newest
    that was made here, which is built upon, and `entries` are those after it. `distillations` counts the stored ones,
    imported ones too; `is_distilled` is true where the newest of them was made here. `by_model` is the newest
    one made here, still sealed, where a model wrote its summary: that is served at any size.
    """

    thread: str
    model: str | None
    index: str | None
    entries: list[SealedEntry]
    distillation: bytes | None
    distillations: int
    is_distilled: bool
    state: WorkingState
    digest: str
    forgotten: list[str]
    notes: list[Note]
    bootstrap: list[tuple[str, str]]
    recall: list[tuple[str, str, str]]
    limits: Limits
    placement: Placement | None
    by_model: bytes | None = None


class _Extent(NamedTuple):
    """The last entry that a distillation covers, whether it was imported or a model's, and its summary."""

    through_seq: int
    imported: bool
    by_model: bool
    text: str


class TextJob(msgspec.Struct):
    """A snapshot for a context as one text: its tiers, all without a choice, and its characters at most.

    `written_chars_max` are those of a thread whose summary a model wrote, where they are others.
    """

    context: ContextJob
    tiers: list[str] | None = None
    chars_max: int | None = None
    written_chars_max: int | None = None


def snapshot(
    reader: Reader,
    thread_id: str,
    *,
    state: WorkingState,
    recall: Sequence[tuple[str, str, str]],
    bootstrap: Sequence[str],
    limits: Limits,
    placement: Placement | None,
    sized: bool = False,
) -> ContextJob:
    """Return a ContextJob with every tier of a thread; `bootstrap` are paths of documents. Raises NotFound.

    The window of the `limits` is for a thread that names none. `sized`: the context will be made for a size that is not
    known yet, as one for `max_tokens` is.
    """
    thread = threads.get(reader, thread_id)
    stored = (data for _, data in reader.scan_sealed(Kind.DISTILLATION, (thread_id,), reverse=True))
    newest = next(stored, None)
    is_distilled = newest is not None and not _extent(newest).imported
    own = (data for data in chain([newest] if newest else [], stored) if not _extent(data).imported)
    last = next(own, None)
    base = newest
    if sized or limits.max_tokens is not None:
        base = next(own, None) if is_distilled else last
    documents = ((path, reader.load(DocumentRecord, (path,))) for path in bootstrap)
    digest = reader.load(DigestRecord, (thread_id,))
    return ContextJob(
        thread=thread_id,
        model=thread.model,
        index=current_index(reader, thread),
        entries=sealed_after(reader, thread_id, _extent(base).through_seq if base else 0),
        distillation=base,
        by_model=last if last and _extent(last).by_model else None,
        distillations=thread.distillations,
        is_distilled=is_distilled,
        state=state,
        digest="" if digest is None else digest.text,
        forgotten=forgotten_in(
            reader,
            thread.project or "",
            digest.text if digest else "",
            _extent(base).text if base else "",
            _extent(last).text if last else "",
            "\n".join(state.recent_decisions),
        ),
        notes=[note for _, note in reader.records(NoteRecord, (thread_id,))],
        bootstrap=[(path, document.content) for path, document in documents if document],
        recall=list(recall),
        limits=replace(limits, window=thread.context_window or limits.window),
        placement=placement,
    )


def forgotten_in(reader: Reader, project: str | None, *texts: str) -> list[str]:
    """Return the forgotten statements of a project (None: of any) and of the person that a line of the texts says."""
    if not any(texts) or not reader.count(Kind.FORGOTTEN):
        return []
    records = (
        record
        for _, record in reader.records(ForgottenRecord)
        if record.memory and record.threads is None and not record.replaced
    )
    return statements_in(
        texts, (record.content for record in records if project is None or record.project in ("", project))
    )


@lru_cache(maxsize=8)  # up to a few hundred kilobytes each, in the daemon, which is long-lived
def _extent(sealed: bytes) -> _Extent:
    """Return the last entry that a sealed distillation covers, where it is from, and its summary text."""
    distillation = open_sealed_as(DistillationRecord, sealed)
    return _Extent(distillation.through_seq, distillation.imported, distillation.by_model, distillation.text or "")


def decide(job: ContextJob) -> wire.ContextAnswer:
    """Return the request fragment and the token cost of each tier; pure.

    Raises:
        TokenBudgetExceeded: the open turn alone is larger than `max_tokens`.
        Damaged: naming the entry whose bytes fail their checksum.
    """
    return _answer(_context(job, job.limits), job)


def decide_text(job: TextJob) -> wire.ContextText:
    """Return a context as one text; pure: the whole request as text, unless tiers are chosen or characters counted.

    A number of characters is distilled for. An open turn that is larger is no error then: the text has the end of it.
    Raises Damaged, and TokenBudgetExceeded for a number of tokens.
    """
    if job.written_chars_max is not None and job.context.by_model is not None:
        job = msgspec.structs.replace(job, chars_max=job.written_chars_max)
    if job.tiers is None and job.chars_max is None:
        return wire.ContextText(text=render(_context(job.context, job.context.limits).request))
    if job.chars_max is None or job.context.limits.max_tokens is not None:
        return wire.ContextText(
            text=text_of(_context(job.context, job.context.limits), tiers=job.tiers, chars_max=job.chars_max)
        )
    size = max(TEXT_TOKENS_MIN, job.chars_max // CHARS_OF_TOKEN)
    context, text = _text_at(job, size)
    if context.dropped and len(text) < FILLED * job.chars_max:
        # Not all tiers are asked for, or their tokens are shorter: with more room the others say more. Where all of the
        # conversation has room, it has no summary.
        _, larger = _text_at(job, min(size * ENLARGED_MAX, size * job.chars_max // max(len(text), 1)))
        text = max(text, larger, key=len)
    return wire.ContextText(text=text)


def text_with_requests(job: ContextJob, requests: str, *, tiers: Sequence[str], max_tokens: int) -> str:
    """Return a context as one text of about `max_tokens` tokens, with the person's requests in it. Raises Damaged."""
    context = _least_context(job, max_tokens - tokenizer.count(requests), requests)
    return text_of_tokens(context, requests, tiers=tiers, max_tokens=max_tokens)


def _text_at(job: TextJob, size: int) -> tuple[Context, str]:
    """Return the context for `size` tokens, or the least that holds the open turn, and its text."""
    context = _least_context(job.context, size)
    return context, text_of(context, tiers=job.tiers, chars_max=job.chars_max)


def _least_context(job: ContextJob, size: int, beside: str = "") -> Context:
    """Return the context for `size` tokens, or the least that holds the open turn."""
    limits = replace(job.limits, max_tokens=size)
    try:
        return _context(job, limits, beside)
    except TokenBudgetExceeded as exceeded:
        least = int(exceeded.details["minimumRequired"])
        return _context(job, replace(limits, max_tokens=least), beside)


def _context(job: ContextJob, limits: Limits, beside: str = "") -> Context:
    """Return the context of a snapshot. Raises TokenBudgetExceeded and Damaged."""
    return _stored_context(job, limits) if limits.max_tokens is None else _sized_context(job, limits, beside)


def _stored_context(job: ContextJob, limits: Limits) -> Context:
    """Return the context of the stored distillation and all that follows it; its beginning can be cached."""
    parts = _parts(job, _messages(_entries(job)))
    if job.distillation is None:
        return assemble(parts, limits)
    distillation, excerpts = _opened_distillation(job.distillation)
    parts = replace(
        parts,
        summary=_summary(distillation, job.forgotten, ceilings(limits).summary),
        by_model=distillation.by_model,
        distillation=distillation.number,
        passages=excerpts,
        distilled_at_seq=distillation.last_seq,
    )
    return assemble(parts, limits)


def _summary(distillation: DistillationRecord, forgotten: Sequence[str], ceiling: int) -> str:
    """Return a stored summary without forgotten lines; one of rules keeps the lines that say most within `ceiling`.

    It was made for a window of 200K. Cut from its end, as the tier is, a list of forty files like each other would
    push out the one line that says why.
    """
    text = lines_without(distillation.text or "", forgotten)
    parsed = None if distillation.by_model else summary_text.parse(text)
    if parsed is None:
        return text
    return summary_text.render(summary_text.pack(parsed.number, parsed.sections, summary_room(ceiling)))


def _sized_context(job: ContextJob, limits: Limits, beside: str) -> Context:
    """Return the context that is distilled for `max_tokens`; lines of `beside` are no excerpts."""
    entries = _entries(job)
    has_own = job.is_distilled or job.distillation is not None
    parts = _parts(job, _messages(entries))
    return sized_context(
        parts if has_own else replace(parts, digest=""),
        limits,
        number=job.distillations + (0 if job.is_distilled else 1),
        previous=distillation_of(_opened_distillation(job.distillation)[0]) if job.distillation else None,
        inherited_digest="" if has_own else lines_without(job.digest, job.forgotten),
        entries=entries,
        written=_written(job),
        cache=_distillations(_fingerprint(job)),
        beside=beside,
    )


def _written(job: ContextJob) -> Written | None:
    """Return the stored summary that a model wrote, without forgotten lines; None where rules make the summary."""
    if job.by_model is None:
        return None
    stored, _ = _opened_distillation(job.by_model)
    return Written(lines_without(stored.text, job.forgotten), stored.through_seq, stored.number)


@lru_cache(maxsize=4)
def _distillations(_fingerprint: bytes) -> DistillationCache:
    """Return the cache of distillations of the entries with this fingerprint, an empty one at the first call."""
    return DistillationCache()


def _fingerprint(job: ContextJob) -> bytes:
    digest = lines_without(job.digest, job.forgotten)
    made_from = hashlib.blake2b(digest.encode("utf-8", "surrogatepass"), digest_size=32)
    for data in (job.distillation or b"", job.by_model or b"", *(data for _, data in job.entries)):
        made_from.update(len(data).to_bytes(8, "big") + data)
    return made_from.digest()


def _parts(job: ContextJob, messages: tuple[Message, ...]) -> Parts:
    """Return the parts of a context without summary and excerpts, which alone depend on a distillation."""
    return Parts(
        bootstrap=tuple(job.bootstrap),
        index=job.index,
        digest=lines_without(job.digest, job.forgotten),
        notes=tuple(sorted(job.notes, key=lambda note: note.at, reverse=True)),
        state=state_text.render(_without_forgotten_decisions(job.state, job.forgotten)),
        recall=tuple(RecallLine(text, memory, document) for text, memory, document in job.recall),
        messages=messages,
        model=job.model,
        placement=job.placement,
    )


def _without_forgotten_decisions(state: WorkingState, forgotten: Sequence[str]) -> WorkingState:
    """Return a working state without the decisions that say what was forgotten since."""
    if not forgotten:
        return state
    items = state_text.state_items(state, "recent_decisions")
    return state_text.with_items(state, recent_decisions=[item for item in items if lines_without(item[0], forgotten)])


def _answer(context: Context, job: ContextJob) -> wire.ContextAnswer:
    return wire.ContextAnswer(
        request=wire.RequestFragment(**context.request),
        tokens=convert(context.tokens, wire.ContextTokens),
        distillation=job.distillations,
        dropped=context.dropped,
    )


def _entries(job: ContextJob) -> list[Entry]:
    """Return the opened entries of a job. Raises Damaged."""
    return [_OPENED.open(job.thread, seq, data) for seq, data in job.entries]


def messages_of(job: ContextJob) -> tuple[Message, ...]:
    """Return the messages of a snapshot's thread, without those that the user rewound. Raises Damaged."""
    return _messages(_entries(job))


def _messages(entries: Sequence[Entry]) -> tuple[Message, ...]:
    return tuple(message for message in main_line(entries) if not message.rewound)


def clear_caches() -> None:
    """Free the opened entries and distillations."""
    _OPENED.clear()
    for cache in (_opened_distillation, _distillations, _extent):
        cache.cache_clear()


class _Caches(Kept):
    def forget(self, space: str) -> None:  # noqa: ARG002 - of all spaces
        clear_caches()


_CACHES = _Caches()  # which is what keeps it registered


@lru_cache(maxsize=16)
def _opened_distillation(sealed: bytes) -> tuple[DistillationRecord, tuple[Passage, ...]]:
    """Return a distillation's record and its excerpts; an imported one has no excerpts."""
    distillation = open_sealed_as(DistillationRecord, sealed)
    passages = () if distillation.imported else distillation_of(distillation).passages
    return distillation, passages


# The memory index that a thread was opened with, without what was forgotten or deleted since


_LINE: Final = lazy_regex(r"- (?P<path>.+?) \((?P<size>[\d.]+(?:B|KB|MB))\)(?:: (?P<summary>.*))?")


def current_index(reader: Reader, thread: ThreadRecord) -> str | None:
    """Return a thread's memory index as it was made, but for documents that lost something since; None if it is empty.

    It stays the same text for as long as it is true, because providers cache the beginning of a request. The line of a
    document that was deleted is left out. A line whose sentence its document no longer has gets the summary of today.
    """
    if not thread.index:
        return None
    lines: list[str] = []
    documents = 0
    for line in thread.index.split("\n"):
        match = _LINE.fullmatch(line)
        kept: str | None = line
        if match is not None:
            kept = _current_line(reader, thread, line, match)
            documents += kept is not None
        if kept is not None:
            lines.append(kept)
    return "\n".join(lines) if documents else None


def _current_line(reader: Reader, thread: ThreadRecord, line: str, match: re.Match[str]) -> str | None:
    """Return the line of one document as it may be shown today; None if the document is gone."""
    record = reader.load(DocumentRecord, (match["path"],))
    if record is None:
        return None
    if _is_true(match["summary"] or "", record):
        return line
    entry = DocumentEntry(record.path, record.size, record.summary)
    shown = ProjectListings().entries(reader, [entry], thread.project)
    if not shown:
        return None
    entry = replace(entry, summary=shown[0].summary)
    return f"- {entry.path} ({size_text(entry.size)}): {flat(entry.summary)}".rstrip(": ")


def _is_true(summary: str, record: DocumentRecord) -> bool:
    """Return True if a summary is that of today, or a sentence that is still in the document."""
    if summary == flat(record.summary):
        return True
    return any(sentence(item) == summary for item in parse_document(record.path, record.content).items)
