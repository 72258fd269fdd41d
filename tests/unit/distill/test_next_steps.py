"""Plans, next steps, decisions and blockers of the working state, from the words that people really use."""

from __future__ import annotations

import pytest

from reverie.distill.extractive import Extractive, classify_sentences_by_working_state_cues
from reverie.models import NO_RESULT, Section
from support.thread import Thread

ENGINE = Extractive()
TASK = "Please review the pull requests #30 to #32 and merge them"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def reviewing() -> Thread:
    """Return the example of the specification: three reviews, two of them done, one obstacle."""
    return (
        Thread()
        .user(TASK)
        .agent("The plan:\n1. Review PR #30\n2. Review PR #31\n3. Review PR #32\n4. Merge all")
        .user("Squash merge, not regular merge")
        .bash("gh pr diff 30", "+ one line")
        .agent("Reviewed #30 — clean")
        .bash("gh pr diff 31", "+ two lines")
        .agent("Reviewed #31 — clean")
    )


def test_the_example_of_the_specification() -> None:
    """Task chain, finished steps, the decision and the obstacle are found in the words of the specification."""
    thread = reviewing().agent("I am blocked: I need the credentials of the registry.")
    state = ENGINE.working_state(thread.messages)
    assert state.current_task.startswith(TASK)
    assert state.task_chain == ("Review PR #30", "Review PR #31", "Review PR #32", "Merge all")
    assert state.completed_steps == ("Reviewed #30 — clean", "Reviewed #31 — clean")
    assert state.recent_decisions == ("Squash merge, not regular merge",)
    assert state.blockers == ("waiting for the user: I am blocked: I need the credentials of the registry.",)
    answered = ENGINE.working_state(thread.user("They are in the vault under `registry/ci`, try again").messages)
    assert answered.blockers == ()


def test_an_obstacle_of_the_person_stays_until_they_say_that_it_is_gone() -> None:
    """A person's obstacle stays a blocker through other messages, until the person says that it is resolved."""
    thread = reviewing().user("I am blocked: I need the credentials for staging").user("also fix the typo in README.md")
    assert ENGINE.working_state(thread.messages).blockers == ("I am blocked: I need the credentials for staging",)
    thread.agent("Fixed the typo.").user("got the credentials now, go on")
    assert ENGINE.working_state(thread.messages).blockers == ()


def test_an_order_that_nobody_answered_is_the_next_step() -> None:
    """An unanswered order, question or yes of the user is the next step, worded for its kind; thanks are none."""

    def following(words: str) -> tuple[str, ...]:
        thread = (
            Thread()
            .user(TASK)
            .agent("All three are reviewed. Shall I delete their branches on the server afterwards, too?")
        )
        return ENGINE.working_state(thread.user(words).messages).next_steps

    assert following("squash them, then merge `feature/cache` first") == (
        "do what the user asked: squash them, then merge `feature/cache` first",
    )
    assert following("why is #31 so large?") == ("answer the user: why is #31 so large?",)
    assert following("yes please") == (
        "do what was agreed: Shall I delete their branches on the server afterwards, too?",
    )
    thanked = Thread().user(TASK).agent("All three are merged and their branches are gone.").user("thanks")
    assert ENGINE.working_state(thanked.messages).next_steps == ()


def test_a_finished_turn_leaves_no_next_step_and_an_open_one_its_request() -> None:
    """A report asks for nothing; in the middle of a turn the request or the failing check is the step."""
    thread = Thread().user("Make the importer keep empty lines").bash("ls", "importer.py")
    assert ENGINE.working_state(thread.messages).next_steps == ("go on: Make the importer keep empty lines",)
    thread.edit("/w/app/importer.py").bash("pytest -q", "E   AssertionError: 7 lines, not 8", failed=True)
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "go on: make the tests pass again (E AssertionError: 7 lines, not 8)"
    thread.bash("pytest -q", "8 passed").agent("Empty lines are kept now, and all tests pass.")
    assert ENGINE.working_state(thread.messages).next_steps == ()


