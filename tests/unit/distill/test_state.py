"""The working state: task, next step, decisions and blockers of a thread, and whose words they are."""

from __future__ import annotations

import pytest

from reverie import tokenizer
from reverie.distill import state_text
from reverie.distill.distiller import Extractive
from reverie.distill.steps import read_trace
from reverie.models import Section, WorkingState
from support.talk import Talk, logger_fix

ENGINE = Extractive()
TASK = "Please add a cache to the resolver, it answers each request twice as slowly as the old one"
PROPOSAL = "I suggest that `resolve` keeps its answers in Redis instead of a table. Shall I use Redis for the cache?"

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\nuse the other file"
)


def state(thread: Talk) -> WorkingState:
    """Return the working state at the end of a thread."""
    return ENGINE.working_state(thread.messages)


def summary(thread: Talk) -> dict[Section, tuple[str, ...]]:
    """Return the sections of a summary of the whole thread."""
    last = thread.messages[-1].last_seq + 1
    return ENGINE.distill(thread.messages, number=1, previous=None, tail_from_seq=last).summary.sections


def test_state_of_real_work_names_task_steps_files_and_checks() -> None:
    """A fix has its request as task, the open question first, finished items, the commit and the files."""
    shown = state(logger_fix())
    assert shown.current_task.startswith("The logger writes to stdout in worker mode, please fix it.")
    assert shown.next_steps[0].startswith("waiting for an answer: ")
    assert shown.next_steps[0].endswith("Shall I open a pull request?")
    assert "committed 1a2b3c4 fix(logger): replace the pipeline by lineTransport" in shown.completed_steps
    assert shown.open_files == ("logger.ts", "lineTransport.ts")
    assert tokenizer.count(state_text.render(shown)) <= state_text.MAX_TOKENS


@pytest.mark.parametrize(
    "no", ["no, keep the table", "better not, it is one more server", "I think the table is enough"]
)
def test_an_objection_takes_the_proposal_back(no: str) -> None:
    """What the person objects to is in no decision, state or summary line; the objection is a correction, quoted."""
    thread = Talk().user(TASK).agent(PROPOSAL).user(no).agent("The table stays then.")
    sections = summary(thread)
    told = [line for section in Section if section is not Section.TASK_CONTEXT for line in sections[section]]
    assert sections[Section.CORRECTIONS] == (f"User: {no}",)
    assert not any("Redis" in line for line in told)
    assert not any("Redis" in text for text in state(thread).recent_decisions)


def test_what_the_agent_found_out_outlives_an_objection() -> None:
    """An objection to a proposal leaves the cause that was stated before it."""
    thread = Talk().user(TASK).agent(f"The cause is that `resolve` reads each zone twice because of a typo. {PROPOSAL}")
    sections = summary(thread.user("no, just fix the typo"))
    assert any("reads each zone twice" in line for line in sections[Section.COMPLETED_WORK])


def test_an_interruption_is_a_correction_and_going_on_is_none() -> None:
    """Words after a stop are quoted as a correction, unless they only let the agent go on."""
    stopped = (
        Talk().user(TASK).agent("Now I will rewrite `resolver.py` to use Redis.").user("[Request interrupted by user]")
    )
    stopped.user("the table has to stay for the offline mode")
    assert summary(stopped)[Section.CORRECTIONS] == ("User: the table has to stay for the offline mode",)
    resumed = Talk().user(TASK).agent("Now I will rewrite `resolver.py`.").user("[Request interrupted by user]")
    assert summary(resumed.user("ok, please continue"))[Section.CORRECTIONS] == ()


def test_a_yes_decides_what_was_proposed_and_going_on_decides_nothing() -> None:
    """A yes to a proposal is a decision with its words; a yes to "shall I go on?" is none."""
    decided = state(Talk().user(TASK).agent(PROPOSAL).user("yes, do that")).recent_decisions
    assert decided[-1].startswith("“yes, do that” to: ")
    assert "Redis" in decided[-1]
    going_on = Talk().user(TASK).agent("The first half is done. Shall I continue with the second half of it now?")
    assert state(going_on.user("yes")).recent_decisions == ()


