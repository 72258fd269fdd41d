"""Classification of shell commands by purpose and outcome, commits and their messages, and the plan of task tools."""

from __future__ import annotations

import pytest

from reverie.distill import commands, todo
from reverie.distill.commands import Purpose
from reverie.distill.distiller import Extractive
from reverie.distill.steps import ToolCall, read_trace, user_speech
from support.talk import Talk


def calls(thread: Talk) -> tuple[ToolCall, ...]:
    return read_trace(thread.messages).calls


@pytest.mark.parametrize(
    ("command", "purpose"),
    [
        ("cd /w && go test ./... | tail -3", Purpose.TEST),
        ("npm run test", Purpose.TEST),
        ("pnpm --filter @tide/api -F web test", Purpose.TEST),
        ("cargo clippy", Purpose.LINT),
        ("cargo build --release", Purpose.BUILD),
        ("git add . && git commit -m x", Purpose.COMMIT),
        ("ls -la", Purpose.OTHER),
        ("just test", Purpose.TEST),
        ("cd app && just check", Purpose.TEST),
        ("task test", Purpose.TEST),
        ("CI=1 nox -s tests", Purpose.TEST),
        ("nox", Purpose.TEST),
        ("nox -s lint", Purpose.LINT),
        ("tox -e py312", Purpose.TEST),
        ("tox -e mypy", Purpose.LINT),
        ("uv run invoke test", Purpose.TEST),
        ("bundle exec rake spec", Purpose.TEST),
        ("bazel test //...", Purpose.TEST),
        ("./gradlew --no-daemon test", Purpose.TEST),
        ("./mvnw -B verify", Purpose.TEST),
        ("mvn -q clean test", Purpose.TEST),
        ("poe test", Purpose.TEST),
        ("just lint", Purpose.LINT),
        ("just build", Purpose.BUILD),
        ("mvn clean package", Purpose.BUILD),
        ("bazel build //...", Purpose.BUILD),
        ("gh pr create --title x --body 'we just test it'", Purpose.OTHER),
        ("just test-data", Purpose.OTHER),
        ("just deploy", Purpose.OTHER),
    ],
)
def test_purpose_of_a_command(command: str, purpose: Purpose) -> None:
    """A command line is classified as test, build, lint and so on."""
    [run] = commands.command_runs(calls(Talk().bash(command, "fine")))
    assert run.purpose is purpose
    assert not run.failed


@pytest.mark.parametrize(
    ("command", "result", "marked", "error"),
    [
        ("pytest", "E   assert 1 == 2\n1 failed", False, "E assert 1 == 2"),
        ("make", "Exit code 2\nmain.c:3: error: expected ';'", True, "main.c:3: error: expected ';'"),
        ("cat x", "Exit code 1\ncat: x: No such file", False, "cat: x: No such file"),
        ("sleep 9", "[Request interrupted by user for tool use]", True, None),
        ("cat log", "Error: something that was printed by another program", False, None),
        ("go test", "\x1b[31mFAIL\x1b[0m\tpkg", False, "FAIL pkg"),
        ("false", "Exit code 1", False, ""),
    ],
)
def test_outcome_of_a_command(command: str, result: str, marked: bool, error: str | None) -> None:  # noqa: FBT001
    """A run has failed by its error flag and exit code; of tests, builds and linters the output counts too."""
    [run] = commands.command_runs(calls(Talk().bash(command, result, failed=marked)))
    assert run.failed is (error is not None)
    assert run.error == (error or "")


@pytest.mark.parametrize(
    ("command", "output", "code", "failed"),
    [
        ("ruff check .", "Found 3 errors.", 0, False),
        ("ruff check .", "Found 3 errors.", 1, True),
        ("ruff check . | tail -1", "Found 3 errors.", 0, True),
        ("ruff check --fix . | tail -1", "Found 3 errors (3 fixed, 0 remaining).", 0, False),
        ("ruff check --fix . | tail -1", "Found 3 errors (2 fixed, 1 remaining).", 0, True),
        ("npx jest 2>&1 | tail -5", "sh: jest: command not found", 0, True),
        ("make check 2>&1 | tail -5", "make: *** No rule to make target 'check'.  Stop.", 0, True),
        ("pytest -q || true", "E   assert 1 == 2\n1 failed", 0, True),
        ("pytest -q; echo done", "1 failed\ndone", 0, True),
        ("cd app && pytest -q 2>&1", "ERROR: this is what the tested program prints", 0, False),
    ],
)
def test_a_check_with_exit_code_0(command: str, output: str, code: int, failed: bool) -> None:  # noqa: FBT001
    """The reported exit code decides, unless it may be that of another command of the line; then the output does."""
    result = f"Process exited with code {code}\nOutput:\n{output}"
    thread = Talk().user("Mend the linter's findings").call("exec_command", {"cmd": command}, result)
    [run] = commands.command_runs(calls(thread))
    assert run.failed is failed
    state = Extractive().working_state(thread.messages)
    assert bool(state.blockers) is failed


