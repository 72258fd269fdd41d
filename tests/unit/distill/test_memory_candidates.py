"""Candidate memories: wishes and choices in the person's words, files of a run, and none from small talk."""

from __future__ import annotations

import pytest

from reverie.consolidate import decide
from reverie.distill.distiller import Extractive
from reverie.models import Add, Keep, Memory, MemoryType, Skip, Tier
from support.talk import Talk

ENGINE = Extractive()


def contents(thread: Talk, kind: MemoryType) -> list[str]:
    return [candidate.content for candidate in ENGINE.candidates(thread.messages) if candidate.type is kind]


def asked(question: str, options: dict[str, str], answer: str) -> Talk:
    """Return a thread in which the agent asks through its tool, and the person answers."""
    listed = [{"label": label, "description": about} for label, about in options.items()]
    given = {"questions": [{"question": question, "options": listed}]}
    return Talk().call("AskUserQuestion", given, f'The user answered: "{question}"="{answer}".')


def test_small_talk_gives_no_memories() -> None:
    """Greetings, thanks and the weather give no candidates."""
    thread = Talk().user("Hi there!").agent("Hello!").user("Nice weather today. Thanks, bye!").agent("Goodbye!")
    assert ENGINE.candidates(thread.messages, unsure=True) == ()
    assert ENGINE.candidates([]) == ()


@pytest.mark.parametrize("tool", ["Task", "Agent"])
def test_what_agents_say_of_code_is_no_memory(tool: str) -> None:
    """Statements of an agent, a subagent or an agent's plan about code become no memory."""
    remark = (
        "The `openStore` function requires an absolute path to the data folder.\n"
        "Always use `openStore` because every commit waits for the disk."
    )
    thread = Talk().user("Explain the storage layer to me").agent(remark).call(tool, {"prompt": "look"}, remark)
    thread.call("ExitPlanMode", {"plan": remark})
    assert ENGINE.candidates(thread.messages) == ()


def test_a_wish_is_quoted_word_for_word_and_once() -> None:
    """A standing wish is told in the person's words, without a date, and once however often it was said."""
    said = "always run `just lint`, even if it's only docs"
    thread = Talk().bash("ls", "a").user(f"ok. {said}.").bash("ls", "a").user(f"{said.capitalize()}!").bash("ls", "a")
    [wish] = ENGINE.candidates(thread.messages, unsure=True)
    assert wish.content.casefold() == f"the user wants: “{said}”"
    assert (wish.type, wish.subject) == (MemoryType.PREFERENCE, "user")


@pytest.mark.parametrize(
    "message",
    [
        "always use the old parser for now",
        "Never mind, use the other one.",
        "It has never been this slow",
        "do we always run both?",
        "Always.",
        "I always thought so",
        "we never tested the parser",
        "I prefer the second option",
        "use the first one, not the second one",
    ],
)
def test_what_passes_is_no_wish(message: str) -> None:
    """What holds for one task, a question, a report or a habit is no wish that is taken without a yes."""
    thread = Talk().bash("ls", "a").user(message).bash("ls", "a")
    found = [one for one in ENGINE.candidates(thread.messages, unsure=True) if not one.provenance.get("waits")]
    assert [one.content for one in found] == []


def test_an_answer_in_their_own_words_is_a_memory() -> None:
    """What the person answers beside the options is told with its question; a chosen option is the agent's words."""
    options = {"Postgres (Recommended)": "Runs on the server we have", "SQLite": "One file"}
    own = asked("Which database holds the tides?", options, "The host has MariaDB running already")
    assert contents(own, MemoryType.FACT) == [
        "Asked “Which database holds the tides?”, the user said “The host has MariaDB running already” (2026-03-05)."
    ]
    chosen = asked("Which database holds the tides?", options, "Postgres (Recommended)")
    assert contents(chosen, MemoryType.FACT) == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which database holds the tides?", "You decide"),
        ("Which database holds the tides?", "B"),
        ("Shall the tides be cached?", "Yes, cache them"),
        ("Ready to push the branch?", "Push it"),
        ("What would you like to do next?", "Write the importer"),
        ("Which database holds the tides?", "what does SQLite cost us?"),
    ],
)
def test_an_answer_that_chooses_nothing_is_no_memory(question: str, answer: str) -> None:
    """You decide, a letter, a yes, a step of the work and an answer beside the options are no choices."""
    options = {"A": "", "B": "", "You decide": "", "Yes, cache them": "", "Push it": "", "Write the importer": ""}
    assert ENGINE.candidates(asked(question, options, answer).messages) == ()


