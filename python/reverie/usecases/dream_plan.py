"""Decide a dream: its archive, and with a model the memories weighed against those near them, in pages; pure.

The archive is made by rule, as without a model. The model adds updates and deletions of memories, within what the
budget leaves; where its answer cannot be used, nothing of it is, and the plan's `fallback` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from reverie import tokenizer
from reverie.canonical_json import canonical, sha256
from reverie.consolidate import ArchivePlan, Proposal
from reverie.consolidate.dreams import plan_oldest
from reverie.consolidate.forgotten import ForgottenStatement
from reverie.documents.layout import memory_project
from reverie.errors import ModelFailed
from reverie.language_model.consolidation import OUTPUT_TOKENS, consolidate_request, consolidated
from reverie.language_model.consolidation_pages import ConsolidationPage, Nearby, memory_pages
from reverie.language_model.prompts import CONSOLIDATE
from reverie.language_model.requests import ModelRequest, Outcome
from reverie.models import Change, Delete, Memory, Update
from reverie.usecases import consolidation, screening
from reverie.usecases.dream import DreamJob, DreamPlan
from reverie.usecases.screening import held_updates

NEAR: Final = 4  # memories that are shown beside each one that the dream reads


class ModelChanges(NamedTuple):
    """Changes of memories that a model asks for, with the tokens used and the name of the model that answered."""

    changes: tuple[Change, ...]
    proposals: tuple[Proposal, ...]
    tokens_used: int
    model: str
    fallback: str


def decide(job: DreamJob) -> DreamPlan | list[ModelRequest]:
    """Return the plan of a dream; pure, and the same bytes for the same memories and budget.

    With a model, the requests that have no outcome in the job yet.

    Raises:
        TokenBudgetExceeded: with the least budget that would do.
    """
    redact = job.terms.redact.redactor().text
    records = {record.id: record for record in job.memories.memories}
    batch = plan_oldest(
        [records[name] for _, name in job.changed], budget=job.budget, maximum=job.maximum, redact=redact
    )
    archive = batch.plan
    plan = DreamPlan(job.terms.at, job.last, job.budget, consolidation.empty_plan(job.memories))
    if archive is None:
        return plan
    left = job.budget - archive.tokens_used
    pages, unasked = ([], "") if job.outcomes is None else _asked_pages(job, set(batch.taken), budget=left)
    outcomes = job.outcomes or {}
    if missing := [request for _, request in pages if request.id not in outcomes]:
        return missing
    forgotten = consolidation.forgotten_statements(job.memories)
    asked = _model_changes(pages, outcomes, budget=left, redact=redact, forgotten=forgotten)
    # What the model changes or proposes to change is not changed by rule.
    named = [*asked.changes, *(proposal.change for proposal in asked.proposals)]
    ids = {change.id for change in named if isinstance(change, Update | Delete)}
    by_rule = [one for one in archive.changes if not isinstance(one, Update | Delete) or one.id not in ids]
    plan.memories = screening.plan_changes(
        job.memories, [*asked.changes, *by_rule], at=job.terms.at, proposals=asked.proposals
    )
    plan.memories.fallback = "; ".join(filter(None, (unasked, asked.fallback)))
    plan.archive, plan.sha256 = _archive_with(archive, asked)
    plan.tokens_used = archive.tokens_used + asked.tokens_used
    plan.sources = [source.id for source in archive.sources]
    if len(batch.taken) + len(batch.oversized) < len(job.changed):
        plan.through = next(position for position in reversed(job.changed) if position[1] == batch.taken[-1])
    plan.waiting = len(job.changed) - len(batch.taken)
    plan.oversized = list(batch.oversized)
    return plan


def _asked_pages(
    job: DreamJob, taken: set[str], *, budget: int
) -> tuple[list[tuple[ConsolidationPage, ModelRequest]], str]:
    """Return pages of memories with a request to the model for each: as many as fit `budget` tokens with their answers.

    `taken` are the memories of the dream; each is shown with those near it in its project. The text says how many pages
    the budget has no room for; "" where it has for all.
    """
    existing = job.memories.memories
    nearby, tier = Nearby(existing), screening.tier_of(existing, job.memories.window)
    shown: dict[str, Memory] = {memory.id: memory for memory in existing if memory.id in taken}
    for memory in list(shown.values()):
        near = nearby.search(f"{memory.title or ''} {memory.content}", memory_project(memory), NEAR)
        shown |= {other.id: other for other in near}
    if len(shown) < 2:
        return [], ""
    pages, left_out, needed = [], 0, job.budget - budget
    for memories in memory_pages(list(shown.values())):
        page = ConsolidationPage((), tuple(memories))
        request = consolidate_request(page, (), tier)
        asked = tokenizer.count(request.system) + sum(tokenizer.count(message.content) for message in request.messages)
        needed += asked + OUTPUT_TOKENS
        if left_out or needed > job.budget:
            left_out += 1
        else:
            pages.append((page, request))
    if not left_out:
        return pages, ""
    which = "it" if not pages else f"it about {left_out} of {len(pages) + left_out} pages of memories"
    return pages, f"the budget of {job.budget:,} tokens has no room to ask {which}, which {needed:,} would have"


def _model_changes(
    pages: Sequence[tuple[ConsolidationPage, ModelRequest]],
    outcomes: Mapping[str, Outcome],
    *,
    budget: int,
    redact: Callable[[str], str],
    forgotten: Iterable[ForgottenStatement],
) -> ModelChanges:
    """Return the changes that the model's answers ask for; none of them if they took more than `budget` tokens."""
    changes: dict[str, Update | Delete] = {}
    proposals: list[Proposal] = []
    notes: list[str] = []
    used, model = 0, ""
    for page, request in pages:
        outcome = outcomes[request.id]
        if outcome.answer is not None:
            used += outcome.answer.input_tokens + outcome.answer.output_tokens
            model = outcome.answer.model
        try:
            answer = consolidated(outcome, page, (), redact=redact)
        except ModelFailed as error:
            notes.append(f"consolidation failed ({error.reason}): {error.message} No memory of its page was touched")
            continue
        changes |= answer.memories
        proposals += [Proposal(*proposed) for proposed in answer.proposals]
        notes += answer.notes
    if used > budget:
        return ModelChanges((), (), 0, "", f"the model took {used:,} tokens, more than the budget has: not used")
    shown = {memory.id: memory for page, _ in pages for memory in page.memories}
    for proposal in held_updates(changes, shown, forgotten):
        if changes.pop(proposal.change.id, None) is not None:
            proposals.append(proposal)
    return ModelChanges(tuple(changes.values()), tuple(proposals), used, model, "; ".join(dict.fromkeys(notes)))


def _archive_with(archive: ArchivePlan, asked: ModelChanges) -> tuple[bytes, str]:
    """Return an archive, and its address, that names the model and its changes by the content of the memories.

    Without changes it is the archive by rule.
    """
    address = {source.id: source.sha256 for source in archive.sources}
    named: list[dict[str, Any]] = []
    for change in asked.changes:
        if isinstance(change, Update | Delete) and change.id in address:
            entry: dict[str, Any] = {"action": change.action, "id": address[change.id]}
            named.append({**entry, "content": change.content} if isinstance(change, Update) else entry)
    if not named:
        return archive.data, archive.sha256
    body = {**archive.body, "model": {"name": asked.model, "prompt": CONSOLIDATE, "changes": named}}
    data = canonical(body)
    return data, sha256(data)
