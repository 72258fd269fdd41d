"""The topics in a document's summary: original words, keys, and denials."""

from __future__ import annotations

import pytest

from reverie.documents import parse_document
from reverie.documents.summary_line import WORDS_MAX, summary_line


@pytest.mark.parametrize(
    ("fact", "topic"),
    [
        ("Dependencies are pinned", "dependencies pinned"),
        ("Processes restart nightly", "processes restart"),
        ("The database is Postgres", "database Postgres"),
        ("Uses bun. Tests run nightly", "bun tests"),
        ("the Bun runtime", "Bun runtime"),
        ("OS: macOS", "OS"),
        ("DB: postgres", "DB"),
        ("q2: two", "q2"),
        ("src/app.py: the entry", "src/app.py"),
        ("`make test`: runs all", "make test"),
        ("**Time Zone:** Europe/Lisbon", "time zone"),
        ("Decision: use bun", "decision bun"),
        ("Preferred package manager for scripts: bun", "preferred package"),
        ("See https://example.org/a: it says so", "see https://example.org/a"),
        ("maps are `a: b` here", "maps b"),
        ("Never deploy on Fridays", "never deploy Fridays"),
        ("Do not mock the DB", "not mock DB"),
        ("Don't mock the DB", "don't mock DB"),
        ("The user does not like tea", "user not like tea"),
        ("Staging deploys are never automatic", "staging deploys never automatic"),
        ("Telemetry is disabled", "telemetry disabled"),
        ("Releases are cut from `stable`, never from main", "releases cut"),
        ("is it?", "general"),
        ("Mock no database #testing #local-db", "testing, local db"),
    ],
)
def test_the_topic_of_a_fact(fact: str, topic: str) -> None:
    """A fact's topic is its key, else its tags, else its first words with their denial."""
    assert summary_line(parse_document("facts/a.md", f"- {fact}\n").items) == topic


@pytest.mark.parametrize(
    ("title", "topic"),
    [
        ("Logger stdout leak fix", "logger stdout leak fix"),
        ("Logger Stdout Leak Fix", "logger stdout leak fix"),
        ("Short ID implementation", "short ID implementation"),
        ("Settings file #3", "settings file 3"),
        ("Fix the Postgres driver", "fix Postgres driver"),
        ("Never retry a paid call", "never retry paid call"),
        ("The", "the"),
    ],
)
def test_the_topic_of_an_episode(title: str, topic: str) -> None:
    """An episode's topic is its title without filler words; names keep their capitals."""
    assert summary_line(parse_document("episodes/2026-02.md", f"## {title}\n- Summary: x\n").items) == topic


def test_topics_are_listed_once() -> None:
    """Topics are listed once however they are spelled, most frequent first, in at most ten words."""
    text = "- Name: Ada\n- Docker: 27\n- docker: on staging\n" + "".join(f"- Key k{at}: x\n" for at in range(9))
    found = summary_line(parse_document("facts/a.md", text).items)
    assert found.startswith("docker, name, key k0, key k1")
    assert len(found.split()) == WORDS_MAX
