"""Candidate memories of six types from messages, commands, episodes and files; none from small talk."""

from __future__ import annotations

import pytest

from reverie.consolidate import decide
from reverie.distill.extractive import Extractive
from reverie.distill.extractive.episodes import short_summary
from reverie.distill.extractive.procedures import split_command
from reverie.models import Candidate, Keep, Memory, MemoryType, Skip, Tier
from support.thread import Thread, logger_fix

ENGINE = Extractive()


def of_type(thread: Thread, kind: MemoryType) -> list[Candidate]:
    return [candidate for candidate in ENGINE.candidates(thread.messages) if candidate.type is kind]


def test_small_talk_gives_no_memories() -> None:
    """Greetings, thanks and the weather give no candidates."""
    thread = (
        Thread()
        .user("Hi there!")
        .agent("Hello! How can I help you today?")
        .user("how are you?")
        .agent("I'm doing well, thank you for asking.")
        .user("Nice weather today. Thanks, bye!")
        .agent("Goodbye, have a great day!")
    )
    assert ENGINE.candidates(thread.messages) == ()
    assert ENGINE.candidates([]) == ()


def test_a_correction_becomes_a_mistake_memory() -> None:
    """The memory has the corrected advice, and the date when it was learnt."""
    [mistake, *_] = of_type(logger_fix(), MemoryType.MISTAKE)
    assert mistake.content == (
        "Don't touch the public makeLogger signature in src/logger.ts: the user had to correct this (2026-03-05)."
    )
    assert "logger" in mistake.tags
    assert all(tag == tag.lower() for tag in mistake.tags)
    assert mistake.provenance == {"seqs": [12]}


def test_a_failure_with_its_cause_becomes_a_mistake_memory() -> None:
    """It has the error, the file that fixed it, and the cause."""
    mistakes = [mistake.content for mistake in of_type(logger_fix(), MemoryType.MISTAKE)]
    assert any(
        text.startswith("If the tests fail with “Error: expected stdout to be empty”, look at logger.ts")
        for text in mistakes
    )
    assert any("`pinoPretty` runs as a pipeline" in text for text in mistakes)


def test_a_hedged_cause_gives_no_memory() -> None:
    """A cause stated as a guess is not stored as a fact."""
    thread = (
        Thread()
        .bash("cargo build", "error: cannot find `frob_it`", failed=True)
        .agent("This is probably because `frob_it` moved to another crate.")
        .edit("/w/lib.rs")
        .bash("cargo build", "Finished")
    )
    assert of_type(thread, MemoryType.MISTAKE) == []


@pytest.mark.parametrize(
    ("error", "cause", "path", "learnt"),
    [
        ("error: cannot find `frob_it`", "Found it: the `frob_it` function requires the feature flag.", "lib.rs", True),
        ("error: cannot find `frob_it`", "The root cause is that `frob_it` needs the extra flag.", "lib.rs", True),
        (
            "error: cannot find `frob_it`",
            "I see the issue - the edit must have been on a different copy.",
            "lib.rs",
            False,
        ),
        ("error: cannot find `frob_it`", "This is because of the flag that was removed earlier.", "lib.rs", False),
        ("ERROR task failed", "The root cause is that `frob_it` needs the extra flag.", "lib.rs", False),
        (
            "error: no such file or directory",
            "The root cause is that `frob_it` needs the extra flag.",
            "lib.rs",
            False,
        ),
        ("error: cannot find `frob_it`", 'The root cause is that `frob_it` needs the "extra flag.', "lib.rs", False),
        (
            "error: cannot find `frob_it`",
            "The root cause is that `frob_it` needs the extra flag.",
            "/etc/notes.md",
            False,
        ),
    ],
)
def test_a_fixed_failure_is_self_contained(error: str, cause: str, path: str, learnt: bool) -> None:  # noqa: FBT001
    """It has the symptom, the place in the project and the cause, without references to the conversation."""
    thread = Thread()
    for name in ("one.rs", "two.rs"):
        thread.edit(f"/w/src/{name}")
    thread.bash("cargo build", error, failed=True).agent(cause)
    thread.edit(path if path.startswith("/") else f"/w/src/{path}").bash("cargo build", "Finished")
    mistakes = of_type(thread, MemoryType.MISTAKE)
    assert len(mistakes) == learnt
    assert all(one.content.startswith(f"If the build fails with “{error}”, look at lib.rs: ") for one in mistakes)


