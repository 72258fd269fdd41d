"""Orders that were carried out are no next step; what is left of them is, and what the person typed aside counts."""

from __future__ import annotations

import pytest

from reverie.distill.extractive import Extractive
from reverie.distill.extractive.announced_intents import is_contentless
from reverie.distill.extractive.classify_sentences_by_working_state_cues import is_mere_remark
from reverie.distill.extractive.finished_orders import actions_done, unfinished_part
from reverie.distill.questions import chosen_option
from reverie.distill.steps import ToolCall, read_trace
from reverie.models import NO_RESULT
from support.thread import Thread

ENGINE = Extractive()
ASKED = "Teach the harbour to count its ships, please"
COMMIT = ("git -C /w/harbour commit -m 'Count ships'", "[ships 1a2b3c4] Count ships\n 1 file changed")


def following(thread: Thread) -> tuple[str, ...]:
    """Return the next steps after a thread."""
    return ENGINE.working_state(thread.messages).next_steps


def test_an_order_is_told_until_a_call_carried_it_out() -> None:
    """Of "commit this, push, open a draft PR" each part stays in the task until the call that does it succeeded."""
    thread = Thread().user(ASKED).agent("The ships are counted.").user("commit this, push, open a draft PR")
    assert following(thread) == ("do what the user asked: commit this, push, open a draft PR",)
    assert following(thread.bash("git status", "M harbour.py")) == ("go on: commit this, push, open a draft PR",)
    assert following(thread.bash(*COMMIT)) == ("go on: push, open a draft PR",)
    thread.bash("git push -u origin ships", "! [rejected] ships -> ships", failed=True)
    assert following(thread.bash("git fetch", "")) == ("go on: push, open a draft PR",)
    thread.bash("git push -u origin ships", "ships -> ships").bash("git log -1", "1a2b3c4 Count ships")
    assert following(thread) == ("go on: open a draft PR",)
    thread.bash("gh pr create --draft --fill", "https://forge.example/ann/harbour/pull/7").bash("git status", "clean")
    assert following(thread) == ()


def test_a_question_beside_an_order_stays_open() -> None:
    """A sentence that asks for something else stays in the task when the order beside it was carried out."""
    thread = Thread().user(ASKED).agent("The ships are counted.").user("Commit this. Why are wrecks counted as well?")
    thread.bash(*COMMIT)
    assert following(thread) == ("go on: Why are wrecks counted as well?",)


def test_an_announcement_to_commit_is_over_with_the_commit() -> None:
    """An announced action that the agent carried out is no next step."""
    thread = (
        Thread().user("Please commit it").bash("git diff", "+ count").agent("That is right. Let me stage and commit.")
    )
    assert following(thread.bash("git add -A")) == ("go on: commit",)
    assert following(thread.bash(*COMMIT).bash("git status", "clean")) == ()


@pytest.mark.parametrize(
    ("order", "left"),
    [
        ("ok, let's commit the report, and then address the findings: one, two", "address the findings: one, two"),
        ("commit and push, then fix the lint", "push, then fix the lint"),
        ("mend the typo and commit", ""),
        ("Mend the typo. Commit and open a PR.", ""),
        ("mend the typo, commit, then tell Ann", "tell Ann"),
        ("open an issue for the wrecks, medium priority", ""),
        ("let's create an ann/wrecks branch", ""),
        ("create a test for the branch command", None),
        ("fix the PR template", None),
        ("why did the commit fail?", None),
        ("push back on that idea", None),
        ("can you commit it, please?", ""),
        ("Bitte alles committen und pushen", "pushen"),
        ("haz commit y push", "push"),
        ("コミットしてください", ""),
        ("提交一下", ""),
    ],
)
def test_only_what_a_call_did_is_over(order: str, left: str | None) -> None:
    """Orders for something else stay whole (None), whatever words they share with a commit, an issue or a branch."""
    done = {"commit": 9, "issue": 9, "branch": 9, "pull request": 9}
    assert unfinished_part(order, 5, done, []) == (order if left is None else left)
    assert unfinished_part(order, 9, done, []) == order


