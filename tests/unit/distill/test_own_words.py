"""The person's own words: pasted and quoted text gets no trust, own rules are quoted, what is unsure waits."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.distill.own_words import own_words
from reverie.models import Candidate, MemoryType
from support.pastes import OWN_RULES, PASTES
from support.thread import Thread

TRUSTED_MAX = 2  # of 44 pastes
KEPT_MIN = 15  # of 22 own rules


def wishes(message: str) -> list[Candidate]:
    """Return the wishes learnt from a message between two calls; those that wait are marked by `waits`."""
    thread = Thread().bash("ls", "a").user(message).bash("ls", "a")
    found = Extractive().candidates(thread.messages, unsure=True)
    return [one for one in found if one.type is MemoryType.PREFERENCE]


def trusted(message: str) -> bool:
    return any(not one.provenance.get("waits") for one in wishes(message))


def test_a_paste_is_nobodys_wish() -> None:
    """Of 44 messages with another author's rule at most two give a memory without a person's yes."""
    assert len(PASTES) == len(set(PASTES)) == 44
    assert len([text for text in PASTES if trusted(text)]) <= TRUSTED_MAX


def test_own_rules_are_kept() -> None:
    """Of 22 rules in the person's own words at least 15 are kept at once, and the others wait at most."""
    assert len(OWN_RULES) == len(set(OWN_RULES)) == 22
    assert len([text for text in OWN_RULES if trusted(text)]) >= KEPT_MIN
    assert len([text for text in OWN_RULES if wishes(text)]) >= KEPT_MIN + 4


@pytest.mark.parametrize("text", [*PASTES, *OWN_RULES, "", "\n\n", "a: b", "“" * 30])
def test_no_word_is_lost(text: str) -> None:
    """Every word of a message is in its own or its foreign part, whatever its form."""
    own, foreign = own_words(text)
    assert set(text.split()) <= {word for part in (own, foreign) for word in part.split()} | {
        word for word in text.split() if any(mark in word for mark in '“”"«»„「」『』:')
    }


def test_what_is_said_and_pasted_is_said() -> None:
    """A rule in the person's own words is kept where it is pasted later, and does not wait beside that."""
    thread = (
        Thread().bash("ls", "a").user("Always use pnpm here.").bash("ls", "a").user("Look:\n> Always use pnpm here.")
    )
    found = Extractive().candidates(thread.bash("ls", "a").messages, unsure=True)
    assert [(one.content, one.provenance.get("waits")) for one in found] == [
        ("The user wants: “Always use pnpm here”", None)
    ]
