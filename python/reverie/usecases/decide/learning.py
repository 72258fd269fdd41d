"""A thread's new messages to memories."""

from __future__ import annotations

from reverie.distill.extractive import Extractive
from reverie.redact import Redactor
from reverie.usecases.decide import consolidation, contexts
from reverie.usecases.learning import LearnJob, LearnPlan

__all__ = ["decide"]


def decide(job: LearnJob) -> LearnPlan:
    """Candidates of the messages given, consolidated with the memories there are; pure."""
    messages = [message for message in contexts.opened(job.thread["id"], job.entries) if not message.rewound]
    return LearnPlan(
        thread=job.thread["id"],
        since=job.thread["extractedSeq"],
        last_seq=job.entries[-1][0],
        memories=consolidation.decide(
            job.shelf,
            Extractive().candidates(messages, at=job.at),
            redactor=Redactor(job.literals),
            at=job.at,
            random=job.random,
            thread=job.thread,
        ),
    )
