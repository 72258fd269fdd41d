"""Says which earlier text a save was made from, so that a save from a stale editor buffer deletes nothing."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Candidate", "cost", "parent"]

_TELLING_WORDS = 4
"""Words that make a line one that nobody else would write by chance."""

# A word, one of the characters that are written without spaces between words, or a sign.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that a save may have been made from.

    `lately`: it was replaced on the disk so lately that an editor may not have seen what replaced it. `before`: it is
    from before the last save of a person, who went on from there; `saved`: it is that save.
    """

    text: str
    lately: bool = False
    before: bool = False
    saved: bool = False


class _Lines:
    """A text as lines without what ends them, counted, and as pairs of neighbours."""

    def __init__(self, text: str) -> None:
        lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
        self.counts = Counter(lines)
        self.neighbours = Counter(pairwise(lines))

    def beyond(self, other: _Lines) -> Counter[str]:
        """The lines that the other text does not have, or not as often."""
        return self.counts - other.counts


def cost(old: str, new: str) -> int:
    """How much of an edit leads from one text to the other.

    Counted are pairs of neighbouring words in lines that only one of the texts has, so that an edit inside a line costs
    what was edited; and pairs of neighbouring lines that only one has, for the order. It is a distance.
    """
    return _cost(_Lines(old), _Lines(new))


def parent(new: str, candidates: Sequence[Candidate]) -> int:
    """The index of the candidate, newest first, that best explains `new`; the first is from after the last save, or it.

    That is the one of least cost, the newest on a tie. But to what was written after the last save of a person, another
    that was replaced lately is preferred, be it from before that save, if `new` shows nothing of what came between
    them: what looks like a deletion of that was not seen by whoever saved. To the last save itself one is only
    preferred that costs less and is of another editor for certain: who saved last and takes it back means it.
    """
    text = _Lines(new)
    old = cache(lambda at: _Lines(candidates[at].text))  # most texts are from before the last save: nobody asks
    price = cache(lambda at: _cost(old(at), text))
    best = _least([at for at, each in enumerate(candidates) if not each.before], price)
    while True:
        unseen = [
            at
            for at in range(best + 1, len(candidates))
            if candidates[at].lately and _is_unseen(text, since=old(at), until=old(best))
        ]
        if candidates[best].saved:
            kept = old(best - 1) if best else old(best)  # what became of that save
            unseen = [
                at
                for at in unseen
                if price(at) < price(best) and _shows(text, since=old(best).counts, until=old(at).counts & kept.counts)
            ]
        if not unseen:
            return best
        best = _least(unseen, price)


def _least(found: Sequence[int], price: Callable[[int], int]) -> int:
    """The first of least price; the only one whatever it costs."""
    return found[0] if len(found) == 1 else min(found, key=price)


def _is_unseen(text: _Lines, *, since: _Lines, until: _Lines) -> bool:
    """Whether words came between two older texts, and a text has nothing of them."""
    return bool(_new_words(since.counts, until.counts)) and not _shows(text, since=since.counts, until=until.counts)


def _shows(text: _Lines, *, since: Counter[str], until: Counter[str]) -> bool:
    """Whether a text has something of what came between two older ones: a long line, or most of the words."""
    came, more = until - since, text.counts - since
    if any(sum(word.isalnum() for word in _WORD.findall(line)) >= _TELLING_WORDS for line in came & more):
        return True
    words = _new_words(since, until)
    return 2 * (words & _new_words(since, text.counts)).total() > words.total()


def _new_words(since: Counter[str], until: Counter[str]) -> Counter[tuple[str, str]]:
    """The words with their neighbours that came between two texts."""
    return _inner(until - since) - _inner(since - until)


def _inner(lines: Counter[str]) -> Counter[tuple[str, str]]:
    """Words with their neighbours inside lines, and those that stand alone: signs and ends of lines say nothing."""
    pairs = _pairs(lines)
    alone = Counter({(line.strip(), ""): count for line, count in lines.items() if line.strip().isalnum()})
    inner = {pair: count for pair, count in pairs.items() if all(pair) and any(map(str.isalnum, pair))}
    return Counter(inner) + alone


def _cost(old: _Lines, new: _Lines) -> int:
    gone, came = _pairs(old.beyond(new)), _pairs(new.beyond(old))
    order = (old.neighbours - new.neighbours).total() + (new.neighbours - old.neighbours).total()
    return (gone - came).total() + (came - gone).total() + order


def _pairs(lines: Counter[str]) -> Counter[tuple[str, str]]:
    """Neighbouring words, the beginning and the end of each line being words too."""
    pairs: Counter[tuple[str, str]] = Counter()
    for line, count in lines.items():
        for pair in pairwise(("", *_WORD.findall(line), "")):
            pairs[pair] += count
    return pairs
