"""How related a found text is to a query, and from which relevance on a store has an answer at all.

BM25 ranks texts, and its scores say nothing about whether the best one is about the question: "write a haiku about
autumn" finds the memory that shares `write`. Relevance is the part of the query's topic words that a text has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["PROBES", "Topic", "threshold"]

LENGTH_POWER: Final = 0.75
"""Power of the number of topic words that the matched ones are divided by. Two of 4 words give 0.71, 4 of 16 give 0.5:
a long message is about several things, and one memory about one of them. At 1 long messages would find nothing (4 of
16: 0.25), at 0.5 two chance matches in a long text would be as good as an answer."""

SIMILAR_WORD: Final = 0.6
"""What a word counts that no text has and that found a longer or shorter one: `deployer` found `deploy`. Enough for a
query of one word, and not for a word in two."""

THRESHOLD_MIN: Final = 0.5
"""Least threshold, also of a small store: one of two topic words is an answer (0.59), one of three is not (0.44)."""

PROBES_ABOVE: Final = 3
"""Probes that may be above the threshold: a store knows something about one or two of them, and a third is chance.
With 2, one of five conversations that were measured answers 82 % of its own questions instead of 91 %."""

PROBES: Final[tuple[str, ...]] = (
    "how do I grill aubergines without oil?",
    "write a sonnet about a lighthouse keeper",
    "what is the population of New Zealand?",
    "translate this menu into Japanese",
    "which planets have rings?",
    "explain how a sewing machine works",
    "suggest a gift for a colleague who likes gardening",
    "how do I get candle wax out of a tablecloth?",
    "summarise the rules of cricket for a beginner",
    "what is the chemical formula of baking soda?",
    "plan a children's birthday party with a pirate theme",
    "who wrote the opera Carmen?",
    "how often should I water a cactus?",
    "calculate the volume of a cone",
    "write a cover letter for a job as a nurse",
    "what does a notary do?",
    "recommend a documentary about whales",
    "how do I sharpen a kitchen knife?",
    "compare hybrid and electric cars",
    "what are the side effects of ibuprofen?",
    "write a CSS animation for a bouncing ball",
    "implement binary search in Kotlin",
    "how do I flash firmware onto a microcontroller?",
    "write a MATLAB script that fits a sine curve",
    "explain eventual consistency with an example",
    "create a pivot table from a spreadsheet of sales",
    "how do I configure nginx as a reverse proxy?",
    "build a chess engine in C++",
    "scrape product prices from a web shop",
    "what is the difference between a mutex and a semaphore?",
    "add push notifications to an Android app",
    "write a stored procedure that archives old invoices",
    "how do I resize images in a Rails application?",
    "explain gradient descent to a student",
    "generate random mazes with recursion",
    "set up a printer on a Mac",
    "thanks a lot, see you tomorrow",
    "could you explain that again?",
    "how do I fold a fitted sheet?",
    "what should I wear to a winter wedding?",
)
"""Questions about nearly everything. Few stores know more than one or two of them, so what a store finds for most of
them is chance, and shows how much it finds by chance: the more the larger it is."""


class Topic:
    """The topic words of a query, each with whether any text has it."""

    __slots__ = ("_divisor", "_worth")

    def __init__(self, topic_words: Sequence[tuple[str, bool]]) -> None:
        """Begin with the topic words of one query; single digits are none: "TLS 1.3" is not about "3 of 4"."""
        words = [item for item in topic_words if len(item[0]) > 1 or not item[0].isdigit()]
        self._worth = {word: 1.0 if is_known else SIMILAR_WORD for word, is_known in words}
        self._divisor = len(words) ** LENGTH_POWER

    def relevance(self, matched: Iterable[tuple[str, float]]) -> float:
        """Return 0 to 1: how much of the topic words a text has that was found by the `matched` words.

        These are the terms of a hit, words with their scores. A query without topic words ("and then?") is related to
        nothing.
        """
        worth = self._worth
        if not worth:
            return 0.0
        share: float = sum([worth.get(word, 0.0) for word, _ in matched]) / self._divisor
        return min(1.0, share)


def threshold(best_of_probes: Iterable[float]) -> float:
    """Return the relevance that a query's best text must exceed, from the best relevance of each unrelated question."""
    highest_first = sorted(best_of_probes, reverse=True)
    return max(THRESHOLD_MIN, highest_first[PROBES_ABOVE])
