"""Successive distillations: open items stay, settled ones do not return, and nothing is reworded."""

from __future__ import annotations

from reverie import tokenizer
from reverie.distill import summary_text
from reverie.distill.distiller import Extractive
from reverie.models import Distillation, Section
from support.talk import Talk

ENGINE = Extractive()

FIRST_REQUEST = "Build an importer for chat exports that keeps every message with its time"
CORRECTION = "no, never write into the export folder, people keep it under git"
WHY = "because the archive index is read twice and a stream cannot be"
DECISION = f"Let's go with unpacking into a temporary file, {WHY}"
FAILED = "Reading the archive as a stream did not work: `read_entry` fails on the second pass over `index.bin`."
FAILURE = "E AssertionError: expected 7 messages, got 6"


def distilled(thread: Talk, number: int = 1, previous: Distillation | None = None) -> Distillation:
    """Return the distillation of a whole thread, without a preserved tail."""
    return ENGINE.distill(
        thread.messages, number=number, previous=previous, tail_from_seq=len(thread.messages) + 1, passage_tokens=0
    )


def beginning() -> Talk:
    """Return a thread with a request, a plan, a failed approach, a decision, a correction and a failing test."""
    thread = Talk().user(FIRST_REQUEST)
    thread.call("TaskCreate", {"subject": "Support archives above four gigabytes"}, "Task #1 created successfully")
    thread.call("TaskCreate", {"subject": "Describe the export format"}, "Task #2 created successfully")
    thread.call("TaskUpdate", {"taskId": "2", "status": "in_progress"})
    thread.agent(FAILED).user(DECISION).user(CORRECTION)
    thread.edit("/w/app/importer.py", "", "def read_entry(path): return open(path)")
    return thread.bash("pytest -q", FAILURE, failed=True, description="Run the importer's tests")


def stretch(number: int) -> Talk:
    """Return a thread of other work, long enough to fill a summary several times."""
    thread = Talk().user(f"Now make panel {number} of the dashboard show the weekly totals as bars")
    for step in range(40):
        thread.agent(
            f"The widget_{number}_{step} draws its bars twice because `render_{number}_{step}` is called from "
            f"`layout_{number}_{step}` as well. Removed the call in `panel_{step}.ts`, so that the chart is drawn once."
        )
        thread.edit(f"/w/app/panel_{step}.ts", "", f"export const panel = {number * step}")
    return thread


def after(stretches: int) -> Distillation:
    """Return the distillation of the beginning, followed by so many distilled stretches of other work."""
    current = distilled(beginning())
    for number in range(2, 2 + stretches):
        current = distilled(stretch(number), number, current)
    return current


def test_open_items_corrections_and_decisions_survive_five_distillations() -> None:
    """Open tasks, corrections and decisions are word for word in the sixth summary, within its ceiling."""
    current = after(5)
    sections = current.summary.sections
    assert current.summary.number == 6
    assert tokenizer.count(summary_text.render(current.summary)) <= 5_000
    assert "To do: Support archives above four gigabytes (task #1)" in sections[Section.OPEN_THREADS]
    assert "To do: Describe the export format (task #2)" in sections[Section.OPEN_THREADS]
    assert f"User: {CORRECTION}" in sections[Section.CORRECTIONS]
    assert any(DECISION in line for line in sections[Section.DECISIONS])
    assert any(FAILURE in line for line in sections[Section.CURRENT_STATE])
    assert sections[Section.TASK_CONTEXT][1] == f"The thread began with: {FIRST_REQUEST}"
    assert "panel 6" in sections[Section.TASK_CONTEXT][0]
    assert any("panel 5" in line for line in sections[Section.TASK_CONTEXT])


def test_a_carried_over_line_is_unchanged() -> None:
    """A line carried over five distillations is the same as in the first one."""
    first = set(distilled(beginning()).summary.sections[Section.CORRECTIONS])
    assert first <= set(after(5).summary.sections[Section.CORRECTIONS])


def test_a_task_finished_in_a_later_stretch_is_done_and_no_longer_open() -> None:
    """A task that a later stretch completes by its number alone is in the completed work and in no open list."""
    current = distilled(stretch(2).call("TaskUpdate", {"taskId": "1", "status": "completed"}), 2, after(0))
    assert not any("four gigabytes" in line for line in current.summary.sections[Section.OPEN_THREADS])
    assert any("four gigabytes" in line for line in current.summary.sections[Section.COMPLETED_WORK])
    assert not any("four gigabytes" in step for step in current.state.next_steps)
    assert any("export format" in step for step in current.state.next_steps)


def test_a_new_task_of_the_same_number_closes_nothing_old() -> None:
    """A new task with the number of an old one, completed later, does not complete the old one."""
    thread = Talk().call("TaskCreate", {"subject": "Rename the panels"}, "Task #1 created successfully")
    thread.call("TaskUpdate", {"taskId": "1", "status": "completed"})
    current = distilled(thread.user("Thank you, that is all for the panels now"), 2, after(0))
    assert any("four gigabytes" in line for line in current.summary.sections[Section.OPEN_THREADS])


def test_a_question_is_open_until_the_next_user_message() -> None:
    """The agent's question is an open thread until the next message of the user."""
    previous = distilled(Talk().user("Tidy the importer please").agent("Shall I also drop the old reader in `zip.py`?"))
    silent = distilled(Talk().agent("Meanwhile the tests of `zip.py` were sorted by name."), 2, previous)
    assert any("drop the old reader" in line for line in silent.summary.sections[Section.OPEN_THREADS])
    answered = distilled(Talk().user("No, leave it, somebody uses that reader"), 3, silent)
    assert not any("drop the old reader" in line for line in answered.summary.sections[Section.OPEN_THREADS])


def test_a_failing_check_is_listed_until_it_passes() -> None:
    """A failing check is in the summary until a later run of it passes."""
    later = distilled(Talk().user("Show me the format again").bash("ls", "importer.py"), 2, after(0))
    assert any(line.startswith("Failing tests: ") for line in later.summary.sections[Section.CURRENT_STATE])
    mended = distilled(Talk().user("Run the tests again").bash("pytest -q", "7 passed"), 3, later)
    assert not any(line.startswith("Failing") for line in mended.summary.sections[Section.CURRENT_STATE])


def test_the_message_of_a_commit_is_read_without_its_line_breaks_and_signatures() -> None:
    """A commit's message is one sentence in the summary, without line breaks and trailers."""
    message = (
        "importer: keep the time of every message\n\nThe export stores local times, so the importer has to read the\n"
        "zone from the account file before it converts anything.\n\nSigned-off-by: Ann <ann@example.org>"
    )
    thread = Talk().user("Commit this please, with a reason").bash(f'git commit -m "{message}"', "[main 1a2b3c4] x")
    text = summary_text.render(distilled(thread).summary)
    assert "so the importer has to read the zone from the account file" in text
    assert "Signed-off-by" not in text
