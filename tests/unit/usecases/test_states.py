"""What becomes of a working state when an agent sets a part of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reverie import tokens
from reverie.distill import working_state as working
from reverie.errors import ValidationError
from reverie.models import StateSources, WorkingState
from reverie.usecases import states
from reverie.usecases.records import record, value

AT = "2026-11-21T09:30:00.000Z"
FOUND = WorkingState(
    current_task="Mend the logger",
    completed_steps=("read the log", "wrote a test"),
    next_steps=("fix it",),
    updated_at="2026-11-20T09:30:00.000Z",
    sources=StateSources(3, completed_steps=(4, 6), next_steps=(7,)),
)


def check(given: dict[str, Any], expected: WorkingState, *, whole: bool = False) -> None:
    """FOUND after `given` was set at entry 20."""
    made = states.changed(record(FOUND), given, seq=20, at=AT, whole=whole)
    assert value(WorkingState, made) == expected


def test_fields_that_are_given_replace_those_there() -> None:
    """With the entry at which they were set; an empty list empties."""
    check(
        {"current_task": "Release", "next_steps": ["tag", "tell"]},
        replace(
            FOUND,
            current_task="Release",
            next_steps=("tag", "tell"),
            updated_at=AT,
            sources=StateSources(20, completed_steps=(4, 6), next_steps=(20, 20)),
        ),
    )
    check(
        {"completed_steps": []},
        replace(FOUND, completed_steps=(), updated_at=AT, sources=StateSources(3, next_steps=(7,))),
    )


def test_a_whole_state_keeps_nothing_of_the_one_before() -> None:
    """What is left out is emptied."""
    check(
        {"blockers": ["rain"]},
        WorkingState(blockers=("rain",), updated_at=AT, sources=StateSources(blockers=(20,))),
        whole=True,
    )


def test_what_was_found_gives_way_to_what_was_set() -> None:
    """Where both do not fit, the oldest of what was found goes; every word of the agent stays."""
    found = replace(FOUND, completed_steps=tuple(f"finished part {n} of the long harbour report" for n in range(60)))
    given = {"next_steps": [f"ask captain {n} about the tides and the fog" for n in range(20)]}
    made = value(WorkingState, states.changed(record(found), given, seq=20, at=AT))

    assert tokens.count(working.render(made)) <= working.MAX_TOKENS
    assert made.next_steps == tuple(given["next_steps"])
    assert 0 < len(made.completed_steps) < 60
    assert made.completed_steps[-1] == found.completed_steps[-1]


def test_too_many_words_are_refused() -> None:
    """What alone exceeds the bound is told, with the bound."""
    with pytest.raises(ValidationError, match="holds 500 tokens") as refused:
        states.changed(record(FOUND), {"next_steps": ["word " * 90] * 20}, seq=20, at=AT)
    assert refused.value.details["reason"] == "too_long"


def test_what_is_read_again_begins_behind_the_kept_state() -> None:
    """Behind the distilled part, or behind the entry at which a state was kept, whichever comes later."""
    assert states.read_from({}, 0) == 0
    assert states.read_from({"seq": 9}, 5) == 5
    assert states.read_from({"seq": 9, "from": 9}, 5) == 9
    assert states.read_from({"seq": 9, "from": 9}, 12) == 12