def test_a_question_is_found_before_a_last_remark_and_has_its_options() -> None:
    """Agents often add a sentence behind a question, and ask which of several ways to take."""
    thread = (
        Thread()
        .user("The uploads are slow, what can we do?")
        .agent(
            "There are two ways:\n\n1. **A cache** - small, but stale\n2. **A queue** - more code\n\n"
            "Which one do you prefer? I can start with either."
        )
    )
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "waiting for an answer: Which one do you prefer? (A cache / A queue)"


def test_an_announcement_that_only_looks_says_what_for() -> None:
    """For an announcement to only read something, the next step also names the purpose from the sentence before."""
    thread = Thread().user("Exit the edit mode and update the local notes")
    thread.agent("I need to update the notes to match the final plan. Let me read the plan file first.")
    thread.call("Read", {"file_path": "/w/app/plan.md"}, NO_RESULT)
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "go on: update the notes to match the final plan (read the plan file first)"
    thread.call("Read", {"file_path": "/w/app/plan.md"}, "1. tables")
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "go on: update the notes to match the final plan"


def test_a_short_announcement_to_look_says_what_is_asked() -> None:
    """Where no sentence says what a short look is for, the next step names the person's request."""
    thread = Thread().user("The upload of large maps fails, please find out why")
    thread.agent("Now let me check the map service.").call("Read", {"file_path": "/w/app/maps.py"}, NO_RESULT)
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "go on: The upload of large maps fails, please find out why (check the map service)"
    thread.call("Read", {"file_path": "/w/app/maps.py"}, "def upload(): ...")
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "go on: The upload of large maps fails, please find out why"


def test_an_announced_edit_that_was_made_is_checked_and_then_over() -> None:
    """After the edit it is to be checked; after a check that passes it is announced no more."""
    thread = Thread().user("Add a limit to the pool, please").agent("Now I'll add the limit to the pool.")
    assert ENGINE.working_state(thread.messages).next_steps == ("go on: add the limit to the pool",)
    edited = thread.edit("/w/app/pool.py")
    looked = edited.bash("git diff --stat", "pool.py | 2 +")
    assert ENGINE.working_state(looked.messages).next_steps == (
        "go on: see that it works, and finish: add the limit to the pool",
    )
    passed = looked.bash("pytest -q", "12 passed")
    assert ENGINE.working_state(passed.messages).next_steps == (
        "go on: finish what was asked (tests passed): Add a limit to the pool, please",
    )


@pytest.mark.parametrize(
    ("tool", "given", "is_over"),
    [
        ("Bash", {"command": "gh api repos/a/b/pulls/1/comments/2/replies -f body='done'"}, True),
        ("Bash", {"command": "git push origin pool"}, True),
        ("mcp__linear__create_issue", {"title": "Pool"}, True),
        ("Bash", {"command": "gh pr view 12 --comments"}, False),
        ("mcp__linear__list_issues", {}, False),
    ],
)
def test_what_was_sent_out_is_no_next_step(tool: str, given: dict[str, str], *, is_over: bool) -> None:
    """A request whose last call sent something out and succeeded is no next step; one that only looks is."""
    thread = Thread().user("Tell them that the pool is limited now, please").call(tool, given, "ok")
    assert (ENGINE.working_state(thread.messages).next_steps == ()) is is_over
    failed = Thread().user("Tell them that the pool is limited now, please").call(tool, given, "error", failed=True)
    assert ENGINE.working_state(failed.messages).next_steps != ()


def test_words_with_which_a_call_was_refused_are_a_request() -> None:
    """The person's words in refusing a call are the next step, behind their task; a typed command is no task."""
    thread = (
        Thread()
        .user("Rename `load` to `read_all`")
        .call("Edit", {"file_path": "/w/app/a.py"}, f"{REFUSED}wait, keep `load` as an alias", failed=True)
    )
    state = ENGINE.working_state(thread.messages)
    assert state.next_steps == ("do what the user asked: Rename `load` to `read_all` → wait, keep `load` as an alias",)
    typed = Thread().user(TASK).user("<bash-input>git status</bash-input>").messages
    assert "git status" not in ENGINE.working_state(typed).current_task


