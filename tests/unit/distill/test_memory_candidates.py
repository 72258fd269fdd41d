"""Candidate memories of six types from messages, commands, episodes and files; none from small talk."""

from __future__ import annotations

import pytest

from reverie.consolidate import decide
from reverie.distill.distiller import Extractive
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
    """The memory has the corrected advice, what it was about, and the date when it was learnt."""
    [mistake, *_] = of_type(logger_fix(), MemoryType.MISTAKE)
    assert mistake.content == (
        "Don't touch the public makeLogger signature in src/logger.ts: the user had to correct this, about an edit of "
        "logger.ts (2026-03-05)."
    )
    assert "logger" in mistake.tags
    assert all(tag == tag.lower() for tag in mistake.tags)
    assert mistake.provenance == {"seqs": [12]}


def test_the_rule_behind_a_correction_is_a_preference() -> None:
    """Of "No, don't add pytz. Never add a dependency: …" the order becomes a mistake, the rule a preference."""
    thread = logger_fix().user(
        "No, don't add pytz. Never add a dependency to the logger: it runs on an old computer without a network. "
        "zoneinfo is in the standard library, and every harbour in the table has a zone of that library already."
    )
    assert of_type(thread, MemoryType.MISTAKE)[0].content.startswith("Don't add pytz: the user had to correct this")
    assert of_type(thread, MemoryType.PREFERENCE)[0].content == (
        "Wants agents never to add a dependency to the logger: it runs on an old computer without a network."
    )


def test_a_failure_with_its_cause_becomes_a_mistake_memory() -> None:
    """A mistake has the error of the failed check, the file whose edit fixed it, and the cause."""
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
    """A mistake quotes the error, names the file in the project, and refers to nothing else in the conversation."""
    thread = Thread()
    for name in ("one.rs", "two.rs"):
        thread.edit(f"/w/src/{name}")
    thread.bash("cargo build", error, failed=True).agent(cause)
    thread.edit(path if path.startswith("/") else f"/w/src/{path}").bash("cargo build", "Finished")
    mistakes = of_type(thread, MemoryType.MISTAKE)
    assert len(mistakes) == learnt
    assert all(one.content.startswith(f"If the build fails with “{error}”, look at lib.rs: ") for one in mistakes)


def test_an_error_is_told_without_its_place() -> None:
    """The error that a mistake quotes has neither file nor line numbers; its message stays."""
    error = "[lint:rs] src/lib.rs:346:3: `frob_it` is never read (line 344), only written"
    thread = Thread().edit("/w/src/one.rs").edit("/w/src/two.rs").bash("cargo clippy", error, failed=True)
    thread.agent("The root cause is that `frob_it` needs the extra flag.").edit("/w/src/lib.rs")
    [mistake] = of_type(thread.bash("cargo clippy", "Finished"), MemoryType.MISTAKE)
    assert mistake.content.startswith(
        "If the linter complains with “`frob_it` is never read, only written”, look at lib.rs: "
    )


def test_a_fixed_failure_names_the_files_that_its_output_names() -> None:
    """A mistake names the edited file that the failing output names, and no other file edited meanwhile."""
    thread = Thread().edit("/w/src/one.rs").edit("/w/src/two.rs")
    thread.bash("cargo build", "error: cannot find `frob_it`\n --> src/lib.rs:3:1", failed=True)
    thread.agent("The root cause is that `frob_it` needs the extra flag.").edit("/w/src/main.rs").edit("/w/src/lib.rs")
    [mistake] = of_type(thread.bash("cargo build", "Finished"), MemoryType.MISTAKE)
    assert "look at lib.rs: " in mistake.content


def test_a_cause_that_names_what_is_gone_gives_no_memory() -> None:
    """A cause that names a variable which the fix removed gives no mistake."""
    thread = Thread().edit("/w/src/one.rs").edit("/w/src/two.rs")
    thread.bash("cargo build", "error: cannot find `frob_it` at src/lib.rs:3", failed=True)
    thread.agent("The root cause is that `frob_it` reads old_flag before it is set.")
    thread.edit("/w/src/lib.rs", "frob_it(old_flag)", "frob_it(None)").bash("cargo build", "Finished")
    assert of_type(thread, MemoryType.MISTAKE) == []


def test_a_plain_command_that_worked_later_is_no_mistake() -> None:
    """A command that is no check and fails, then works after an edit, gives no mistake."""
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
    """An agent's remarks about plans, one commit, recent work, a line or the current change give no memories."""
    candidates = ENGINE.candidates(Thread().user("Explain the storage layer to me").agent(remark).messages)
    assert candidates == ()


def test_standing_requests_become_preferences_and_choices_decisions() -> None:
    """A standing request becomes a preference; an answer to the agent's question becomes a fact tagged `decision`."""
    [preference] = of_type(logger_fix(), MemoryType.PREFERENCE)
    assert preference.content == "Wants agents to always use conventional commits."
    assert preference.subject == "user"
    thread = Thread().call(
        "AskUserQuestion", {"questions": [{"question": "Tabs or spaces?"}, "odd"]}, 'answers: "Tabs or spaces?"="Tabs"'
    )
    [choice] = of_type(thread, MemoryType.FACT)
    assert choice.content == "Asked “Tabs or spaces?”, the user chose “Tabs” (2026-03-05)."
    assert choice.tags[0] == "decision"


