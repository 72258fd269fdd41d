"""Wishes of a project and of the person that exclude each other, and values that are over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reverie.consolidate import apply, decide
from reverie.consolidate.opposite_wishes import Opposition
from reverie.consolidate.retired_values import parse_retirement, retires
from reverie.models import Add, Candidate, Delete, Keep, Memory, MemoryType, Skip, Tier, Update

OLD, NEW = "2026-11-01T00:00:00.000Z", "2026-11-20T00:00:00.000Z"
TABS = "Wants agents to always use tabs for indentation in the project harbour."
SPACES = "Wants agents to use spaces, not tabs."
JUST, MAKE = "Run the tests with `just test`", "Run the tests with `make test` now, `just test` is gone."


def wish(content: str, *, project: str = "", session: str = "", at: str = NEW) -> Candidate:
    """Return a candidate of a project, or of the person and said in a project's session."""
    provenance = {"said_in": session} if session else {}
    return Candidate(MemoryType.PREFERENCE, content, at=at, project=project, provenance=provenance)


def memory(content: str, *, kind: MemoryType = MemoryType.PREFERENCE, project: str = "", **more: Any) -> Memory:
    """Return an older memory of a project, or of the person."""
    given: dict[str, Any] = {"id": "m1", "provenance": {"at": OLD}, "document": "facts/x.md", **more}
    return Memory(type=kind, content=content, tags=(), created_at=OLD, updated_at=OLD, project=project, **given)


def again(new: list[Candidate], old: list[Memory]) -> set[type]:
    """Return the kinds of changes of the same consolidation once more, after it was applied."""
    after = apply(decide(new, old, Tier.GENEROUS).changes, old, new, at=NEW, new_ids=["new1", "new2", "new3"])
    return {type(change) for change in decide(new, after, Tier.GENEROUS).changes}


# A project and the person


def test_a_wish_said_in_a_project_replaces_the_opposite_of_the_project() -> None:
    """Said where the project has "use tabs in this project", "use spaces, not tabs" becomes the project's words."""
    new, old = [wish(SPACES, session="harbour")], [memory(TABS, project="harbour")]
    assert decide(new, old, Tier.GENEROUS).changes == (Update("m1", SPACES, (), 0), Skip(0, "m1"))
    assert again(new, old) == {Keep, Skip}


@pytest.mark.parametrize("session", ["", "quay"])
def test_a_wish_said_elsewhere_leaves_the_project_its_own(session: str) -> None:
    """The same words said in another project, or in none, are the person's: the older wish is an exception."""
    new, old = [wish(SPACES, session=session)], [memory(TABS, project="harbour")]
    decision = decide(new, old, Tier.GENEROUS)
    assert decision.changes == (Keep("m1"), Add(0, new[0]))
    assert not decision.proposals


def test_a_wish_of_a_project_is_an_exception_from_the_persons() -> None:
    """A newer wish that names the project does not change the person's older one, also one said in the project."""
    new = [wish("Wants agents to use spaces in the project harbour, not tabs.", project="harbour")]
    for provenance in ({"at": OLD}, {"at": OLD, "said_in": "harbour"}):
        old = [memory("Wants agents to always use tabs.", provenance=provenance)]
        assert decide(new, old, Tier.GENEROUS).changes == (Keep("m1"), Add(0, new[0]))


def test_an_older_wish_of_the_project_comes_too_late() -> None:
    """Read after the newer one that was said in the project, its older opposite is skipped; a newer one is added."""
    old = [memory(SPACES, provenance={"at": NEW, "said_in": "harbour"})]
    late = wish(TABS, project="harbour", at=OLD)
    assert decide([late], old, Tier.GENEROUS).changes == (Keep("m1"), Skip(0, "m1"))
    fresh = replace(late, at="2026-11-25T00:00:00.000Z")
    assert decide([fresh], old, Tier.GENEROUS).changes == (Keep("m1"), Add(0, fresh))
    updated = [memory(SPACES, provenance={"at": NEW, "updates": [{"said_in": "harbour", "at": NEW}]})]
    assert decide([late], updated, Tier.GENEROUS).changes == (Keep("m1"), Skip(0, "m1"))


