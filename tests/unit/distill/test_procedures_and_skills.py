"""Procedures and skills: parts of command lines, whole or partial, and one command for each purpose over threads."""

from __future__ import annotations

import pytest

from reverie.consolidate import decide
from reverie.distill.commands import split_command
from reverie.distill.distiller import Extractive
from reverie.distill.procedures import command_uses, merged_uses
from reverie.models import Add, Candidate, CommandUse, Delete, Keep, Memory, MemoryType, Skip, Tier, Update
from support.talk import Talk

ENGINE = Extractive()


def learnt(thread: Talk, others: tuple[CommandUse, ...] = ()) -> list[str]:
    """Return the procedures and skills of a thread, `others` being the commands of the project's other threads."""
    uses = [*others, *command_uses(ENGINE.facts(thread.messages))]
    found = ENGINE.candidates(thread.messages, uses=uses)
    return [one.content for one in found if one.type in {MemoryType.PROCEDURE, MemoryType.SKILL}]


def runs(*commands: str, times: int = 2, description: str = "Look at what was said") -> Talk:
    thread = Talk()
    for command in commands * times:
        thread.bash(command, "ok", description=description)
    return thread


@pytest.mark.parametrize(
    ("command", "procedures"),
    [
        ("cd /w && golangci-lint run 2>&1 | tail -5", ["To lint this project: `golangci-lint run`."]),
        ("pnpm run build 2>/dev/null", ["To build this project: `pnpm run build`."]),
        ("golangci-lint run || echo 'no linter'", []),
        ("go build ./...", []),
        ("cargo check --workspace", []),
        ("mise run test:integration", ["To run the integration tests of this project: `mise run test:integration`."]),
        ("mise run test:ci", ["To run the tests of this project as CI does: `mise run test:ci`."]),
        ("cargo fmt --all", ["To format the code of this project: `cargo fmt --all`."]),
        ("bun run typecheck", ["To check the types of this project: `bun run typecheck`."]),
        ("npx tsc --noEmit", ["To check the types of this project: `npx tsc --noEmit`."]),
        (
            "make fmt && make lint",
            ["To lint this project: `make lint`.", "To format the code of this project: `make fmt`."],
        ),
    ],
)
def test_each_part_of_a_line_has_its_own_purpose(command: str, procedures: list[str]) -> None:
    """Each part of a command line with `&&` is learnt with its own purpose; filters and redirections are removed."""
    once = runs(command, times=1)
    assert learnt(once) == []
    assert learnt(once, command_uses(ENGINE.facts(once.messages))) == procedures


@pytest.mark.parametrize(
    "command",
    [
        "go test ./cmd/app/strategy/ -count=1",
        "go build ./cmd/app",
        "pytest -q tests/test_one.py",
        "go test ./... -run TestOne",
        "pnpm --filter @app/web test",
        "cd web && npm test",
        "npm test -- src/parser.test.ts",
        "npm test -- cart",
        "cargo test parses_dates",
        "pytest -q test_dates",
        ".skills/harness.sh setup-repo && go build -o /tmp/app .",
        "make test > /dev/null; echo $(date)",
        "ps -ef | rg 'npm test|pytest'",
        'issues create "npm test fails" --labels lint',
    ],
)
def test_a_part_of_the_project_is_not_the_project(command: str) -> None:
    """A command for one package, folder, file or test is not learnt as the command of the whole project."""
    contents = learnt(runs(command, times=4))
    assert not any(
        "`go " in one or "pytest" in one or "npm" in one or "skills" in one or "cargo" in one for one in contents
    )


def test_a_failed_command_counts_for_nothing() -> None:
    """A command that never passed is not learnt; another one that passed is."""
    thread = Talk()
    for _ in range(3):
        thread.bash("npm test", "Exit code 1\n3 failed", failed=True)
    thread.bash("npx vitest run", "ok").bash("npx vitest run", "ok")
    assert learnt(thread) == ["To run the tests of this project: `npx vitest run`."]


def test_a_projects_command_stays_until_another_one_is_clearly_used() -> None:
    """The first habit stays where another one passed in as many threads, and goes where in twice as many."""
    first, other = CommandUse("tests", "make test"), CommandUse("tests", "just test")
    thread = runs("make test", "just test", times=1)
    for count in (2, 5):
        before = (first,) * count + (other,) * count
        assert learnt(thread, before) == ["To run the tests of this project: `make test`."]
        assert learnt(thread, (*before, *(other,) * (count + 4))) == ["To run the tests of this project: `just test`."]
    assert learnt(runs("just test", times=1), (first,) * 3) == []


def test_a_plain_command_needs_one_thread_and_another_one_two() -> None:
    """A command without options that passed twice in one thread is learnt; one with options waits for another."""
    assert learnt(runs("just test")) == ["To run the tests of this project: `just test`."]
    assert learnt(runs("npx tsc --noEmit", times=5)) == []


