"""What is new since the last dream to an archive, under a token budget."""

from __future__ import annotations

from reverie.consolidate.dream import plan_dream
from reverie.models import Memory
from reverie.redact import Redactor
from reverie.usecases.consolidation import nothing
from reverie.usecases.decide import consolidation
from reverie.usecases.dreams import DreamJob, DreamOutcome
from reverie.usecases.records import value

__all__ = ["decide"]


def decide(job: DreamJob) -> DreamOutcome:
    """The dream; pure, and the same bytes for the same memories and budget.

    Raises:
        TokenBudgetExceeded: with the least budget that would do.
    """
    fresh = set(job.fresh)
    read = [memory for held in job.shelf.memories if (memory := value(Memory, held)).id in fresh]
    plan = plan_dream(read, budget=job.budget, redact=Redactor(job.literals).text)
    if plan is None:
        return DreamOutcome(last=job.last, budget=job.budget, memories=nothing(job.shelf))
    return DreamOutcome(
        last=job.last,
        budget=job.budget,
        memories=consolidation.carry_out(job.shelf, plan.changes, at=job.at),
        archive=plan.data,
        sha256=plan.sha256,
        tokens_used=plan.tokens_used,
        sources=[source.id for source in plan.sources if source.id is not None],
    )
