"""The words by which statements are compared with forgotten ones: without frames, look-alikes and inflection.

A frame is what Reverie puts around a statement: "Wants agents to", "The user said: “…”", "(from notes.md)". It is left
out of the hash, so that the same words are recognized in another frame after a purge, when nothing else is left. Words
that somebody else puts before or behind them ("We learnt that …") are no frame: then they are near, and wait.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reverie.consolidate.statements import parse_statement
from reverie.lazy_regex import lazy_regex
from reverie.sentence_word_analysis import analyze

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["code_in", "inner_keys", "statement_key", "statement_keys", "stems_in_order", "wish_stems"]

# The day that is appended to dated statements: "The import holds a lock (2026-11-21)." says the same on another day.
_DAY: Final = lazy_regex(r"\s*\(?\b\d{4}-\d{2}-\d{2}\b\)?")
_BEGINS: Final = lazy_regex(
    r"^\W*(?:wants agents(?: never(?= to))?(?: to)?\b|the user (?:said|wants|asked to remember):|asked “"
    r"|the user chose “)",
    re.IGNORECASE,
)
_ENDS: Final = lazy_regex(
    # What the agent did before a correction, which is another time another: ", about `npm ci`".
    r"(?:: the user had to correct this(?:, about .*)?"
    r"|\(from [^()\n]{1,200}\)"  # the file of a run
    r"|(?:\s\\?#[^\W\d][\w-]*)+)\W*$",  # tags, also where their sign is escaped; "#12" is an issue
    re.IGNORECASE | re.DOTALL,
)
_FRAMES_MAX: Final = 4  # of one statement: "… (from r.md) #notes" has two
# Words that others may have put around a statement: "Please keep in mind that, as we know, …", "…, says Bob".
_BEFORE_MAX: Final = 9
_BEHIND_MAX: Final = 3
_INNER_MIN: Final = 3  # words; of fewer many statements consist by chance

_CODE: Final = lazy_regex(r"`([^`]+)`")
_ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")  # noqa: TID251 - used below; "asking" and "asked" are "ask"
_ENDING_CHARS: Final = frozenset("gde")  # with which it ends
_STEM_CHARS: Final = 5  # "migrations", "migrate" and "migrating" are one word
# "40 euros" and "40euros" are the same, "1 23" and "12 3" are not.
_BETWEEN_LETTERS: Final = lazy_regex(r"(?<=[^\W\d_])[ _-]+(?=\w)|(?<=\d) (?=[^\W\d_])")
_POLITE: Final = frozenset({"please"})
# Words that a wish has in German, Spanish and French whatever it is about, as the stop words of English: "Bitte immer
# auf Kommentare verzichten" shares nothing else with "Bitte immer auf Deutsch antworten".
_WISH_WORDS_TEXT: Final = (
    "prefer want bitte ab jetzt sofort künftig zukünftig von nun an immer stets nie niemals nicht kein keine keinen auf"
    " in im vor nach bei zu für und oder der die das den dem des ein eine einen einem einer du sollst soll ich möchte"
    " dass mir jedem jede jeden jeder jedes"
    " por favor siempre nunca jamás no de ahora adelante partir desde el la los las lo un una en con para y o que del"
    " al cada quiero debes"
    " sil te vous plaît toujours jamais ne pas désormais dorénavant maintenant à le les une des du au aux avec pour et"
    " ou que dans sur chaque je veux dois il faut"
)
_WISH_WORDS: Final = frozenset(_WISH_WORDS_TEXT.split())

# Characters without a width, which a reader does not see: soft hyphen, joiners, marks of direction, fillers.
_INVISIBLE: Final = lazy_regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_OTHER_ALPHABET: Final = lazy_regex("[\u0370-\u03ff\u0400-\u052f]")
# Letters of Cyrillic and Greek, small or capital, that look like a Latin one. Words that are really Russian or Greek
# are changed too, in the same way on both sides of a comparison.
_LOOK_ALIKES: Final = str.maketrans(
    "авеёкмнорстухѕіјһԁԛԝαβειικνορτυχγ",
    "abeekmhopctyxsijhdqwabeiikvoptyxy",
)
_EAST_ASIAN: Final = lazy_regex("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_RUN: Final = lazy_regex("(?P<han>[\u3400-\u9fff\uf900-\ufaff々]+)|(?P<katakana>[\u30a1-\u30fa]+)|[\u3041-\u309f]+")
# Chinese and Japanese words that a wish has whatever it is about: "from now on", "always", "each time", "must", "not".
_FUNCTION_WORDS: Final = lazy_regex(
    "今后|以后|今後|以後|始终|始終|总是|總是|一直|一律|每次|毎回|毎度|必须|必須|不要|不能|不可|禁止|绝对|絶対|之前|之后|之後"
    "|[请請常必都要先再用在的了和与或把被是前后後時时之]"
)


def statement_key(text: str) -> str:
    """Return the SHA-256 of a statement's words in order, in hex; without fillers, frames, day and blanks.

    "The mooringfee is 40euros" has the same as "The mooring fee is 40 euros"; between two numbers a blank counts.
    """
    return _hash(_joined(_words(_bare(text))))


def statement_keys(text: str) -> tuple[str, ...]:
    """Return the keys under which a statement may be stored: its key, and those that older releases made."""
    spaced = (" ".join(_words(_bare(text))), " ".join(_words(_older_bare(text))))
    return tuple(dict.fromkeys((statement_key(text), *map(_hash, spaced))))


def inner_keys(text: str) -> Iterator[str]:
    """Yield the keys of what a statement says inside of it: "the fee is 40 euros" of "Note that the fee is 40 euros".

    That may be the same statement ("We learnt that …") or another one ("Staging: …", "Nobody says that …").
    """
    words: Sequence[str] = _words(_bare(text))
    if _EAST_ASIAN.search(text):  # without spaces each letter is one
        words = _joined(words)
    for begin in range(min(_BEFORE_MAX, len(words)) + 1):
        for end in range(len(words), max(begin + _INNER_MIN, len(words) - _BEHIND_MAX) - 1, -1):
            if (begin, end) != (0, len(words)):
                yield _hash(words[begin:end] if isinstance(words, str) else _joined(words[begin:end]))


def stems_in_order(text: str) -> tuple[str, ...]:
    """Return the stems of a statement's content words, in their order; of Chinese and Japanese pairs of characters."""
    words = analyze(_bare(text)).content  # not `parse_statement`, which would keep thousands of statements for this
    return tuple(stem for word in words if word not in _POLITE for stem in _stems_of(word))


