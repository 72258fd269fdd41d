"""The topics in a document's summary: original words, keys, and denials."""

from __future__ import annotations

import pytest

from reverie.documents import parse_document
from reverie.documents.summary_line_of_memory_topics import WORDS_MAX, shortened, summary_line


@pytest.mark.parametrize(
    ("fact", "topic"),
    [
        ("Dependencies are pinned", "dependencies are pinned"),
        ("Processes restart nightly", "processes restart nightly"),
        ("The database is Postgres", "database is Postgres"),
        ("Uses bun. Tests run nightly", "uses bun"),
        ("the Bun runtime", "Bun runtime"),
        ("OS: macOS", "OS"),
        ("DB: postgres", "DB"),
        ("q2: two", "q2"),
        ("src/app.py: the entry", "src/app.py"),
        ("`make test`: runs all", "make test"),
        ("**Time Zone:** Europe/Lisbon", "time zone"),
        ("Decision: use bun", "use bun"),
        ("Preferred package manager for scripts: bun", "preferred package manager for scripts"),
        ("See https://example.org/a: it says so", "see https://example.org/a"),
        ("maps are `a: b` here", "maps"),
        ("Never deploy on Fridays", "never deploy on Fridays"),
        ("Do not mock the DB", "do not mock the DB"),
        ("Don't mock the DB", "don't mock the DB"),
        ("The user does not like tea", "user does not like tea"),
        ("Staging deploys are never automatic", "staging deploys are never automatic"),
        ("Telemetry is disabled", "telemetry is disabled"),
        ("Releases are cut from `stable`, never from main", "releases are cut from stable"),
        ("is it?", "general"),
        ("Mock no database #testing #local-db", "testing, local db"),
        ("Keep both importers #decision #importers", "importers"),
        ("Never push to main #preference", "never push to main"),
        ("The user wants: “we should write the tests first”", "write the tests first"),
        ("Prefers subagents to save on the main context", "prefers subagents"),
    ],
)
def test_the_topic_of_a_fact(fact: str, topic: str) -> None:
    """A fact's topic is its key, else its tags that name no type, else its first words, small ones included."""
    assert summary_line(parse_document("facts/a.md", f"- {fact}\n").items) == topic


@pytest.mark.parametrize(
    ("title", "topic"),
    [
        ("Logger stdout leak fix", "logger stdout leak fix"),
        ("Logger Stdout Leak Fix", "logger stdout leak fix"),
        ("Short ID implementation", "short ID implementation"),
        ("Settings file #3", "settings file 3"),
        ("Fix the Postgres driver", "fix the Postgres driver"),
        ("Never retry a paid call", "never retry a paid call"),
        ("The", "the"),
        ("Add warnings for failed agent resolution and signpost a cache", "add warnings for failed agent resolution"),
        ("Improve list view TUI with viewport scrolling", "improve list view TUI"),
        ("Wire session.Transition() into hook handlers (ENT-221)", "wire session.Transition into hook handlers"),
    ],
)
def test_the_topic_of_an_episode(title: str, topic: str) -> None:
    """An episode's topic is the beginning of its title, cut at a clause; names keep their capitals."""
    assert summary_line(parse_document("episodes/2026-02.md", f"## {title}\n- Summary: x\n").items) == topic


def test_topics_are_listed_once() -> None:
    """Topics are listed once however they are spelled, most frequent first, then the newest, in at most ten words."""
    text = "- Name: Ada\n- Docker: 27\n- docker: on staging\n" + "".join(f"- Key k{at}: x\n" for at in range(9))
    found = summary_line(parse_document("facts/a.md", text).items)
    assert found.startswith("docker, key k8, key k7")
    assert len(found.split()) == WORDS_MAX


