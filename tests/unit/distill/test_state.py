"""The working state as agents read it: the block of api.md 2.1, its bound, and what of a thread it says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie import tokens
from reverie.distill import working_state
from reverie.distill.extractive import Extractive, cue_phrases
from reverie.models import StateSources, WorkingState
from support.thread import Thread, logger_fix

ENGINE = Extractive()


def test_block_is_exactly_the_one_agents_are_promised() -> None:
    """Heading and labels are literal, lists are joined by semicolons, files by commas."""
    shown = working_state.render(
        WorkingState(
            current_task="Reviewing PRs #30-32 and merging",
            task_chain=("never shown",),
            completed_steps=("#30 reviewed (clean)", "#31 reviewed (clean)"),
            next_steps=("Review #32 diff", "merge all three"),
            open_files=("docs/a.md", "src/b.py"),
            recent_decisions=("Squash merge, not regular merge",),
            blockers=("CI is down",),
        )
    )
    assert shown == (
        "## Working State (auto-maintained)\n"
        "Current task: Reviewing PRs #30-32 and merging\n"
        "Completed: #30 reviewed (clean); #31 reviewed (clean)\n"
        "Next: Review #32 diff; merge all three\n"
        "Recent decisions: Squash merge, not regular merge\n"
        "Open files: docs/a.md, src/b.py\n"
        "Blockers: CI is down"
    )


def test_empty_fields_are_left_out_and_an_empty_state_is_no_block() -> None:
    """Nothing is put before an agent that says nothing."""
    assert working_state.render(WorkingState(current_task="x")) == "## Working State (auto-maintained)\nCurrent task: x"
    assert working_state.render(WorkingState()) == ""


def test_state_is_bounded_by_dropping_the_stalest() -> None:
    """What is newest stays, what comes soonest stays, the current task always stays."""
    long = tuple(
        f"step {number} of a rather long list of finished things in src/module_{number}.py" for number in range(80)
    )
    held = working_state.trim_to_tokens(WorkingState(current_task="the task", completed_steps=long, next_steps=long))
    assert tokens.count(working_state.render(held)) <= working_state.MAX_TOKENS
    assert held.current_task == "the task"
    assert held.completed_steps[-1] == long[-1]
    assert held.next_steps[0] == long[0]


def test_a_task_of_any_length_fits() -> None:
    """Even a current task that alone is too long."""
    held = working_state.trim_to_tokens(WorkingState(current_task="word " * 3000), max_tokens=100)
    assert tokens.count(working_state.render(held)) <= 100


def test_state_of_real_work_names_task_steps_files_and_decisions() -> None:
    """Read from todo list, edits, commands and the person's words."""
    found = ENGINE.working_state(logger_fix().messages)
    assert found.current_task.endswith("(now: Write a regression test)")
    assert "don't touch the public makeLogger signature" in found.current_task
    assert any("committed 1a2b3c4" in step for step in found.completed_steps)
    assert "Find the cause of the leak" in found.completed_steps
    assert found.next_steps[0] == "Write a regression test"
    assert any("Shall I open a pull request?" in step for step in found.next_steps)
    assert found.open_files[-1] == "lineTransport.ts"
    assert found.blockers == ()
    assert found.updated_at == "2026-03-05T09:21:00.000Z"


def test_a_failing_test_blocks_until_it_passes() -> None:
    """The newest run of a check decides."""
    failing = (
        Thread().user("please make the parser tests pass").bash("pytest -q", "E   AssertionError: no", failed=True)
    )
    assert ENGINE.working_state(failing.messages).blockers == ("tests failing: E AssertionError: no",)
    assert ENGINE.working_state(failing.bash("pytest -q", "3 passed").messages).blockers == ()


def test_a_yes_does_not_replace_the_task() -> None:
    """The last substantial request is the task; a short follow-up is shown behind the one it follows."""
    thread = Thread().user("Please write a parser for the new wire format of the daemon").agent("Shall I?").user("yes")
    assert ENGINE.working_state(thread.messages).current_task.startswith("Please write a parser")
    followed = thread.agent("Written.").user("and also the tests")
    task = ENGINE.working_state(followed.messages).current_task
    assert task == "Please write a parser for the new wire format of the daemon → and also the tests"


def test_previous_state_is_carried_on() -> None:
    """What nothing replaced is still known; nothing new at all changes nothing."""
    before = ENGINE.working_state(logger_fix().messages)
    assert ENGINE.working_state([], before) == before
    after = ENGINE.working_state(Thread().user("Now let's use tabs in every source file please").messages, before)
    assert "lineTransport.ts" in after.open_files
    assert "Write a regression test" in after.next_steps
    assert after.recent_decisions[-1].startswith("Now let's use tabs") or "tabs" in after.current_task