@pytest.mark.parametrize(
    ("command", "output", "passed"),
    [
        ("cd app && make docs > log 2>&1 && make site", "", ["cd app", "make docs", "make site"]),
        ("ruff check . || echo 'ruff not found'", "ruff not found", []),
        ("which docker || docker ps && make site", "", ["make site"]),
        ("make docs; make site;", "", ["make site"]),
        ("make docs\nmake site", "", ["make site"]),
        ("acme deploy 2>&1 | tail -5", "Unauthorized", []),
        ("acme list | jq .name", "null", ["acme list | jq .name"]),
        ("make docs && pytest -q 2>&1 | tail -5", "9 passed in 3 s", ["make docs", "pytest -q"]),
        ("make docs && pytest -q 2>&1 | tail -5", "1 failed, 8 passed in 3 s", []),
        ("pytest -q 2>&1 | grep -c tide", "0", []),
        ("git commit -m x && pytest -q | tail -1", "1 failed", ["git commit -m x"]),
    ],
)
def test_commands_that_passed(command: str, output: str, passed: list[str]) -> None:
    """Those of which the status of the line, or the output of a check, tells that they did."""
    [run] = commands.command_runs(calls(Talk().bash(command, output)))
    assert commands.passed_commands(run) == passed


def test_an_unanswered_command_is_no_run() -> None:
    """A command without a result at the end of a thread is not counted as run."""
    assert commands.command_runs(calls(Talk().open_call("Bash", {"command": "ls"}))) == []


def test_commits_are_those_that_git_confirmed() -> None:
    """An amended commit replaces the one before; merge commits in a log are not counted."""
    thread = (
        Talk()
        .bash('git commit -m "one"', "[main aaaaaaa] one\n 1 file changed")
        .bash("git commit --amend --no-edit", "[main bbbbbbb] one, better\n 1 file changed")
        .bash('git commit -m "two"', "nothing to commit", failed=True)
        .bash("git log", "ccccccc three")
    )
    commits: list[commands.Commit] = []
    for call in calls(thread):
        commands.add_commits(commits, call)
    assert [(commit.sha, commit.subject) for commit in commits] == [("bbbbbbb", "one, better")]


def test_texts_of_commits_and_pull_requests() -> None:
    """Commit and pull request messages are read from here-documents and quoted arguments."""
    command = "git commit -m \"$(cat <<'EOF'\nfix: the leak\n\nThe worker wrote to stdout.\nEOF\n)\""
    assert commands.message_texts(command) == ["fix: the leak\n\nThe worker wrote to stdout."]
    assert commands.message_texts('gh pr create --title "x" --body "It says \\"hello\\" to all callers"') == [
        'It says "hello" to all callers'
    ]
    thread = Talk().bash("gh pr create --fill", "https://example.org/a/b/pull/7\nhttps://example.org/a/b/pull/7")
    assert commands.pull_requests(calls(thread)) == [("https://example.org/a/b/pull/7", 2)]


def test_task_tools_update_the_plan() -> None:
    """Task tools create, rename, change and delete tasks of the plan; unknown tasks are ignored."""
    thread = Talk()
    thread.call("TaskCreate", {"subject": "Read it", "description": "all"}, "Task #1 created successfully")
    thread.call("TaskCreate", {"subject": "Drop me"}, "made")
    thread.call("TaskUpdate", {"taskId": "1", "status": "in_progress", "subject": "Read it all"})
    thread.call("TaskUpdate", {"taskId": "2", "status": "deleted"})
    thread.call("TaskUpdate", {"taskId": "9", "status": "completed"})
    assert [(item.subject, item.status) for item in todo.TodoList().follow(calls(thread)).items()] == [
        ("Read it all", "in_progress")
    ]


def test_a_rewritten_list_keeps_finished_tasks() -> None:
    """Finished tasks of an earlier to-do list stay in the plan when the list is rewritten."""
    thread = Talk().todos(First="completed", Second="pending").todos(Third="in_progress")
    assert [(item.subject, item.status) for item in todo.TodoList().follow(calls(thread)).items()] == [
        ("First", "completed"),
        ("Third", "in_progress"),
    ]


def test_text_of_the_user() -> None:
    """A user's text comes without the client's wrappers, a slash command as typed, and a skill's text not at all."""
    wrapped = (
        "<command-name>/review</command-name>\n<command-message>x</command-message>\n<command-args>now</command-args>"
    )
    assert user_speech(wrapped) == "/review now"
    stopped = "Operation stopped by hook: another session is active."
    assert user_speech(f"{stopped}\n\nOptions:\n1. Commit.") == ""
    assert user_speech(f"we get this: {stopped}").startswith("we get this")
    assert user_speech("<system-reminder>\nquiet\n</system-reminder>fix it") == "fix it"
    assert user_speech("Base directory for this skill: /x") == ""


def test_the_project_folder_is_recognised_beside_files_elsewhere() -> None:
    """The project's folder is found beside edits of a client's plan and of a temporary file elsewhere."""
    thread = Talk()
    for name in ("cmd/a.go", "cmd/b.go", "docs/c.md"):
        thread.edit(f"/home/ann/app/{name}")
    thread.edit("/home/ann/.claude/plans/x.md").edit("/private/tmp/y.go")
    result = read_trace(thread.messages)
    assert result.root == "/home/ann/app"
    assert result.relative("/home/ann/app/cmd/a.go") == "cmd/a.go"
    assert result.relative("/private/tmp/y.go") == "/private/tmp/y.go"
