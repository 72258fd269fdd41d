"""The working state: the text that agents read, its token limit, and its fields from a thread's messages."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reverie import count_and_truncate_tokens
from reverie.distill import cues as cue_phrases
from reverie.distill import state_text as render_and_trim_working_state
from reverie.distill.extractive import Extractive, messages_that_open_a_task
from reverie.models import StateSources, WorkingState
from support.thread import Thread, logger_fix

ENGINE = Extractive()


def test_rendered_state_equals_the_specified_text() -> None:
    """Heading and labels are literal, lists are joined by semicolons, files by commas."""
    shown = render_and_trim_working_state.render(
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
    """An empty state renders to an empty text."""
    assert (
        render_and_trim_working_state.render(WorkingState(current_task="x"))
        == "## Working State (auto-maintained)\nCurrent task: x"
    )
    assert render_and_trim_working_state.render(WorkingState()) == ""


def test_lists_drop_their_oldest_items() -> None:
    """At the limit the newest items, the nearest next steps and the current task stay."""
    long = tuple(
        f"step {number} of a rather long list of finished things in src/module_{number}.py" for number in range(80)
    )
    trimmed = render_and_trim_working_state.trim_to_tokens(
        WorkingState(current_task="the task", completed_steps=long, next_steps=long)
    )
    assert (
        count_and_truncate_tokens.count(render_and_trim_working_state.render(trimmed))
        <= render_and_trim_working_state.MAX_TOKENS
    )
    assert trimmed.current_task == "the task"
    assert trimmed.completed_steps[-1] == long[-1]
    assert trimmed.next_steps[0] == long[0]


def test_a_task_of_any_length_fits() -> None:
    """A current task that alone exceeds the limit is cut."""
    trimmed = render_and_trim_working_state.trim_to_tokens(WorkingState(current_task="word " * 3000), max_tokens=100)
    assert count_and_truncate_tokens.count(render_and_trim_working_state.render(trimmed)) <= 100


def test_state_of_real_work_names_task_steps_files_and_decisions() -> None:
    """Task, completed and next steps, open files and blockers of a sample session are all in its working state."""
    state = ENGINE.working_state(logger_fix().messages)
    assert state.current_task.endswith("(now: Write a regression test)")
    assert "don't touch the public makeLogger signature" in state.current_task
    assert any("committed 1a2b3c4" in step for step in state.completed_steps)
    assert "Find the cause of the leak" in state.completed_steps
    assert state.next_steps[0] == "Write a regression test"
    assert any("Shall I open a pull request?" in step for step in state.next_steps)
    assert state.open_files[-1] == "lineTransport.ts"
    assert state.blockers == ()
    assert state.updated_at == "2026-03-05T09:21:00.000Z"


def test_a_failing_test_blocks_until_it_passes() -> None:
    """The newest run of a check decides whether it is a blocker."""
    failing = (
        Thread().user("please make the parser tests pass").bash("pytest -q", "E   AssertionError: no", failed=True)
    )
    assert ENGINE.working_state(failing.messages).blockers == ("tests failing: E AssertionError: no",)
    assert ENGINE.working_state(failing.bash("pytest -q", "3 passed").messages).blockers == ()


def test_a_yes_does_not_replace_the_task() -> None:
    """The last substantial request is the task; a short follow-up is shown after it."""
    thread = Thread().user("Please write a parser for the new wire format of the daemon").agent("Shall I?").user("yes")
    assert ENGINE.working_state(thread.messages).current_task.startswith("Please write a parser")
    followed = thread.agent("Written.").user("and also the tests")
    task = ENGINE.working_state(followed.messages).current_task
    assert task == "Please write a parser for the new wire format of the daemon → and also the tests"


def test_previous_state_is_carried_over() -> None:
    """Fields that nothing replaces stay; without new messages nothing changes."""
    before = ENGINE.working_state(logger_fix().messages)
    assert ENGINE.working_state([], before) == before
    after = ENGINE.working_state(Thread().user("Now let's use tabs in every source file please").messages, before)
    assert "lineTransport.ts" in after.open_files
    assert "Write a regression test" in after.next_steps
    assert after.recent_decisions[-1].startswith("Now let's use tabs") or "tabs" in after.current_task


def test_rewound_messages_are_ignored() -> None:
    """A rewound request is no task."""
    thread = Thread().user("Rename every module to start with z").user("Delete the whole database now", rewound=True)
    assert "Delete" not in ENGINE.working_state(thread.messages).current_task


def test_every_item_names_its_source_entry() -> None:
    """There is one sequence number for each item, and that entry has the item's text."""
    thread = logger_fix()
    state = ENGINE.working_state(thread.messages)
    texts = {message.last_seq: str(message.content) for message in thread.messages}

    for name in render_and_trim_working_state.LISTS:
        assert len(getattr(state.sources, name)) == len(getattr(state, name)), name
        assert all(seq in texts for _, seq in render_and_trim_working_state.state_items(state, name)), name
    committed = next(
        seq
        for text, seq in render_and_trim_working_state.state_items(state, "completed_steps")
        if text.startswith("committed")
    )
    assert "1a2b3c4" in texts[committed]
    assert (
        "Shall I open a pull request?"
        in texts[dict(render_and_trim_working_state.state_items(state, "next_steps"))[state.next_steps[-1]]]
    )
    assert (
        "lineTransport.ts"
        in texts[dict(render_and_trim_working_state.state_items(state, "open_files"))["lineTransport.ts"]]
    )
    assert "Write a regression test" in texts[state.sources.current_task]


