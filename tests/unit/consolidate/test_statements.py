"""Tests of comparing statements: relation, overlap, merging, and generic statements."""

from __future__ import annotations

import pytest

from reverie.consolidate.statements import (
    Relation,
    is_generic,
    merged,
    overlap,
    parse_statement,
    relate,
)

SAME, COVERED, EXTENDS, REPLACES, CONTRADICTS, APART = Relation


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("Run the tests with pytest", "run tests with pytest.", SAME),
        ("Run `make lint` before each commit", "Always run `make lint` before every commit", SAME),
        ("After each release, tag the branch", "Before each release, tag the branch", CONTRADICTS),
        ("Use tabs", "Always use tabs in Makefiles; spaces break the build", COVERED),
        ("Always use tabs in Makefiles; spaces break the build", "Use tabs", EXTENDS),
        ("Use tabs", "Never use tabs in Makefiles", APART),
        ("run tests", "Never deploy; run tests", COVERED),
        ("never run tests", "run tests", CONTRADICTS),
        ("prefer tabs over spaces", "prefer spaces over tabs", CONTRADICTS),
        ("use pnpm, not npm", "always use npm", CONTRADICTS),
        ("use npm", "use pnpm instead of npm", CONTRADICTS),
        ("use pnpm, not npm", "use npm, not pnpm", CONTRADICTS),
        ("run the tests with pytest, not unittest", "run the tests with unittest", CONTRADICTS),
        ("The user wants: “use spaces, not tabs”", "The user wants: “always use tabs”", CONTRADICTS),
        ("Tools: use pnpm, not npm. (from b.md)", "Tools: always use npm. (from a.md)", CONTRADICTS),
        ("never push to main (2026-03-04).", "push to main (2026-01-09).", CONTRADICTS),
        ("It doesn't ask twice. (from a.md)", "It does not ask twice. (from a.md)", APART),
        ("use pnpm, not npm", "npm hosts our package", APART),
        ("use pnpm, not npm", "never use npm", APART),
        ("Asked “Which store?”, the user chose “LMDB”", "Asked “Which store?”, the user chose “SQL”", CONTRADICTS),
        ("Asked “Which store?”, the user chose “SQL”", "Asked “What is slow?”, the user chose “SQL”", APART),
        ("Editor: vim", "Editor: emacs", REPLACES),
        ("Port: 9090", "Port: 8080", REPLACES),
        ("Note: the cache is warm", "Note: the queue is full", APART),
        ("Findings: a flaky test was fixed", "Findings: the key needs the lockfile hash", APART),
        ("\u53d1\u73b0: \u767b\u5f55\u5931\u8d25\u4e86", "\u53d1\u73b0: \u89e3\u6790\u5668\u5f88\u6162", APART),
        ("src/app.py: parses arguments", "src/app.py: prints help", APART),
        ("The cache holds 512 MB at most", "The cache holds 256 MB at most", REPLACES),
        ("`make` passed 7 times, last 2026-02-01", "`make` passed 2 times, last 2026-01-09", REPLACES),
        ("Ticket 12 was closed by Ada", "Ticket 13 was closed by Ada", APART),
        ("one two", "completely different words", APART),
    ],
)
def test_relations(new: str, old: str, expected: Relation) -> None:
    """`relate` returns the expected relation of a new statement to an old one."""
    assert relate(parse_statement(new), parse_statement(old), keyed=True) is expected


def test_subjects_replace_only_in_facts_and_preferences() -> None:
    """Where subjects are not keys, as in skills, two statements with one subject do not exclude each other."""
    assert relate(parse_statement("Editor: vim"), parse_statement("Editor: emacs"), keyed=False) is APART


def test_overlap_is_a_share() -> None:
    """The overlap of two statements is the share of their meaningful words that they have in common."""
    assert overlap(parse_statement("build cache"), parse_statement("the build cache")) == 1
    assert overlap(parse_statement("build cache"), parse_statement("build queue")) == pytest.approx(1 / 3)
    assert overlap(parse_statement(""), parse_statement("")) == 0


def test_merging_two_statements() -> None:
    """Two statements are joined by a semicolon without repetition; None if too long or of several lines."""
    assert merged(parse_statement("Use tabs."), parse_statement("Run make twice;")) == parse_statement(
        "Use tabs; Run make twice"
    )
    assert merged(parse_statement("Use tabs in Makefiles"), parse_statement("use tabs")) == parse_statement(
        "Use tabs in Makefiles"
    )
    assert merged(parse_statement("x " * 300), parse_statement("y")) is None
    assert merged(parse_statement("a\nb"), parse_statement("c d")) is None


@pytest.mark.parametrize(
    ("text", "kind", "generic"),
    [
        ("Write good tests", "skill", True),
        ("Write good tests", "preference", False),
        ("Write tests for Kafka", "skill", False),
        ("Run `make` first", "procedure", False),
        ("Timeout: short", "fact", False),
        ("Timeout: short in tests", "fact", False),
        ("Wait 5 seconds", "skill", False),
        ("Read every long line of the log file before you change anything in the code", "skill", False),
    ],
)
def test_generic_statements(text: str, kind: str, generic: bool) -> None:  # noqa: FBT001
    """A statement is generic if it is short and names nothing specific."""
    assert is_generic(parse_statement(text), kind) is generic
