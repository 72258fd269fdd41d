"""The session that the demo shows where there is none of your own: a small invented bug, found and mended."""

from __future__ import annotations

from reveried.demo import sample_texts as texts
from reveried.demo.transcript import Transcript

__all__ = ["SESSION", "sample"]

SESSION = "7d1f6a52-0c44-4b7e-9a63-2f5f0e8b1c90"


def sample() -> bytes:
    """The transcript, the same bytes every time."""
    story = Transcript(session=SESSION, folder="/home/mira/tidetable", branch="fix-clock-change")
    _look(story)
    _reproduce(story)
    _wrong_turn(story)
    _mend(story)
    _finish(story)
    return story.written()


def _todo(story: Transcript, done: int, *, doing: bool = True) -> None:
    """The agent's list of steps with the first `done` of them finished."""
    steps = []
    for number, (step, form) in enumerate(texts.STEPS):
        state = "completed" if number < done else "in_progress" if doing and number == done else "pending"
        steps.append({"content": step, "status": state, "activeForm": form})
    story.agent(story.calls("TodoWrite", todos=steps))
    story.result("Todos have been modified successfully.")


def _look(story: Transcript) -> None:
    story.person(texts.REQUEST)
    story.agent(
        story.says("I'll look at where a harbour's times are computed, then try the day you name."),
        story.calls("Grep", pattern="local|utcoffset|timezone", path="tidetable"),
    )
    story.result(texts.GREP)
    story.agent(story.calls("Read", file_path="/home/mira/tidetable/tidetable/times.py"))
    story.result(texts.TIMES_BEFORE)
    story.agent(story.calls("Read", file_path="/home/mira/tidetable/tidetable/harbours.py"))
    story.result(texts.harbours())


def _reproduce(story: Transcript) -> None:
    _todo(story, 0)
    story.agent(
        story.says("No test covers a day on which the clock changes. I'll write one that shows the bug first."),
        story.calls(
            "Write", file_path="/home/mira/tidetable/tests/test_clock_change.py", content=texts.TEST_CLOCK_CHANGE
        ),
    )
    story.result("File created successfully at: /home/mira/tidetable/tests/test_clock_change.py")
    story.agent(story.calls("Bash", command="pytest -q tests/test_clock_change.py", description="Run the new test"))
    story.result(texts.FAILS_FIRST, failed=True)
    _todo(story, 1)


def _wrong_turn(story: Transcript) -> None:
    story.agent(
        story.says("The test fails as reported. I'll add an hour when summer time is in force."),
        story.calls(
            "Edit",
            file_path="/home/mira/tidetable/tidetable/times.py",
            old_string="    return stored",
            new_string="    return stored + (timedelta(hours=1) if is_summer(stored) else timedelta())",
        ),
    )
    story.result("The file /home/mira/tidetable/tidetable/times.py has been updated.")
    story.agent(story.calls("Bash", command="pytest -q", description="Run all tests"))
    story.result(texts.fails_south(), failed=True)
    story.agent(
        story.says(
            "That does not work: adding an hour mends Port Ellery and breaks Cape Sorrow, where summer is in January. "
            "pytz knows the rules of each place, so I would add it and use `localize`."
        ),
        story.calls("Bash", command="pip install pytz", description="Install pytz"),
    )
    story.result("[Request interrupted by user for tool use]", failed=True)
    story.person(texts.CORRECTION)


def _mend(story: Transcript) -> None:
    story.agent(
        story.says(texts.DECISION),
        story.calls(
            "Edit",
            file_path="/home/mira/tidetable/tidetable/times.py",
            old_string="    return stored + (timedelta(hours=1) if is_summer(stored) else timedelta())",
            new_string="    return stored.replace(tzinfo=UTC).astimezone(ZoneInfo(harbour.zone))",
        ),
    )
    story.result("The file /home/mira/tidetable/tidetable/times.py has been updated.")
    story.agent(story.calls("Bash", command="pytest -q", description="Run all tests"))
    story.result(texts.PASSES)
    _todo(story, 3)
    story.person(texts.PREFERENCE)
    story.agent(story.calls("Bash", command="make check", description="Run linter and tests"))
    story.result(texts.LINT_FAILS, failed=True)
    story.agent(
        story.says("The import that the wrong turn left behind is not used any more; I'll take it out."),
        story.calls(
            "Edit",
            file_path="/home/mira/tidetable/tidetable/times.py",
            old_string="from datetime import UTC, datetime, timedelta",
            new_string="from datetime import UTC, datetime",
        ),
    )
    story.result("The file /home/mira/tidetable/tidetable/times.py has been updated.")
    story.agent(story.calls("Bash", command="make check", description="Run linter and tests"))
    story.result(texts.CHECK_PASSES)


def _finish(story: Transcript) -> None:
    story.agent(
        story.says("All green. Now the changelog, in short sentences."),
        story.calls(
            "Edit",
            file_path="/home/mira/tidetable/CHANGELOG.md",
            old_string="## Unreleased\n",
            new_string="## Unreleased\n\n- Times are right on days when the clock changes.\n",
        ),
    )
    story.result("The file /home/mira/tidetable/CHANGELOG.md has been updated.")
    story.agent(
        story.calls(
            "Bash",
            command='git commit -am "times: keep UTC, convert when printing"',
            description="Commit the fix",
        )
    )
    story.result(
        "[fix-clock-change 4be1d07] times: keep UTC, convert when printing\n 4 files changed, 61 insertions(+)"
    )
    _todo(story, 4, doing=False)
    story.agent(story.says(texts.REPORT))
    story.person(texts.QUESTION)
    story.agent(story.calls("Bash", command="ls -l cache | head -4", description="Look at the cache"))
    story.result(texts.CACHE)
    story.agent(story.says(texts.OPEN))
    story.person(texts.NEXT_TASK)
    _todo(story, 4)
