"""Cue phrases: the quick check before a pattern rejects no sentence that the pattern matches."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.distill import cues as cue_phrases
from support.soak import count

PATTERNS = ("FINDING", "FAILURE", "OUTCOME", "NEXT")
NO_LETTERS = re.compile(r"\\.|[^A-Za-z'\- ]+")


def words_of(name: str) -> list[str]:
    """Return the words and phrases that a pattern is made of."""
    pattern: re.Pattern[str] = getattr(cue_phrases, f"_{name}")
    return sorted({part.strip() for part in NO_LETTERS.split(pattern.pattern) if part.strip()})


@pytest.mark.parametrize("name", PATTERNS)
@settings(max_examples=count(300, 50_000), deadline=None)
@given(data=st.data())
def test_the_marks_hide_no_phrase(name: str, data: st.DataObject) -> None:
    """The quick check by marks together with the pattern matches exactly what the pattern alone matches."""
    pattern, marks = getattr(cue_phrases, f"_{name}"), getattr(cue_phrases, f"_{name}_MARKS")
    words = st.sampled_from(
        [*words_of(name), "the", "I", "it", "is", "s", "t", "ed", "we", ":", "'", "d", "\u017f", "\u212a"]
    )
    parts = data.draw(st.lists(st.tuples(words, st.sampled_from(["", " ", " ", "'", ", ", "-"])), max_size=7))
    said = "".join(word + gap for word, gap in parts)
    sentence = data.draw(st.sampled_from([said, said.upper(), said.title()]))
    assert cue_phrases._has(pattern, marks, sentence) is (pattern.search(sentence) is not None)