def test_the_line_changes_as_a_document_grows() -> None:
    """A document whose topics all have room lists them in order; of more the newest are listed, and what recurs."""
    lines = ["- The user wants: “sort imports”", "- Prefers small pull requests.", "- Prefers British English."]
    short = summary_line(parse_document("facts/preferences.md", "\n".join(lines)).items)
    assert short == "sort imports, small pull requests, British English"
    lines += ["- Prefers tabs over spaces.", "- The user wants: “Sort imports!”", "- Dislikes long functions."]
    grown = summary_line(parse_document("facts/preferences.md", "\n".join(lines)).items)
    assert grown == "sort imports, long functions, tabs over spaces, British English"


@pytest.mark.parametrize(
    ("preference", "topic"),
    [
        ("Wants agents to always run `make check` instead of bare pytest.", "run make check"),
        ("Wants agents never to mock the database.", "never to mock the database"),
        ("Prefers short answers.", "short answers"),
        ("Dislikes long lines.", "long lines"),
        ("Wants agents to always run `just lint` before every commit.", "run just lint"),
        ("The user wants: “From now on, every commit message must name its ticket”", "every commit message must name"),
        ("The user wants: “As a rule, we squash merge”", "squash merge"),
        ("The user wants: “Before every commit, run `just lint`”", "run just lint"),
        ("The user wants: “When you add a route, always document it in the guide”", "document it in the guide"),
        (
            "The user wants: “given the secrecy of the plans, I think its better not to keep any copy on the laptop”",
            "not to keep any copy",
        ),
        ("Wants agents to always ask me before you add a new harbour to the map.", "ask before add harbour"),
        ("Prefers using the strict parser instead of a pattern.", "strict parser"),
        ("The user said: “I'm a tide clerk, and I know some Rust”", "tide clerk"),
        ("The user said: “I\u2019m a tide clerk”", "tide clerk"),
        ("The user said: “I use only free software”", "use only free software"),
        ("The user wants: “Ab jetzt sollst du vor jedem Push `just lint` laufen lassen”", "vor jedem Push just lint"),
        ("The user wants: “Bitte keine Emojis in Commits”", "keine Emojis in Commits"),
        ("The user wants: “Wenn du eine Route änderst, sollst du die Anleitung anpassen”", "die Anleitung anpassen"),
        ("The user wants: “De ahora en adelante, quiero que respondas en español”", "respondas en español"),
        ("The user wants: “À partir de maintenant, il faut que tu écrives des tests”", "écrives des tests"),
        ("The user wants: “Please always”", "general"),
    ],
)
def test_the_topic_of_a_preference(preference: str, topic: str) -> None:
    """The topic is what is wanted, without the words that every preference begins with."""
    assert summary_line(parse_document("facts/preferences.md", f"- {preference}\n").items) == topic


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("short title", "short title"),
        (
            "Wire the random keys of a file through the hook of a folder",
            "Wire random keys of file through hook of folder",
        ),
        (
            "the counting of the tokens in a text that is longer than the window of a model",
            "the counting of the tokens in a text",
        ),
        (
            "Draw the map of all ships, sort their names, count the crews on board twice",
            "Draw the map of all ships, sort their names",
        ),
        (
            "Open a branch off main and look into the broken attribution of lines when Claude commits early",
            "Open a branch off main",
        ),
        (
            "Let the store of shared entries accept the updates of its keys through the hook",
            "Let store of shared entries accept updates of its keys",
        ),
        ("Die Zählung der Wörter in langen Texten stimmt nicht mehr seit dem letzten Umbau", "Die Zählung der Wörter"),
        (
            "Review of the request (agent-aware rewind, with the new tests and the mended docs of last week)",
            "Review of the request",
        ),
        ("word " * 30, "word word word word word word word word word word…"),
    ],
)
def test_a_long_text_is_cut_in_front_of_a_part(text: str, short: str) -> None:
    """A summary of a longer text has ten words at most, keeps every small word, and breaks off nowhere unmarked."""
    assert shortened(text) == short
    assert len(shortened(text).split()) <= 10