def test_a_plain_command_that_worked_later_is_no_mistake() -> None:
    """Edits in between need not be what fixed a command that is no check."""
    thread = (
        Thread()
        .bash("git fetch origin", "error: unable to create the lock file of the index", failed=True)
        .agent("The queue does not handle empty content because `chunk_all` skips it.")
        .edit("/w/queue.py")
        .bash("git fetch origin", "done")
    )
    assert of_type(thread, MemoryType.MISTAKE) == []


@pytest.mark.parametrize(
    "remark",
    [
        "Add a `resetCache` helper that must be called between the tests of the registry.",
        "The old entry `28c304f6` wins because it has the most recent interaction time.",
        "The function is skipped because I just added `openStore` to the list of exceptions.",
        "The comment at line 320 says that `openStore` must match the number of messages.",
        'The guide explicitly requires this: "Always use `openStore` in tests.',
        "Before this PR the importer was always counting because `openStore` returned one line.",
    ],
)
def test_temporary_remarks_give_no_memories(remark: str) -> None:
    """Plans, one commit, what was just done, a line number, half a quote and the current change."""
    candidates = ENGINE.candidates(Thread().user("Explain the storage layer to me").agent(remark).messages)
    assert candidates == ()


def test_standing_requests_and_choices_become_preferences() -> None:
    """What a user always wants, and what they chose when asked."""
    [preference] = of_type(logger_fix(), MemoryType.PREFERENCE)
    assert preference.content == "Wants agents to always use conventional commits."
    assert preference.subject == "user"
    thread = Thread().call(
        "AskUserQuestion", {"questions": [{"question": "Tabs or spaces?"}, "odd"]}, 'answers: "Tabs or spaces?"="Tabs"'
    )
    [choice] = of_type(thread, MemoryType.PREFERENCE)
    assert choice.content == "Asked “Tabs or spaces?”, the user chose “Tabs” (2026-03-05)."


def test_statements_about_the_user_become_facts() -> None:
    """A user's statement about themselves becomes a fact about the user."""
    thread = Thread().user("Hi, I'm Zhang San. I work on the billing team. Can you help?")
    facts = of_type(thread, MemoryType.FACT)
    assert [fact.content for fact in facts] == [
        "The user said: “Hi, I'm Zhang San.” (2026-03-05).",
        "The user said: “I work on the billing team.” (2026-03-05).",
    ]
    assert {fact.subject for fact in facts} == {"user"}


def test_stated_constraints_are_facts_and_causes_observations() -> None:
    """Self-contained sentences with a name in them; those that depend on others are left out."""
    thread = (
        Thread()
        .user("Explain the storage layer to me")
        .agent(
            "The `openStore` function requires an absolute path to the data folder.\n"
            "Writes to `data.mdb` are slow because every commit waits for the disk.\n"
            "It requires `another_thing` that was said before somewhere else.\n"
            "The `closeStore` function probably requires the same absolute path."
        )
    )
    assert [fact.content for fact in of_type(thread, MemoryType.FACT)] == [
        "The `openStore` function requires an absolute path to the data folder (2026-03-05)."
    ]
    assert [one.content for one in of_type(thread, MemoryType.OBSERVATION)] == [
        "Writes to `data.mdb` are slow because every commit waits for the disk (2026-03-05)."
    ]


