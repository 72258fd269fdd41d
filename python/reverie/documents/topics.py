"""Says in at most ten words what a document is about: the `> Summary:` line that an agent chooses by."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from reverie.documents.lines import one_line
from reverie.models import MemoryType
from reverie.words import markers_removed, split, subject_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["WORDS_MAX", "Told", "at_most", "shortened", "summary_line"]

WORDS_MAX = 10
_TITLE_WORDS = 4
_SUBJECT_WORDS_MAX = 3
_CONTENT_WORDS = 2


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
    for memory in memories:
        counts.update(_topics(memory))
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
    """What one memory is about: an episode its title, a fact its subject, else its tags, else its first words."""
    if memory.type is MemoryType.EPISODE and memory.title:
        words = _plain(memory.title) or memory.title.replace(",", " ").lower().split()
        return [" ".join(words[:_TITLE_WORDS])] if words else []
    content = markers_removed(memory.content)
    subject = subject_of(content)
    if subject is not None and len(subject[0].split()) <= _SUBJECT_WORDS_MAX:
        return [_named(content.split(":", 1)[0])]
    if memory.tags:
        return [tag.replace("-", " ") for tag in memory.tags[:2]]
    words = _plain(content)[:_CONTENT_WORDS]
    return [" ".join(words)] if words else []


def _named(subject: str) -> str:
    """A subject in lower case, but for the words whose capitals say something: `loadState`, `CI`."""
    words = one_line(subject).replace(",", " ").split()
    return " ".join(word.lower() if word[1:].islower() or len(word) == 1 else word for word in words)


def _plain(text: str) -> list[str]:
    """The words of a text that carry meaning, without those that would look odd in a list of topics."""
    return [word.replace(",", " ") for word in split(text).content if any(char.isalnum() for char in word)]
