"""What a thread has for its project's brief: standing wishes, causes, cures and names, and nothing of the moment."""

from __future__ import annotations

from reverie.distill.brief import thread_brief
from reverie.distill.brief_lines import choose, prepare
from reverie.distill.steps import read_trace
from reverie.models import ThreadBrief
from support.talk import Talk

FILE = "/home/ann/tide/src/chart.py"


def brief(thread: Talk) -> ThreadBrief:
    """Return what a thread has."""
    return thread_brief(read_trace(thread.messages))


def test_a_standing_wish_is_chosen_and_what_is_of_the_moment_is_not() -> None:
    """A question, a step of the conversation and a remark are no lines of a brief, however much room it has."""
    thread = Talk().user("we should be using strong types for the harbours").edit(FILE)
    thread.user("are the harbours sorted?").agent("They are.").user("let's continue with this chart now").edit(FILE)
    thread.user("the chart of yesterday looks better").edit(FILE)
    chosen = choose([prepare("one", brief(thread))], (), 2_000)
    assert [line.text for line in chosen if line.section == "wish"] == [
        "we should be using strong types for the harbours"
    ]


def test_a_finding_stands_by_itself() -> None:
    """A sentence that points back, guesses, or is a part of a quotation is none."""
    cause = "The chart is empty because `tide_rows` is read before the file is closed."
    thread = (
        Talk()
        .user("why is the chart empty?")
        .agent(
            f"{cause} It needs that because `tide_rows` is lazy. Perhaps `tide_rows` is wrong because of a cache. "
            'The docs say: "it fails because `tide_rows` is lazy.'
        )
    )
    assert [line.text for line in brief(thread).lines if line.kind == "finding"] == [cause]


def test_a_cure_is_what_alone_differs() -> None:
    """A command that passes after another one changed something was not mended by its own words; nor is a part run.

    Nor is one that tests other code, or of which nothing tells that it passed.
    """

    def cure(*between: str) -> list[str]:
        thread = Talk().user("publish it").bash("acme push --to harbour", "error: the harbour is ahead", failed=True)
        for command in (*between, "acme push --to harbour --force"):
            thread.bash(command, "done")
        return [line.fix for line in brief(thread).lines if line.kind == "mistake"]

    assert cure() == ["acme push --to harbour --force"]
    assert cure("git merge harbour/main") == [""]
    assert cure("acme push --to harbour --lazy | tail -3") == [""]
    assert cure(*["acme wait --for harbour"] * 4) == [""]
    for command in ("go test ./... -run TestNeap", "git stash && go test ./... -run TestTide"):
        part = Talk().user("test it").bash("go test ./...", "--- FAIL: TestTide (0.01s)", failed=True)
        part.bash(command, "ok")
        assert [line.fix for line in brief(part).lines if line.kind == "mistake"] == [""]


def test_a_command_that_worked_is_one_that_passed() -> None:
    """What stands beside `||` is told by no status of the line."""
    thread = Talk().bash("which acme || acme list || echo 'no acme'", "no acme").bash("make site && acme list", "two")
    lines = [line for line in brief(thread).lines if line.kind == "command"]
    assert [(line.text, line.times) for line in lines] == [("make site", 1), ("acme list", 1)]


def test_a_command_that_failed_last_is_not_told() -> None:
    """It may pass again later; a check that found something has worked."""
    passed = brief(Talk().bash("make site", "").bash("make check", "").bash("make site", "").bash("make check", ""))
    gone = brief(Talk().bash("cd app && make check", "make: *** No rule to make target 'check'.  Stop.", failed=True))
    error = "tide.py: E501 line too long\nmake: *** [Makefile:3: check] Error 1"
    red = brief(Talk().bash("make check", error, failed=True))

    def told(*threads: ThreadBrief) -> list[str]:
        prepared = [prepare(str(number), thread) for number, thread in enumerate(threads)]
        return sorted(line.text for line in choose(prepared, (), 2_000) if line.section == "command")

    both = ["`make check`", "`make site`"]
    assert told(passed, passed) == both
    assert told(passed, passed, gone) == ["`make site`"]
    assert told(passed, gone, passed) == both
    assert told(passed, passed, red) == both


def test_names_are_the_projects_own() -> None:
    """A path is one where calls were about its folder; commits, flags and paths that everyone knows are no names."""
    thread = Talk().user("use src/tide.py, encoding/json and origin/main; 28c304f6 broke readTides --name-only")
    names = brief(thread.edit(FILE).bash("ls > /dev/null", "")).names
    assert {"src/tide.py", "src/chart.py", "readTides"} <= set(names)
    assert not {"encoding/json", "origin/main", "dev/null", "28c304f6", "--name-only"} & set(names)