def test_items_not_mentioned_again_expire() -> None:
    """Files, steps, blockers and next steps are dropped after many entries without a mention."""
    thread = logger_fix().bash("make lint", "error: unused import", failed=True)
    before = ENGINE.working_state(thread.messages)
    assert before.blockers
    assert before.open_files

    def later(entries: int) -> WorkingState:
        talk = [
            replace(message, first_seq=entries, last_seq=entries) for message in Thread().user("go on then").messages
        ]
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


def test_a_question_is_a_next_step_until_answered() -> None:
    """The question is among the next steps until the next message of the user."""
    before = ENGINE.working_state(logger_fix().messages)
    assert any(step.startswith("waiting for an answer") for step in before.next_steps)
    after = ENGINE.working_state(Thread().user("Yes, open one against the main branch").messages, before)
    assert not any(step.startswith("waiting for an answer") for step in after.next_steps)


def test_a_check_that_failed_before_blocks_until_it_is_run_again() -> None:
    """A failing check of the previous state stays a blocker until a new run."""
    failing = (
        Thread().user("please make the parser tests pass").bash("pytest -q", "E   AssertionError: no", failed=True)
    )
    before = ENGINE.working_state(failing.messages)
    assert ENGINE.working_state(Thread().user("any news of the parser?").messages, before).blockers == before.blockers
    assert ENGINE.working_state(Thread().bash("pytest -q", "3 passed").messages, before).blockers == ()


def test_the_task_stays_until_a_new_request() -> None:
    """A remark after the stored state is shown after its task; a new request replaces it."""
    before = WorkingState(current_task="Port the parser to the new grammar (now: tables)")
    remark = ENGINE.working_state(Thread().user("and also mention it in the changelog").messages, before)
    fresh = ENGINE.working_state(Thread().user("Please find out why the cache is cold at start").messages, before)

    assert remark.current_task == "Port the parser to the new grammar → and also mention it in the changelog"
    assert fresh.current_task == "Please find out why the cache is cold at start"
    assert ENGINE.working_state(Thread().user("yes").messages, before).current_task == before.current_task


def test_leaving_an_item_out_leaves_its_source_out() -> None:
    """Items and their sources stay parallel, whichever items are dropped."""
    long = tuple(f"step {number} of a rather long list of finished things" for number in range(90))
    state = WorkingState(
        current_task="x", completed_steps=long, sources=StateSources(1, completed_steps=tuple(range(1, 91)))
    )
    trimmed = render_and_trim_working_state.trim_to_tokens(state)

    assert 0 < len(trimmed.completed_steps) < 90
    assert trimmed.sources.completed_steps[-1] == 90
    assert all(
        f"step {seq - 1} " in text
        for text, seq in render_and_trim_working_state.state_items(trimmed, "completed_steps")
    )


