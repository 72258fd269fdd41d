"""A dream with a model: the memories that a dream reads are weighed against those near them, in pages; pure.

The archive is made by rule as without a model. The model adds updates and deletions of memories, within what the budget
leaves; where its answer cannot be used, nothing of it is, and the plan's `fallback` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reverie import tokenizer
from reverie.canonical_json import canonical, sha256
from reverie.consolidate import Proposal
from reverie.documents.layout import memory_project
from reverie.errors import ModelFailed
from reverie.language_model.consolidation import OUTPUT_TOKENS, consolidate_request, consolidated
from reverie.language_model.consolidation_pages import ConsolidationPage, Nearby, memory_pages
from reverie.models import Delete, Update
from reverie.usecases.model_updates import held_updates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from reverie.consolidate import DreamPlan as ArchivePlan
    from reverie.consolidate.forgotten import ForgottenStatement
    from reverie.language_model.requests import ModelRequest, Outcome
    from reverie.models import Change, Memory, Tier

NEAR: Final = 4  # memories that are shown beside each one that the dream reads


class ModelChanges(NamedTuple):
    """Changes of memories that a model asks for, with the tokens used and the name of the model that answered."""

    changes: tuple[Change, ...]
    proposals: tuple[Proposal, ...]
    tokens_used: int
    model: str
    fallback: str


def asked_pages(
    read: Sequence[Memory], existing: Sequence[Memory], tier: Tier, *, budget: int
) -> list[tuple[ConsolidationPage, ModelRequest]]:
    """Return pages of memories with a request to the model for each: as many as fit `budget` tokens with their answers.

    `read` are the memories of the dream; each is shown with those near it in its project.
    """
    nearby = Nearby(existing)
    shown = {memory.id: memory for memory in read}
    for memory in read:
        near = nearby.search(f"{memory.title or ''} {memory.content}", memory_project(memory), NEAR)
        shown |= {other.id: other for other in near}
    if len(shown) < 2:
        return []
    pages = []
    for memories in memory_pages(list(shown.values())):
        page = ConsolidationPage((), tuple(memories))
        request = consolidate_request(page, (), tier)
        asked = tokenizer.count(request.system) + sum(tokenizer.count(message.content) for message in request.messages)
        budget -= asked + OUTPUT_TOKENS
        if budget < 0:
            break
        pages.append((page, request))
    return pages


def model_changes(
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


def archive_with(archive: ArchivePlan, asked: ModelChanges, prompt: str) -> tuple[bytes, str]:
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
    body = {**archive.body, "model": {"name": asked.model, "prompt": prompt, "changes": named}}
    data = canonical(body)
    return data, sha256(data)