def test_commands_that_keep_working_become_procedures_and_skills() -> None:
    """How to run tests, what precedes a commit, and how something was looked up."""
    thread = Thread()
    for number in range(3):
        thread.edit(f"/w/app/{number}.go")
        thread.bash("cd /w && go test ./... 2>&1 | tail -5", "ok", description="Run tests")
        thread.bash("golangci-lint run", "ok", description="Lint")
        thread.bash('git commit -m "change"', f"[main abc123{number}] change number {number}")
        thread.bash("gh pr view --json state | head -3", "OPEN", description="See the state of the pull request")
    procedures = [candidate.content for candidate in of_type(thread, MemoryType.PROCEDURE)]
    assert procedures[0] == "To run the tests of this project: `go test ./...`."
    assert procedures[-1].endswith("in this order: `go test ./...`, then `golangci-lint run`, then `git commit`.")
    [skill] = of_type(thread, MemoryType.SKILL)
    assert skill.content == "To see the state of the pull request: `gh pr view --json state`."


def memories_of_runs(command: str, times: int = 2) -> list[str]:
    """Return the memories learnt when a command succeeded so many times."""
    thread = Thread()
    for _ in range(times):
        thread.bash(command, "ok", description="Look at what was said")
    candidates = ENGINE.candidates(thread.messages)
    return [one.content for one in candidates if one.type in {MemoryType.SKILL, MemoryType.PROCEDURE}]


@pytest.mark.parametrize(
    ("command", "learnt"),
    [
        ("gh api repos/x/y/comments --paginate | jq '.[] | select(.a > 1)'", "jq '.[] | select(.a > 1)'`."),
        ("cd /w && go vet ./... 2>&1 | tail -5", "To lint this project: `go vet ./...`."),
        ("go build ./... 2>/dev/null", "To build this project: `go build ./...`."),
        ("npm run report \\\n  --short", "`npm run report --short`."),
    ],
)
def test_commands_are_stored_complete(command: str, learnt: str) -> None:
    """Quoted text is not cut, continued lines are joined; `cd`, filters and redirections are removed."""
    [content] = memories_of_runs(command)
    assert content.endswith(learnt)


@pytest.mark.parametrize(
    "command",
    [
        "gh api repos/x/y/comments --paginate | jq '",
        "gh api repos/x/y/comments --jq '.[] | {a: .b",
        "gh api repos/x/y/comments \\",
        "gh api repos/x/y/pulls/112/comments --paginate",
        "gh api repos/x/y/comments/2738948818/replies",
        "gh pr checks 112",
        "docker run view 21662191208",
        "hg log show 1a2b3c4d",
        "bash -n /home/mira/app/run.sh",
        "psql -f - <<SQL",
        "pytest -q tests/test_one.py",
        "go test ./app -run TestOne",
    ],
)
def test_incomplete_or_one_time_commands_are_no_procedures(command: str) -> None:
    """Half a command, one comment, one pull request, one commit, one machine's folder, one test."""
    assert memories_of_runs(command) == []


def test_parts_of_a_command() -> None:
    """Separators in quotes do not separate; a part of filters alone is left out."""
    assert split_command("cd /w; echo 'a; b' && make check > log 2>&1 || true") == [
        "cd /w",
        "echo 'a; b'",
        "make check",
        "true",
    ]
    assert split_command("") == split_command("> log") == []


@pytest.mark.parametrize("tier", list(Tier))
def test_a_repeated_procedure_is_the_same_memory(tier: Tier) -> None:
    """The stored statement is unchanged, however often the command ran before and runs now."""
    [stored] = memories_of_runs("make test", 5)
    for existing in (stored, f"{stored.rstrip('.')}; it passed 10 times, last on 2026-02-08."):
        memory = Memory("m", MemoryType.PROCEDURE, existing, (), "facts/p.md", "2026-02-08", "2026-02-08")
        thread = Thread().bash("make test", "ok").bash("make test", "ok")
        candidates = [one for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.PROCEDURE]
        changes = decide(candidates, (memory,), tier).changes
        assert [type(change) for change in changes] == [Keep, Skip]


def test_a_finished_task_becomes_an_episode() -> None:
    """The episode has a title, a summary of at most ten words, date, problem, solution and lesson."""
    [episode] = of_type(logger_fix(), MemoryType.EPISODE)
    assert episode.title == "replace the pipeline by lineTransport"
    fields = dict(episode.fields)
    assert list(fields) == ["Summary", "Date", "Problem", "Solution", "Lesson"]
    assert len(fields["Summary"].split()) <= 10
    assert fields["Date"] == "2026-03-05"
    assert fields["Problem"].startswith("The logger writes")
    assert "1a2b3c4" in fields["Solution"]
    assert episode.content.startswith("- Summary: ")


