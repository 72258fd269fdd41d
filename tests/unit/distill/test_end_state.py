"""Work that was undone, rejected or replaced before its thread ended gives no episode, or one without lost parts."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import MemoryType
from support.thread import Thread

ENGINE = Extractive()
CACHE = "/w/src/cache.py"
BODY = "The cache kept entries for ever, because the clock was never read. Entries now expire after an hour."


def titles(thread: Thread) -> list[str]:
    return [one.title or "" for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.EPISODE]


def commit(thread: Thread, subject: str, sha: str, body: str = BODY) -> Thread:
    message = f"git commit -m \"$(cat <<'EOF'\n{subject}\n\n{body}\nEOF\n)\""
    return thread.bash(message, f"[main {sha}] {subject}\n 1 file changed")


def cache_fix() -> Thread:
    """Return a thread with one commit: entries of a cache expire."""
    thread = (
        Thread()
        .user("Entries of the harbour cache never expire, please mend that in src/cache.py.")
        .call("Write", {"file_path": "/w/src/app.py", "content": "import cache"})
        .edit(
            CACHE,
            "def get(key):\n    return store[key]",
            "def get(key):\n    drop_expired()\n    read_clock()\n    return store[key]",
        )
    )
    return commit(thread, "Expire entries of the cache after an hour", "1a2b3c4")


TITLE = "Expire entries of the cache after an hour"


def test_work_that_nothing_speaks_against_is_learnt() -> None:
    """Thanks, a question, work on another file and a passing check do not keep a commit from being learnt."""
    thread = cache_fix().bash("pytest -q", "12 passed").user("Thanks! What does drop_expired do?")
    thread.agent("It removes old entries.").user("Now add a flag to the exporter.").edit("/w/src/exporter.py")
    assert titles(thread) == [TITLE]


@pytest.mark.parametrize(
    "message",
    [
        "the entries still don't expire",
        "It's still failing with the same error.",
        "hmm, that didn't help",
        "no, it doesn't work",
        "please revert that",
        "let's undo this, I want to think about it",
        "roll it back please",
        "Das funktioniert nicht.",
        "Die Einträge laufen immer noch nicht ab",
        "Mach das bitte rückgängig.",
        "还是不行，缓存没有过期",
        "这样不行",
        "请撤销这次修改",
        "まだ動かないです。",
        "元に戻してください。",
        "sigue fallando en el mismo test",
        "ça ne marche pas",
    ],
)
def test_work_that_the_person_says_does_not_hold(message: str) -> None:
    """A commit is not learnt if the person complains about it right afterwards, in each language with a table."""
    assert titles(cache_fix().agent("Committed.").user(message)) == []
    assert titles(cache_fix().agent("Committed.").user("ok").agent("Anything else?").user(message)) == []


@pytest.mark.parametrize(
    "message",
    [
        "Great. One more thing that still doesn't work: the exporter crashes.",
        "don't revert that, it's good",
        "Add an undo button to the editor, please.",
        "I'm still working on the docs",
        "> it still fails\nthat was Ann's mail of last week, I answered it",
        "Außerdem geht der Exporter immer noch nicht.",
        "给编辑器加一个撤销按钮",
        "Ah, eine Frage: läuft der Exporter auch?",
    ],
)
def test_a_complaint_about_something_else(message: str) -> None:
    """A complaint about another matter, a feature called undo or quoted words do not keep a commit from learning."""
    assert titles(cache_fix().agent("Committed.").user(message)) == [TITLE]


def test_a_complaint_after_other_work_must_name_the_work() -> None:
    """After another task a complaint counts only if it shares words with the title and its file is edited again."""
    other = cache_fix().user("Now write a page about the exporter in docs, in a few words.").edit("/w/src/exporter.py")
    assert titles(other.user("it still fails").edit("/w/src/exporter.py", "b", "c")) == [TITLE]

    named = cache_fix().user("Now add a flag to the exporter, please.").edit("/w/src/exporter.py")
    named.user("the cache is broken: its entries vanish at once").edit(CACHE, "    return store[key]", "    return 1")
    assert titles(named) == []


def test_what_finally_held_is_learnt() -> None:
    """The second commit, which mends what the person complained about, is learnt; the first one is not."""
    thread = cache_fix().agent("Committed.").user("it still fails, nothing expires")
    thread.edit(CACHE, "    return store[key]", "    return fresh(key)")
    body = "The clock was read once at the start, because it was a default argument. It is read on every call now."
    assert titles(commit(thread, "Read the clock of the cache on every call", "2b3c4d5", body)) == [
        "Read the clock of the cache on every call"
    ]


def test_code_that_later_edits_replace() -> None:
    """Work of which most lines are gone at the end is not learnt."""
    thread = cache_fix().edit(
        CACHE, "    drop_expired()\n    read_clock()\n    return store[key]", "    return ring.get(key)"
    )
    thread.edit(CACHE, "def get(key):", "def get(key, now):")
    body = "The ring forgets old entries by itself, so that no clock is read, because reading it was slow."
    assert titles(commit(thread, "Keep entries of the cache in a ring", "2b3c4d5", body)) == [
        "Keep entries of the cache in a ring"
    ]


def test_names_that_are_gone_are_not_learnt() -> None:
    """A sentence about a removed function is left out; with such a name in the title the episode is not learnt."""
    said = "Adds `drop_expired` and `read_clock` and `CacheEntry` to the module. The time is that of the harbour."
    added = "def drop_expired(): pass\ndef read_clock(): pass\nclass CacheEntry: pass\nLIMIT = 3600"

    def thread(subject: str) -> Thread:
        made = Thread().user("Entries of the cache never expire, please mend that.").edit(CACHE, "pass", added)
        return commit(made, subject, "1a2b3c4", f"{BODY} {said}").edit(CACHE, "def read_clock(): pass\n", "")

    [episode] = [one for one in ENGINE.candidates(thread(TITLE).messages) if one.type is MemoryType.EPISODE]
    assert "read_clock" not in episode.content
    assert "The time is that of the harbour" in episode.content
    assert titles(thread("Let read_clock expire entries of the cache")) == []


def test_edits_of_other_clients_replace_too() -> None:
    """A patch of Codex and a replacement of Gemini are read as edits, with what they removed."""
    patch = f"*** Begin Patch\n*** Update File: {CACHE}\n@@\n-    drop_expired()\n-    read_clock()\n+    pass"
    replaced = {"file_path": CACHE, "old_string": "    drop_expired()\n    read_clock()", "new_string": "    pass"}
    assert titles(cache_fix().call("apply_patch", {"input": patch})) == []
    assert titles(cache_fix().call("replace", replaced)) == []


def test_a_check_that_turned_red_for_good() -> None:
    """Work after which the tests fail and never pass again is not learnt; where they failed before, it is."""
    red = ("pytest -q", "FAILED tests/test_cache.py::test_expiry")
    assert titles(cache_fix().bash(*red, failed=True)) == []
    assert titles(cache_fix().bash(*red, failed=True).edit(CACHE).bash("pytest -q", "3 passed")) == [TITLE]
    assert titles(cache_fix().bash("pytest -q", "pytest: command not found", failed=True)) == [TITLE]
    assert titles(cache_fix().edit("/w/src/ring.py").bash(*red, failed=True)) == [TITLE]
    before = Thread().bash(*red, failed=True)
    before.edit(CACHE, "def get(key):", "def get(key, now):")
    assert titles(commit(before, TITLE, "1a2b3c4").bash(*red, failed=True)) == [TITLE]


@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("git revert --no-edit HEAD", '[main 9f8e7d6] Revert "Expire entries of the cache after an hour"'),
        ("git revert -n 1a2b3c4d", ""),
        ("git add -A && git commit -m x", '[main 9f8e7d6] Revert "Expire entries of the cache after an hour"'),
        ("git reset --hard HEAD~1", "HEAD is now at 0000000 Before"),
        ("git reset --soft HEAD^ && git status", "On branch main"),
        ("git checkout HEAD~1 -- src/cache.py src/app.py", ""),
        ("git restore --source=1a2b3c4^ .", ""),
    ],
)
def test_commits_that_git_takes_back(command: str, result: str) -> None:
    """A commit that git reverts or resets is not learnt; if that command failed, the commit is."""
    assert titles(cache_fix().bash(command, result)) == []
    assert titles(cache_fix().bash(command, f"fatal: bad revision\n{result[:0]}", failed=True)) == [TITLE]


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- src/cache.py",
        "git reset --hard",
        "git reset --hard origin/main",
        "git revert --abort",
        "git checkout HEAD~1 -- src/app.py",
        "git checkout main && git reset --hard HEAD~1",
        "git restore --staged .",
        "git stash && pytest -q && git stash pop",
        "git commit --allow-empty -m 'explain git revert HEAD and git reset --hard HEAD~1'",
    ],
)
def test_commands_that_take_no_commit_back(command: str) -> None:
    """Commands that lose only later edits or other branches' commits do not keep a commit from being learnt."""
    assert titles(cache_fix().bash(command, "")) == [TITLE]


