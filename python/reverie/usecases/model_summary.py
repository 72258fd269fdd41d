"""The summary of a thread by a model, with the files, commits and list that rules read: its request and its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from reverie.distill import summary_text
from reverie.language_model.summary import answered_summary, summary_request
from reverie.usecases.memory_plan import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.language_model.requests import ModelRequest, Outcome
    from reverie.models import Message, Section, Summary
    from reverie.redact import Redactor


class SummaryWork(NamedTuple):
    """The request for a summary, the lines by rules that it shows, numbered from 1, and the lines that stand anyway."""

    request: ModelRequest
    lines: list[tuple[Section, str]]
    structure: list[tuple[Section, str]]

    @classmethod
    def of(cls, messages: Sequence[Message], extracted: str, redactor: Redactor, *, previous: str = "") -> SummaryWork:
        """Return the request to a model for a summary of `messages`, with the lines by rules.

        `extracted` is the rendered summary by rules and `previous` the one of the distillation before, both redacted.
        """
        by_rules = summary_text.parse(extracted)
        lines = [] if by_rules is None else summary_text.offered(by_rules, summary_text.parse(previous))
        texts = [line for _, line in lines]
        structure = [] if by_rules is None else summary_text.structure(by_rules)
        request = summary_request(source_of(messages, redactor), previous=previous, extracted=texts)
        return cls(request, lines, structure)

    def summary(self, outcome: Outcome, number: int, max_tokens: int) -> Summary:
        """Return the model's summary with the structure, and the lines that it names to keep. Raises ModelFailed."""
        answered = answered_summary(outcome, number)
        kept = [line for at, line in enumerate(self.lines, 1) if at in answered.keep_lines]
        lines = [*self.structure, *kept]
        return summary_text.complete(answered.summary, lines, max_tokens)
