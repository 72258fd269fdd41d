"""Word analysis of sentences: subject, content words, distinctive words (names, numbers, paths), negation."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reverie.lazy_regex import lazy_regex
from reverie.text_caches import text_cache

if TYPE_CHECKING:
    from collections.abc import Iterable

# A word may contain the punctuation of identifiers, versions and paths: `user_id`, `3.11`, `src/app.py`, `--all`.
# A semicolon is a word of its own: it ends the scope of a negation.
_WORD = lazy_regex(r"-{0,2}\w+(?:[./:_+\-@\\]+\w+)*|[<>=!]=?|→|;")
_SOURCE = lazy_regex(r"\s*\((?:from [^()]*|\d{4}-\d{2}-\d{2})\)\.?$")
_MARKER = lazy_regex(r"\[REDACTED:[^\]\s]*\]")
_COMMAND_FOR = lazy_regex(r"(To [^:`]*\b(?:this project|the project \S+?)\b[^:`]*): (`.+`)\.?")
_SUBJECT_WORDS_MAX = 6
_WORDS_BYTES = 8_000_000  # of some 30,000 words; the same few thousand recur in all memories
_ENDS = ".!;,: \u0964\u06d4"  # of a sentence; in Hindi and Urdu too
_BESIDE_WORDS = "\"'`()[],.;:!?\u0964\u06d4"
_WIDE_MARKS = lazy_regex(r"[\u3000-\u3003\u3008-\u3020\uff01-\uff0f\uff1a-\uff20\uff61-\uff65]")
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_UNSPACED_GAP = lazy_regex(rf"(?<=[{_UNSPACED}])\s+|\s+(?=[{_UNSPACED}])")
# A value is one word. More may be a sentence behind a label or a heading, and two of these may both be true; so may
# one word of a script without spaces.
_SUBJECT = lazy_regex(rf"\s*([^:\n.`]{{1,60}}?)\s*:\s+([^\s{_UNSPACED}]+)\s*")
_DISTINCTIVE = lazy_regex(r"[0-9_./\\@:+]|[a-z][A-Z]|^[A-Z]{2,}$")

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


def copy_key(text: str) -> str:
    """Return the form in which near copies of a text are equal: blanks joined, full stop and case dropped.

    Words with a digit or a mark keep their case, as `-b` and `-B` are two options. Between characters of scripts
    without spaces (Chinese, Japanese) blanks and punctuation are a matter of taste.
    """
    if not text.isascii():
        text = _UNSPACED_GAP.sub("", _compatible(_WIDE_MARKS.sub(" ", text)))
    words = (word.casefold() if word.strip(_BESIDE_WORDS).isalpha() else word for word in text.split())
    return " ".join(words).rstrip(_ENDS)


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
    """Split `Language: English` into `("language", "English")`; None if the text is not a subject and its value."""
    command = _COMMAND_FOR.fullmatch(text)
    if command is not None:
        return normalize(command[1]), command[2]
    match = _SUBJECT.fullmatch(text) if ":" in text else None
    if match is None:
        return None
    key = normalize(match[1])
    if not key or len(key.split()) > _SUBJECT_WORDS_MAX or _DISTINCTIVE.search(match[1]):
        return None
    return key, match[2]


def is_stop_word(word: str) -> bool:
    """Return True for a case-folded word that any text may have, such as `the`, `about` and `never`."""
    return word in _STOP or word in _NEGATIONS


def strip_source(text: str) -> str:
    """Return a statement without the file or the day behind it: "(from notes.md)", "(2026-03-04)."."""
    return _SOURCE.sub("", text)


def strip_markers(text: str) -> str:
    """Return the text without its `[REDACTED:<kind>]` markers."""
    return _MARKER.sub("", text)


def _compatible(text: str) -> str:
    """Return the text in NFKC, one form for compatible characters; ASCII text, which most is, already has it."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


@text_cache(bytes_max=_WORDS_BYTES, entry_bytes=200, char_bytes=4)
def _classify(written: str) -> tuple[str, str, bool]:
    """Return a word case-folded, its singular (empty for stop words and negations), and whether it is distinctive."""
    word = written.casefold()
    if word in _STOP or word in _NEGATIONS:
        return word, "", False
    # Most words are plain lower-case letters, which are never distinctive: the regular expression is not needed.
    plain = written.isalpha() and written.islower()
    return word, singular(word), not plain and _DISTINCTIVE.search(written) is not None


def singular(word: str) -> str:
    """Return the singular of a regular plural: `tests` -> `test`; `class`, `status`, `analysis` stay."""
    if len(word) > 3 and word.endswith("s") and word.isalpha() and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
