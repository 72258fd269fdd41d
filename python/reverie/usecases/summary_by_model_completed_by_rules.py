"""The summary of a thread by a model, completed with lines by rules: the request, and the reading of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reverie.distill import summary_text as summary_format_and_line_choice_by_novelty
from reverie.language_model.working_state_and_summary_requests import answered_summary, summary_request
from reverie.usecases.model_requests_and_plan_for_memories import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.language_model.requests_and_answers import ModelRequest, Outcome
    from reverie.models import Message, Section, Summary
    from reverie.redact import Redactor

__all__ = ["SummaryWork"]


class SummaryWork(NamedTuple):
    """The request for a summary, and the lines by rules that it shows, in the order of their numbers from 1."""

    request: ModelRequest
    lines: list[tuple[Section, str]]

    @classmethod
    def of(cls, messages: Sequence[Message], extracted: str, redactor: Redactor, *, previous: str = "") -> SummaryWork:
        """Return the request to a model for a summary of `messages`, with the lines by rules.

        `extracted` is the rendered summary by rules and `previous` the one of the distillation before, both redacted.
        """
        by_rules = summary_format_and_line_choice_by_novelty.parse(extracted)
        lines = (
            []
            if by_rules is None
            else summary_format_and_line_choice_by_novelty.additions(
                by_rules, summary_format_and_line_choice_by_novelty.parse(previous)
            )
        )
        texts = [line for _, line in lines]
        return cls(summary_request(source_of(messages, redactor), previous=previous, extracted=texts), lines)

    def summary(self, outcome: Outcome, number: int, max_tokens: int) -> Summary:
        """Return the model's summary, completed with the lines that it does not call wrong. Raises ModelFailed."""
        answered = answered_summary(outcome, number)
        right = [line for at, line in enumerate(self.lines, 1) if at not in answered.wrong_lines]
        return summary_format_and_line_choice_by_novelty.complete(answered.summary, right, max_tokens)
