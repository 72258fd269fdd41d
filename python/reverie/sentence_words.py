"""Reads a sentence as words: what it is about, which of its words tell it from another, and whether it denies."""

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
    "label_of",
    "normalize",
    "strip_markers",
    "subject_of",
]

# A word may hold the signs that join identifiers, versions and paths: `user_id`, `3.11`, `src/app.py`, `--all`.
# A semicolon is one too: it ends what a denial denies.
_WORD = re.compile(r"-{0,2}\w+(?:[./:_+\-@\\]+\w+)*|[<>=!]=?|→|;")
# The same as it is written, apostrophes and all.
_WRITTEN = re.compile(r"-{0,2}\w+(?:['\u2019./:_+\-@\\]+\w+)*")
_OPENS = re.compile(r"(?:\A|[.!?:]\s|\n)\W*\Z")
_BEFORE = 16  # characters before a word that say whether it opens a sentence
_APOSTROPHES = str.maketrans("", "", "'\u2019")
_KEY = re.compile(r"\s*((?:[^:\n.!?]|[:.!?](?=\S)){1,60}?)\s*:\s+\S")
_MARKER = re.compile(r"\[REDACTED:[^\]\s]*\]")
_SUBJECT = re.compile(r"\s*([^:\n.`]{1,60}?)\s*:\s+(\S.*)", re.DOTALL)
_SUBJECT_WORDS_MAX = 6
_READ_MAX = 1 << 15  # words that are remembered; the same few thousand come again and again
_DISTINCTIVE = re.compile(r"[0-9_./\\@:+]|[a-z][A-Z]|^[A-Z]{2,}$")

# Words that head a line without naming what it is about: two such lines need not speak of the same thing.
_NO_SUBJECT_TEXT = (
    "bug caution decision error example fact fix fixed hint important info lesson mistake note observation "
    "preference problem procedure question reason result resolved rule see skill solution step summary task tip "
    "update warning why"
)
_NO_SUBJECT = frozenset(_NO_SUBJECT_TEXT.split())

_STOP_TEXT = (
    "; a about after all also always am an and any are as at be been before being but by can could did do does "
    "doing done for from had has have having he her here hers him his how i if in into is it its itself just "
    "let may me might more most must my of off on once one only or other our out own s same shall she should "
    "so some such t than that the their them then there these they this those through to too under until up us "
    "use used uses using very was we were what when where which while who whom why will with would you your"
)
_STOP = frozenset(_STOP_TEXT.split())

_DENIALS_TEXT = (
    "not no never none without avoid dont doesnt isnt wont cant cannot stop stopped"
    " refuse refuses disable disabled against"
)
_DENIALS = frozenset(_DENIALS_TEXT.split())


def normalize(text: str) -> str:
    """The text as it is compared for sameness: case folded, white space joined, closing punctuation dropped."""
    return " ".join(_compatible(text).casefold().split()).rstrip(".!;,: ")


@dataclass(frozen=True, slots=True)
class WordAnalysis:
    """A sentence's words: all of them, those that carry meaning, those that name one thing, and whether it affirms.

    `affirms` is False when the sentence denies an odd number of times (`never`, `not`, `without`, ...).
    """

    sequence: tuple[str, ...]
    content: tuple[str, ...]
    distinctive: frozenset[str]
    affirms: bool


def analyze(text: str) -> WordAnalysis:
    """The words of a text, case folded; apostrophes are dropped, identifiers, versions and paths stay whole.

    Content words are no stop words and no denials, and plurals are their singular. A distinctive word is a number, a
    path, an identifier, a name in capitals.
    """
    read = [_read(written) for written in _WORD.findall(_compatible(text).replace("'", "").replace("\u2019", ""))]
    sequence = tuple(word for word, _, _ in read)
    content = tuple(meaning for _, meaning, _ in read if meaning)
    distinctive = frozenset(meaning for _, meaning, names in read if names)
    return WordAnalysis(sequence, content, distinctive, count_negations(sequence) % 2 == 0)


def count_negations(sequence: Iterable[str]) -> int:
    """How many of these case-folded words deny (`never`, `not`, `without`, ...)."""
    return len([word for word in sequence if word in _DENIALS])


def subject_of(text: str) -> tuple[str, str] | None:
    """`("language", "English")` of `Language: English`, or None when the line does not head itself with a subject."""
    found = _SUBJECT.fullmatch(text) if ":" in text else None
    if found is None:
        return None
    key = normalize(found[1])
    if key in _NO_SUBJECT or not key or len(key.split()) > _SUBJECT_WORDS_MAX or _DISTINCTIVE.search(found[1]):
        return None
    return key, found[2].strip()


@dataclass(frozen=True, slots=True)
class ContentWord:
    """A word that carries meaning, as it is written. `opens` says that a sentence begins with it."""

    written: str
    denies: bool
    opens: bool


def content_words(text: str) -> Iterator[ContentWord]:
    """The words of a text that carry meaning, denials too, as they are written and in their order."""
    for found in _WRITTEN.finditer(text):
        word = _compatible(found[0]).translate(_APOSTROPHES).casefold()
        if word not in _STOP and word.strip("_-"):
            opens = _OPENS.search(text, max(0, found.start() - _BEFORE), found.start()) is not None
            yield ContentWord(found[0], word in _DENIALS, opens)


def label_of(text: str) -> str | None:
    """`OS` of `OS: macOS`, as it is written; None where the line begins with no key, or with one that names nothing."""
    found = _KEY.match(text)
    if found is None or found[1].count("`") % 2 or normalize(found[1]) in _NO_SUBJECT:
        return None
    return found[1].strip()


def strip_markers(text: str) -> str:
    """The text without its `[REDACTED:<kind>]` markers."""
    return _MARKER.sub("", text)


def _compatible(text: str) -> str:
    """The text with one spelling for what reads alike; most texts are plain ASCII and are that already."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@lru_cache(maxsize=_READ_MAX)
def _read(written: str) -> tuple[str, str, bool]:
    """A word case folded, what it means (nothing, for stop words and denials), and whether it names one thing."""
    word = written.casefold()
    if word in _STOP or word in _DENIALS:
        return word, "", False
    # Most words are plain lower-case letters, and those name nothing by themselves.
    plain = written.isalpha() and written.islower()
    return word, _singular(word), not plain and _DISTINCTIVE.search(written) is not None


def _singular(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and word.isalpha() and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
