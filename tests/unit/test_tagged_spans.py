"""Removal of tagged spans equals that of a pattern, and takes linear time."""

from __future__ import annotations

import random
import re

import pytest

from reverie.distill.steps import user_speech
from reverie.tagged_spans import without_tagged

OPENING = re.compile(r"<(a|bb|c_\w+)>")
WHOLE = re.compile(r"<(a|bb|c_\w+)>.*?</\1>", re.DOTALL)


@pytest.mark.parametrize("seed", range(20))
def test_the_result_is_that_of_the_pattern(seed: int) -> None:
    """Nested, crossed, unclosed and repeated tags are removed as `<x>.*?</x>` removes them."""
    chance = random.Random(seed)
    pieces = ["<a>", "</a>", "<bb>", "</bb>", "<c_1>", "</c_1>", "<c_2>", "word", "\n", "<", "</", ">"]
    for _ in range(200):
        text = "".join(chance.choices(pieces, k=chance.randrange(16)))
        assert without_tagged(text, OPENING) == WHOLE.sub("", text)


def test_many_unclosed_tags_stay() -> None:
    """100,000 begin tags without an end, more than a pattern finishes with, are returned as they are."""
    text = "<a> x " * 100_000
    assert without_tagged(text, OPENING) == text
    assert without_tagged(f"{text}</bb>", OPENING) == f"{text}</bb>"


def test_a_command_name_without_an_end_takes_no_time() -> None:
    """Blanks behind `<command-name>` are read once: two thousand of them took a pattern thirteen seconds."""
    text = "<command-name>" + " " * 200_000
    assert user_speech(text) == text.strip()
    typed = "<command-name> /review </command-name>\n<command-args> 12 </command-args>"
    assert user_speech(typed) == "/review 12"