def test_what_was_taken_back_is_not_read() -> None:
    """A rewound request is no task."""
    thread = Thread().user("Rename every module to start with z").user("Delete the whole database now", rewound=True)
    assert "Delete" not in ENGINE.working_state(thread.messages).current_task


def test_every_item_says_which_message_it_came_from() -> None:
    """One number for each item, and that entry says what the item says."""
    thread = logger_fix()
    found = ENGINE.working_state(thread.messages)
    said = {message.last_seq: str(message.content) for message in thread.messages}

    for name in working_state.LISTS:
        assert len(getattr(found.sources, name)) == len(getattr(found, name)), name
        assert all(seq in said for _, seq in working_state.state_items(found, name)), name
    committed = next(
        seq for text, seq in working_state.state_items(found, "completed_steps") if text.startswith("committed")
    )
    assert "1a2b3c4" in said[committed]
    assert (
        "Shall I open a pull request?"
        in said[dict(working_state.state_items(found, "next_steps"))[found.next_steps[-1]]]
    )
    assert "lineTransport.ts" in said[dict(working_state.state_items(found, "open_files"))["lineTransport.ts"]]
    assert "Write a regression test" in said[found.sources.current_task]


def test_what_nobody_mentions_ages_out() -> None:
    """After a long time without a word of them, files, steps, blockers and what was to come next are gone."""
    thread = logger_fix().bash("make lint", "error: unused import", failed=True)
    before = ENGINE.working_state(thread.messages)
    assert before.blockers
    assert before.open_files

    def later(entries: int) -> WorkingState:
        talk = [replace(each, first_seq=entries, last_seq=entries) for each in Thread().user("go on then").messages]
        return ENGINE.working_state(talk, before)

    assert later(60).blockers == before.blockers
    assert later(200).blockers == ()
    assert "Write a regression test" in later(200).next_steps
    assert later(500).next_steps == ()
    assert later(500).open_files == before.open_files
    assert later(700).open_files == ()
    assert later(900).completed_steps == before.completed_steps
    assert later(1100).completed_steps == ()
    assert later(1100).current_task.startswith(before.current_task.partition(" → ")[0])


def test_an_answer_ends_the_waiting_for_it() -> None:
    """The question stands among the next steps until the person has spoken."""
    before = ENGINE.working_state(logger_fix().messages)
    assert any(step.startswith("waiting for an answer") for step in before.next_steps)
    after = ENGINE.working_state(Thread().user("Yes, open one against the main branch").messages, before)
    assert not any(step.startswith("waiting for an answer") for step in after.next_steps)


def test_a_check_that_failed_before_blocks_until_it_is_run_again() -> None:
    """What an earlier state knew to be failing is failing still, unless that check was run since."""
    failing = (
        Thread().user("please make the parser tests pass").bash("pytest -q", "E   AssertionError: no", failed=True)
    )
    before = ENGINE.working_state(failing.messages)
    assert ENGINE.working_state(Thread().user("any news of the parser?").messages, before).blockers == before.blockers
    assert ENGINE.working_state(Thread().bash("pytest -q", "3 passed").messages, before).blockers == ()


def test_the_task_goes_on_while_nobody_opens_another() -> None:
    """A remark after the last kept state is shown behind its task; a new request takes its place."""
    before = WorkingState(current_task="Port the parser to the new grammar (now: tables)")
    remark = ENGINE.working_state(Thread().user("and also mention it in the changelog").messages, before)
    fresh = ENGINE.working_state(Thread().user("Please find out why the cache is cold at start").messages, before)

    assert remark.current_task == "Port the parser to the new grammar → and also mention it in the changelog"
    assert fresh.current_task == "Please find out why the cache is cold at start"
    assert ENGINE.working_state(Thread().user("yes").messages, before).current_task == before.current_task


def test_leaving_an_item_out_leaves_its_source_out() -> None:
    """Items and their sources stay side by side, whatever gives way."""
    long = tuple(f"step {number} of a rather long list of finished things" for number in range(90))
    whole = WorkingState(
        current_task="x", completed_steps=long, sources=StateSources(1, completed_steps=tuple(range(1, 91)))
    )
    held = working_state.trim_to_tokens(whole)

    assert 0 < len(held.completed_steps) < 90
    assert held.sources.completed_steps[-1] == 90
    assert all(f"step {seq - 1} " in text for text, seq in working_state.state_items(held, "completed_steps"))


def test_the_task_goes_on_where_only_the_plan_moved() -> None:
    """A stretch in which nobody spoke keeps the task of the stretch before, with what is being done now."""
    before = WorkingState(current_task="Move the settings (now: Move them)", sources=StateSources(current_task=3))
    held = Extractive().working_state(Thread().todos(Describe_them="in_progress").messages, before)
    assert held.current_task == "Move the settings (now: Describe them)"