def test_calls_that_failed_or_run_do_nothing() -> None:
    """An action counts once its call has a result without a failure; tools of other servers count by their name."""
    thread = Thread().user(ASKED).bash("git commit -m x", "hook declined", failed=True).bash("git push", NO_RESULT)
    assert actions_done(read_trace(thread.messages).calls) == {}
    thread.call("mcp__tracker__create_issue", {"title": "Wrecks"}, '{"id": "H-7"}')
    assert set(actions_done(read_trace(thread.messages).calls)) == {"issue"}


@pytest.mark.parametrize(
    ("words", "is_told"),
    [
        ("ahh ok, looks like I don't need the token", False),
        ("oh, I see", False),
        ("never mind, it works now", False),
        ("ah, the counter still starts at one", True),
        ("ok then fix the map", True),
        ("oh, and can you count the boats?", True),
    ],
)
def test_a_remark_asks_for_nothing(words: str, *, is_told: bool) -> None:
    """A last message that only takes note of something is no step; news of a problem are."""
    thread = Thread().user(ASKED).agent("The ships are counted.").user(words)
    assert bool(following(thread)) is is_told


def test_a_single_word_may_be_an_order() -> None:
    """One word such as push, and a slash command, may ask for work."""
    thread = Thread().user(ASKED).agent("The ships are counted, and the commit is made.")
    assert following(thread.user("push")) == ("do what the user asked: push",)
    reviewing = Thread().user("/review").bash("gh pr list", "7 Count ships")
    assert following(reviewing) == ("go on: /review",)


def test_words_said_meanwhile_do_not_replace_the_task() -> None:
    """A short statement or question between two calls comes behind the request that the agent works on."""
    thread = Thread().user(ASKED).bash("ls", "harbour.py").user("is the map read as well?").bash("ls", "map.py")
    assert following(thread) == (f"go on: {ASKED} \u2192 is the map read as well?",)
    asking = Thread().user(ASKED).agent("Both are counted.").user("is the map read as well?").bash("ls", "map.py")
    assert following(asking) == ("go on: is the map read as well?",)


def test_a_command_that_was_run_is_no_step() -> None:
    """An announced run is over with its result, and a look with what it is for is replaced by that."""
    thread = Thread().user(ASKED).agent("Let me run the counter once more.")
    assert following(thread) == ("go on: run the counter once more",)
    assert following(thread.bash("./count", "7")) == (f"go on: {ASKED}",)
    looking = Thread().user(ASKED).agent("Let me check the map reader to understand why some ships are missing.")
    looking.bash("cat map.py", "ships = []")
    assert following(looking) == ("go on: understand why some ships are missing",)


def test_a_request_that_nobody_came_back_to_is_not_told() -> None:
    """After 300 entries without another word of the person a request says nothing about the next step."""
    thread = Thread().user("can we proceed?")
    for _ in range(160):
        thread.bash("./count", "7")
    assert following(thread) == ()


def test_what_was_done_is_told_with_the_request() -> None:
    """A request that is not carried out by one call is to be finished, with the commit or push that was made."""
    thread = (
        Thread().user(ASKED).edit("/w/harbour.py").agent("The ships are counted. Let me put it away.").bash(*COMMIT)
    )
    assert following(thread) == (f"go on: finish what was asked (committed): {ASKED}",)


def test_an_option_named_by_its_number_is_told_in_words() -> None:
    """An option is stated with its words, since the list may be lost; a number that names none is left as it is."""
    offer = "There are two ways:\n\n1. **A cache** - small\n2. **A queue** - more code\n\nWhich one do you prefer?"
    chosen = Thread().user("The uploads are slow").agent(offer).user("let's go with option 2").bash("ls", "queue.py")
    assert following(chosen) == ("go on: let's go with option 2 (option: A queue)",)
    other = (
        Thread().user("The uploads are slow").agent("1. **Cause** - the net").user("option 1 please").bash("ls", "x")
    )
    assert "(option:" not in following(other)[0]


