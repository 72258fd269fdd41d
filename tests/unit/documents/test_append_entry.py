"""Entries that agents append: each episode gets a summary of at most ten words, and all else stays."""

from __future__ import annotations

import pytest

from reverie.documents.edit import append_entry, with_blocks_of
from reverie.documents.parse import parse_document

TWELVE = "one two three four five six seven eight nine ten eleven twelve"
TEN = TWELVE.replace(" eleven twelve", "…")
PATH = "episodes/2026-02.md"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("- Summary: a → b\n- Lesson: x", "- Summary: a → b\n- Lesson: x"),
        (
            "- Problem: a pipe leaks\n- Solution: no pipe\n\nmore",
            "- Summary: a pipe leaks → no pipe\n- Problem: a pipe leaks\n- Solution: no pipe\n\nmore",
        ),
        (f"- Date: 2026-02-03\n- Task: {TWELVE}", f"- Summary: The title\n- Date: 2026-02-03\n- Task: {TWELVE}"),
        (f"- Problem: p\n- Solution: {TWELVE}", f"- Summary: p\n- Problem: p\n- Solution: {TWELVE}"),
        ("- Pull request: none", "- Summary: none\n- Pull request: none"),
        ("- Summary:\n- Lesson: x", "- Summary: x\n- Lesson: x"),
        (f"{TWELVE}.\n- and more", f"- Summary: {TEN}\n\n{TWELVE}.\n- and more"),
        (
            "\nprose\n\n```\n- Summary: no\n```",
            "- Summary: prose\n\nprose\n\n```\n- Summary: no\n```",
        ),
        ("", "- Summary: The title"),
        (
            f"- Summary: {TWELVE}\n- Date: 2026-02-03\n\nmore",
            f"- Summary: {TEN}\n- Date: 2026-02-03\n- Note: {TWELVE}\n\nmore",
        ),
        ("- Summary: a\n  b c\n- Lesson: x", "- Summary: a b c\n- Lesson: x"),
        (f"- Summary: {TWELVE}\n```\nopen", f"- Summary: {TEN}\n- Note: {TWELVE}\n```\nopen"),
    ],
)
def test_an_appended_episode_has_a_summary(entry: str, expected: str) -> None:
    """A missing summary is made from the episode's words; a longer one is shortened and kept as a note."""
    mine = f"# Mine\n\n## Old\n- Summary: {TWELVE}\n"
    for ending in ("\n", "\r\n"):
        told = mine.replace("\n", ending)
        after = append_entry(PATH, told, f"## The title #tag\n{entry}")
        assert after == told + f"\n## The title #tag\n{expected}\n".replace("\n", ending)
        assert [item.title for item in parse_document(PATH, after).items] == ["Old", "The title"]


def test_each_episode_of_an_entry_gets_its_own() -> None:
    """Each appended episode gets a summary; items without a heading and files of facts get none."""
    after = append_entry(PATH, None, "## A\n- Lesson: x\n\n## B\n- Lesson: y")
    assert after.endswith("\n## A\n- Summary: x\n- Lesson: x\n\n## B\n- Summary: y\n- Lesson: y\n")
    assert append_entry(PATH, "## A\n- Lesson: x\n", "- Task: y") == "## A\n- Lesson: x\n- Task: y\n"
    assert append_entry("facts/a.md", "# A\n", "## B\n- Lesson: y") == "# A\n\n## B\n- Lesson: y\n"


@pytest.mark.parametrize(
    ("path", "text", "other", "expected"),
    [
        ("facts/project.md", "- b\n", "# Project\n\n> Summary: a\n\n- a\n- b\n- Updated: 2026-01-02\n", "- b\n- a\n"),
        (
            "facts/user.md",
            "- b\r\n- Updated: 2026-01-02\r\n",
            "- a\n  more\n",
            "- b\r\n- a\r\n  more\r\n- Updated: 2026-01-02\r\n",
        ),
        ("facts/user.md", "- b\n", "Said by hand.\n\n- a\n", "- b\n\nSaid by hand.\n\n- a\n"),
        (
            "episodes/2026-11.md",
            "## B\n- Summary: b\n",
            "## A\n- Summary: a\n",
            "## B\n- Summary: b\n\n## A\n- Summary: a\n",
        ),
        ("facts/user.md", "- b\n```\n", "- a\n", None),  # in an open block of code a bullet would be none
        ("facts/user.md", "- b\n", "---\nsession: x\n---\n- a\n", None),
        ("notes/user.md", "- b\n", "- a\n", None),
    ],
)
def test_two_texts_without_a_base_are_joined(path: str, text: str, other: str, expected: str | None) -> None:
    """All blocks of the other text that this one lacks come to its end, but for the lines that are generated."""
    assert with_blocks_of(path, text, other) == expected
