"""The episode of a plan that was carried out tells what the plan is for."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import MemoryType
from support.thread import Thread

GOAL = "Goal: Ask the gauge once an hour, and keep its answer."


@pytest.mark.parametrize(
    ("context", "field", "told"),
    [
        (
            "Every page asks the gauge. That takes two seconds. The crew waits.",
            "Problem",
            "Every page asks the gauge. That takes",
        ),
        (
            f"Every page asks the gauge. That takes two seconds.\n\n**{GOAL[:5]}** {GOAL[6:]}",
            "Task",
            "asks the gauge. Goal: Ask",
        ),
        (f"{GOAL} Every page asks it today. That is slow.", "Task", f"{GOAL} Every page asks it today."),
    ],
)
def test_the_goal_of_a_plan_is_in_its_task(context: str, field: str, told: str) -> None:
    """An episode of a plan has the plan's goal, or its context's first two sentences, as task or problem."""
    plan = f"# Ask the gauge of the harbour once an hour\n\n## Context\n\n{context}\n\n## Steps\n\n1. Edit tide.py\n"
    thread = (
        Thread().user(f"Implement the following plan:\n\n{plan}").edit("/w/src/tide.py", "pass", "def read_tide():")
    )
    thread.bash("pytest -q", "12 passed")
    [episode] = [one for one in Extractive().candidates(thread.messages) if one.type is MemoryType.EPISODE]
    assert told in dict(episode.fields)[field]
    assert "That is slow" not in episode.content