def test_the_persons_wish_and_the_projects_are_replaced_together() -> None:
    """Where both have the opposite, the person's gets the newer words, and the project's is deleted."""
    new = [wish(SPACES, session="harbour")]
    old = [memory("Wants agents to always use tabs."), memory(TABS, project="harbour", id="m2")]
    assert decide(new, old, Tier.GENEROUS).changes == (Update("m1", SPACES, (), 0), Delete("m2"), Skip(0, "m1"))
    assert again(new, old) == {Keep, Skip}


def test_the_persons_wish_is_there_already() -> None:
    """Where the person has the newer wish already, the project's exception is deleted, and no second one is added."""
    old = [memory(SPACES), memory(TABS, project="harbour", id="m2")]
    new = [wish(TABS, project="harbour", at=OLD), wish(SPACES, session="harbour")]
    assert decide(new, old, Tier.GENEROUS).changes == (Keep("m1"), Delete("m2"), Skip(0, "m1"), Skip(1, "m1"))
    assert again(new, old) == {Keep, Skip}


@pytest.mark.parametrize("step", [1, -1])
def test_both_in_one_batch(step: int) -> None:
    """Of both in one batch the newer one stays, once, in either order."""
    new = [wish(TABS, project="harbour", at=OLD), wish(SPACES, session="harbour")][::step]
    added = [change for change in decide(new, [], Tier.GENEROUS).changes if isinstance(change, Add)]
    assert [change.candidate.content for change in added] == [SPACES]
    assert again(new, []) == {Skip, Keep}


def test_what_a_person_wrote_in_a_project_waits() -> None:
    """A project's line of a person is not changed: the newer words are a proposal."""
    old = [memory(TABS, project="harbour", trust="person")]
    decision = decide([wish(SPACES, session="harbour")], old, Tier.GENEROUS)
    assert decision.changes == (Keep("m1"), Skip(0, "m1"))
    assert [(one.change, one.reason) for one in decision.proposals] == [(Update("m1", SPACES, (), 0), "person")]


def test_what_may_exclude_a_projects_wish_is_asked() -> None:
    """A wish that may exclude the project's is added for the person, and the deletion of the project's is proposed."""
    old = [memory("Wants agents to always use tabs in Makefiles in the project harbour.", project="harbour")]
    new = wish("Wants agents never to use tabs.", session="harbour")
    decision = decide([new], old, Tier.GENEROUS)
    assert decision.changes == (Keep("m1"), Add(0, new))
    assert [(one.change, one.reason) for one in decision.proposals] == [(Delete("m1"), "contradiction")]


# Values that are over

RETIRES = [
    (JUST, MAKE),
    ("To run the tests of the project harbour: `just test`.", MAKE),
    (JUST, "We switched the test runner: run the tests with `make test` now, `just test` is gone."),
    (JUST, "We no longer run `just test`, the tests run with `make test`."),
    ("We deploy on Thursdays", "From now on we deploy on Mondays, not on Thursdays."),
    ("Python is 3.11", "We upgraded Python from 3.11 to 3.12."),
    ("The api docs are in sphinx", "We moved the api docs from sphinx to mkdocs."),
    ("Sessions are in Redis", "Sessions are in Postgres, we no longer use Redis."),
    ("The api uses port 9090", "From now on the api uses port 8080 instead of 9090."),
    ("The staging server is harbor-stg-1", "The staging server is harbor-stg-2, harbor-stg-1 was shut down."),
    ("Wir testen mit `just test`", "Wir testen jetzt mit `make test`, `just test` gibt es nicht mehr."),
    ("Die API läuft auf Port 9090", "Die API läuft ab jetzt auf Port 8080 statt 9090."),
    ("Les tests tournent avec `just test`", "Les tests tournent avec `make test`, `just test` n'existe plus."),
    ("Las pruebas corren con `just test`", "Las pruebas corren con `make test`, `just test` ya no existe."),
]
MAY_RETIRE = [
    ("Run the tests with `just test`, it needs Docker", MAKE),
    ("Run the tests with `just test`, never `go test` directly.", MAKE),
    ("The api docs are built with sphinx", "We moved the api docs from sphinx to mkdocs."),
]
BOTH_HOLD = [
    ("`just test-all` runs the slow tests", MAKE),
    ("Never run `just test`", MAKE),
    (JUST, "`just test` is gone from the README."),
    (JUST, "If `just test` is gone, run the tests with make."),
    (JUST, "When `just test` is removed, run the tests with `make test`."),
    (JUST, "Run the tests with `make test`, `just test` will be gone in May."),
    (JUST, "Is `just test` gone now?"),
    (JUST, "Run the linter, not `just test`, in a hurry."),
    ("Run the tests", "The problem with the tests is gone."),
    ("The api uses port 9090", "The web uses port 8080, not 9090."),
    ("The web uses port 9090", "From now on the api uses port 8080 instead of 9090."),
    ("I live in Berlin", "We moved the office from Berlin to Munich."),
    ("The login test is flaky on CI", "The login test is no longer flaky on CI."),
]