def test_one_run_in_each_of_two_threads_is_enough() -> None:
    """One run in a thread is not learnt as a procedure; one run in each of two threads is."""
    thread = runs("make test", times=1)
    assert learnt(thread) == []
    assert learnt(thread, (CommandUse("tests", "make test"),)) == ["To run the tests of this project: `make test`."]


@pytest.mark.parametrize(
    ("command", "taught"),
    [
        ("npm run report \\\n  --short", "To look at what was said: `npm run report --short`."),
        ("./scripts/seed.sh demo", "To look at what was said: `./scripts/seed.sh demo`."),
        ("gh api repos/x/y/comments --paginate", None),
        ("go doc -all example.com/git Status", None),
        ("docker ps", None),
        ("./scripts/seed.sh 31337", None),
    ],
)
def test_skills_are_the_projects_own_tasks(command: str, taught: str | None) -> None:
    """The project's own tasks and scripts that passed in several threads are learnt as skills, common commands not."""
    thread = runs(command, times=3)
    uses = command_uses(ENGINE.facts(thread.messages))
    assert learnt(thread) == []
    assert learnt(thread, uses) == ([taught] if taught else [])


@pytest.mark.parametrize(
    "command",
    [
        "gh api repos/x/y/comments --paginate | jq '",
        "gh api repos/x/y/comments --jq '.[] | {a: .b",
        "gh api repos/x/y/comments \\",
        "make deploy RUN=21662191208",
        "just show 1a2b3c4d",
        "bash -n /home/mira/app/run.sh",
        "psql -f - <<SQL",
    ],
)
def test_incomplete_or_one_time_commands_teach_nothing(command: str) -> None:
    """Incomplete commands, and those about one comment, commit or machine, are not learnt."""
    thread = runs(command, times=3)
    assert learnt(thread, command_uses(ENGINE.facts(thread.messages))) == []


def test_parts_of_a_command() -> None:
    """A command line is split at separators outside quotes, without redirections and parts that only filter."""
    assert split_command("cd /w; echo 'a; b' && make check > log 2>&1 || true") == [
        "cd /w",
        "echo 'a; b'",
        "make check",
        "true",
    ]
    assert split_command("") == split_command("> log") == []


def test_uses_of_two_stretches_are_one_threads() -> None:
    """Uses of two stretches of a thread are merged by purpose and command, and their runs added."""
    one = (CommandUse("tests", "make test", 2), CommandUse("lint", "make lint"))
    later = (CommandUse("tests", "make test", 3, "Run the tests"),)
    assert merged_uses(one, later) == (CommandUse("tests", "make test", 5, "Run the tests"), one[1])


@pytest.mark.parametrize("tier", list(Tier))
def test_a_new_command_replaces_the_old_one(tier: Tier) -> None:
    """A stored procedure is updated by another command of the same purpose; the same command changes nothing."""
    stored = "To run the tests of the project app: `go test ./...`."
    memory = Memory("m", MemoryType.PROCEDURE, stored, (), "facts/p.md", "2026-02-08", "2026-02-08", project="app")

    def changes(content: str) -> list[type]:
        candidate = Candidate(MemoryType.PROCEDURE, content, project="app")
        return [type(change) for change in decide([candidate], (memory,), tier).changes]

    assert changes(stored) == [Keep, Skip]
    assert changes("To run the tests of the project app: `mise run test`.") == [Update, Skip]
    assert Delete not in changes("To lint the project app: `mise run lint`.")
    if tier is Tier.GENEROUS:
        assert changes("To lint the project app: `mise run lint`.") == [Keep, Add]


@pytest.mark.parametrize(
    ("command", "doing"),
    [
        ("just test", "run the tests of"),
        ("task test", "run the tests of"),
        ("nox -s tests", "run the tests of"),
        ("uv run invoke test", "run the tests of"),
        ("bundle exec rake spec", "run the tests of"),
        ("bazel test //...", "run the tests of"),
        ("./gradlew test", "run the tests of"),
        ("./mvnw -B verify", "run the tests of"),
        ("just lint", "lint"),
        ("./gradlew assemble", "build"),
    ],
)
def test_tasks_of_any_runner_are_procedures(command: str, doing: str) -> None:
    """A task that is named after a check is the project's command for it, whichever program runs it."""
    thread = runs(command, times=1)
    [text] = learnt(thread, command_uses(ENGINE.facts(thread.messages)))
    assert text == f"To {doing} this project: `{command}`."


def test_tasks_of_something_else_are_no_procedures() -> None:
    """A task whose name only begins like a check is none."""
    assert learnt(runs("just test-data", times=3)) == []
    assert learnt(runs("just verify-links", times=3)) == []
