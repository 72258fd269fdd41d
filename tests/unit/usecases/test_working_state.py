"""A working state after an agent set some of its fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reverie import tokenizer
from reverie.distill import state_text
from reverie.errors import ValidationError
from reverie.models import StateSources, WorkingState
from reverie.store import WorkingStateRecord
from reverie.usecases import working_state

AT = "2026-11-21T09:30:00.000Z"
EXTRACTED = WorkingState(
    current_task="Mend the logger",
    completed_steps=("read the log", "wrote a test"),
    next_steps=("fix it",),
    updated_at="2026-11-20T09:30:00.000Z",
    sources=StateSources(3, completed_steps=(4, 6), next_steps=(7,)),
)


def check(fields: dict[str, Any], expected: WorkingState, *, replace_all: bool = False) -> None:
    """Assert the state that EXTRACTED becomes when an agent sets `fields` at entry 20."""
    assert working_state.with_fields(EXTRACTED, fields, seq=20, at=AT, replace_all=replace_all) == expected


def test_given_fields_replace_the_extracted_ones() -> None:
    """Fields that an agent sets replace extracted ones, with their entry as source; an empty list empties a field."""
    check(
        {"current_task": "Release", "next_steps": ["tag", "tell"]},
        replace(
            EXTRACTED,
            current_task="Release",
            next_steps=("tag", "tell"),
            updated_at=AT,
            sources=StateSources(20, completed_steps=(4, 6), next_steps=(20, 20)),
        ),
    )
    check(
        {"completed_steps": []},
        replace(EXTRACTED, completed_steps=(), updated_at=AT, sources=StateSources(3, next_steps=(7,))),
    )


def test_replace_all_empties_the_other_fields() -> None:
    """Fields that the request leaves out are empty afterwards."""
    check(
        {"blockers": ["rain"]},
        WorkingState(blockers=("rain",), updated_at=AT, sources=StateSources(blockers=(20,))),
        replace_all=True,
    )


def test_extracted_items_give_way_to_given_ones() -> None:
    """Over the limit the oldest extracted items are dropped, and all words that the agent set stay."""
    before = replace(
        EXTRACTED, completed_steps=tuple(f"finished part {n} of the long harbour report" for n in range(60))
    )
    fields = {"next_steps": [f"ask captain {n} about the tides and the fog" for n in range(20)]}
    after = working_state.with_fields(before, fields, seq=20, at=AT)

    assert tokenizer.count(state_text.render(after)) <= state_text.MAX_TOKENS
    assert after.next_steps == tuple(fields["next_steps"])
    assert 0 < len(after.completed_steps) < 60
    assert after.completed_steps[-1] == before.completed_steps[-1]


def test_too_many_words_are_refused() -> None:
    """Fields that alone exceed the limit are an error that names the limit."""
    with pytest.raises(ValidationError, match="at most 500 tokens") as refused:
        working_state.with_fields(EXTRACTED, {"next_steps": ["word " * 90] * 20}, seq=20, at=AT)
    assert refused.value.details["reason"] == "too_long"


def test_reading_starts_behind_the_stored_state() -> None:
    """Messages are read after the last distillation or the stored state's entry, whichever is later."""
    assert working_state.read_after(None, 0) == 0
    assert working_state.read_after(WorkingStateRecord(state=EXTRACTED, seq=9), 5) == 5
    assert working_state.read_after(WorkingStateRecord(state=EXTRACTED, seq=9, through_seq=9), 5) == 9
    assert working_state.read_after(WorkingStateRecord(state=EXTRACTED, seq=9, through_seq=9), 12) == 12
