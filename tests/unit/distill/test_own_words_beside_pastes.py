"""The person's own words under a head of their own, and behind a text that they announced."""

from __future__ import annotations

import pytest

from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences, quoted_sentences


@pytest.mark.parametrize(
    "message",
    [
        "Here are my rules for this repo:\n- Never use npm in the web folder.",
        "Here is the log:\n```\nerror 1\n```\nNever use npm in the web folder.",
        "The build says:\n```\na\n```\nand\n```\nb\n```\nNever use npm in the web folder.",
    ],
)
def test_own_words_behind_a_head_or_a_fence(message: str) -> None:
    """A list under "my rules", and what is behind the fence that was announced, are the person's own words."""
    assert "Never use npm in the web folder." in own_sentences(message)
    assert not any("npm" in sentence for sentence in quoted_sentences(message))


@pytest.mark.parametrize(
    "message",
    [
        "Here are my colleague's rules from this repo:\n- Never use npm in the web folder.",
        "Here is the log:\n```\nerror 1\n```\nNever use npm in the web folder.\n```\nerror 2\n```",
        "Here is the log:\n```\nerror 1\nNever use npm in the web folder.",
    ],
)
def test_what_is_announced_is_not_own(message: str) -> None:
    """Rules of another person, and text up to the end of the last fence, are not the person's own words."""
    assert not any("npm" in sentence for sentence in own_sentences(message))