def test_the_task_chain_is_the_plan_around_the_step_in_hand() -> None:
    """The to-do list is the plan; of a long one the steps near the first unfinished one are shown."""
    thread = Thread().user("Port all twelve modules to the new reader")
    thread.todos(**{f"Port_module_{number}": "completed" if number < 6 else "pending" for number in range(12)})
    chain = ENGINE.working_state(thread.messages).task_chain
    assert chain == tuple(f"Port module {number}" for number in range(4, 12))
    thread.agent("Half of the modules are ported.").user("Now write the release notes for version two instead")
    thread.agent("I'll begin.")
    for number in range(40):
        thread.call("Read", {"file_path": f"/w/app/note_{number}.md"}, "a note")
    state = ENGINE.working_state(thread.messages)
    assert state.task_chain[-1] == "Now write the release notes for version two instead"
    assert not any("Port module" in step for step in state.next_steps)


@pytest.mark.parametrize(
    "text",
    [
        "Changes made:\n1. Added the cache\n2. Removed the queue",
        "I found two problems:\n1. The cache is stale\n2. The queue is slow",
        "Steps to reproduce:\n1. Open the page\n2. Close it",
    ],
)
def test_other_lists_are_no_plans(text: str) -> None:
    """A numbered list that is a report, findings or the steps of a bug gives no plan steps."""
    assert classify_sentences_by_working_state_cues.enumerated_steps(text) == []


def test_what_a_review_lists_was_not_done() -> None:
    """After nothing but reading, "Removed …" is a line of the change under review."""
    thread = Thread().user("Review the branch please").call("Read", {"file_path": "/w/app/a.py"}, "x = 1")
    thread.agent("Removed the check of `limit` without a test.")
    assert ENGINE.working_state(thread.messages).completed_steps == ()
    thread.user("put it back").edit("/w/app/a.py").agent("Restored it. Added a test of `limit`.")
    assert ENGINE.working_state(thread.messages).completed_steps == ("Added a test of `limit`",)