def test_a_new_task_comes_before_an_older_list() -> None:
    """An order given after the list last changed comes first, even if an item of the list is in progress."""
    thread = Thread().user(ASKED).todos(Count_the_ships="in_progress", Tell_Ann="pending").agent("Counting.")
    thread.user("Please spawn a worker that paints every pier of the harbour").bash("ls", "pier.py")
    first, second, *_ = following(thread)
    assert "paints every pier" in first
    assert second == "Count the ships"


@pytest.mark.parametrize("words", ["ok let's keep going", "continue", "weiter", "go ahead please"])
def test_a_go_ahead_comes_back_to_the_list(words: str) -> None:
    """After a task in between that was carried out, the list is gone on with when the person says so."""
    thread = Thread().user(ASKED).todos(Count_the_ships="completed", Tell_Ann="pending").agent("The ships are counted.")
    thread.user("Create an issue about the wrecks of the harbour, please")
    thread.call("mcp__tracker__create_issue", {"title": "Wrecks"}, '{"id": "H-7"}').agent("It is H-7.")
    for _ in range(40):
        thread.bash("ls", "harbour.py")
    thread.agent("All of them are listed.").user(words).bash("ls", "ann.py")
    assert following(thread)[0] == "Tell Ann"


def test_a_worker_that_was_dispatched_is_no_step() -> None:
    """An announced call of another agent is over with its report."""
    thread = Thread().user(ASKED).agent("Now let me dispatch the reviewer of the whole change.")
    assert following(thread) == ("go on: dispatch the reviewer of the whole change",)
    assert following(thread.call("Task", {"prompt": "review"}, "Looks good.")) == (f"go on: {ASKED}",)


def test_what_was_said_in_stopping_the_agent_does_not_replace_the_task() -> None:
    """After "[Request interrupted by user]" a short remark steers the task; an order that is over opens none."""
    opened = "Read the plan in docs/plan.md and implement its fourth step, the counter of ships"
    thread = Thread().user(opened).bash("cat docs/plan.md", "4. count").user("[Request interrupted by user]")
    thread.user("we are on a branch already").bash("git branch", "* ships")
    state = ENGINE.working_state(thread.messages)
    assert state.current_task == f"{opened} \u2192 we are on a branch already"
    assert state.next_steps == (f"go on: {opened} \u2192 we are on a branch already",)
    filed = Thread().user(opened).agent("Done.").user("Create an issue about the wrecks of the harbour, please")
    filed.call("mcp__tracker__create_issue", {"title": "Wrecks"}, "H-7").agent("It is H-7.")
    filed.user("The map of the north is missing, find out why").bash("ls", "map.py")
    assert ENGINE.working_state(filed.messages).current_task == "The map of the north is missing, find out why"


@pytest.mark.parametrize(
    "order",
    [
        "Rewrite the tide parser. Never push to main.",
        "Fix the parser. Don't push yet.",
        "Stage 2 of the migration",
        "Commit SHA is missing from the build info page",
        "push the button handler into its own component",
        "Push the release date to May in the docs",
        "Stash the results in Redis instead of memory",
        "Rebase conflicts in store.py should be solved by keeping ours",
        "add a new branch to the if statement for null",
        "create a ticket model for the helpdesk",
        "Tag it with the tenant id in the logs",
        "PR #31 is failing CI on windows",
        "merge both parsers into one",
    ],
)
def test_words_that_git_uses_too_are_no_orders_for_it(order: str) -> None:
    """An order that only sounds like a commit, a push or a branch stays open whatever git did; so does a ban."""
    done = dict.fromkeys(("commit", "stage", "push", "branch", "pull request", "issue", "merge", "rebase", "tag"), 9)
    assert unfinished_part(order, 5, {**done, "stash": 9, "revert": 9}, []) == order


