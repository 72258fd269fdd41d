"""The working state after ten turns: completed steps, current task, next steps."""

from __future__ import annotations

from reverie.client import Client
from support.turns import Worker


def test_ten_turns_of_review(client: Client) -> None:
    """The reviews that are finished are completed steps, the others next steps, and the decision is recorded."""
    work = Worker(client, "review")
    steps = ["Review_PR_30", "Review_PR_31", "Review_PR_32", "Merge_all_three"]
    work.user("Please review PRs #30, #31 and #32, and merge them when they are clean.")
    work.todos(**dict.fromkeys(steps, "pending"))
    work.user("let's use squash merge, not regular merge")
    work.reply("Squash merge it is.")
    for number, name in ((30, "signals"), (31, "budget")):
        work.bash(f"gh pr diff {number}", f"diff --git a/src/{name}.py b/src/{name}.py\n+ fine")
        completed = steps[: number - 29]
        work.todos(**{step: "completed" if step in completed else "pending" for step in steps})
        work.reply(f"PR #{number} is clean.")
        work.user("ok")
        work.call("Read", {"file_path": f"/home/ann/app/docs/{name}.md"}, "text " * 20)
        work.reply(f"I have read docs/{name}.md beside it.")
        work.user("go on")
    work.todos(**{**dict.fromkeys(steps[:2], "completed"), steps[2]: "in_progress", steps[3]: "pending"})
    work.bash("gh pr diff 32", "diff --git a/docs/specs/turns.md b/docs/specs/turns.md\n+ wip")
    work.call("Read", {"file_path": "/home/ann/app/docs/specs/turns.md"}, "# Turns")
    work.reply("I am reading the diff of PR #32 now.")

    state = client.working_state("review")

    assert "review PRs #30, #31 and #32" in state.current_task
    assert "Review PR 32" in state.current_task
    assert [step for step in state.completed_steps if step.startswith("Review")] == ["Review PR 30", "Review PR 31"]
    assert state.next_steps[:2] == ["Review PR 32", "Merge all three"]
    assert any("squash merge" in decision for decision in state.recent_decisions)
    assert any(path.endswith("specs/turns.md") for path in state.open_files)
    assert state.blockers == []
    assert state.updated_at is not None


def test_failing_tests_block_until_they_pass(client: Client) -> None:
    """A failing test is a blocker until it passes."""
    work = Worker(client, "blocked")
    work.user("Please make the tests of src/clock.py pass.")
    work.bash("pytest -q tests/test_clock.py", "FAILED tests/test_clock.py::test_noon - assert 11 == 12", failed=True)
    assert any("test_noon" in blocker for blocker in client.working_state("blocked").blockers)
    work.edit("/home/ann/app/src/clock.py")
    work.bash("pytest -q tests/test_clock.py", "3 passed in 0.02s")
    work.reply("They pass now.")
    assert client.working_state("blocked").blockers == []
