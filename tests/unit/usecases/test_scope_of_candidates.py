"""Scope of a wish: it stays in its project, unless it is about how the agent talks or says that it holds everywhere."""

from __future__ import annotations

import pytest

from reverie.models import Candidate, MemoryType
from reverie.redact import Redactor
from reverie.usecases.screening import Origin, concerns_person, readable_of


def wish(text: str) -> Candidate:
    return Candidate(MemoryType.PREFERENCE, f"The user wants: “{text}”", subject="user", provenance={"seqs": [1]})


@pytest.mark.parametrize(
    "text",
    ["always answer in German", "Keep your answers short", "never use emojis when you explain", "Always ask me first"],
)
def test_how_an_agent_talks_is_the_persons_and_waits(text: str) -> None:
    """A wish about how the agent talks is everybody's, and waits where its words do not say so."""
    assert concerns_person(wish(text), "harbor-api")
    [found] = readable_of([wish(text)], Redactor(), Origin("thr_1", "harbor-api"))
    assert (found.project, found.provenance["waits"]) == ("", "scope")
    [alone] = readable_of([wish(text)], Redactor(), Origin("thr_1", None))
    assert "waits" not in alone.provenance


def test_what_a_session_without_a_project_teaches_waits() -> None:
    """Where the project of a session is not known, nothing of it is everybody's but what is about the person."""
    project = Candidate(MemoryType.MISTAKE, "The build broke without the lock")
    person = Candidate(MemoryType.FACT, "lives in Oslo", subject="user")
    said = [wish("always write tests first"), project, wish("in every project, always sign your commits"), person]
    found = readable_of(said, Redactor(), Origin("thr_1", None, project_unknown=True))
    assert [one.provenance.get("waits") for one in found] == ["scope", "scope", None, None]


@pytest.mark.parametrize("text", ["in every project, always sign your commits", "Always squash in all my repos"])
def test_what_says_that_it_holds_everywhere_does(text: str) -> None:
    """A wish that names every project is everybody's at once."""
    [found] = readable_of([wish(text)], Redactor(), Origin("thr_1", "harbor-api"))
    assert found.project == ""
    assert "waits" not in found.provenance


@pytest.mark.parametrize(
    "text",
    [
        "Always run `make lint`",
        "always write tests first",
        "never push to main",
        "we never mock the database",
        "Always answer health checks of this app with JSON",
        "always explain a route of harbor-api in docs/routes.md",
    ],
)
def test_any_other_wish_stays_in_its_project(text: str) -> None:
    """A wish said in one project stays there, and needs no yes."""
    [found] = readable_of([wish(text)], Redactor(), Origin("thr_1", "harbor-api"))
    assert found.project == "harbor-api"
    assert "waits" not in found.provenance