def sure(old: str, new: str) -> Opposition | None:
    found = parse_retirement(new)
    return None if found is None else retires(found, old, "harbour")


def value(content: str, kind: MemoryType = MemoryType.FACT, at: str = NEW) -> Candidate:
    """Return a candidate of the project harbour."""
    return Candidate(kind, content, at=at, project="harbour")


@pytest.mark.parametrize(("old", "new"), RETIRES)
def test_what_is_over_is_replaced(old: str, new: str) -> None:
    """A fact or procedure gets the words of the newer statement that its value is over; an older one is skipped."""
    assert sure(old, new) is Opposition.CERTAIN
    for kind in (MemoryType.FACT, MemoryType.PROCEDURE):
        known = [memory(old, kind=kind, project="harbour")]
        assert decide([value(new)], known, Tier.GENEROUS).changes == (Update("m1", new, (), 0), Skip(0, "m1"))
        assert again([value(old, kind, OLD), value(new)], known) == {Keep, Skip}
    newer = [memory(new, kind=MemoryType.FACT, project="harbour", provenance={"at": NEW})]
    assert decide([value(old, at=OLD)], newer, Tier.GENEROUS).changes == (Keep("m1"), Skip(0, "m1"))


@pytest.mark.parametrize(("old", "new"), MAY_RETIRE)
def test_what_may_be_over_is_asked(old: str, new: str) -> None:
    """Where the older statement says more, both are kept and its deletion is proposed."""
    assert sure(old, new) is Opposition.POSSIBLE
    decision = decide([value(new)], [memory(old, kind=MemoryType.FACT, project="harbour")], Tier.GENEROUS)
    assert decision.changes == (Keep("m1"), Add(0, value(new)))
    assert [(one.change, one.reason) for one in decision.proposals] == [(Delete("m1"), "contradiction")]


@pytest.mark.parametrize(("old", "new"), BOTH_HOLD)
def test_what_is_not_over_stays(old: str, new: str) -> None:
    """Another value, a denial, a condition, a plan, a question, and a statement about a place leave the older one."""
    assert sure(old, new) is None


def test_a_persons_value_waits_and_a_wish_is_asked_about() -> None:
    """A person's line becomes a proposal, a wish with the value a question; another project's fact is not concerned."""
    person = decide(
        [value(MAKE)], [memory(JUST, kind=MemoryType.FACT, project="harbour", trust="person")], Tier.GENEROUS
    )
    assert person.changes == (Keep("m1"), Skip(0, "m1"))
    assert [(one.change, one.reason) for one in person.proposals] == [(Update("m1", MAKE, (), 0), "person")]
    asked = decide([value(MAKE)], [memory(JUST, project="harbour")], Tier.GENEROUS)
    assert asked.changes == (Keep("m1"), Add(0, value(MAKE)))
    assert [one.reason for one in asked.proposals] == ["contradiction"]
    other = decide([value(MAKE)], [memory(JUST, kind=MemoryType.FACT, project="quay")], Tier.GENEROUS)
    assert other.changes == (Keep("m1"), Add(0, value(MAKE)))
    assert not other.proposals


def test_a_value_that_came_back() -> None:
    """A newer statement with the value again replaces the one that said that it was over."""
    known = [memory(MAKE, kind=MemoryType.FACT, project="harbour")]
    assert decide([value(JUST)], known, Tier.GENEROUS).changes == (Update("m1", JUST, (), 0), Skip(0, "m1"))