def test_a_short_request_that_says_please_is_a_request() -> None:
    """Only the bare word is a yes."""
    assert cue_phrases.opens_task("Please write the announcement for the new release")
    assert cue_phrases.is_approval("yes please!")
    assert cue_phrases.is_approval("Please.")
    assert not cue_phrases.is_approval("Please write the tests")


def test_what_the_agent_was_about_to_do_comes_next_until_somebody_speaks() -> None:
    """Without a list of its own the agent still says what it is going to do."""
    thread = Thread().user("Why does the importer skip the last message of `export.zip`?")
    thread.agent("The index has one entry too few. Now let me compare `index.bin` with the messages.")
    found = ENGINE.working_state(thread.messages)
    assert found.next_steps == ("compare `index.bin` with the messages",)
    pointing = Thread().user("Why is the last message gone?").agent("The index has one entry too few. Let me fix this:")
    assert ENGINE.working_state(pointing.messages).next_steps == ("fix this: The index has one entry too few.",)
    spoken = ENGINE.working_state(thread.user("Leave the index alone please").messages)
    assert not spoken.next_steps


def test_only_choices_made_for_good_are_decisions_of_the_agent() -> None:
    """Neither a nod, nor a description of two ways, nor a pasted plan decides anything."""
    plan = "# Plan\n## Steps\nLet's use a table instead of a list.\n- We decided to keep the names."
    thread = Thread().user(f"Implement the following plan:\n{plan}")
    thread.agent("The handlers call `find_agent`, which guesses, rather than the name they know.")
    thread.agent("The simplest solution is to hand the name down in `call_handler`.").user("ok, let's do this")
    made = ENGINE.working_state(thread.messages).recent_decisions
    assert made == ("The simplest solution is to hand the name down in `call_handler`.",)


ASSENTS = (
    "go on",
    "ok",
    "yes",
    "Yes, please.",
    "go on with it please",
    "sounds good to me, go ahead",
    "keep going",
    "👍",
)
ELSEWHERE = ("ja", "ja bitte", "mach weiter", "oui, vas-y", "sí, adelante", "да, давай", "继续", "はい、お願いします")
TASK = "Please add a retry to the exporter in src/export.py"


@pytest.mark.parametrize("words", [*ASSENTS, *ELSEWHERE])
def test_a_yes_to_a_question_is_an_agreement_and_no_task(words: str) -> None:
    """In whatever language: what was agreed to is the decision, and the task stays what it was."""
    thread = Thread().user(TASK).bash("pytest", "ok")
    thread.agent("I looked at it. I suggest one queue for both exporters. Shall I write it like that?").user(words)
    state = ENGINE.working_state(thread.bash("ls", "a.py").messages)
    assert state.current_task == TASK
    assert state.task_chain == (TASK,)
    (decision,) = state.recent_decisions
    assert decision.startswith(f"“{words}” to: ")
    assert "one queue for both exporters" in decision


@pytest.mark.parametrize("words", ASSENTS)
def test_a_yes_to_nothing_decides_nothing(words: str) -> None:
    """Where the agent neither asked nor proposed anything, nothing was agreed to."""
    thread = Thread().user(TASK).agent("The exporter is in src/export.py.").user(words)
    state = ENGINE.working_state(thread.messages)
    assert state.current_task == TASK
    assert state.recent_decisions == ()


@pytest.mark.parametrize("words", ["mach weiter", "sí, adelante", "да, давай"])
def test_a_word_or_two_that_name_nothing_never_replace_the_task(words: str) -> None:
    """Not even where nothing was asked: they are shown behind it."""
    thread = Thread().user(TASK).agent("The exporter is in src/export.py.").user(words)
    assert ENGINE.working_state(thread.messages).current_task.startswith(TASK)


def test_a_short_answer_that_names_something_is_shown() -> None:
    """A file, a flag, a number: more than a yes."""
    thread = Thread().user(TASK).agent("Which file shall I change first?").user("src/queue.py first")
    assert "src/queue.py" in ENGINE.working_state(thread.messages).current_task


def test_a_refusal_is_no_agreement() -> None:
    """It corrects."""
    thread = Thread().user(TASK).agent("Shall I use two queues for the exporter, one each?").user("no, stop")
    assert ENGINE.working_state(thread.messages).recent_decisions == ()


def test_what_comes_next_is_what_the_agent_said_it_does_now() -> None:
    """Without a plan its last words tell, also when they leave out who acts, and however many calls they took."""
    thread = Thread().user("Move the retries of `fetcher.py` into a file").agent("Now update the fetcher's own tests.")
    for number in range(12):
        thread.call("Read", {"file_path": f"/w/app/tests/test_{number}.py"}, "retries = 3")
    assert ENGINE.working_state(thread.messages).next_steps == ("update the fetcher's own tests",)
    said = Thread().user("Why do the retries of `fetcher.py` stop early?").agent("Now the retries go on until the end.")
    assert ENGINE.working_state(said.messages).next_steps == ()
