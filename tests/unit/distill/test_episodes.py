"""Episodes: one for each finished task, quoted, without what was undone or is housekeeping."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.documents.edit import new_document
from reverie.documents.items import Wording
from reverie.models import Candidate, MemoryType
from support.talk import Talk

ASKED = "The gauge of the harbour is asked for every page, please cache its tides for an hour"
REASON = "The gauge answers in two seconds (see FROM ...) because it sleeps; so the tides are kept."


def episodes(thread: Talk) -> list[Candidate]:
    return [one for one in Extractive().candidates(thread.messages) if one.type is MemoryType.EPISODE]


def commit(thread: Talk, subject: str, sha: str, body: str = "") -> Talk:
    command = f"git commit -m \"$(cat <<'EOF'\n{subject}\n\n{body}\nEOF\n)\""
    return thread.bash(command, f"[main {sha}] {subject}\n 1 file changed")


def test_a_task_is_one_episode_in_its_own_words() -> None:
    """Commits of one request are one episode: the request, subjects and ids, the reason word for word, the files."""
    thread = Talk().user(ASKED).edit("/w/src/tide.py").edit("/w/src/gauge.py")
    thread.agent("The root cause is that `read_tide` has no cache of tides and asks the gauge each time.")
    commit(thread, "cache the tides of the gauge", "1a2b3c4", f"{REASON}\n\n- Add Cache.get\n- Rename ask to read")
    thread.user("Great, now the same in the harbour's gauge page").edit("/w/web/page.py")
    commit(thread, "read cached tides in the gauge page", "2b3c4d5")
    [episode] = episodes(thread)
    assert episode.title == "cache the tides of the gauge"
    assert dict(episode.fields) == {
        "Summary": "cache the tides of the gauge",
        "Date": "2026-03-05",
        "Task": f"“{ASKED}”",
        "Commits": "cache the tides of the gauge (1a2b3c4); read cached tides in the gauge page (2b3c4d5)",
        "Message": REASON,
        "Files": "src/tide.py, src/gauge.py, web/page.py",
        "Lesson": "“The root cause is that `read_tide` has no cache of tides and asks the gauge each time.”",
    }


def test_an_episode_is_a_section_of_the_months_file() -> None:
    """An episode is written in the format of seed 004: a useful heading, then `Summary` and `Date` first."""
    thread = commit(Talk().user(ASKED).edit("/w/a.py"), "cache the tides of the gauge", "1a2b3c4", REASON)
    [one] = episodes(thread)
    words = Wording(one.content, one.tags, one.title, one.fields, "2026-03-05")
    text = new_document("episodes/2026-03.md", [("mem_1", words)], day="2026-03-05").text or ""
    heading, summary, date, *_ = text[text.index("## ") :].split("\n")
    assert heading.startswith("## cache the tides of the gauge")
    assert (summary, date) == ("- Summary: cache the tides of the gauge", "- Date: 2026-03-05")


@pytest.mark.parametrize(
    ("undo", "left"),
    [
        ("git revert --no-edit 2b3c4d5", ["cache the tides of the gauge"]),
        ("git log 2b3c4d5", ["cache the tides of the gauge", "sort the berths by their length"]),
    ],
)
def test_undone_work_is_no_episode(undo: str, left: list[str]) -> None:
    """A commit that a later revert names is no episode."""
    thread = commit(Talk().user(ASKED).edit("/w/a.py"), "cache the tides of the gauge", "1a2b3c4", REASON)
    thread.user("Please sort the berths by their length, the longest first").edit("/w/b.py")
    commit(thread, "sort the berths by their length", "2b3c4d5", REASON).bash(undo, "done")
    assert [one.title for one in episodes(thread)] == left


def test_a_request_that_is_about_something_else_is_not_quoted() -> None:
    """What is said last before a commit, about the commit itself, is not told as its task."""
    thread = Talk().user("How is the weather there?").edit("/w/a.py").user("yes, please commit it and push it now")
    thread.agent("The root cause is that `read_tide` has no cache of tides and asks the gauge each time.")
    [one] = episodes(commit(thread, "cache the tides of the gauge", "1a2b3c4", REASON))
    assert "Task" not in dict(one.fields)


@pytest.mark.parametrize(
    "asked",
    [
        "Would it help the gauge to cache its tides for an hour or so?",
        "no, the gauge shall cache its tides for an hour at least",
        f"10:02 gauge: cache of tides is empty\n{ASKED}",
    ],
)
def test_what_opens_no_work_is_not_quoted(asked: str) -> None:
    """A question, an objection and a log belong to the work, but are not told as its task."""
    [one] = episodes(commit(Talk().user(asked).edit("/w/a.py"), "cache the tides of the gauge", "1a2b3c4", REASON))
    assert "Task" not in dict(one.fields)


@pytest.mark.parametrize(("more", "told"), [("and sorts", 2), ("which is long " * 40, 0)])
def test_of_points_all_are_told_or_none(more: str, told: int) -> None:
    """What announces points is told with all of them, where there is room, and not with the first alone."""
    body = f"Two reasons for it:\n\n1. It asks because it forgets.\n\n2. It waits {more}."
    thread = Talk().user(ASKED).edit("/w/a.py")
    found = episodes(commit(thread, "cache the tides of the gauge", "1a2b3c4", f"{body}\n\n{REASON}"))
    message = dict(found[0].fields)["Message"]
    assert [("1. It asks" in message) + ("2. It waits" in message), REASON in message] == [told, True]


def test_files_are_named_from_the_repository() -> None:
    """A path is told as `git add` names it, wherever most files are."""
    thread = Talk().user(ASKED).edit("/w/app/.worktrees/2/web/page.py").bash("git add web/page.py", "")
    commit(thread, "cache the tides of the gauge", "1a2b3c4", REASON)
    assert dict(episodes(thread)[0].fields)["Files"] == "web/page.py"


def test_a_commit_that_was_rebased_is_told_without_its_id() -> None:
    """A rebase gives a commit another id: the old one names nothing."""
    thread = commit(Talk().user(ASKED).edit("/w/a.py"), "cache the tides of the gauge", "1a2b3c4", REASON)
    [one] = episodes(thread.bash("git pull --rebase origin main", "Successfully rebased"))
    assert dict(one.fields)["Commits"] == "cache the tides of the gauge"


@pytest.mark.parametrize("path", ["/w/docs/tide.md", "/w/tests/test_tide.py", "/w/src/tide_test.go"])
def test_documents_and_tests_alone_are_no_episode(path: str) -> None:
    """A commit of nothing but documents or tests is none."""
    assert episodes(commit(Talk().user(ASKED).edit(path), "cache the tides of the gauge", "1a2b3c4", REASON)) == []


def test_a_commit_that_says_nothing_is_left_to_git() -> None:
    """No episode is a subject alone, what nobody asked for and nothing was learnt by, or a task without a commit."""
    assert episodes(commit(Talk().user(ASKED).edit("/w/a.py"), "cache the tides of the gauge", "1a2b3c4")) == []
    assert episodes(commit(Talk().edit("/w/a.py"), "cache the tides of the gauge", "1a2b3c4", REASON)) == []
    assert episodes(Talk().user(ASKED).edit("/w/a.py").agent("Edited.")) == []


def test_a_sentence_that_a_tool_printed_is_no_lesson() -> None:
    """The agent's repetition of a page or a file is not quoted as a lesson."""
    said = "The cause is that the tides of `read_gauge` were sent to the cache, so always disable the gauge."
    thread = Talk().user(ASKED).call("WebFetch", {"url": "x"}, f"# Guide\n{said}").agent(said).edit("/w/a.py")
    [one] = episodes(commit(thread, "cache the tides of the gauge", "1a2b3c4", REASON))
    assert "Lesson" not in dict(one.fields)