def test_the_task_stays_where_only_the_plan_changed() -> None:
    """Messages without the user's keep the previous task, with the step now in progress."""
    before = WorkingState(current_task="Move the settings (now: Move them)", sources=StateSources(current_task=3))
    state = Extractive().working_state(Thread().todos(Describe_them="in_progress").messages, before)
    assert state.current_task == "Move the settings (now: Describe them)"


def test_a_short_request_that_says_please_is_a_request() -> None:
    """A bare "Please." or "yes please!" is an approval; "please" before a request makes it no approval."""
    assert messages_that_open_a_task.opens_task("Please write the announcement for the new release")
    assert cue_phrases.is_approval("yes please!")
    assert cue_phrases.is_approval("Please.")
    assert not cue_phrases.is_approval("Please write the tests")


def test_announcements_of_the_agent_are_next_steps_until_the_next_user_message() -> None:
    """Without a task list the agent's own announcement is the next step."""
    thread = Thread().user("Why does the importer skip the last message of `export.zip`?")
    thread.agent("The index has one entry too few. Now let me compare `index.bin` with the messages.")
    state = ENGINE.working_state(thread.messages)
    assert state.next_steps == ("go on: compare `index.bin` with the messages",)
    pointing = Thread().user("Why is the last message gone?").agent("The index has one entry too few. Let me fix this:")
    assert ENGINE.working_state(pointing.messages).next_steps == ("go on: fix this: The index has one entry too few.",)
    spoken = ENGINE.working_state(thread.user("Leave the index alone please").messages)
    assert spoken.next_steps == ("do what the user asked: Leave the index alone please",)


def test_only_final_choices_are_decisions_of_the_agent() -> None:
    """An acknowledgement, a description of two alternatives and a pasted plan decide nothing."""
    plan = "# Plan\n## Steps\nLet's use a table instead of a list.\n- We decided to keep the names."
    thread = Thread().user(f"Implement the following plan:\n{plan}")
    thread.agent("The handlers call `find_agent`, which guesses, rather than the name they know.")
    thread.agent("The simplest solution is to hand the name down in `call_handler`.").user("ok, let's do this")
    result = ENGINE.working_state(thread.messages).recent_decisions
    assert result == ("The simplest solution is to hand the name down in `call_handler`.",)


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
    """In any language: the proposal is the decision, and the task is unchanged."""
    thread = Thread().user(TASK).bash("pytest", "ok")
    thread.agent("I looked at it. I suggest one queue for both exporters. Shall I write it like that?").user(words)
    state = ENGINE.working_state(thread.bash("ls", "a.py").messages)
    assert state.current_task == TASK
    assert state.task_chain == (TASK,)
    (decision,) = state.recent_decisions
    assert decision.startswith(f"“{words}” to: ")
    assert "one queue for both exporters" in decision


@pytest.mark.parametrize("words", ASSENTS)
def test_a_yes_without_a_proposal_decides_nothing(words: str) -> None:
    """A yes is no decision if the agent neither asked nor proposed anything."""
    thread = Thread().user(TASK).agent("The exporter is in src/export.py.").user(words)
    state = ENGINE.working_state(thread.messages)
    assert state.current_task == TASK
    assert state.recent_decisions == ()


@pytest.mark.parametrize("words", ["mach weiter", "sí, adelante", "да, давай"])
def test_a_word_or_two_that_name_nothing_never_replace_the_task(words: str) -> None:
    """A message of a word or two that names nothing does not replace the task, even if the agent asked nothing."""
    thread = Thread().user(TASK).agent("The exporter is in src/export.py.").user(words)
    assert ENGINE.working_state(thread.messages).current_task.startswith(TASK)


def test_a_short_answer_that_names_something_is_shown() -> None:
    """A short answer that names a file is shown with the current task."""
    thread = Thread().user(TASK).agent("Which file shall I change first?").user("src/queue.py first")
    assert "src/queue.py" in ENGINE.working_state(thread.messages).current_task


def test_a_refusal_is_no_agreement() -> None:
    """If the person refuses what the agent proposed, no decision is recorded."""
    thread = Thread().user(TASK).agent("Shall I use two queues for the exporter, one each?").user("no, stop")
    assert ENGINE.working_state(thread.messages).recent_decisions == ()


