"""Scope of a wish: what names a project or a convention of code is the project's, how the agent talks the person's."""

from __future__ import annotations

import pytest

from reverie.models import Candidate, MemoryType
from reverie.usecases.personal_or_project_scope_of_candidate import concerns_person


def is_global(text: str) -> bool:
    return concerns_person(Candidate(MemoryType.PREFERENCE, text, subject="user"), "harbor-api")


@pytest.mark.parametrize(
    "text",
    [
        "Wants agents to always answer in German.",
        "The user wants: “Keep your answers short”",
        "The user wants: “Answer in at most 3 sentences”",
        "The user wants: “Stop explaining every line to me, keep your answers short”",
        "The user wants: “Bitte antworte mir immer auf Deutsch”",
        "The user wants: “Fass dich bitte kurz”",
        "The user wants: “回答请简短一点”",
        "Wants agents to always ask the user before they add a dependency.",
        "Wants agents to always write tests first.",
        "Wants agents never to push to main.",
        "Wants agents to always explain functions with an example.",
    ],
)
def test_how_an_agent_works_with_the_person_holds_everywhere(text: str) -> None:
    """A wish about how the agent talks, or about work in general, belongs to the person."""
    assert is_global(text)


@pytest.mark.parametrize(
    "text",
    [
        "Wants agents to always run `make lint`.",
        "Wants agents to always ask the user before they add a dependency to go.mod.",
        "Wants agents to always answer health checks of the app with JSON.",
        "Wants agents to always write a migration for each schema change, never edit a merged one.",
        "Wants agents never to use panic in library code; instead: return errors wrapped with %w.",
        "Prefers table-driven tests.",
        "Prefers using the strong types instead of string.",
        "The user wants: “given the privacy focus of the app, it's better not to store any PII in local storage”",
        "The user wants: “in this repo we squash”",
        "The user wants: “we log with slog everywhere, structured”",
        "The user wants: “From now on we deploy on Mondays”",
        "The user wants: “commit messages: imperative mood, no emoji please”",
        "The user wants: “first create a gsd todo”",
        "The user wants: “Wir benutzen pnpm und nicht npm, bitte nie npm install aufrufen”",
        "The user wants: “提交信息：用祈使句，不用表情”",
        "Wants agents to always tag a build of harbor-api.",
        "Wants agents to always name the ticket, as in OPS-12.",
    ],
)
def test_what_names_a_project_or_its_code_is_the_projects(text: str) -> None:
    """A path, a tool, a ticket, the product or a convention of code keeps a wish in its project."""
    assert not is_global(text)