@pytest.mark.parametrize("tier", list(Tier))
def test_a_repeated_procedure_is_the_same_memory(tier: Tier) -> None:
    """A command whose procedure is stored leaves that unchanged, whatever counts the stored words have."""
    stored = "To run the tests of this project: `make test`."
    for existing in (stored, f"{stored.rstrip('.')}; it passed 10 times, last on 2026-02-08."):
        memory = Memory("m", MemoryType.PROCEDURE, existing, (), "facts/p.md", "2026-02-08", "2026-02-08")
        thread = Talk().bash("make test", "ok").bash("make test", "ok")
        candidates = [one for one in ENGINE.candidates(thread.messages) if one.type is MemoryType.PROCEDURE]
        changes = decide(candidates, (memory,), tier).changes
        assert [type(change) for change in changes] == [Keep, Skip]


def test_each_labelled_line_of_a_file() -> None:
    """Labelled lines, steps and first sentences of a file are memories; tasks, plans, questions and code are none."""
    files = {
        "report.md": (
            "# Report\n\nMistake: the cache was keyed by name alone.\n- **Lesson:** always set the timeout to 20 s.\n\n"
            "TO-DO: write the tests of the cache.\n- [ ] measure the cache with two clients\n"
        ),
        "findings.md": (
            "# HTTP client\n\nThe client opens one connection for each host it meets.\n"
            "Lesson: never share a session between threads.\nLesson: nothing?\n\n"
            "```\nMistake: this is the output of a program.\n```\n\n"
            "## Lessons learned\n\n- Retries need a deadline of their own.\n\n"
            "## Next steps\n\nThe pool should learn to shrink in quiet hours.\n"
        ),
        "plan.md": "# Plan\n\n1. Read the old client\n2. Write the new one\n",
        "release.md": "# Release\n\n1. Bump the version\n2. Push the tag\n",
        "pool.py": 'def pool():\n    """Return one pool for each host of the client."""\n',
    }
    assert [(candidate.type.value, candidate.content) for candidate in ENGINE.candidates([], files)] == [
        ("fact", "HTTP client: Lesson: never share a session between threads. (from findings.md)"),
        ("fact", "HTTP client: The client opens one connection for each host it meets. (from findings.md)"),
        ("fact", "HTTP client — Lessons learned: Retries need a deadline of their own. (from findings.md)"),
        ("procedure", "Release: Bump the version → Push the tag (from release.md)"),
        ("mistake", "Report: Mistake: the cache was keyed by name alone. (from report.md)"),
        ("fact", "Report: Lesson: always set the timeout to 20 s. (from report.md)"),
    ]


@pytest.mark.parametrize("tier", [Tier.GENEROUS, Tier.SELECTIVE])
@pytest.mark.parametrize("heading", ["Findings", "Root causes", "Decisions"])
def test_what_stands_under_one_heading_is_all_kept(tier: Tier, heading: str) -> None:
    """Each finding of a file is a memory, and none takes the place of another run's under the same heading."""
    first = f"# {heading}\n- Bug: the parser drops commas.\n- Retries stop after 5 attempts.\n"
    second = f"# {heading}\n- Bug: login fails on Safari.\n- Bug: stderr is kept by systemd.\n"
    candidates = ENGINE.candidates([], {"f.md": first})
    assert [type(change) for change in decide(candidates, (), tier).changes] == [Add, Add]
    known = tuple(
        Memory(f"m{number}", MemoryType.FACT, one.content, (), "facts/f.md", "2026-02-08", "2026-02-08")
        for number, one in enumerate(candidates)
    )
    changes = decide(ENGINE.candidates([], {"f.md": second}), known, tier).changes
    assert [type(change) for change in changes] == [Keep, Keep, Add, Add]


def test_working_memory_gives_facts() -> None:
    """An entry of working memory is a fact under its key; flags and tasks are none."""
    given = {
        "decision": "Decision: use one pool for each host",
        "todo": "write the tests of the pool",
        "broker": "it listens on port 5672",
        "retries": "3",
    }
    assert [candidate.content for candidate in ENGINE.candidates([], {}, given)] == [
        "broker: it listens on port 5672",
        "Decision: use one pool for each host",
    ]


@pytest.mark.parametrize("path", ["README", "notes", "a.mdx", "a.org"])
def test_files_that_are_prose_by_their_names(path: str) -> None:
    """A README and files of other text formats give facts, as .md files do."""
    [fact] = ENGINE.candidates([], files={path: "The ledger service listens on port 7171 in every environment.\n"})
    assert "port 7171" in fact.content
