"""Next steps that the thread shows to be made, overtaken or moot are not in the working state."""

from __future__ import annotations

import pytest

from reverie.distill.extractive import Extractive
from reverie.models import NO_RESULT
from support.thread import Thread

ENGINE = Extractive()
ASKED = "Teach the harbour to count its ships, please"


def following(thread: Thread) -> tuple[str, ...]:
    return ENGINE.working_state(thread.messages).next_steps


def with_tasks(*subjects: str) -> Thread:
    thread = Thread().user(ASKED)
    for number, subject in enumerate(subjects, start=1):
        thread.call("TaskCreate", {"subject": subject}, f"Task #{number} created successfully: {subject}")
    return thread


def test_the_list_of_all_tasks_overrides_what_was_seen_of_them() -> None:
    """A subagent finishes tasks unseen; the tool that lists all of them says so, and names tasks made elsewhere."""
    thread = with_tasks("Count the ships", "Count the boats", "Paint the pier")
    thread.call(
        "TaskList",
        {},
        "#1 [completed] Count the ships\n#2 [pending] Count the boats [blocked by #1]\n#4 [in_progress] Tell Ann",
    )
    assert following(thread) == ("Tell Ann (task #4)", "Count the boats (task #2)")
    assert following(thread.call("TaskList", {}, "No tasks found")) == (
        "go on: finish, and report that the plan is done (1 of 1 steps)",
    )


@pytest.mark.parametrize(("result", "failed"), [("#1 [completed] Count the ships", True), ("try again later", False)])
def test_a_list_that_could_not_be_read_changes_no_task(result: str, failed: bool) -> None:  # noqa: FBT001 - a parameter
    """A failed or unreadable answer of the tool that lists tasks leaves them as they are."""
    thread = with_tasks("Count the ships").call("TaskList", {}, result, failed=failed)
    assert following(thread) == ("Count the ships (task #1)",)


@pytest.mark.parametrize(
    ("item", "status", "is_told"),
    [
        ("Run the linter and all tests", "in_progress", False),
        ("Alle Tests ausführen", "in_progress", False),
        ("Run the linter and all tests", "pending", True),  # at the end of the plan they are to be run again
        ("Update the tests", "in_progress", True),
        ("Build the pier", "in_progress", True),
    ],
)
def test_checks_that_passed_since_they_were_begun_are_no_step(item: str, status: str, *, is_told: bool) -> None:
    """An item that only runs checks is over once each of them passed, even if it was never ticked off."""
    thread = Thread().user(ASKED).todos(**{"Count": "completed", item: status, "Tell Ann": "pending"})
    thread.bash("ruff check .", "All checks passed!").bash("make build", "done").bash("pytest -q", "9 passed")
    assert (item in following(thread)) is is_told
    assert "Tell Ann" in following(thread)


@pytest.mark.parametrize("last", [("pytest -q", "E assert 1 == 2", True), ("ls", "harbour.py", False)])
def test_checks_that_failed_or_are_to_come_stay_a_step(last: tuple[str, str, bool]) -> None:
    """An item of two checks stays as long as one of them failed or was not run."""
    thread = Thread().user(ASKED).todos(**{"Run the linter and all tests": "in_progress", "Tell Ann": "pending"})
    command, result, failed = last
    thread.bash("ruff check .", "All checks passed!").bash(command, result, failed=failed)
    assert following(thread)[0] == "Run the linter and all tests"


def building() -> Thread:
    return (
        Thread()
        .user(ASKED)
        .todos(
            **{"Add a field for ships": "in_progress", "Add `countShips` to the harbour": "pending", "Test": "pending"}
        )
    )


def test_items_whose_code_was_written_are_behind_the_work() -> None:
    """An edit that defines what a pending item asks for shows that the list lags, up to the next list."""
    thread = building().edit("/w/harbour.py", "class Harbour:", "class Harbour:\n    def countShips(self) -> int: ...")
    assert following(thread) == ("Test",)
    thread.todos(**{"Add a field for ships": "completed", "Add `countShips` to the harbour": "in_progress"})
    assert following(thread) == ("Add `countShips` to the harbour",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("total = 0", "total = harbour.countShips()"),  # a use
        ("def countShips(self): ...", "def countShips(self) -> int: ..."),  # it was there before
        ("", "def countShipsByFlag(self): ..."),
    ],
)
def test_edits_that_define_nothing_new_leave_the_list(old: str, new: str) -> None:
    """A use, a change of what was there, or another name does not make a pending item done."""
    assert len(following(building().edit("/w/harbour.py", old, new))) == 3


