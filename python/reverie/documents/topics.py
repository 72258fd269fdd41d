"""Says in at most ten words what a document is about: the `> Summary:` line that an agent chooses by."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from reverie.documents.lines import one_line
from reverie.models import MemoryType
from reverie.sentence_words import content_words, label_of, strip_markers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.sentence_words import ContentWord

__all__ = ["WORDS_MAX", "Told", "at_most", "shortened", "summary_line"]

WORDS_MAX = 10
_TITLE_WORDS = 4
_KEY_WORDS_MAX = 3
_CONTENT_WORDS = 2
_DENIED_WORDS = 4
_MARKS = re.compile(r"\*\*")


class Told(Protocol):
    """What a summary is made from: an item as it is read, or a memory as it is stored."""

    @property
    def type(self) -> MemoryType:
        """Which kind of memory it is."""

    @property
    def content(self) -> str:
        """What it says."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags, without `#`."""

    @property
    def title(self) -> str | None:
        """An episode's heading."""


def summary_line(memories: Sequence[Told]) -> str:
    """The topics of the memories, most frequent first, then in their order, joined by commas; at most ten words."""
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for memory in memories:
        counts.update(spelled.setdefault(topic.casefold(), topic) for topic in _topics(memory))
    kept: list[str] = []
    words = 0
    for topic, _ in counts.most_common():  # equal counts stay in order of appearance
        size = len(topic.split())
        if words + size <= WORDS_MAX:
            kept.append(topic)
            words += size
    return ", ".join(kept) or "general"


def shortened(text: str) -> str:
    """The first ten words of a text, on one line."""
    return " ".join(one_line(text).split()[:WORDS_MAX])


def at_most(text: str) -> str:
    """A summary on one line: as it is while it has at most ten words or ten topics, else its first ten words."""
    line = one_line(text)
    topics = [topic.split() for topic in line.split(",")]
    few = len(topics) <= WORDS_MAX and all(len(topic) <= _TITLE_WORDS for topic in topics)
    return line if few else shortened(line)


def _topics(memory: Told) -> list[str]:
    """What one memory is about: an episode its title, a fact its key, else its tags, else its first words."""
    if memory.type is MemoryType.EPISODE and memory.title:
        words = [word.written for word in content_words(memory.title)] or memory.title.replace(",", " ").split()
        return [_named(words[:_TITLE_WORDS])] if words else []
    content = _MARKS.sub("", strip_markers(memory.content))
    key = label_of(content)
    if key is not None:
        words = key.replace("`", "").replace(",", " ").split()
        if 0 < len(words) <= _KEY_WORDS_MAX:
            return [_named(words)]
    if memory.tags:
        return [tag.replace("-", " ") for tag in memory.tags[:2]]
    words = [_lowered(word.written) if word.opens else word.written for word in _first(content_words(content))]
    return [" ".join(words)] if words else []


def _first(words: Iterable[ContentWord]) -> Sequence[ContentWord]:
    """The first two words; where something is denied there, the denial and two words behind it."""
    head = list(islice(words, _DENIED_WORDS))
    denial = next((place for place, word in enumerate(head[: _CONTENT_WORDS + 1]) if word.denies), None)
    return head[: _CONTENT_WORDS if denial is None else denial + 1 + _CONTENT_WORDS]


def _named(words: Sequence[str]) -> str:
    """A key or a title in lower case, but for the words whose capitals say something: `loadState`, `CI`.

    Where not all of them begin with a capital, only that of the first word says nothing.
    """
    first, *rest = words
    if any(_lowered(word) == word and word[:1].islower() for word in rest):
        return " ".join((_lowered(first), *rest))
    return " ".join(map(_lowered, words))


def _lowered(word: str) -> str:
    """A word without the capital that it begins with, unless it has more of them."""
    return word.lower() if word[1:].islower() or len(word) == 1 else word
