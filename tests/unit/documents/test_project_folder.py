"""Tests of the documents of a project, and of the project of a memory."""

from __future__ import annotations

from typing import Any

import pytest

from reverie.documents.episodes import heading_of
from reverie.documents.layout import PERSON, folder_of, in_project, memory_project, type_of_blocks
from reverie.models import Memory, MemoryType


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("facts/harbour/mistakes.md", "harbour"),
        ("facts/harbour/deep/notes.md", "harbour"),
        ("episodes/harbour-2026-11.md", "harbour"),
        ("episodes/harbour-2-2026-11-3.md", "harbour-2"),
        ("facts/user.md", None),
        ("episodes/2026-11.md", None),
        ("episodes/2026-11-2.md", None),
        ("notes/harbour/x.md", None),
    ],
)
def test_the_project_of_a_path(path: str, project: str | None) -> None:
    """A folder below `facts/`, and the beginning of the name of a month of episodes."""
    assert folder_of(path) == project


@pytest.mark.parametrize("path", ["facts/mistakes.md", "facts/project.md", "episodes/2026-11.md"])
def test_a_project_has_the_same_documents(path: str) -> None:
    """A memory in a project's document has the same type, under the same heading; the person's path is unchanged."""
    own = in_project(path, "harbour-2")
    assert folder_of(own) == "harbour-2"
    assert (type_of_blocks(own), heading_of(own)) == (type_of_blocks(path), heading_of(path))
    assert in_project(path, PERSON) == path


@pytest.mark.parametrize(
    ("project", "provenance", "expected"),
    [
        ("harbour", {}, "harbour"),
        (None, {"project": "My App"}, "my-app"),
        (None, {"project": 3}, PERSON),
        (None, {}, PERSON),
        (PERSON, {"project": "harbour"}, PERSON),
    ],
)
def test_the_project_of_a_memory(project: str | None, provenance: dict[str, Any], expected: str) -> None:
    """The recorded one, else that of the provenance, as older releases stored it."""
    memory = Memory("m", MemoryType.FACT, "x", (), "facts/x.md", "", "", provenance=provenance, project=project)
    assert memory_project(memory) == expected