def test_the_last_announcement_of_the_agent_is_the_next_step() -> None:
    """An act that the agent announces is the next step, however many calls follow; "Now the retries go on" is none."""
    thread = Thread().user("Move the retries of `fetcher.py` into a file").agent("Now update the fetcher's own tests.")
    for number in range(12):
        thread.call("Read", {"file_path": f"/w/app/tests/test_{number}.py"}, "retries = 3")
    assert ENGINE.working_state(thread.messages).next_steps == ("go on: update the fetcher's own tests",)
    talk = Thread().user("Why do the retries of `fetcher.py` stop early?").agent("Now the retries go on until the end.")
    assert ENGINE.working_state(talk.messages).next_steps == ()


@pytest.mark.parametrize(
    "said",
    [
        "Blocked: the API key is missing.",
        "Blocked on review of #12.",
        "The deployment is blocked until the certificate is renewed.",
        "I need you to log in to the registry first.",
    ],
)
def test_obstacles_in_other_words_are_blockers(said: str) -> None:
    """Other ways in which an agent says that its work is blocked also give a blocker that waits for the user."""
    thread = Thread().user("Deploy the service to staging").agent(said)
    assert ENGINE.working_state(thread.messages).blockers == (f"waiting for the user: {said}",)


@pytest.mark.parametrize("said", ["The event loop is blocked by the parser.", "Blocked by default in the firewall."])
def test_what_is_blocked_in_a_program_is_no_blocker(said: str) -> None:
    """An agent's sentence about something blocked in a program is no blocker of the work."""
    thread = Thread().user("Find out why the service hangs").agent(said)
    assert ENGINE.working_state(thread.messages).blockers == ()


@pytest.mark.parametrize(
    "said",
    [
        "✅ Reviewed #30 — clean",
        "PR #30: reviewed, clean",
        "Finished reviewing #30; it is clean",
        "#30 reviewed: clean",
        "Done with #30",
        "Merged #30",
    ],
)
def test_a_finished_review_in_other_words(said: str) -> None:
    """Different wordings of a finished review are found as completed steps."""
    thread = Thread().user("Review the PRs #30-32 and merge them").agent(f"{said}.")
    assert ENGINE.working_state(thread.messages).completed_steps == (said,)


@pytest.mark.parametrize(
    "said", ["Merge commit, not squash.", "Squash, don't rebase.", "No flags, just an environment variable."]
)
def test_a_short_choice_between_two_is_a_decision(said: str) -> None:
    """A short answer such as "Merge commit, not squash." is a decision, though it begins with a verb of orders."""
    thread = Thread().user("Set up the release").agent("How shall it be merged?").user(said)
    assert ENGINE.working_state(thread.messages).recent_decisions == (said,)


@pytest.mark.parametrize(
    "said",
    [
        "Check the logs, don't worry.",
        "No problem, just go on with it.",
        "Sorry, don't do that.",
        "No idea, just guess.",
    ],
)
def test_a_remark_with_a_comma_is_no_decision(said: str) -> None:
    """A comma before "don't" or "just" is no choice where the sentence rejects nothing."""
    thread = Thread().user("Set up the release").agent("How shall it be merged?").user(said)
    assert ENGINE.working_state(thread.messages).recent_decisions == ()


@pytest.mark.parametrize(
    ("said", "step"),
    [
        ("The parser is done. What's left is the migration of the old files.", "the migration of the old files."),
        ("All three are reviewed. Then I merge #31 and #32.", "I merge #31 and #32."),
        ("Next up: the changelog entry and the tag.", "the changelog entry and the tag."),
        ("What's left is an empty list.", ""),
        ("First it reads the file. Then I see the error in the log.", ""),
    ],
)
def test_next_steps_in_other_words(said: str, step: str) -> None:
    """Work that an agent says is left, or does then, is the next step; a description of how a program works is none."""
    thread = Thread().user("Review the pull requests and merge them").agent(said)
    assert ENGINE.working_state(thread.messages).next_steps == ((step,) if step else ())
