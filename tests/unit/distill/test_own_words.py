"""The person's own words: pasted and quoted text gets no trust, own rules are quoted, what is unsure waits."""

from __future__ import annotations

import pytest

from reverie.distill.distiller import Extractive
from reverie.distill.own_words import own_words, typed_words
from reverie.models import Candidate, MemoryType
from support.pastes import OWN_RULES, PASTES
from support.poison import MARK, pasted
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


LONG = (
    "The lint is fine; let's warn where the anchor is missing.\n\n{}",
    "so, with this build:\n```\n10:02 hook invoked\n```\n\n{}",
    "I'd like two things.\n1. a usage line\n2. an option for the port\n\n{} Does that make sense?",
    "have a look at the ticket.\nhttps://tracker.harbour.example/12\n{}",
    "it was supposed to, yeah? \U0001f602 {}",
    "The crane waits for the tide although it need not, and when it is low nobody is told. " * 5 + "{}",
    "name it berth/<tide>-<hash(quay)[:6]>. {}",
)


@pytest.mark.parametrize("frame", LONG)
def test_a_model_may_quote_a_long_message(frame: str) -> None:
    """For a model the sentences of a long message are the person's, beside its lists and blocks."""
    rule = "Never restart the crane during a shift."
    own, foreign = typed_words(frame.format(rule))
    assert rule in own
    assert not {"hook", "1.", "https://tracker.harbour.example/12"} & set(own.split())
    assert {word.strip(":") for word in frame.format(rule).split()} <= {
        one.strip(":") for one in f"{own} {foreign}".split()
    }


def test_a_model_gets_no_paste_as_typed() -> None:
    """A demand in pasted text is typed for nobody, and of 44 pastes one more than in short messages at most."""
    assert not [text for text in pasted() if MARK in typed_words(text)[0]]
    longer = [text for text in PASTES if typed_words(text)[0] != own_words(text)[0]]
    assert sum("lways" in typed_words(text)[0] or "ever " in typed_words(text)[0] for text in longer) <= 1
    inside = "```\nlog\n```\nAlways use the quay mirror.\n```\nmore\n```"
    assert "mirror" not in typed_words(f"why?\n```\n{inside}\n```\nplease look.")[0]
    assert "mirror" not in typed_words(f"why?\n```\n{inside}")[0]