def test_a_name_of_two_items_tells_nothing() -> None:
    """An edit that defines a name of two unfinished items may be of either of them."""
    thread = with_tasks("Add `ShipCount` to the harbour", "Add `ShipCount` to the map")
    assert len(following(thread.edit("/w/harbour.py", "", "class ShipCount: ..."))) == 2


def test_after_several_edits_the_request_is_to_be_finished() -> None:
    """After one edit of an announced one the step is to check it; after more, the request, as the next may be begun."""
    thread = Thread().user(ASKED).agent("Now let me add a counter to the harbour.")
    assert following(thread) == ("go on: add a counter to the harbour",)
    thread.edit("/w/harbour.py")
    assert following(thread) == ("go on: see that it works, and finish: add a counter to the harbour",)
    thread.edit("/w/map.py")
    assert following(thread) == (f"go on: finish what was asked: {ASKED}",)
    thread.bash("pytest -q", "9 passed")
    assert following(thread) == (f"go on: finish what was asked (tests passed): {ASKED}",)


def test_a_look_is_over_once_something_was_edited() -> None:
    """An announcement to look at something is no step anymore after an edit."""
    thread = Thread().user(ASKED).agent("Let me check how the harbour keeps its ships, and which it forgets.")
    assert "check how the harbour" in following(thread.call("Read", {"file_path": "/w/harbour.py"}, "ships = []"))[0]
    assert following(thread.edit("/w/harbour.py")) == (f"go on: finish what was asked: {ASKED}",)


def test_announced_checks_that_were_run_are_over() -> None:
    """An announced check comes before the item in hand, until each check that it names has a result."""
    thread = Thread().user(ASKED).todos(Count_the_ships="in_progress", Tell_Ann="pending")
    thread.edit("/w/harbour.py").agent("Now let me verify the build and run the tests.").bash("make build", "done")
    assert following(thread) == ("go on: run the tests", "Count the ships", "Tell Ann")
    assert following(thread.bash("pytest -q", "E assert", failed=True)) == (
        "go on: make the tests pass again (E assert)",
        "Count the ships",
        "Tell Ann",
    )
    whole = Thread().user(ASKED).agent("Let me run the full validation again.")
    assert "run the full validation again" in following(whole)[0]
    assert following(whole.bash("pytest -q", "9 passed")) == (f"go on: {ASKED}",)


@pytest.mark.parametrize("words", ["Good. Let me continue.", "Let me try again.", "Now I'll fix the issue."])
def test_announcements_that_say_nothing_give_way_to_the_request(words: str) -> None:
    """Where an agent only says that it continues, the next step is the request."""
    assert following(Thread().user(ASKED).bash("ls", "harbour.py").agent(words)) == (f"go on: {ASKED}",)


@pytest.mark.parametrize(
    ("words", "step"),
    [
        ("I\u2019ll add a counter to the harbour.", "go on: add a counter to the harbour"),
        ("I\u2019m adding a counter to the harbour now.", "go on: adding a counter to the harbour now"),
        ("I'm thinking about the harbour and its ships.", f"go on: {ASKED}"),
        ("I'm keeping the list of ships as it is.", f"go on: {ASKED}"),
    ],
)
def test_what_the_agent_is_doing_is_the_step(words: str, step: str) -> None:
    """Announcements are read with either apostrophe, and as "I'm adding"; thoughts and choices are none."""
    assert following(Thread().user(ASKED).agent(words).bash("ls", "harbour.py")) == (step,)


@pytest.mark.parametrize(
    ("question", "waits"),
    [
        ("The key question is: does a ship count twice if it comes back?", False),
        ("Die eigentliche Frage ist: zählt ein Schiff doppelt?", False),
        ("La pregunta es: ¿cuenta dos veces un barco?", False),
        ("Hmm, why does the counter start at one?", False),
        ("The question is: do you want ships to count twice?", True),
        ("The question is whether we count boats, too. Should I?", True),
        ("Does a ship count twice if it comes back?", True),
    ],
)
def test_a_question_that_the_agent_asks_itself_waits_for_nobody(question: str, *, waits: bool) -> None:
    """Thinking aloud is no question to the person, unless it speaks of them."""
    steps = following(Thread().user(ASKED).bash("ls", "harbour.py").agent(f"I have read the counter. {question}"))
    assert any(step.startswith("waiting for an answer: ") for step in steps) is waits


def test_a_request_that_was_answered_is_not_gone_on_with() -> None:
    """Words of two messages in a row show that a turn ended between them; what the person wants now is no text."""
    thread = Thread().user("the counter does not start").agent("Its name has changed, start `count` instead.")
    thread.agent("The counter starts now; it is the map that hangs.").bash("ls", "map.py")
    assert following(thread) == ()
    assert following(thread.user(ASKED).bash("ls", "map.py")) == (f"go on: {ASKED}",)