def test_a_choice_by_letter_or_number_is_told_in_the_words_of_the_option() -> None:
    """`c` typed to a menu is an order in the option's words; `2` is a decision for the second option."""
    menu = "All is pushed.\n\na) Write the changelog\nb) Stop here\nc) Rebuild the index of `pages.db`\n\nWhat is it?"
    assert state(Talk().user(TASK).agent(menu).user("c")).next_steps == (
        "do what the user asked: Rebuild the index of pages.db",
    )
    options = "Two ways:\n1. **A queue** in the store\n2. **A table** beside it\n\nWhich one do you prefer?"
    chosen = state(Talk().user(TASK).agent(options).user("2"))
    assert chosen.recent_decisions == ("“2”: A table beside it",)
    assert state(Talk().user(TASK).agent(options)).next_steps == (
        "waiting for an answer: Which one do you prefer? (A queue in the store / A table beside it)",
    )


def test_answers_of_the_question_tool_decide_with_the_description_of_the_option() -> None:
    """The person's choice is told with the option's description; "you decide" and how to go on are no decisions."""
    options = [{"label": "LMDB", "description": "one file, no server"}, {"label": "Redis", "description": "a server"}]
    asked = {
        "Which store?": options,
        "Which name?": [{"label": "You decide", "description": ""}],
        "What next?": [{"label": "Continue", "description": "with the next phase"}],
    }
    given = {"Which store?": "LMDB", "Which name?": "You decide", "What next?": "Continue"}
    result = "User has answered your questions: " + ", ".join(f'"{one}"="{given[one]}"' for one in asked)
    questions = [{"question": one, "options": options} for one, options in asked.items()]
    thread = Talk().user(TASK).call("AskUserQuestion", {"questions": questions}, f"{result}.")
    assert state(thread).recent_decisions == ("Which store? → LMDB: one file, no server",)


def test_an_option_that_the_person_came_back_to_is_no_decision() -> None:
    """A chosen option goes where a later answer in the person's own words is about the same."""
    options = [{"label": "On commit", "description": "as today"}, {"label": "At once", "description": ""}]
    thread = Talk().user(TASK)
    answers = {
        "When to condense?": "On commit",
        "Which store?": "a file",
        "Is idle a state?": "explicit, and it has to condense",
    }
    for question, answer in answers.items():
        asked = {"questions": [{"question": question, "options": options}]}
        thread.call("AskUserQuestion", asked, f'User has answered your questions: "{question}"="{answer}".')
    assert [text.partition(" →")[0] for text in state(thread).recent_decisions] == ["Which store?", "Is idle a state?"]


def test_a_refusal_leaves_the_request_open() -> None:
    """What the person says with a refused call belongs to the request in hand, which nobody answered yet."""
    asked = "log this as an issue of the resolver and then let us move on"
    thread = Talk().user(TASK).agent("It is slow.").user(asked)
    thread.call("create_issue", {"title": "slow"}, REFUSED, failed=True)
    assert state(thread).current_task == f"{asked} → use the other file"


def test_a_slash_command_is_a_task_with_its_argument() -> None:
    """A slash command is told as typed, with its argument."""
    wrapped = (
        "<command-message>review</command-message><command-name>/review</command-name><command-args>181</command-args>"
    )
    assert state(Talk().user(wrapped)).current_task == "/review 181"


def test_the_task_is_the_last_request_that_opens_work() -> None:
    """Neither what was answered at once nor a remark while the agent works is the task; what was agreed to is."""
    thread = Talk().user(TASK).agent("I start with the table.").edit("resolver.py")
    aside = thread.user("we also have to keep the old resolver for the people in the other office").edit("old.py")
    assert state(aside).current_task.startswith(TASK)
    aside.agent("It is done.").user("just so that I know it: the table of zones has an index of its own, I hope")
    aside.agent("It has one.").user("tidy up the folder")
    assert state(aside).current_task == f"{TASK} → tidy up the folder"
    talk = Talk().user("how does the resolver work?").agent("It reads a table for each request.")
    talk.user("could we not keep the answers of it in a file beside the table?").agent("We could, in `answers.db`.")
    talk.user("ok, let's do this").edit("answers.py")
    assert state(talk).current_task.startswith("could we not keep the answers of it in a file")


def test_a_step_that_the_agent_named_last_is_told_without_its_label() -> None:
    """The list of next steps says that it is one."""
    thread = Talk().user(TASK).agent("The cache is there. Next: add a test of its limit.")
    assert state(thread).next_steps == ("add a test of its limit.",)