@pytest.mark.parametrize(
    ("command", "actions"),
    [
        ("git merge-base main HEAD", set()),
        ("git merge --abort", set()),
        ("git tag -l", set()),
        ("git tag | head", set()),
        ("git push --dry-run", set()),
        ("grep -rn 'git push' docs", set()),
        ("git log | grep 'git commit'", set()),
        ("git commit-graph write", set()),
        ("gh pr create --help", set()),
        ("git stash list", set()),
        ("git reset HEAD map.py", set()),
        ("git checkout main && grep -B 3 ships map.py", set()),
        ("cd /w && git add -A && git commit -m 'x; git push'", {"stage", "commit"}),
        ("git push -u origin ships 2>&1 | tail -3", {"push"}),
        ("GIT_EDITOR=true git rebase --continue", {"rebase"}),
        ("git commit -F - <<'EOF'\nCount\n\ngit push\nEOF\n", {"stage", "commit"}),
    ],
)
def test_only_commands_with_an_effect_count(command: str, actions: set[str]) -> None:
    """A command that lists, tries or takes back, and a name of one in a text, is no action."""
    assert set(actions_done([ToolCall("Bash", {"command": command}, 3, None, answered=True)])) == actions


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("option 2 please", "A queue"),
        ("1 does seem like a decent path, though we might want more later", "A cache"),
        ("Option 1 is too risky, go with option 2", ""),
        ("I don't like option 2", ""),
        ("why not option 1?", ""),
        ("go 1.22 fails on CI", ""),
        ("2.5 seconds is too slow", ""),
        ("1. yes 2. no", ""),
        ("make it an option a user can set", ""),
    ],
)
def test_an_answer_chooses_one_option_or_none(answer: str, option: str) -> None:
    """A question, a rejection, two numbers and numbers of something else choose no option."""
    assert chosen_option(answer, {"1": "A cache", "2": "A queue", "a": "A lock"}) == option


@pytest.mark.parametrize(
    "words",
    [
        "Right now the header overlaps the logo",
        "Interesting cases should go first in the report",
        "I see. Look into the logs then",
        "makes sense, go with the second one",
        "got it, keep the old name",
        "never mind the tests, ship the page",
        "oh, and the sidebar should be blue",
    ],
)
def test_an_order_behind_a_remark_is_no_remark(words: str) -> None:
    """Taking note of something in front of an order, or as its first word, does not make it a remark."""
    assert not is_mere_remark(words)


@pytest.mark.parametrize(
    ("doing", "is_empty"),
    [
        ("look at that more closely", True),
        ("check this first", True),
        ("verify that tests pass", False),
        ("check this against main", False),
        ("inspect that failing migration", False),
    ],
)
def test_a_look_is_empty_where_it_only_points_back(doing: str, *, is_empty: bool) -> None:
    """A look says nothing by itself where only a pronoun tells at what."""
    assert is_contentless(doing) is is_empty


def test_long_inputs_are_read() -> None:
    """Options, words and blanks without end do not hang the reader: tried in several ways they would take hours."""
    calls = ("git " + "-c --x " * 5_000 + "log", "git " + "--x " * 5_000, "git checkout " + "a " * 20_000)
    assert [actions_done([ToolCall("Bash", {"command": one}, 3, None, answered=True)]) for one in calls] == [{}, {}, {}]
    for order in ("create " + "follow-up " * 5_000, "create " + "ein_x neue-y " * 5_000):
        assert unfinished_part(order, 5, {"commit": 9}, []) == order
    blanks = "Exit code 1\n" + " " * 1_000_000 + "\n" + "stat " * 200_000
    assert following(Thread().user(ASKED).bash("pytest -q", blanks, failed=True))
