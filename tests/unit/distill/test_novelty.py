"""Tests of ordering lines by new words: the greedy order, in less than quadratic time."""

from __future__ import annotations

import random

import pytest

from reverie import tokenizer
from reverie.distill import summary_text
from reverie.distill.summary_text import content_words, line_weight, order_by_novelty


def greedy(lines: list[str]) -> list[int]:
    """Return the positions of lines in greedy order, each time the line with the most new words per token."""
    costs = tokenizer.count_many([f"- {line}\n" for line in lines])
    words = [content_words(line) for line in lines]
    said: dict[str, int] = {}
    left = list(range(len(lines)))
    ordered = []
    while left:
        best = max(
            left,
            key=lambda at: (
                line_weight(len(words[at])) * sum(0.7 ** said.get(w, 0) for w in words[at]) / costs[at],
                -at,
            ),
        )
        left.remove(best)
        ordered.append(best)
        for word in words[best]:
            said[word] = said.get(word, 0) + 1
    return ordered


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_greedy_order(seed: int) -> None:
    """`order_by_novelty` returns the greedy order for random lines that share words or have none."""
    pick = random.Random(seed)
    vocabulary = ["harbour", "lantern", "anchor", "mast", "of", "the", "rope", "船", "painted", "storms"]
    lines = [" ".join(pick.choices(vocabulary, k=pick.randrange(7))) for _ in range(60)]
    assert list(order_by_novelty(lines)) == greedy(lines)


def test_lines_with_the_same_words_are_weighed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of lines that share the words of their label are not all weighed again after each."""
    weighed = 0

    def counted(words: int) -> float:
        nonlocal weighed
        weighed += 1
        return line_weight(words)

    monkeypatch.setattr(summary_text, "line_weight", counted)
    lines = [f"Asked before that: {chr(0x4E00 + number)}" for number in range(2_000)]
    assert sorted(order_by_novelty(lines)) == list(range(2_000))
    assert weighed < 4 * len(lines)
