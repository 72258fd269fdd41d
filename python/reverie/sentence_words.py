"""Word analysis of sentences: subject, content words, distinctive words (names, numbers, paths), negation."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "ContentWord",
    "WordAnalysis",
    "analyze",
    "content_words",
    "count_negations",
    "is_stop_word",
    "label_of",
    "normalize",
    "strip_markers",
    "subject_of",
]

# A word may contain the punctuation of identifiers, versions and paths: `user_id`, `3.11`, `src/app.py`, `--all`.
# A semicolon is a word of its own: it ends the scope of a negation.
_WORD = re.compile(r"-{0,2}\w+(?:[./:_+\-@\\]+\w+)*|[<>=!]=?|→|;")
# A word as written, with apostrophes.
_WRITTEN = re.compile(r"-{0,2}\w+(?:['\u2019./:_+\-@\\]+\w+)*")
_OPENS = re.compile(r"(?:\A|[.!?:]\s|\n)\W*\Z")
_OPENING_CHARS = 16  # characters before a word that are examined for whether it begins a sentence
_APOSTROPHES = str.maketrans("", "", "'\u2019")
_KEY = re.compile(r"\s*((?:[^:\n.!?]|[:.!?](?=\S)){1,60}?)\s*:\s+\S")
_MARKER = re.compile(r"\[REDACTED:[^\]\s]*\]")
_SUBJECT = re.compile(r"\s*([^:\n.`]{1,60}?)\s*:\s+(\S.*)", re.DOTALL)
_SUBJECT_WORDS_MAX = 6
_WORD_CACHE_MAX = 1 << 15  # words; the same few thousand recur in all memories
_DISTINCTIVE = re.compile(r"[0-9_./\\@:+]|[a-z][A-Z]|^[A-Z]{2,}$")

# Labels that do not name a subject: two lines that begin with `Note:` need not be about the same thing.
_GENERIC_LABELS_TEXT = (
    "bug caution decision error example fact fix fixed hint important info lesson mistake note observation "
    "preference problem procedure question reason result resolved rule see skill solution step summary task tip "
    "update warning why"
)
_GENERIC_LABELS = frozenset(_GENERIC_LABELS_TEXT.split())

_STOP_TEXT = (
    "; a about after all also always am an and any are as at be been before being but by can could did do does "
    "doing done for from had has have having he her here hers him his how i if in into is it its itself just "
    "let may me might more most must my of off on once one only or other our out own s same shall she should "
    "so some such t than that the their them then there these they this those through to too under until up us "
    "use used uses using very was we were what when where which while who whom why will with would you your"
)
_STOP = frozenset(_STOP_TEXT.split())

_NEGATIONS_TEXT = (
    "not no never none without avoid dont doesnt isnt wont cant cannot stop stopped"
    " refuse refuses disable disabled against"
)
_NEGATIONS = frozenset(_NEGATIONS_TEXT.split())


def normalize(text: str) -> str:
    """Return the text in the form compared for equality: case-folded, white space joined, final punctuation dropped."""
    return " ".join(_compatible(text).casefold().split()).rstrip(".!;,: ")


@dataclass(frozen=True, slots=True)
class WordAnalysis:
    """The words of a sentence: all, the content words, the distinctive ones, and whether the sentence is affirmative.

    `affirms` is False if the sentence has an odd number of negations (`never`, `not`, `without`, ...).
    """

    sequence: tuple[str, ...]
    content: tuple[str, ...]
    distinctive: frozenset[str]
    affirms: bool


def analyze(text: str) -> WordAnalysis:
    """Split a text into case-folded words, without apostrophes; identifiers, versions and paths stay whole.

    Content words are neither stop words nor negations, and in the singular. A distinctive word is a number, a path, an
    identifier or a name in capitals.
    """
    words = [_classify(written) for written in _WORD.findall(_compatible(text).replace("'", "").replace("\u2019", ""))]
    sequence = tuple(word for word, _, _ in words)
    content = tuple(stem for _, stem, _ in words if stem)
    distinctive = frozenset(stem for _, stem, is_distinctive in words if is_distinctive)
    return WordAnalysis(sequence, content, distinctive, count_negations(sequence) % 2 == 0)


def count_negations(sequence: Iterable[str]) -> int:
    """Count the negations (`never`, `not`, `without`, ...) in case-folded words."""
    return len([word for word in sequence if word in _NEGATIONS])


def subject_of(text: str) -> tuple[str, str] | None:
    """Split `Language: English` into `("language", "English")`; None if the line does not begin with a subject."""
    match = _SUBJECT.fullmatch(text) if ":" in text else None
    if match is None:
        return None
    key = normalize(match[1])
    if key in _GENERIC_LABELS or not key or len(key.split()) > _SUBJECT_WORDS_MAX or _DISTINCTIVE.search(match[1]):
        return None
    return key, match[2].strip()


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A content word as written; `denies` if it is a negation, `opens` if it begins a sentence."""

    written: str
    denies: bool
    opens: bool


def content_words(text: str) -> Iterator[ContentWord]:
    """Yield the content words of a text, negations included, as written and in order."""
    for match in _WRITTEN.finditer(text):
        word = _compatible(match[0]).translate(_APOSTROPHES).casefold()
        if word not in _STOP and word.strip("_-"):
            opens = _OPENS.search(text, max(0, match.start() - _OPENING_CHARS), match.start()) is not None
            yield ContentWord(match[0], word in _NEGATIONS, opens)


def is_stop_word(word: str) -> bool:
    """Return True for a case-folded word that is part of any text, such as `the`, `about` and `never`."""
    return word in _STOP or word in _NEGATIONS


def label_of(text: str) -> str | None:
    """Return the label `OS` of `OS: macOS` as written; None if the line has no label, or a generic one (`Note:`)."""
    match = _KEY.match(text)
    if match is None or match[1].count("`") % 2 or normalize(match[1]) in _GENERIC_LABELS:
        return None
    return match[1].strip()


def strip_markers(text: str) -> str:
    """Return the text without its `[REDACTED:<kind>]` markers."""
    return _MARKER.sub("", text)


def _compatible(text: str) -> str:
    """Return the text in NFKC, one form for compatible characters; ASCII text, which most is, already has it."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=_WORD_CACHE_MAX)
def _classify(written: str) -> tuple[str, str, bool]:
    """Return a word case-folded, its singular (empty for stop words and negations), and whether it is distinctive."""
    word = written.casefold()
    if word in _STOP or word in _NEGATIONS:
        return word, "", False
    # Most words are plain lower-case letters, which are never distinctive: the regular expression is not needed.
    plain = written.isalpha() and written.islower()
    return word, _singular(word), not plain and _DISTINCTIVE.search(written) is not None


def _singular(word: str) -> str:
    """Return the singular of a regular plural: `tests` -> `test`; `class`, `status`, `analysis` stay."""
    if len(word) > 3 and word.endswith("s") and word.isalpha() and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
