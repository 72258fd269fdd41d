"""An episode names the later commits that corrected it, and its files as they are called at the end."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import Candidate, MemoryType
from support.thread import Thread

ENGINE = Extractive()
BODY = "Adds read_tide() to the harbour module, so that the gauge is asked once an hour and not on every page."


def episodes(thread: Thread) -> list[Candidate]:
    return [one for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.EPISODE]


def commit(
    thread: Thread, subject: str, sha: str, body: str, report: str = " 2 files changed, 40 insertions(+)"
) -> Thread:
    message = f"git add src/tide.py && git commit -m \"$(cat <<'EOF'\n{subject}\n\n{body}\nEOF\n)\""
    return thread.bash(message, f"[main {sha}] {subject}\n{report}")


def tide(report: str = " 2 files changed, 40 insertions(+)") -> Thread:
    """Return a thread with one commit, which adds a file."""
    thread = Thread().user("Please ask the gauge for the tide once an hour, in src/tide.py.")
    thread.edit("/w/harbour/src/tide.py", "pass", "def read_tide():\n    return ask_gauge()\n")
    return commit(thread, "Ask the gauge once an hour", "1a2b3c4", BODY, report)


def test_a_later_fix_is_named_where_it_is_about_the_same() -> None:
    """An episode names a later fix that shares a specific name with it, but no other fix and no new feature."""
    thread = tide().user("Does it also work for two gauges? It reads only one, I think.")
    thread.edit("/w/harbour/src/gauges.py", "pass", "gauges = []")
    commit(thread, "fix: let read_tide take any gauge", "2b3c4d5", "The name of the first gauge was fixed in the code.")
    commit(thread, "fix: sort_ships forgot the last ship", "3c4d5e6", "The slice ended one too early, so one was lost.")
    commit(thread, "Show read_tide on the first page", "4d5e6f7", "People look there first, because it loads fast.")
    first = episodes(thread)[0]
    assert "Later: fix: let read_tide take any gauge (2b3c4d5)" in first.content
    assert "3c4d5e6" not in first.content
    assert "4d5e6f7" not in first.content


def test_a_fix_that_was_taken_back_is_not_named() -> None:
    """A later fix that git reverted is not named in the episode."""
    thread = tide()
    commit(thread, "fix: let read_tide take any gauge", "2b3c4d5", "The name of the first gauge was fixed in the code.")
    thread.bash("git revert --no-edit 2b3c4d5", '[main 5e6f7a8] Revert "fix: let read_tide take any gauge"\n')
    assert "2b3c4d5" not in episodes(thread)[0].content


def test_the_same_commit_on_another_branch_is_no_later_one() -> None:
    """A commit picked onto a second branch is not named as a later commit in its own episode."""
    thread = Thread().user("Please mend read_tide, it asks one gauge alone.").edit("/w/src/tide.py", "pass", "x = 1")
    said = "Only the first gauge was asked by read_tide, because its name was fixed in the code."
    commit(thread, "fix: let read_tide take any gauge", "1a2b3c4", said)
    thread.bash("git cherry-pick 1a2b3c4", "[other 2b3c4d5] fix: let read_tide take any gauge\n 1 file changed")
    assert all("Later:" not in one.content for one in episodes(thread))


@pytest.mark.parametrize(
    ("report", "path"),
    [
        (" rename src/{tide.py => water/level.py} (91%)", "src/water/level.py"),
        (" rename {src => lib}/tide.py (100%)", "lib/tide.py"),
        (" rename src/tide.py => level.py (77%)", "level.py"),
        (" delete mode 100644 src/tide.py", ""),
        (" delete mode 100644 src/other.py", "src/tide.py"),
    ],
)
def test_files_are_named_as_they_are_at_the_end(report: str, path: str) -> None:
    """An episode lists its files by their last paths, and names the later commit that moved or deleted them."""
    thread = tide()
    body = "The module had grown to a folder of its own, because levels are no tides."
    commit(thread, "refactor: give water a folder", "2b3c4d5", body, f" 3 files changed\n{report}")
    first = episodes(thread)[0]
    assert first.content.endswith(f"Files: {path} and 1 more") if path else "Files:" not in first.content
    assert ("Later: refactor: give water a folder (2b3c4d5)" in first.content) is (path != "src/tide.py")


@pytest.mark.parametrize(
    "command",
    [
        "git add src/tide.py && git commit -m 'Ask the gauge once an hour'",
        "git -C /w/harbour commit -am 'Ask the gauge once an hour'",
        "cd /w/harbour && git commit -am 'Ask the gauge once an hour'",
    ],
)
def test_files_are_relative_to_the_repository(command: str) -> None:
    """An episode's files are relative to the repository, also where the agent read files outside of it."""
    thread = Thread().user("Please ask the gauge for the tide once an hour.").call("Read", {"file_path": "/w/notes.md"})
    thread.edit("/w/harbour/src/tide.py", "pass", "def read_tide():\n    return ask_gauge()\n")
    body = " -m 'The gauge was asked on every page, because nothing kept its answer; it is slow.'"
    thread.bash(command + body, "[main 1a2b3c4] Ask the gauge once an hour\n 1 file changed, 9 insertions(+)")
    assert episodes(thread)[0].content.endswith("Files: src/tide.py")


