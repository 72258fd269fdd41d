"""The summary of a document, by which agents choose it: a sentence of its newest memory, in that memory's words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from reverie.documents.escape import one_line
from reverie.lazy_regex import lazy_regex
from reverie.models import MemoryType
from reverie.words import strip_markers

if TYPE_CHECKING:
    from collections.abc import Sequence

WORDS_MAX: Final = 10  # words of a summary line, as seed 004 section 3 has it
_CHARS_MAX: Final = 120  # of a summary in a language without spaces, and of one with a long address in it
_TOPICS_MAX: Final = 10  # of a summary that somebody gives as a list
_TOPIC_WORDS: Final = 6
# The first sentence of a memory: "Uses bun. Tests run nightly" is about "Uses bun.", and "e.g. v1.2" has no end in it.
_SENTENCE = lazy_regex(r".+?(?:[.!?…](?=\s+[^\W\d_a-z])|[。！？]|$)")
_LINE = lazy_regex(r"^> *Summary:.*$", re.MULTILINE)
_MASK: Final = "> \ue000"  # a character of the private use area, which no text has
_MARKUP = lazy_regex(r"\*\*|`")
_BLOCK = lazy_regex(r"\n\s*(?:[-*+] |\d+[.)] |```|~~~|\n)")  # a list, code or another paragraph below the first one


class SummaryInput(Protocol):
    """The input of a summary: a parsed item, or a stored memory."""

    @property
    def type(self) -> MemoryType:
        """The type of memory."""

    @property
    def content(self) -> str:
        """The text of the memory."""

    @property
    def title(self) -> str | None:
        """The heading of an episode, or None."""


def summary_line(memories: Sequence[SummaryInput]) -> str:
    """Return the sentence of the last memory that has one: new ones are behind older ones. Empty without any."""
    return next((text for memory in reversed(memories) if (text := sentence(memory))), "")


def sentence(memory: SummaryInput) -> str:
    """Return an episode's title, else the first sentence of a memory, on one line without emphasis, shortened."""
    is_titled = memory.type is MemoryType.EPISODE and memory.title
    words = (is_titled and memory.title) or memory.content
    text = one_line(_MARKUP.sub("", strip_markers(_BLOCK.split(words.strip(), maxsplit=1)[0])))
    first = _SENTENCE.match(text)
    return shortened(first[0] if first is not None else words)  # words that are markup alone, as "`"


def shortened(text: str) -> str:
    """Return a text on one line, cut behind its tenth word, or earlier where that is 120 characters long."""
    words = one_line(text).split()
    cut = " ".join(words[:WORDS_MAX])
    if len(cut) > _CHARS_MAX:
        cut = cut[: _CHARS_MAX - 1].rpartition(" ")[0] or cut[: _CHARS_MAX - 1]
    elif len(words) <= WORDS_MAX:
        return cut
    return cut.rstrip(",;:") + "…"


def at_most(text: str) -> str:
    """Return a summary on one line: unchanged if it has at most ten words or ten topics, else shortened."""
    line = one_line(text)
    topics = [topic.split() for topic in line.split(",")]
    is_short = len(topics) <= _TOPICS_MAX and all(len(topic) <= _TOPIC_WORDS for topic in topics)
    return line if is_short or len(line.split()) <= WORDS_MAX else shortened(line)


def masked(text: str) -> str | None:
    """Return a document without the words of its `> Summary:` line, for a search of a text; None if it has none.

    The line quotes a memory: a text that stands once among the memories would be found twice.
    """
    return None if _MASK in text or not _LINE.search(text) else _LINE.sub(_MASK, text, count=1)


def unmasked(text: str, before: str) -> str:
    """Return a masked text with the summary line of the text `before` in it again."""
    line = _LINE.search(before)
    return text if line is None else text.replace(_MASK, line[0], 1)
