"""Context text and knowledge text of a transcript, as if a distillation took place at its end."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from reverie import tokenizer
from reverie.context.inputs import Limits, Parts
from reverie.context.text import render
from reverie.distill import state_text, summary_text
from reverie.distill.distiller import Extractive
from reverie.distill.own_words import typed_by_person
from reverie.errors import ModelFailed
from reverie.importers.find import read_entries
from reverie.importers.join import main_line, past_summaries, with_asides
from reverie.language_model.extraction import extract_request, extracted
from reverie.language_model.pages import pages_of
from reverie.language_model.requests import Outcome
from reverie.redact import Redactor
from reverie.store import seal
from reverie.usecases.distillation import SummaryWork
from reverie.usecases.entries import entry_record, opened_entry
from reverie.usecases.imports import model_of
from reverie.usecases.limits import next_seq, sized_context
from reverie.usecases.memory_plan import source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reverie.context.inputs import Context
    from reverie.language_model.requests import ModelAnswer, ModelRequest
    from reverie.models import Candidate, Entry, Message


def context_text(path: Path, max_tokens: int) -> str:
    """Return the context after the transcript at `path` as text: every tier, within `max_tokens` in any encoding.

    Raises what the importers raise for an unreadable file, and TokenBudgetExceeded if not even the minimum of each tier
    fits.
    """
    return render(context_of(list(read_entries(path)), max_tokens).request)


def context_of(entries: Sequence[Entry], max_tokens: int) -> Context:
    """Return the context after these entries of one transcript, as the daemon serves it for `max_tokens`.

    The entries are redacted as an import redacts them, and the context is made by the function that the daemon calls.
    Recalled memories, notes and the memory index, which a store would add, are missing.

    Raises TokenBudgetExceeded if not even the minimum of each tier fits.
    """
    redactor = Redactor()
    stored = [opened_entry("transcript", entry.seq, seal(entry_record(entry), redactor).data) for entry in entries]
    messages = tuple(message for message in main_line(stored) if not message.rewound)
    parts = Parts(
        state=state_text.render(Extractive().working_state(with_asides(messages, stored))),
        messages=messages,
        model=model_of(stored),
    )
    return sized_context(
        parts,
        Limits(max_tokens=max_tokens),
        number=len(past_summaries(stored)) + 1,
        previous=None,
        inherited_digest="",
        entries=stored,
    )


def knowledge_text(path: Path, max_tokens: int, ask: Callable[[ModelRequest], ModelAnswer | None] | None = None) -> str:
    """Return the structured summary and the memories of the transcript at `path` as text, without its tail.

    At most `max_tokens` of o200k, two fifths of them for the memories. With `ask` they are those of a model as far as
    it answers, by the requests that a distillation sends; without an answer the summary is by rule. Raises what the
    importers raise for an unreadable file.
    """
    entries = list(read_entries(path, tokens=False))
    messages = main_line(entries)
    engine = Extractive()
    said = messages if ask is None else with_asides(messages, entries)  # as the daemon shows it to a model
    candidates = engine.candidates(messages) if ask is None else _candidates_of(said, ask)
    memories = _memories_text(candidates, max_tokens * 2 // 5)
    room = min(5_000, max_tokens - tokenizer.count(memories))
    number = len(past_summaries(entries)) + 1
    distillation = engine.distill(
        messages, number=number, previous=None, tail_from_seq=next_seq(messages), passage_tokens=0, summary_tokens=room
    )
    packed = distillation.summary
    if ask is not None:
        redactor = Redactor()
        work = SummaryWork.of(said, redactor.text(summary_text.render(packed)), redactor)
        answer = ask(work.request)
        with suppress(ModelFailed):
            if answer is not None:
                packed = work.summary(Outcome(answer), number, room)
    return tokenizer.truncate(summary_text.render(packed) + memories, max_tokens)


def _candidates_of(messages: list[Message], ask: Callable[[ModelRequest], ModelAnswer | None]) -> tuple[Candidate, ...]:
    """Return the candidate memories that a model, asked with `ask`, proposes for each page of a thread."""
    redactor = Redactor()
    pages = pages_of(source_of(messages, redactor))
    at = next((message.at for message in reversed(messages) if message.at), "9999")
    candidates: list[Candidate] = []
    for number, page in enumerate(pages, 1):
        answer = ask(extract_request(page, [], number=number, of=len(pages)))
        with suppress(ModelFailed):
            if answer is not None:
                read = extracted(Outcome(answer), page, [], at=at, redactor=redactor, typed=typed_by_person)
                candidates += read.candidates
    return tuple(candidates)


def _memories_text(candidates: tuple[Candidate, ...], max_tokens: int) -> str:
    """Return the memories that fit, in their order, as lines of a document."""
    text = ""
    for candidate in candidates:
        longer = f"{text}\n\n{_memory_text(candidate)}"
        if tokenizer.fits(longer, max_tokens):
            text = longer
    return text


def _memory_text(candidate: Candidate) -> str:
    """Return a memory as its document has it: an episode as a section, anything else as a bullet."""
    return f"## {candidate.title}\n{candidate.content}" if candidate.title else f"- {candidate.content}"