def test_words_that_announce_something_end_no_turn() -> None:
    """Two reports in a row of what an agent is doing belong to one turn."""
    thread = Thread().user(ASKED).agent("I\u2019m reading the map first.").agent("The map is large.")
    assert following(thread.bash("ls", "map.py")) == (f"go on: {ASKED}",)


def test_a_check_under_way_has_not_failed() -> None:
    """A call without a recorded result is under way: it is no failing check, neither a blocker nor a step."""
    thread = Thread().user(ASKED).edit("/w/harbour.py").bash("pytest -q", NO_RESULT, failed=True)
    state = ENGINE.working_state(thread.messages)
    assert state.blockers == ()
    assert state.next_steps == (f"go on: finish what was asked: {ASKED}",)


def test_a_command_that_edits_in_place_is_an_edit() -> None:
    """A file that a shell command edited is to be checked, as an edit of the client's own tool is."""
    thread = Thread().user(ASKED).agent("Now let me add a counter to the harbour.")
    assert following(thread.bash("cat harbour.py", "ships = []")) == ("go on: add a counter to the harbour",)
    thread.bash("sed -i 's/ships/ships, count/' harbour.py")
    assert following(thread) == ("go on: see that it works, and finish: add a counter to the harbour",)


def test_an_order_of_few_words_has_the_request_before_it() -> None:
    """A short order says nothing without what it is about; the words of housekeeping do."""
    thread = Thread().user("Are the first two ships counted at all?").agent("No, they are wrecks.")
    assert following(thread.user("drop the first two")) == (
        "do what the user asked: Are the first two ships counted at all? \u2192 drop the first two",
    )
    pushed = Thread().user(ASKED).agent("All ships are counted.").user("commit and push")
    assert following(pushed) == ("do what the user asked: commit and push",)


def test_a_request_that_leans_on_another_is_told_with_it() -> None:
    """Words that only point back are stated with the last request that says what is to be done."""
    thread = Thread().user(ASKED).agent("Two of them are missing.").user("do it again, please").bash("ls", "harbour.py")
    assert following(thread) == (f"go on: {ASKED} \u2192 do it again, please",)
    looking = Thread().user(ASKED).agent("Two are missing.").user("do it again, please")
    looking.agent("Now let me check the map.")
    assert following(looking) == (f"go on: {ASKED} (check the map)",)
    assert following(looking.bash("ls", "map.py")) == (f"go on: {ASKED} \u2192 do it again, please",)


def test_a_request_between_two_items_comes_before_the_list() -> None:
    """A request made after the list comes before its next item, if no item is in hand."""
    thread = Thread().user(ASKED).todos(Count_the_ships="completed", Tell_Ann="pending").agent("The ships are counted.")
    thread.user("Paint the pier before you go on").bash("ls", "pier.py")
    assert following(thread) == ("go on: Paint the pier before you go on", "Tell Ann")
    thread.todos(Count_the_ships="completed", Paint_the_pier="in_progress", Tell_Ann="pending")
    assert following(thread) == ("Paint the pier", "Tell Ann")


def test_later_words_outdate_what_is_to_be_done_after_the_item_in_hand() -> None:
    """A list unchanged for long, even after the person's words, gives only the item in hand."""
    thread = Thread().user(ASKED).todos(Count_the_ships="in_progress", Count_the_boats="pending")
    thread.agent("The ships come first.").user("no, count all of it in one go")
    assert following(thread.bash("ls", "map.py")) == ("Count the ships", "Count the boats")
    for _ in range(30):
        thread.bash("ls", "map.py")
    assert following(thread) == ("Count the ships",)


def test_edits_show_how_far_a_list_is_that_was_begun_at_once() -> None:
    """Of items begun together, those edited before the one in hand are over; an edit of something else says nothing."""
    subjects = ("Limit the harbour cache", "Report missing boats", "Paint pier numbers")
    thread = with_tasks(*subjects)
    for number in (1, 2, 3):
        thread.call("TaskUpdate", {"taskId": str(number), "status": "in_progress"}, f"Updated task #{number} status")
    everything = ("Limit the harbour cache (task #1)", "Report missing boats (task #2)", "Paint pier numbers (task #3)")
    thread.edit("/w/harbour.py", "harbour = {}", "harbour_cache = Cache(most=9)")
    assert following(thread) == everything
    thread.edit("/w/boats.py", "", "def missing_boats(): ...")
    assert following(thread) == everything[1:]
    thread.edit("/w/map.py", "", "colour = 3")
    assert following(thread) == everything[1:]