def wish_stems(text: str) -> tuple[str, ...]:
    """Return the stems of a statement, in order, without words that a wish has whatever it is about."""
    words = (word for word in analyze(_bare(text)).content if word not in _POLITE and word not in _WISH_WORDS)
    return tuple(stem for word in words for stem in _stems_of(word))


def code_in(text: str) -> frozenset[str]:
    """Return the code in a statement, by which two in like words differ: "run `make fmt`" and "run `make lint`"."""
    return frozenset(code.strip().casefold() for code in _CODE.findall(text))


def _hash(words: str) -> str:
    return hashlib.sha256(words.encode()).hexdigest()


def _words(bare: str) -> tuple[str, ...]:
    return parse_statement(bare).sequence


def _joined(words: Sequence[str]) -> str:
    """Return words written together, also those with a hyphen: "mooring-fee" is "mooringfee"."""
    return _BETWEEN_LETTERS.sub("", " ".join(words))


def _bare(text: str) -> str:
    """Return a statement without frames and date: "Wants agents never to push" becomes "never push"."""
    text = _folded(text)
    for _ in range(_FRAMES_MAX):
        before = text
        text = _DAY.sub("", text).strip() if "-" in text else text.strip()
        text = _ENDS.sub("", _BEGINS.sub(lambda frame: "never" if "never" in frame[0].casefold() else " ", text))
        if text == before:
            break
    return text.strip()


def _folded(text: str) -> str:
    """Return a text without invisible characters, and with Latin letters in the place of those that look like them."""
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return text.casefold().translate(_LOOK_ALIKES) if _OTHER_ALPHABET.search(text) else text


def _stems_of(word: str) -> list[str]:
    """Return the stem of a word; of a run of Chinese or Japanese, which has no spaces, the stems of its parts.

    Of Chinese characters these are the pairs that follow each other between words without content, of Katakana the
    whole run; Hiragana is grammar ("書いてください") and counts only where there is nothing else.
    """
    if word.isascii() or not _EAST_ASIAN.search(word):
        return [(_ENDING.sub("", word) if word[-1:] in _ENDING_CHARS else word)[:_STEM_CHARS]]
    stems: list[str] = []
    for run in _RUN.finditer(word):
        if run["katakana"]:
            stems.append(run["katakana"][:_STEM_CHARS])
        elif run["han"]:
            stems += [pair for part in _FUNCTION_WORDS.split(run["han"]) for pair in _pairs(part)]
    return stems or _pairs(word)


def _pairs(text: str) -> list[str]:
    return [text[at : at + 2] for at in range(len(text) - 1)]


# The frames that releases before 0.1.0's last one left out; a purged statement has nothing but the hash of that.
_OLDER_FRAME: Final = lazy_regex(
    r"^wants agents(?: never(?= to))?(?: to)?|: the user had to correct this|^the user said:|^asked “|the user chose “",
    re.IGNORECASE,
)


def _older_bare(text: str) -> str:
    framed = _OLDER_FRAME.sub(lambda frame: "never" if "never" in frame[0] else " ", text)
    return (_DAY.sub("", framed) if "-" in framed else framed).strip()
