"""The summary of a model: what its request shows, and which lines by rules follow its own."""

from __future__ import annotations

import json

import pytest

from reverie.distill import summary_text
from reverie.language_model.requests import ModelAnswer, Outcome
from reverie.models import Message, Section, Summary
from reverie.redact import Redactor
from reverie.usecases.distillation import SummaryWork

SECTIONS = ("taskContext", "completedWork", "decisions", "currentState", "openThreads", "corrections", "tone")
BY_RULES = Summary(
    1,
    {
        Section.COMPLETED_WORK: ("Committed 1a2b3c4: ferry tariffs", "The tariff service rounds half up."),
        Section.CURRENT_STATE: ("The harbour closes at nine.",),
        Section.OPEN_THREADS: ("To do: print the tickets", "Next: print them"),
    },
)


def messages(number: int) -> list[Message]:
    """Return a conversation of so many messages, of about 60 tokens each."""
    text = "Ferry {0} leaves the quay {0} at {0}, says the table of the harbour of {0}. " * 2
    return [
        Message("assistant" if seq % 2 else "user", text.format(seq), seq + 1, seq + 1, "2026-11-21T09:30:00.000Z", 60)
        for seq in range(number)
    ]


@pytest.mark.parametrize(("number", "lines"), [(4, 0), (3_000, 1)])
def test_lines_by_rules_are_shown_where_the_record_is_not_whole(number: int, lines: int) -> None:
    """A record that fits has the words of the rules' lines already; a longer one is shown with them, numbered."""
    work = SummaryWork.of(messages(number), summary_text.render(BY_RULES), Redactor(()))
    shown = work.request.messages[0].content

    assert shown.count("[1] The tariff service rounds half up.") == lines
    assert "Committed 1a2b3c4" not in shown


def test_files_commits_and_list_stand_beside_the_models_lines() -> None:
    """The structure stands anyway; of the other lines by rules only those that the model names."""
    work = SummaryWork.of(messages(3_000), summary_text.render(BY_RULES), Redactor(()))
    answer = {**{name: [] for name in SECTIONS}, "taskContext": ["Sell tickets."], "keepLines": [2, 99]}

    summary = work.summary(Outcome(ModelAnswer(json.dumps(answer), 1, 1, "m")), 1, 5_000)

    assert {section.name: lines for section, lines in summary.sections.items() if lines} == {
        "TASK_CONTEXT": ("Sell tickets.",),
        "COMPLETED_WORK": ("Committed 1a2b3c4: ferry tariffs",),
        "CURRENT_STATE": ("The harbour closes at nine.",),
        "OPEN_THREADS": ("To do: print the tickets",),
    }
