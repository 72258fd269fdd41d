"""An episode names a commit by the id that it has at the end of its thread, or by none."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import MemoryType
from support.thread import Thread

ENGINE = Extractive()
SUBJECT = "Count the boats at high tide"
BODY = (
    "The keeper counted boats at noon, so those that came with the tide were missing from the list of the day."
    " Adds count_boats() to the harbour module."
)
REBASED = "Rebasing (1/1)\rSuccessfully rebased and updated refs/heads/main.\n"


def commit(thread: Thread, subject: str, sha: str, body: str = BODY, *, then: str = "", output: str = "") -> Thread:
    message = f"git add -A && git commit -m \"$(cat <<'EOF'\n{subject}\n\n{body}\nEOF\n)\"{then}"
    return thread.bash(message, f"[main {sha}] {subject}\n 2 files changed, 30 insertions(+)\n{output}")


def boats(then: str = "", output: str = "") -> Thread:
    """Return a thread with one commit, 1a2b3c4; `then` follows in the commit's command line, and prints `output`."""
    thread = Thread().user("Please count the boats at high tide, in src/boats.py.")
    thread.edit("/w/harbour/src/boats.py", "pass", "def count_boats():\n    return len(boats_at(high_tide()))\n")
    return commit(thread, SUBJECT, "1a2b3c4", then=then, output=output)


def told(thread: Thread) -> str:
    return "\n".join(one.content for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.EPISODE)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git fetch && git rebase origin/main", REBASED),
        ("git -C /w/harbour pull --rebase", REBASED),
        ("git pull", REBASED),  # as it is configured
        ("GIT_EDITOR=true git rebase --continue", "Successfully rebased and updated refs/heads/main."),
        ("git commit --amend --no-edit -q", ""),
        ("git reset --soft origin/main", ""),
        ("git filter-branch --tree-filter 'rm -f notes' HEAD", "Ref 'refs/heads/main' was rewritten"),
        ("gh pr merge 7 --squash", "Squashed and merged pull request #7"),
    ],
)
def test_an_id_that_a_later_command_rewrote_is_left_out(command: str, output: str) -> None:
    """After a command that rewrote the commit, the episode still has its subject, but not its id."""
    content = told(boats().bash(command, output))
    assert SUBJECT in content
    assert "1a2b3c4" not in content


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git pull --rebase", "Current branch main is up to date."),
        ("git rebase main", "error: cannot rebase: You have unstaged changes."),
        ("git pull --rebase=false", "Merge made by the 'ort' strategy."),
        ("git reset --hard HEAD", "HEAD is now at 1a2b3c4 Count the boats at high tide"),
        ("git reset src/boats.py", "Unstaged changes after reset:"),
        ("git log --oneline | grep rebase", "1a2b3c4 Count the boats at high tide"),
        ("gh pr merge 7 --merge", "Merged pull request #7"),
    ],
)
def test_an_id_that_was_not_rewritten_stays(command: str, output: str) -> None:
    """The episode names the commit's id if a later git command changed nothing or only listed commits."""
    assert f"{SUBJECT} (1a2b3c4)." in told(boats().bash(command, output))


def test_a_rebase_that_was_given_up_changes_no_id() -> None:
    """After `git rebase --abort` the episode still names the commit's id."""
    thread = boats().bash("git rebase main", "Rebasing (1/1)\rCONFLICT (content): Merge conflict in src/boats.py")
    assert "(1a2b3c4)" in told(thread.bash("git rebase --abort", ""))


def test_a_rebase_within_the_command_of_the_commit_counts() -> None:
    """A rebase after the commit in the same command removes its id; one before it does not."""
    assert "1a2b3c4" not in told(boats(" && git pull --rebase", REBASED))
    thread = Thread().user("Please count the boats at high tide, in src/boats.py.")
    thread.edit("/w/harbour/src/boats.py", "pass", "def count_boats():\n    return len(boats_at(high_tide()))\n")
    thread.bash(f"git pull --rebase && git commit -m '{SUBJECT}\n\n{BODY}'", f"{REBASED}[main 1a2b3c4] {SUBJECT}")
    assert "(1a2b3c4)" in told(thread)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git log --oneline -2", "5e6f7a8 (HEAD -> main) Count the boats at high tide\n9d8c7b6 Paint the pier"),
        ("git push", "To host:harbour.git\n   9d8c7b6..5e6f7a8  main -> main"),
        ("git push --force-with-lease", " + 1a2b3c4...5e6f7a8 main -> main (forced update)"),
    ],
)
def test_the_new_id_is_named_where_a_list_or_a_push_shows_it(command: str, output: str) -> None:
    """After a rebase the episode names the new id if a log shows it beside the subject, or a push ends at it."""
    thread = boats().bash("git pull --rebase", REBASED).bash(command, output)
    assert f"{SUBJECT} (5e6f7a8)." in told(thread)
    assert "5e6f7a8" not in told(thread.bash("git rebase main", REBASED))  # rewritten once more


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git reflog", "1a2b3c4 HEAD@{1}: commit\n5e6f7a8 Count the boats at high tide"),
        ("git log --oneline origin/main", "1a2b3c4 Count the boats at high tide"),
        ("git push", "   9d8c7b6..5e6f7a8  release -> release"),
        ("git fetch", "   9d8c7b6..5e6f7a8  main -> origin/main"),
        ("git merge pier && git push", "Merge made by the 'ort' strategy.\n   9d8c7b6..5e6f7a8  main -> main"),
    ],
)
def test_an_old_or_another_id_is_not_named(command: str, output: str) -> None:
    """After a rebase no id is named from a reflog, from the log of a remote, a fetch or the push of another branch."""
    content = told(boats().bash("git pull --rebase", REBASED).bash(command, output))
    assert "1a2b3c4" not in content
    assert "5e6f7a8" not in content