def test_statements_about_the_user_become_facts() -> None:
    """A user's statement about themselves becomes a fact about the user."""
    thread = Thread().user("Hi, I'm Zhang San. I work on the billing team. Can you help?")
    facts = of_type(thread, MemoryType.FACT)
    assert [fact.content for fact in facts] == [
        "The user said: “Hi, I'm Zhang San.” (2026-03-05).",
        "The user said: “I work on the billing team.” (2026-03-05).",
    ]
    assert {fact.subject for fact in facts} == {"user"}


@pytest.mark.parametrize(
    "tool", ["Task", "Agent"], ids=["a report of a subagent", "a report of an agent by its newer name"]
)
def test_what_agents_say_of_code_is_no_memory(tool: str) -> None:
    """Statements of an agent, a subagent or an agent's plan about code become no memory."""
    remark = (
        "The `openStore` function requires an absolute path to the data folder.\n"
        "Writes to `data.mdb` are slow because every commit waits for the disk."
    )
    thread = Thread().user("Explain the storage layer to me").agent(remark).call(tool, {"prompt": "look"}, remark)
    thread.call("ExitPlanMode", {"plan": remark}).user(f"Implement the following plan:\n\n{remark}")
    assert ENGINE.candidates(thread.messages) == ()


@pytest.mark.parametrize("tier", list(Tier))
def test_a_repeated_procedure_is_the_same_memory(tier: Tier) -> None:
    """A command whose procedure is stored leaves that unchanged, whatever counts the stored words have."""
    stored = "To run the tests of this project: `make test`."
    for existing in (stored, f"{stored.rstrip('.')}; it passed 10 times, last on 2026-02-08."):
        memory = Memory("m", MemoryType.PROCEDURE, existing, (), "facts/p.md", "2026-02-08", "2026-02-08")
        thread = Thread().bash("make test", "ok").bash("make test", "ok")
        candidates = [one for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.PROCEDURE]
        changes = decide(candidates, (memory,), tier).changes
        assert [type(change) for change in changes] == [Keep, Skip]


def test_a_finished_task_becomes_an_episode() -> None:
    """The episode has a title, a summary of at most ten words, date, problem, solution and lesson."""
    [episode] = of_type(logger_fix(), MemoryType.EPISODE)
    assert episode.title == "Replace the pipeline by lineTransport"
    fields = dict(episode.fields)
    assert list(fields) == ["Summary", "Date", "Problem", "Solution", "Lesson"]
    assert len(fields["Summary"].split()) <= 10
    assert fields["Date"] == "2026-03-05"
    assert fields["Problem"] == "The tests fail: Error: expected stdout to be empty"
    assert "1a2b3c4" in fields["Solution"]
    assert "`pinoPretty` runs as a pipeline" in fields["Lesson"]
    assert episode.content.startswith("- Summary: ")


@pytest.mark.parametrize("request_text", ["What does this do, in a few words?", "Add a flag to the parser please"])
def test_an_unfinished_task_gives_no_episode(request_text: str) -> None:
    """A task with talk alone, or with edits but no commit or passing check, gives no episode."""
    assert of_type(Thread().user(request_text).agent("I see."), MemoryType.EPISODE) == []
    assert of_type(Thread().user(request_text).edit("/w/a.py").agent("Edited."), MemoryType.EPISODE) == []


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
    """A sentence in working memory becomes a fact with its key and date; a value such as "yes" does not."""
    facts = ENGINE.candidates(
        [], {}, {"deadline": "release is due tomorrow at noon", "done": "yes"}, "2026-11-21T10:00:00.000Z"
    )
    assert [candidate.content for candidate in facts] == ["deadline: release is due 2026-11-22 at noon (2026-11-21)."]


def test_equal_statements_give_one_memory() -> None:
    """Two wordings of one statement give one memory."""
    thread = Thread()
    for _ in range(4):
        thread.edit("/w/src/gen/a.py").user("no, don't touch the generated files in src/gen").agent("Understood.")
    assert len(of_type(thread, MemoryType.MISTAKE)) == 1


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("the old commands were removed on purpose", True),
        ("no, we don't use mocks in the store tests.", True),
        ("We no longer support Python 3.10", True),
        ("you're in a vm so you have no access to docker", True),
        ("You can only reach the database on port 5433", True),
        ("We are in Project: Juniper", True),
        ("you are in a hurry, i see", False),
        ("you can use the other one on the left", False),
        ("we are in project planning", False),
        ("you're in the container right now", False),
        ("that was removed on purpose", False),
        ("did you do that on purpose?", False),
        ("we don't use it", False),
        ("we don't support Windows yet", False),
        ("i think we don't use mocks", False),
        ("we don't need the watch command", False),
        ("we don't have time for this", False),
    ],
)
def test_what_the_person_says_of_the_project_for_good(message: str, *, kept: bool) -> None:
    """A person's statement about the project is quoted as a fact, unless it holds only now; none in a plain chat."""
    facts = of_type(Thread().bash("ls", "a").user(message).bash("ls", "b"), MemoryType.FACT)
    said = message.removeprefix("no, ").rstrip(".")
    assert [fact.content.split(" (")[0] for fact in facts] == ([f"The user said: “{said}”"] if kept else [])
    assert of_type(Thread().user(message).agent("I see."), MemoryType.FACT) == []


