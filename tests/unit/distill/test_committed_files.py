"""An episode names the files that its commit has, and none where the commands do not show which."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.models import MemoryType
from support.thread import Thread

ENGINE = Extractive()
BODY = "Pages were slow to load, because nothing kept the answer of the gauge between two of them."
COMMIT = f"git commit -m \"$(cat <<'EOF'\nAsk the gauge once an hour\n\n{BODY}\nEOF\n)\""


def files(thread: Thread) -> str:
    """Return the text that lists the files in the last episode of a thread."""
    [*_, episode] = [one for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.EPISODE]
    return dict(episode.fields)["Solution"].partition("Files: ")[2]


def edited(*paths: str) -> Thread:
    thread = Thread().user("Please ask the gauge for the tide once an hour, and not on every page.")
    for path in paths:
        thread.edit(f"/w/harbour/{path}")
    return thread


def report(count: int, *lines: str) -> str:
    return "\n".join(["[main 1a2b3c4] Ask the gauge once an hour", f" {count} files changed, 9 insertions(+)", *lines])


@pytest.mark.parametrize(
    ("add", "count", "named"),
    [
        ("git add src/tide.py", 1, "src/tide.py"),
        ("git add src", 2, "src/tide.py, src/level.py"),
        ("git add -A", 3, "src/tide.py, src/level.py, notes/plan.md"),
        ("git add -A", 2, ""),  # one of three is not in it: which one is not known
        ("git add src/tide.py src/written_by_a_script.py", 2, "src/tide.py, src/written_by_a_script.py"),
        ("git add src/tide.py notes/plan.md && git reset HEAD notes/plan.md", 1, "src/tide.py"),
        ("git add src/tide.py && git restore --staged . && git add src/level.py", 1, "src/level.py"),
        ("git add src/tide.py && git reset && git add src/level.py", 1, "src/level.py"),
        ("git add -p", 2, ""),
        ("git add -p", 3, "src/tide.py, src/level.py, notes/plan.md"),
        ("git add 'src/*.py'", 2, ""),
        ("git add src/tide.py && git stash", 2, ""),
        ("git mv src/old.py src/new.py && git add src/tide.py", 2, "src/tide.py, src/new.py"),
        ("git add .gitignore src/tide.py", 2, "src/tide.py, .gitignore"),
        ("git add '/w/harbour/src/tide.py'", 1, "src/tide.py"),
        ("git add 'src/ti", 1, ""),
        ("true", 2, ""),
    ],
)
def test_files_are_those_that_were_staged(add: str, count: int, named: str) -> None:
    """An episode names the edited files that were staged, or none if they are more than git's count of the commit."""
    thread = edited("src/tide.py", "src/level.py", "notes/plan.md").bash(add)
    assert files(thread.bash(f"cd /w/harbour && {COMMIT}", report(count))) == named


def test_what_was_staged_before_and_not_again_is_left_out() -> None:
    """If a file was staged before, but not by the last `git add` before the commit, the episode leaves it out."""
    thread = (
        edited("src/tide.py", "plan.md").bash("git add plan.md").bash("git add src/tide.py").bash(COMMIT, report(1))
    )
    assert files(thread) == "src/tide.py"


def test_an_add_that_git_refused_stages_nothing() -> None:
    """A `git add` that failed stages none of its paths."""
    thread = edited("src/tide.py", "plan.md")
    thread.bash("git add plan.md other.md", "fatal: pathspec 'other.md' did not match any files", failed=True)
    assert files(thread.bash("git add src/tide.py").bash(COMMIT, report(2))) == "src/tide.py and 1 more"


def test_reported_files_are_named_and_deleted_ones_not() -> None:
    """Files that git's commit report names are in the episode, with the repository's folder; deleted ones are not."""
    thread = edited("web/src/tide.py", "web/src/level.py").call("Read", {"file_path": "/w/notes.md"})
    lines = (
        " create mode 100644 web/src/level.py",
        " delete mode 100644 web/src/gone.py",
        " rename web/src/{a.py => b.py} (90%)",
    )
    thread.bash(f"cd /w/harbour/web && git add -A && {COMMIT}", report(4, *lines))
    assert files(thread) == "web/src/tide.py, web/src/level.py, web/src/b.py"
    thread = edited("x.py", "y.py", "z.py", "u.py").bash(f"git add -A && {COMMIT}", report(4, *lines))
    assert files(thread) == "web/src/level.py, web/src/b.py and 1 more"  # which of the others is not known


def test_two_commits_in_one_command_have_their_own_files() -> None:
    """If one command makes two commits, the episode has only the files of its own commit."""
    thread = edited("src/tide.py", "src/level.py").bash("git add src/tide.py")
    second = report(9).replace("1a2b3c4", "2b3c4d5").replace("gauge", "level") + "\n create mode 100644 src/level.py"
    assert files(thread.bash(f"{COMMIT} && git commit -m 'Level'", f"{report(1)}\n{second}")) == "src/tide.py"


def test_a_long_list_says_how_many_more() -> None:
    """An episode names six files of a commit and counts the others."""
    paths = [f"src/part_{number}.py" for number in range(8)]
    thread = edited(*paths).bash(f"cd /w/harbour && git add . && {COMMIT}", report(8))
    assert files(thread) == f"{', '.join(paths[:6])} and 2 more"
