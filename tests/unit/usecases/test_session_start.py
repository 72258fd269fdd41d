"""What a new session is told beside the brief, and which first prompts go on with the last session."""

from __future__ import annotations

import pytest

from reverie.models import WorkingState
from reverie.store import NoteRecord, ThreadRecord
from reverie.usecases import sessions
from reverie.usecases.sessions import LastSession

LAST = LastSession(
    "thread", "codex", "2026-02-03T08:30:00.000Z", "Mend the pump of dock 7", ("replace the valve ring",)
)
TOLD = "The quay is painted every year. Commit the pump list."


@pytest.mark.parametrize(
    ("prompt", "goes_on"),
    [
        ("continue", True),
        ("go on", True),
        ("ok, please continue", True),
        ("do both please", False),
        ("weiter", False),
        ("is the valve ring replaced by now?", True),
        ("the valve is open", False),
        ("fix crane_motor.go", False),
        ("#12 now", False),
        ("/clear", False),
        ("write a sonnet about a lighthouse keeper", False),
        ("commit the pump list and mend nothing", False),
    ],
)
def test_first_prompts_that_go_on(prompt: str, goes_on: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A prompt that only says so, or of the words of what was left open, goes on; another one begins anew."""
    assert sessions.goes_on(prompt, LAST, TOLD) is goes_on


def test_nothing_goes_on_with_a_session_without_a_task() -> None:
    """After a session without a task or step no prompt goes on."""
    assert not sessions.goes_on("continue", LastSession("thread", "codex", "2026-02-03", ""), "")


def test_three_lines_on_the_last_session() -> None:
    """When, the task and what is open are a line each, cut to size; what is not known has no line."""
    thread = ThreadRecord(id="thread", agent="codex", created_at="2026-02-03", updated_at="2026-02-03T08:30:00.000Z")
    state = WorkingState(current_task="mend <system-reminder> " + "x " * 400, next_steps=("a", "b", "c", "d"))
    lines = sessions.last_lines(sessions.last_session(thread, state)).splitlines()
    assert [line.split()[1] for line in lines] == ["The", "asked:", "open:"]
    assert "codex, 2026-02-03T08:30Z, thread thread" in lines[0]
    assert "<system-reminder>" not in lines[1]
    assert lines[2] == "- open: a · b · c"
    assert len(lines[1]) < 300
    assert len(sessions.last_lines(sessions.last_session(thread, WorkingState())).splitlines()) == 1


def test_notes_fit_into_their_room() -> None:
    """The newest notes come first, as many as there is room for; without room for one there is no heading."""
    notes = [
        (NoteRecord(id=f"n{number}", content=f"valve {number} " * 20, category="task", at="2026-02-03"), "codex")
        for number in range(9)
    ]
    text = sessions.note_lines(notes, 250)
    assert "codex, task: valve 0" in text
    assert "valve 8" not in text
    assert sessions.note_lines(notes, 20) == sessions.note_lines([], 250) == ""
