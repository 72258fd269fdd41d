"""How related a found text is to a query, and from which relevance on a store has an answer at all.

BM25 ranks texts, and its scores say nothing about whether the best one is about the question: "write a haiku about
autumn" finds the memory that shares `write`. Relevance is the part of the query's topic words that a text has.

Commands are often made of words that are in any question: `make check`, `go get`. Where a text has such a name as code
and the query has its words in this order, they are topic words too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reverie.lazy_regex import lazy_regex

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

_CODE = lazy_regex(r"`([^`\n]{3,60})`")
"""Code in a text; longer code is a line of a program, and nobody asks for it word by word."""

_NAME_WORDS = range(2, 6)
"""Words of a name in code. One alone may be any word: `add` is in "add a paragraph about autumn"."""

_WORD = lazy_regex(r"\w+")

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
    """The words of a query, and its topic words, each with whether any text has it."""

    __slots__ = ("_words", "_worth")

    def __init__(self, query: str, topic_words: Sequence[tuple[str, bool]]) -> None:
        """Take a query and its topic words; single digits are none: "TLS 1.3" is not about "3 of 4"."""
        words = [item for item in topic_words if len(item[0]) > 1 or not item[0].isdigit()]
        self._worth = {word: 1.0 if is_known else SIMILAR_WORD for word, is_known in words}
        self._words = _spaced(_WORD.findall(query.lower()))

    def relevance(self, matched: Iterable[tuple[str, float]], text: str = "") -> float:
        """Return 0 to 1: how much of the topic words a text has that was found by the `matched` words.

        These are the terms of a hit, words with their scores. The names in the code of `text` that the query has are
        topic words too, and matched: "make check" is wholly answered by "run `make check`". A query without topic words
        ("and then?") is related to nothing.
        """
        named = self._named(text)
        if not self._worth and not named:
            return 0.0
        # What is in a name counts once, whether or not it is a topic word by itself: the `test` of `just test`.
        worth = sum(self._worth.get(word, 0.0) for word, _ in matched if word not in named) + len(named)
        divisor: float = len(self._worth.keys() | named) ** LENGTH_POWER
        return min(1.0, worth / divisor)

    def _named(self, text: str) -> set[str]:
        """Return the words of the query's names of several words that are in backquotes in a text."""
        names = [_WORD.findall(code.lower()) for code in _CODE.findall(text)] if "`" in text else []
        return {word for name in names if len(name) in _NAME_WORDS and _spaced(name) in self._words for word in name}


def _spaced(words: Iterable[str]) -> str:
    """Return words with a space around each, so that one sequence of words is found in another."""
    return f" {' '.join(words)} "


def threshold(best_of_probes: Iterable[float]) -> float:
    """Return the relevance that a query's best text must exceed, from the best relevance of each unrelated question."""
    highest_first = sorted(best_of_probes, reverse=True)
    return max(THRESHOLD_MIN, highest_first[PROBES_ABOVE])
