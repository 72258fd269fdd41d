"""Tests of compacting a conversation: the text has the person's requests, and about the tokens asked for."""

from __future__ import annotations

import random
from typing import Any

import pytest

from reverie import tokenizer
from reverie.usecases.resume_text import CompactionJob, decide
from support.story import call, result, text

TOKENS = 3_000
ASKED = [f"Please repair crane {number}, and tell me whether its hook is bent." for number in range(12)]


def conversation(alphabet: str) -> list[dict[str, Any]]:
    """Return a conversation in which each request is followed by tool results longer than the text may be."""
    pick = random.Random(7)
    said: list[dict[str, Any]] = []
    for number, words in enumerate(ASKED):
        said.append({"role": "user", "content": words})
        for step in range(4):
            name = f"look{number}x{step}"
            lines = (
                f"crane_{pick.randrange(10**6)} = {pick.randrange(10**6)}  # {''.join(pick.choices(alphabet, k=40))}"
                for _ in range(60)
            )
            said.append({"role": "assistant", "content": [text("I look at it."), call(name, command=f"cat {name}.py")]})
            said.append({"role": "user", "content": [result(name, "\n".join(lines))]})
        said.append({"role": "assistant", "content": [text(f"The hook_of_crane_{number} is straight.")]})
    return said


@pytest.mark.parametrize("alphabet", ["abcdefgh    ", "港口的起重机已经修好了。"])
def test_requests_are_in_the_text(alphabet: str) -> None:
    """The compacted text has all requests, latest first, before the summary, and about the tokens asked for."""
    made = decide(CompactionJob("claude-code", conversation(alphabet), TOKENS))
    places = [made.text.find(f"- {words}") for words in reversed(ASKED)]
    assert places[0] > -1
    assert places == sorted(places)
    assert places[-1] < made.text.index("# Conversation Summary")
    assert 0.85 * TOKENS < made.tokens < 1.02 * TOKENS
    assert made.tokens == tokenizer.count(made.text)