@pytest.mark.parametrize("request_text", ["What does this do, in a few words?", "Add a flag to the parser please"])
def test_an_unfinished_task_gives_no_episode(request_text: str) -> None:
    """Talk alone, or edits without a commit or a passing check, give none."""
    assert of_type(Thread().user(request_text).agent("I see."), MemoryType.EPISODE) == []
    assert of_type(Thread().user(request_text).edit("/w/a.py").agent("Edited."), MemoryType.EPISODE) == []


def test_an_uncommitted_task_needs_passing_checks_and_a_report() -> None:
    """With both, the agent's report is the solution."""
    thread = (
        Thread()
        .user("Ok, now please add a `--quiet` flag to the command line of the importer")
        .edit("/w/app/cli.py")
        .bash("pytest -q", "5 passed")
        .agent("Added the `--quiet` flag to `app/cli.py`.")
    )
    [episode] = of_type(thread, MemoryType.EPISODE)
    assert episode.title is not None
    assert episode.title.startswith("Add a `--quiet` flag")
    assert dict(episode.fields)["Solution"].startswith("Added the `--quiet` flag")


def test_summary_of_a_title_has_ten_words_at_most() -> None:
    """Function words are dropped first."""
    title = "fix(core): the counting of the tokens in a text that is longer than the window of a model"
    assert short_summary(title) == "counting tokens text longer than window model"
    assert len(short_summary("word " * 30).split()) == 10
    assert short_summary("fix: short title") == "short title"


def test_memories_from_documentation_files() -> None:
    """The first sentence under each heading, steps as procedures, warnings as mistakes, and definitions."""
    files = {
        "research/lmdb.md": (
            "# LMDB\n\nLMDB maps the whole file into memory and never copies a page.\n\n"
            "## Pitfalls\n\nNever open the same file twice in one process, locks are lost.\n\n"
            "## Backup\n\n1. Stop writers\n2. Copy with compaction\n\n```\n# not a heading\n```\n\n## Empty\n\nShort.\n"
        ),
        "src/size.py": '"""x"""\ndef size_of(path):\n    """Gives the size of a file in bytes, links followed."""\n',
        "src/size.go": "// SizeOf gives the size of a file in bytes.\nfunc SizeOf() {}\n",
        "notes.txt": "The queue is bounded at one thousand entries.",
        "empty.md": "",
    }
    candidates = {(candidate.type, candidate.content) for candidate in ENGINE.candidates([], files)}
    assert (
        MemoryType.FACT,
        "LMDB: LMDB maps the whole file into memory and never copies a page. (from research/lmdb.md)",
    ) in candidates
    assert any(kind is MemoryType.MISTAKE and "Never open the same file twice" in text for kind, text in candidates)
    assert any(
        kind is MemoryType.PROCEDURE and "Stop writers → Copy with compaction" in text for kind, text in candidates
    )
    assert any("`size_of` in src/size.py: Gives the size" in text for _, text in candidates)
    assert any("`SizeOf` in src/size.go" in text for _, text in candidates)
    assert any("The queue is bounded" in text for _, text in candidates)
    assert not any("was created" in text or "not a heading" in text for _, text in candidates)


def test_working_memory_gives_facts() -> None:
    """Sentences are stored under their key, flags are not."""
    facts = ENGINE.candidates(
        [], {}, {"deadline": "release is due tomorrow at noon", "done": "yes"}, "2026-11-21T10:00:00.000Z"
    )
    assert [candidate.content for candidate in facts] == ["deadline: release is due 2026-11-22 at noon (2026-11-21)."]


def test_equal_statements_give_one_memory() -> None:
    """Two wordings of one statement give one memory."""
    thread = Thread()
    for _ in range(4):
        thread.user("don't touch the generated files in src/gen, edit the templates").agent("Understood.")
    assert len(of_type(thread, MemoryType.MISTAKE)) == 1
