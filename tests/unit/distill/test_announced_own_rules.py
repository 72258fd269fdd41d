"""Text that counts as the person's own words: a list below "my rules:", and a sentence behind a private part."""

from __future__ import annotations

import pytest

from reverie.distill.extractive.persons_own_and_quoted_sentences import own_sentences, quoted_sentences


@pytest.mark.parametrize(
    "line",
    [
        "Here are my rules for this repo:",
        "These are our conventions in this project:",
        "Das sind meine Regeln für dieses Projekt:",
        "Estas son mis reglas para este proyecto:",
        "Voici mes règles pour ce projet :",
        "这是我的规则：",
    ],
)
def test_a_list_below_the_persons_own_rules_is_theirs(line: str) -> None:
    """A line that announces "my rules" is followed by the person's words, though it says "this" or "here"."""
    text = f"{line}\n- Always run the formatter before committing.\n- Never edit files below vendor/."
    rules = ["Always run the formatter before committing.", "Never edit files below vendor/."]
    assert own_sentences(text)[-2:] == rules
    assert quoted_sentences(text) == []


@pytest.mark.parametrize(
    "line",
    ["Here are the rules of this repo from the wiki:", "My boss wrote this about our rules:", "the readme says:"],
)
def test_a_list_below_the_rules_of_others_is_not(line: str) -> None:
    """Rules that a page or another person has stay quoted."""
    assert "Never edit files below vendor/." not in own_sentences(f"{line}\n- Never edit files below vendor/.")


def test_a_sentence_behind_a_private_part_is_read() -> None:
    """The mark that replaces a private part is no beginning of the sentence behind it."""
    own = own_sentences("[REDACTED:private] Remember that the QA contact is Ann. [REDACTED:private] Never call her.")
    assert own == ["Remember that the QA contact is Ann.", "Never call her."]
    assert own_sentences("[REDACTED:private]") == []