def test_only_as_many_commits_lose_their_ids_as_git_rebased() -> None:
    """A rebase of one commit removes the id of the last commit only; an earlier one keeps its id."""
    thread = boats().user("Now the ferries, which are missing from the list as well.")
    thread.edit("/w/harbour/src/ferries.py", "pass", "def count_ferries():\n    return len(ferries())\n")
    commit(
        thread, "Count the ferries every evening", "2b3c4d5", "The ferries were missing, because they leave by noon."
    )
    content = told(thread.bash("git pull --rebase", REBASED))
    assert f"{SUBJECT} (1a2b3c4)." in content
    assert "2b3c4d5" not in content


def test_commits_that_a_rebase_skipped_lose_their_ids_too() -> None:
    """A commit that `git pull --rebase` reports as skipped loses its id, as do the rebased ones."""
    thread = boats().user("Now the ferries, which are missing from the list as well.")
    thread.edit("/w/harbour/src/ferries.py", "pass", "def count_ferries():\n    return len(ferries())\n")
    commit(
        thread, "Count the ferries every evening", "2b3c4d5", "The ferries were missing, because they leave by noon."
    )
    content = told(thread.bash("git pull --rebase", f"warning: skipped previously applied commit 1a2b3c4\n{REBASED}"))
    assert "1a2b3c4" not in content
    assert "2b3c4d5" not in content


def test_an_id_that_the_branch_shows_after_a_rebase_was_not_rewritten() -> None:
    """The old id stays if a log after the rebase still shows it; a log before the rebase does not count."""
    log = "1a2b3c4 Count the boats at high tide\n"
    assert "1a2b3c4" not in told(boats().bash("git log --oneline && git rebase main", log + REBASED))
    assert f"{SUBJECT} (1a2b3c4)." in told(boats().bash("git rebase main", REBASED).bash("git log --oneline -3", log))


def test_a_commit_that_was_picked_has_the_id_of_the_last() -> None:
    """After `git cherry-pick` the episode names the id of the new commit with the same subject."""
    content = told(boats().bash("git cherry-pick 1a2b3c4", f"[release 6f7a8b9] {SUBJECT}\n 2 files changed"))
    assert f"{SUBJECT} (6f7a8b9)." in content


def test_a_later_commit_is_named_without_an_id_that_was_rewritten() -> None:
    """A later commit of an episode is named by its subject alone if a rebase changed its id."""
    thread = boats().user("It forgets the boats without a name, I think.")
    thread.edit("/w/harbour/src/boats.py", "high_tide", "each_tide")
    said = "The list of names was empty for them, and count_boats did not ask for more."
    commit(thread, "fix: let count_boats see nameless boats", "2b3c4d5", said)
    thread.bash("git pull --rebase", REBASED)
    content = told(thread)
    assert "Later: fix: let count_boats see nameless boats" in content
    assert "2b3c4d5" not in content


def test_a_plan_that_was_carried_out_counts_no_files() -> None:
    """An episode of a plan says "Carried out as planned; checks passed" without a number of files."""
    plan = "# Count the ferries at night\n\n## Goal\n\nThe ferries of the night are missing from the list of the day.\n"
    thread = Thread().user(f"Implement the following plan:\n\n{plan}")
    thread.edit("/w/harbour/src/ferries.py", "pass", "def count_ferries():\n    return len(ferries())\n")
    content = told(thread.bash("pytest -q", "12 passed in 3 s"))
    assert "Carried out as planned; checks passed" in content


def test_an_amended_commit_keeps_the_message_of_the_first() -> None:
    """After `git commit --amend --no-edit` the episode has the first message and the new id."""
    thread = boats().edit("/w/harbour/src/boats.py", "    return len", "    return 1 + len")
    thread.bash("git add -A && git commit --amend --no-edit", f"[main 2b3c4d5] {SUBJECT}\n 2 files changed")
    assert "Adds count_boats() to the harbour module" in told(thread)
    assert f"{SUBJECT} (2b3c4d5)" in told(thread)
    thread.bash(
        "git -C /w/pier commit --amend --no-edit", "[main 3c4d5e6] Paint the pier once a year\n 2 files changed"
    )
    assert "count_boats" not in told(thread)