def test_a_commit_whose_push_failed_is_one() -> None:
    """A commit that git confirmed makes an episode, though the push in the same command failed."""
    thread = Thread().user("Please ask the gauge for the tide once an hour.").edit("/w/src/tide.py", "pass", "x = 1")
    command = f"git commit -am \"$(cat <<'EOF'\nAsk the gauge once an hour\n\n{BODY}\nEOF\n)\" && git push"
    result = "[main 1a2b3c4] Ask the gauge once an hour\n 1 file changed, 9 insertions(+)\n ! [rejected] (fetch first)"
    assert [one.title for one in episodes(thread.bash(command, result, failed=True))] == ["Ask the gauge once an hour"]


@pytest.mark.parametrize(
    ("subject", "body", "lines", "learnt"),
    [
        (
            "Inline the name of the gauge",
            "The variable is read in a single place of the module only, which is short.",
            3,
            False,
        ),
        (
            "Inline the name of the gauge",
            "The variable is read in a single place of the module only, which is short.",
            4,
            True,
        ),
        (
            "fix: ask the right gauge at night",
            "The variable holds the gauge of the day, in all the places that read it.",
            1,
            True,
        ),
        ("Ask the right gauge at night", "The gauge of the day was asked at night too, because of a typo.", 2, True),
        (
            "Use the new gauge names after the rebase",
            "The names were changed on the main branch, twice, by two people.",
            40,
            False,
        ),
        (
            "Resolve merge conflicts in the tide module",
            "Both sides had changed the names of the gauges since the last time.",
            40,
            False,
        ),
    ],
)
def test_tidying_teaches_nothing(subject: str, body: str, lines: int, *, learnt: bool) -> None:
    """A tiny commit without a fault or a reason, or one that mends a rebase, makes no episode; others do."""
    thread = Thread().user("Please look after the names of the gauges.").edit("/w/src/tide.py", "pass", "x = 1")
    commit(thread, subject, "1a2b3c4", body, f" 1 file changed, {lines} insertions(+)")
    assert bool(episodes(thread)) is learnt


def test_a_plan_and_the_commit_that_carries_it_out_are_one_episode() -> None:
    """A plan and the commit that carries it out make one episode, also with another request between them."""
    plan = "# Ask the `gauge` once an hour\n\n## Context\nEvery page asks the gauge, which takes two seconds.\n"
    thread = Thread().user(f"Implement the following plan:\n\n{plan}")
    thread.edit("/w/src/tide.py", "pass", "x = 1").bash("pytest -q", "12 passed").agent("Done.")
    thread.user("Now write a page about the gauges, and commit all of it.")
    [episode] = episodes(commit(thread, "Ask the gauge once an hour", "1a2b3c4", BODY))
    assert "Every page asks the gauge" in episode.content
    assert "1a2b3c4" in episode.content


def test_the_fault_may_stand_in_the_second_sentence() -> None:
    """The problem is the part of a commit's message up to the sentence that names the fault, before the change."""
    thread = Thread().user("The page hangs at night, please look why.").edit("/w/src/tide.py", "pass", "x = 1")
    body = (
        "The loader set the flag before the answer came. So the page was never drawn at night. Sets the flag behind it."
    )
    [episode] = episodes(commit(thread, "fix: draw the page at night", "1a2b3c4", body))
    problem = dict(episode.fields)["Problem"]
    assert problem == "The loader set the flag before the answer came. So the page was never drawn at night."


def test_each_commit_has_its_own_message() -> None:
    """Two commits made by one command get their own messages, without the text of a file that the command writes."""
    first = "Ask the gauge once an hour\n\nThe gauge was asked on every page, because nothing kept its answer."
    second = "Draw the page of the tide at night\n\nThe page was never drawn at night, because the clock stood still."
    command = (
        "cat > notes.txt <<'EOF'\nGulls never nest on the pier, because it was painted red.\nEOF\n"
        f"git add a.py && git commit -m \"$(cat <<'EOF'\n{first}\nEOF\n)\"\n"
        f"git add b.py && git commit -m '{second}'"
    )
    report = "[main 1a2b3c4] Ask the gauge once an hour\n 1 file changed, 9 insertions(+)\n"
    report += "[main 2b3c4d5] Draw the page of the tide at night\n 1 file changed, 9 insertions(+)\n"
    thread = Thread().user("Please look after the gauges.").edit("/w/src/tide.py", "pass", "x = 1")
    one, other = episodes(thread.bash(command, report))
    assert "nothing kept its answer" in one.content
    assert "the clock stood still" in other.content
    assert "Gulls" not in one.content + other.content
    assert "the clock stood still" not in one.content


def test_a_sentence_that_a_later_commit_puts_right_is_left_out() -> None:
    """A sentence is left out if a later commit's subject clarifies a name in it; a fix of the code leaves it in."""
    said = f"{BODY} The gauge_id stands in every line of the log."
    for subject, stays in (("Clarify that gauge_id may be empty", False), ("fix: write gauge_id once", True)):
        thread = Thread().user("Please ask the gauge for the tide once an hour, in src/tide.py.")
        thread.edit("/w/harbour/src/tide.py", "pass", "def read_tide():\n    return ask_gauge()\n")
        commit(thread, "Ask the gauge once an hour", "1a2b3c4", said)
        thread.edit("/w/harbour/src/log.py", "old", "new")
        commit(
            thread, subject, "2b3c4d5", "The log has lines from before the first gauge is known, for a minute or so."
        )
        first = episodes(thread)[0]
        assert ("in every line" in first.content) is stays
        assert f"Later: {subject} (2b3c4d5)" in first.content
