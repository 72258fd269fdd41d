"""Titles of threads from what a person asked for."""

from __future__ import annotations

import pytest

from reverie.usecases.imported import title_of

PLAN = "Implement this:\n\n# Plan: Keep times in UTC\n\n" + "- one step of it\n" * 9


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("please make the tide table print local times", "please make the tide table print local times"),
        ("yes", None),
        ("ok, go on", None),
        ("Yes, do both please!", None),
        ("do both tests pass", "do both tests pass"),
        ("[Request interrupted by user]", None),
        ("[Request interrupted by user for tool use]fix the tide table first", "fix the tide table first"),
        (PLAN, "Keep times in UTC"),
        ("# Heading only\nand two words more", "# Heading only and two words more"),
        (
            (
                "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
                "<command-args>158</command-args>"
            ),
            "/review 158",
        ),
        ("<command-name>/clear</command-name>\n<command-message>clear</command-message>", None),
        ("<local-command-stdout>Set model to X</local-command-stdout>", None),
        ("<system-reminder>Do not say so.</system-reminder>why does the test fail", "why does the test fail"),
        ("请修复潮汐表的时区", "请修复潮汐表的时区"),
        ("好", None),
        ("", None),
    ],
)
def test_title(text: str, title: str | None) -> None:
    """A request is its own title, a pasted plan its heading; markers, commands and single words are none."""
    assert title_of(text) == title


def test_a_long_request_is_cut_behind_a_word() -> None:
    """A title has 80 characters at most."""
    title = title_of("repaint " * 40)
    assert title is not None
    assert len(title) <= 80
    assert title.endswith("repaint…")