def test_a_step_that_is_done_is_not_told() -> None:
    """What was answered, committed, or changed and checked since it was asked is no next step."""
    asked = Talk().user(TASK).edit("resolver.py")
    assert state(asked).next_steps == (f"go on: {TASK}",)
    assert state(asked.bash("make test", "12 passed")).next_steps == ()
    committed = Talk().user(TASK).edit("resolver.py").bash("git commit -am 'Add a cache'", "[main 1a2b3c4] Add a cache")
    assert state(committed).next_steps == ()
    question = Talk().user(TASK).edit("resolver.py").user("is the old table still read by the resolver?")
    question.agent("It is not, `resolve` reads the cache.").bash("make", "ok").bash("git status", "clean")
    assert state(question).next_steps == ()
    refused = Talk().user(TASK).agent("Now I drop the table.").call("Edit", {"file_path": "a.py"}, REFUSED, failed=True)
    assert state(refused.edit("b.py")).next_steps == ()


def test_a_check_that_passed_in_the_same_command_blocks_nothing() -> None:
    """A lint that failed is no blocker any more once a command line that has it passes; what is tested was built."""
    thread = Talk().user(TASK).bash("make lint", "resume.py:406: error: unused", failed=True)
    assert state(thread).blockers == ("lint failing: resume.py:406: error: unused",)
    thread.bash("go build ./...", "resume.go:9: undefined: agent", failed=True)
    thread.bash("make lint && make test", "0 issues.\n12 passed")
    assert state(thread).blockers == ()


def test_an_item_of_another_agent_is_not_ones_own_next_step() -> None:
    """Items that other agents of a team have are no next step; what this agent began is."""
    thread = Talk().user(TASK).call("TaskCreate", {"subject": "Write the cache"}, "Task #1 created")
    thread.call("TaskCreate", {"subject": "Test the cache"}, "Task #2 created")
    listed = "#1 [pending] Write the cache\n#2 [in_progress] Test the cache (ann)\n#3 [pending] Deploy it (ben)"
    thread.call("TaskList", {}, listed)
    assert [step for step in state(thread).next_steps if "task #" in step] == ["Write the cache (task #1)"]
    thread.call("TaskUpdate", {"taskId": "2", "owner": "me", "status": "in_progress"})
    assert state(thread).next_steps[0] == "Test the cache (task #2)"


def test_words_of_others_in_the_persons_role_are_nobodys_orders() -> None:
    """Messages of agents, ends of tasks and the client's own words are not what the person typed."""
    message = '<teammate-message teammate_id="lead" color="blue">\nTake task 4 and write its tests\n</teammate-message>'
    signal = '<teammate-message teammate_id="ann">{"type":"idle_notification"}</teammate-message>'
    ended = (
        "<task-notification>\n<task-id>b1</task-id>\n<status>completed</status>\n<summary>Tests ended</summary>\n"
        "<result>All 12 tests of the cache pass.</result>\n</task-notification>\nRead the output file: /tmp/b1.output"
    )
    thread = Talk().user(TASK).agent("On it.").user(message).user(signal).user(ended)
    trace = read_trace(thread.messages)
    assert [said.text for said in trace.said("user")] == [TASK]
    assert [(said.name, said.text) for said in trace.said("teammate")] == [("lead", "Take task 4 and write its tests")]
    assert [said.text for said in trace.said("report")] == ["Tests ended\nAll 12 tests of the cache pass."]
    assert state(thread).current_task == TASK
    ordered = state(Talk().user(message).bash("ls", "a"))
    assert ordered.current_task == "(lead asked) Take task 4 and write its tests"


def test_the_current_state_is_short_and_has_nothing_of_the_middle() -> None:
    """What is true now has at most seven lines, and no sentence of the middle of the session."""
    thread = Talk().user(TASK)
    for number in range(30):
        thread.agent(f"The zone file {number} is read twice because of `loader_{number}`.").edit(
            f"/w/app/zone_{number}.py"
        )
    thread.bash("pytest -q", "12 passed", description="Run the tests").agent("All zones are read once. The tests pass.")
    now = summary(thread)[Section.CURRENT_STATE]
    assert len(now) <= 7
    assert f"The user last asked: {TASK}" in now
    assert not any("loader_3" in line for line in now)