@pytest.mark.parametrize(
    ("message", "kept"),
    [("my github user is ada-l", True), ("My Linear handle is @ada", True), ("my github user is", False)],
)
def test_names_of_the_person_elsewhere(message: str, *, kept: bool) -> None:
    """The person's name at a service they work with is a fact about them."""
    facts = of_type(Thread().bash("ls", "a").user(message).bash("ls", "b"), MemoryType.FACT)
    assert [fact.content for fact in facts] == ([f"The user said: “{message}” (2026-03-05)."] if kept else [])


def test_an_answer_in_own_words_is_what_the_person_says() -> None:
    """An answer to a question that is none of its options is read as the person's words; an option's text is not."""
    options = [{"label": "Start Docker", "description": "we don't use podman in this project"}, {"label": "Skip"}]
    asked = {"questions": [{"question": "Docker is not running. Shall I start it?", "options": options}]}

    def facts(answer: str) -> list[str]:
        result = f'User has answered your questions: "Docker is not running. Shall I start it?"="{answer}".'
        thread = Thread().user("Run the slow tests of the api").call("AskUserQuestion", asked, result).bash("ls", "a")
        return [one.content for one in of_type(thread, MemoryType.FACT)]

    said = "you're in a vm so you have no access to docker"
    assert facts(said) == [f"The user said: “{said}” (2026-03-05)."]
    assert facts("we don't use podman in this project") == []
    assert facts("Start Docker") == []


@pytest.mark.parametrize("path", ["README", "docs/notes", "a.mdx", "a.org"])
def test_files_that_are_prose_by_their_names(path: str) -> None:
    """A README, a file without an ending in docs/, .mdx and .org files give facts, as .md files do."""
    files = {path: "The ledger service listens on port 7171 in every environment.\n"}
    [fact] = ENGINE.candidates([], files=files)
    assert "port 7171" in fact.content


def test_a_page_gives_the_memories_of_the_same_text() -> None:
    """A page of HTML gives the facts and steps that the same text in Markdown gives; scripts and menus give none."""
    page = """<!doctype html><html><head><title>Ledger handbook of the whole team</title>
    <style>body { color: red }</style><script>const port = "the wrong port of another service";</script></head>
    <body><nav><ul><li>Always leave the pages of the handbook here</li></ul></nav>
    <h1>Ledger</h1><p>The ledger service listens on
       port <code>7171</code> in every environment &amp; region.</p>
    <h2>Release</h2><ol><li>Run the checks</li><li>Tag the <em>stable</em> branch<li>Push the tag</ol>
    <img src="a.png"><footer>Written by the documentation team in spring</footer></body></html>"""
    text = (
        "# Ledger\n\nThe ledger service listens on port `7171` in every environment & region.\n\n"
        "## Release\n\n1. Run the checks\n2. Tag the stable branch\n3. Push the tag\n"
    )
    found = [one.content.replace("ledger.html", "ledger.md") for one in ENGINE.candidates([], {"ledger.html": page})]
    assert found == [one.content for one in ENGINE.candidates([], {"ledger.md": text})]
    assert len(found) == 2


@pytest.mark.parametrize(
    "page", ["", "<nav>never closed, so all of it is a menu", "<p><p></p></b></nav>", "<!--", "&#0;"]
)
def test_a_broken_page_gives_nothing(page: str) -> None:
    """Pages without text, with open or stray marks, give no memories and no error."""
    assert ENGINE.candidates([], {"a.htm": page}) == ()


@pytest.mark.parametrize("blank", ["\n", " \n", "\t\n"])
@pytest.mark.parametrize(
    ("path", "definition"),
    [
        ("src/lamp.rs", "/// Lights the lamp of the north pier at dusk.\npub fn light() {}\n"),
        ("src/lamp.py", 'def light() -> None:\n    """Light the lamp of the north pier at dusk."""\n'),
    ],
)
def test_a_definition_after_many_blank_lines_of_a_file_is_found(path: str, definition: str, blank: str) -> None:
    """Each blank line is read once: 40,000 of them before and after a definition change nothing."""
    [alone] = ENGINE.candidates([], files={path: definition})
    [found] = ENGINE.candidates([], files={path: f"{blank * 20_000}{definition}{blank * 20_000}"})
    assert found.content == alone.content