def test_a_revert_that_is_reverted() -> None:
    """A commit that was reverted and then reapplied is learnt."""
    thread = cache_fix().bash("git revert --no-edit HEAD", f'[main 9f8e7d6] Revert "{TITLE}"')
    assert titles(thread) == []
    assert titles(thread.bash("git revert --no-edit HEAD", f'[main 8e7d6c5] Reapply "{TITLE}"')) == [TITLE]


@pytest.mark.parametrize(
    ("command", "learnt"),
    [
        ("git status", True),
        ("git checkout -- src/app.py", True),
        ("git checkout -- src/cache.py src/app.py", False),
        ("git checkout .", False),
        ("git stash", False),
        ("git stash && git stash pop", True),
        ("git reset --hard HEAD", False),
    ],
)
def test_a_plan_whose_edits_were_thrown_away(command: str, *, learnt: bool) -> None:
    """A plan whose edits were discarded before a commit is not learnt."""
    thread = (
        Thread()
        .user("Implement the following plan:\n\n# Expire entries of the cache\n\n## Goal\n\nNo entry stays for ever.")
        .edit("/w/src/app.py", "a", "cache.start()")
        .edit(CACHE, "def get(key):", "def get(key, now):")
        .bash("pytest -q", "12 passed")
        .bash(command, "")
    )
    assert titles(thread) == (["Expire entries of the cache"] if learnt else [])
