"""Forgotten statements against candidates, and deletions that wait for a person."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from reverie.consolidate import Decision, hold_large_deletion
from reverie.consolidate.forgotten import (
    Forgotten,
    ForgottenStatement,
    Nearness,
    lines_without,
    statement_key,
    statements_in,
)
from reverie.models import Add, Candidate, Change, Delete, Keep, MemoryType, Update
from support.prose import SAID_AGAIN


def forgotten(text: str, *, project: str = "") -> Forgotten:
    return Forgotten([ForgottenStatement(statement_key(text), text, project)])


def preference(text: str, *, project: str = "") -> Candidate:
    return Candidate(MemoryType.PREFERENCE, text, project=project)


@pytest.mark.parametrize(("text", "other"), SAID_AGAIN)
def test_the_same_words_are_the_same_and_other_words_are_near(text: str, other: str) -> None:
    """A forgotten wish is the same with or without its frame or a day; other words of the same wish are near to it."""
    statements = forgotten(f"Wants agents to {text[0].lower()}{text[1:]}")
    for again in (text, f"{text.rstrip('.')} (2026-03-01).", f"Wants agents to {text[0].lower()}{text[1:]}"):
        assert statements.nearest(preference(again)) is not None
        assert (statements.nearest(preference(again)) or ("",))[0] == Nearness.SAME, again
    assert (statements.nearest(preference(other)) or ("",))[0] == Nearness.NEAR


def test_other_wishes_are_not_near() -> None:
    """Of 870 pairs of different wishes no wish is near a forgotten other one, in any of its wordings."""
    for (text, _), others in permutations(SAID_AGAIN, 2):
        for other in others:
            assert forgotten(text).nearest(preference(other)) is None, (text, other)


def test_the_opposite_is_not_the_same() -> None:
    """A wish that was turned round waits for a person: it is another one, in nearly the same words."""
    statements = forgotten("Always use `npm` for the frontend.")
    assert (statements.nearest(preference("Never use `npm` for the frontend.")) or ("",))[0] == Nearness.NEAR


def test_another_command_for_the_same_purpose_is_not_near() -> None:
    """A forgotten statement about `make lint` does not concern `make test`."""
    statements = forgotten("To run the tests of the project harbour: `make lint`.")
    assert statements.nearest(preference("To run the tests of the project harbour: `make test`.")) is None


def test_projects_are_apart() -> None:
    """A statement forgotten in one project does not match another project's; one of no project matches in all."""
    text = "Always run `make lint` before you commit."
    assert forgotten(text, project="quay").nearest(preference(text, project="harbour")) is None
    assert forgotten(text).nearest(preference(text, project="harbour")) is not None


def test_a_purged_statement_is_known_by_its_key_alone() -> None:
    """The same words are recognized; nothing is near, since no words are stored."""
    text, other = SAID_AGAIN[0]
    statements = Forgotten([ForgottenStatement(statement_key(text), "", "")])
    assert (statements.nearest(preference(text)) or ("",))[0] == Nearness.SAME
    assert statements.nearest(preference(other)) is None


def test_lines_that_say_it_are_left_out() -> None:
    """A line that has all of its words, in any form; headings and other lines stay."""
    text = "## Decisions\n- The team deploys on Fridays (2026-03-01)\n- The team deploys on Mondays\n"
    left = lines_without(text, ["Deploys of the team: Friday"])
    assert left == "## Decisions\n- The team deploys on Mondays\n"
    assert lines_without(text, ["the team", ""]) == text


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("Always run `just lint` in the project harbour.", "in this repo always run `just lint`"),
        ("Wants agents never to push to main.", "please never push to main"),
        ("The user wants: “Bitte antworte auf Deutsch”", "Bitte antworte auf Deutsch."),
        ("The user asked to remember: “deploys are frozen in May”", "Remember that deploys are frozen in May"),
    ],
)
def test_the_words_of_an_engine_need_not_be_in_a_line(statement: str, line: str) -> None:
    """A digest has the person's own words, and a forgotten memory those of the engine around them."""
    text = f"- The user writes briefly.\n- Wishes: {line}\n"
    assert statements_in([text], [statement]) == [statement]
    assert lines_without(text, [statement]) == "- The user writes briefly.\n"
    other = (
        "- Wishes: I hate flaky tests in this repo, run them twice\n- Worked on: long names of lines in tables, twice\n"
    )
    assert lines_without(other, [statement]) == other


def test_only_statements_that_a_line_says_are_looked_at() -> None:
    """`statements_in` returns exactly the forgotten statements for which some line of the texts would be left out."""
    chance = random.Random(9)
    words = [f"{first}{last}" for first in ("har", "key", "mast", "rud") for last in ("bour", "ing", "der", "s")]
    statements = [" ".join(chance.choices(words, k=chance.randint(2, 5))) for _ in range(300)]
    texts = ["\n".join(" ".join(chance.choices(words, k=8)) for _ in range(12)) for _ in range(2)]
    said = statements_in(texts, statements)
    assert 0 < len(said) < len(statements)
    for text in texts:
        assert lines_without(text, said) == lines_without(text, statements) != text
        assert all(
            any(lines_without(text, [statement]) != text for text in texts) == (statement in said)
            for statement in statements
        )
    assert statements_in(["", "# Two words"], statements) == []


def test_a_large_deletion_waits_with_its_updates() -> None:
    """If 3 of 10 memories would be deleted, deletions and updates wait for a person; only the addition is made now."""
    new = Candidate(MemoryType.FACT, "The api uses port 8080")
    others = (Update("mem_3", "more", ()), Keep("mem_4"), Add(0, new))
    changes: tuple[Change, ...] = (Delete("mem_0"), Delete("mem_1"), Delete("mem_2"), *others)
    decision, held = hold_large_deletion(Decision(changes), 10)
    assert [change.action for change in decision.changes] == ["KEEP"] * 5 + ["ADD"]
    assert held == changes[:4]


@pytest.mark.parametrize(("deletions", "existing"), [(2, 10), (1, 3), (1, 1), (20, 100)])
def test_a_fifth_may_be_deleted_and_one_always(deletions: int, existing: int) -> None:
    decision = Decision(tuple(Delete(f"mem_{number}") for number in range(deletions)))
    assert hold_large_deletion(decision, existing) == (decision, ())