@pytest.mark.parametrize(
    ("sentence", "is_choice"),
    [
        ("let's keep the old table", True),
        ("let's do this as a separate change", True),
        ("no, it should be one file per worktree", True),
        ("A) is fine, add it to the metadata", True),
        ("okay, let's try the second approach", True),
        ("okay, let's try the pty approach", True),
        ("let's start with #89", False),
        ("let's fix it", False),
        ("can we use tabs instead of spaces?", False),
        ("the tests fail, not sure why", False),
    ],
)
def test_choices_of_a_person(sentence: str, is_choice: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A person's sentence is a choice if it picks a way of doing something, not if it only orders work or asks."""
    assert classify_sentences_by_working_state_cues.is_choice_of_person(sentence) == is_choice


def test_the_best_way_is_a_decision_once_somebody_takes_it() -> None:
    """A "simplest fix" the agent names is a decision once it edits a file, unless the person asked something else."""
    said = "The simplest fix is to hand the name down in `call_handler`."
    thread = Thread().user("Why does `call_handler` guess?").agent(said)
    assert ENGINE.working_state(thread.messages).recent_decisions == ()
    taken = Thread().user("Why does `call_handler` guess?").agent(said).edit("/w/app/a.py")
    assert ENGINE.working_state(taken.messages).recent_decisions == (said,)
    refused = thread.user("what about the tests of the handlers?").edit("/w/app/a.py")
    assert ENGINE.working_state(refused.messages).recent_decisions == ()


def test_a_check_that_failed_again_blocks_with_its_last_error() -> None:
    """A check that fails again, after many entries, is a blocker with the text of its last error."""
    thread = Thread().user("Make the parser tests pass").bash("pytest -q", "E   ValueError: first", failed=True)
    for number in range(60):
        thread.call("Read", {"file_path": f"/w/app/file_{number}.py"}, "x")
    thread.bash("pytest -q", "E   ValueError: second", failed=True)
    assert ENGINE.working_state(thread.messages).blockers == ("tests failing: E ValueError: second",)


def test_an_error_that_the_person_pasted_blocks_until_a_check_passes() -> None:
    """An error that the person pasted is a blocker until the agent runs a check that passes."""
    thread = Thread().user("CI says:\nFAILED tests/test_a.py - ValueError: odd number of rows")
    (blocker,) = ENGINE.working_state(thread.messages).blockers
    assert blocker.startswith("reported by the user: ")
    assert "odd number of rows" in blocker
    assert ENGINE.working_state(thread.bash("pytest -q", "9 passed").messages).blockers == ()


def test_key_decisions_hold_decisions_and_findings_are_in_the_current_state() -> None:
    """In a summary, findings are in the current state, and a decision has only the reason right beside it."""
    thread = reviewing().agent("The cache key has no version, because `make_key` leaves it out.")
    thread.agent("I'll keep the old format. The readers in `mobile/` do not support the new one.")
    sections = ENGINE.distill(
        thread.messages, number=1, previous=None, tail_from_seq=99, passage_tokens=0
    ).summary.sections
    assert sections[Section.DECISIONS][0] == "User: Squash merge, not regular merge"
    assert any("old format" in line and "mobile/" in line for line in sections[Section.DECISIONS])
    assert not any("make_key" in line for line in sections[Section.DECISIONS])
    assert any("make_key" in line for line in sections[Section.CURRENT_STATE])


def test_the_summary_names_the_next_step_and_later_ones_replace_it() -> None:
    """A summary begins its open threads with the next step; the next summary drops it but carries findings over."""
    thread = (
        reviewing().agent("The cache key has no version, because `make_key` leaves it out.").user("merge #30 first")
    )
    first = ENGINE.distill(thread.messages, number=1, previous=None, tail_from_seq=99, passage_tokens=0)
    assert first.summary.sections[Section.OPEN_THREADS][0] == "Next: do what the user asked: merge #30 first"
    later = Thread().user("And now the changelog, please").agent("The changelog of `v2` has all three changes.")
    second = ENGINE.distill(later.messages, number=2, previous=first, tail_from_seq=99, passage_tokens=0)
    assert not any(line.startswith("Next: ") for line in second.summary.sections[Section.OPEN_THREADS])
    state = second.summary.sections[Section.CURRENT_STATE]
    assert any("make_key" in line for line in state)
    assert sum(line.startswith("The agent last said") for line in state) == 1


def test_a_question_before_a_list_of_its_parts_is_found() -> None:
    """A question before a list is the next step; if the question is cut off there, the list's choices complete it."""
    thread = Thread().user("Tidy the uploads").edit("/w/app/a.py")
    thread.agent(
        "The tests pass. Would you like me to commit these changes? They are:\n\n- the retry\n- the limit\n- its test"
    )
    (step,) = ENGINE.working_state(thread.messages).next_steps
    assert step == "waiting for an answer: Would you like me to commit these changes?"
    listed = (
        Thread().user("Save it as a todo").agent("Saved.\n\nWould you like to:\n\n1. Continue\n2. Add another todo")
    )
    (step,) = ENGINE.working_state(listed.messages).next_steps
    assert step == "waiting for an answer: Would you like to Continue / Add another todo?"


def test_tests_that_print_errors_and_pass_are_no_blocker() -> None:
    """A runner's last lines say that nothing failed; a failing count says the opposite."""
    printed = "error: Database connection failed\n\n 1274 pass\n 0 fail\nRan 1274 tests"
    thread = Thread().user("Run the tests").bash("bun run test 2>&1 | tail -30", printed)
    assert ENGINE.working_state(thread.messages).blockers == ()
    failing = Thread().user("Run the tests").bash("bun run test 2>&1 | tail -30", printed.replace("0 fail", "2 fail"))
    assert ENGINE.working_state(failing.messages).blockers == ("tests failing: error: Database connection failed",)


def asking(answer: str) -> Thread:
    """Return a thread in the middle of a turn, behind an answer to a question of the agent."""
    result = f'User has answered your questions: "Ring or list?"="{answer}". You can now continue with these answers.'
    question = {"questions": [{"question": "Ring or list?", "options": [{"label": "Ring"}, {"label": "List"}]}]}
    thread = Thread().user("How would the harbour keep its last hundred ships?")
    return thread.call("Read", {"file_path": "/w/ships.py"}).call("AskUserQuestion", question, result)


@pytest.mark.parametrize(
    ("answer", "step"),
    [
        ("Ring", "go on: Ring or list? → Ring"),
        ("a ring with a hundred places", "go on: a ring with a hundred places"),
        ("What does a ring cost for each new ship?", "answer the user: What does a ring cost for each new ship?"),
    ],
)
def test_an_answer_is_what_to_go_on_with(answer: str, step: str) -> None:
    """After the person answers the agent's question, the next step is what they chose or asked, not older requests."""
    assert ENGINE.working_state(asking(answer).messages).next_steps == (step,)


def test_a_last_item_that_was_never_ticked_off_is_over() -> None:
    """After a later request was answered, one last unfinished to-do item is dropped; two or more stay as next steps."""

    def following(status: str) -> tuple[str, ...]:
        thread = Thread().user("Add a ring of a hundred ships to the harbour, and test it.")
        thread.todos(**{"Write the ring": "completed", "Test the ring": "in_progress", "Tell Ann": status})
        thread.edit("/w/ships.py").bash("pytest -q", "9 passed").agent("The ring holds a hundred ships.")
        thread.user("push it and open a draft, please").bash("git push", "done")
        return ENGINE.working_state(thread.agent("Pushed, and opened the draft.").messages).next_steps

    assert following("completed") == ()
    assert following("pending") == ("Test the ring", "Tell Ann")


def test_tests_that_pass_end_a_broken_build_that_was_mended() -> None:
    """A broken build stays a blocker until tests pass after an edit; tests that pass without an edit do not end it."""
    broken = Thread().user("Add the ring.").bash("go build ./...", "ships.go:3:1: undefined: ring", failed=True)
    broken.bash("go test ./tides", "ok tides 0.2s")
    assert len(ENGINE.working_state(broken.messages).blockers) == 1
    mended = broken.edit("/w/ships.go").bash("go test ./...", "ok ships 0.2s")
    assert ENGINE.working_state(mended.messages).blockers == ()


@pytest.mark.parametrize("result", ["<tool_use_error>Sibling tool call errored</tool_use_error>", f"{REFUSED}not now"])
def test_a_command_that_never_ran_is_no_check(result: str) -> None:
    """A command that never ran neither adds nor ends a blocker, and is no step that passed."""
    thread = Thread().user("Mend the ring, please.").bash("pytest -q", "E assert 1 == 2", failed=True)
    before = ENGINE.working_state(thread.messages).blockers
    state = ENGINE.working_state(
        thread.bash("pytest -q", result, failed=True).bash("make", result, failed=True).messages
    )
    assert state.blockers == before != ()
    assert not any("passed" in step for step in state.completed_steps)


def test_an_announcement_may_stand_before_a_thought() -> None:
    """An announcement before another sentence is the next step once a call follows; at the end of a turn it is none."""
    thread = (
        Thread()
        .user("Open a branch for the ring, please.")
        .bash("git switch -c ring", "switched")
        .agent("Now let me trace how the ring loses its last ship. The key is what the counter points to.")
    )
    assert ENGINE.working_state(thread.messages).next_steps == ()
    reading = thread.call("Read", {"file_path": "/w/ring.py"}, "class Ring: ...")
    assert ENGINE.working_state(reading.messages).next_steps == ("go on: trace how the ring loses its last ship",)


@pytest.mark.parametrize(
    "result",
    [
        "(eval):cd:1: no such file or directory: ships/ring",
        "stat /w/app/ships/ring: directory not found\nFAIL\tships/ring [setup failed]",
        "Error: unknown flag: --every",
        "bash: golangci-lint: command not found",
    ],
)
def test_a_check_that_was_called_wrongly_is_no_failing_check(result: str) -> None:
    """Where the shell or the program does not know a folder, a command or an option, nothing was checked."""
    thread = Thread().user("Mend the ring, please.").bash("go test ./ring", f"Exit code 1\n{result}", failed=True)
    state = ENGINE.working_state(thread.messages)
    assert state.blockers == ()
    assert state.next_steps == ("go on: Mend the ring, please.",)
    real = thread.bash("go test ./...", f"Exit code 1\n--- FAIL: TestRing (0.1s)\n{result}", failed=True)
    assert len(ENGINE.working_state(real.messages).blockers) == 1
