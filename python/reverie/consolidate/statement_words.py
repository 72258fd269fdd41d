"""The words by which statements are compared with forgotten ones: without frames, look-alikes and inflection.

A frame is what Reverie puts around a statement: "Wants agents to", "The user said: “…”", "(from notes.md)", or what
says no more than that it is so: "We learnt that". It is left out of the hash, so that the same words are recognized in
another frame after a purge, when nothing else is left.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reverie.consolidate.human_languages_and_commands_named_in_wishes import Named, named_in
from reverie.consolidate.statements import parse_statement
from reverie.lazy_regex import lazy_regex
from reverie.sentence_word_analysis import analyze

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "behind_label",
    "named_things",
    "statement_key",
    "statement_keys",
    "stems_in_order",
    "wish_classes",
    "wish_stems",
]

# The day that is appended to dated statements: "The import holds a lock (2026-11-21)." says the same on another day.
_DAY: Final = lazy_regex(r"\s*\(?\b\d{4}-\d{2}-\d{2}\b\)?")
_BEGINS: Final = lazy_regex(
    r"^\W*(?:wants agents(?: never(?= to))?(?: to)?\b"
    r"|the user (?:said|wants|asked to remember):|asked “|the user chose “"
    # Labels that name no subject, as a line of a run's file or of a note has them: "Rule: the fee is 40 euros".
    r"|(?:rule|note|hint|tip|info|important|warning|caution|reminder|remember|fact|lesson|decision|preference):(?=\s)"
    r"|(?:please )?remember that\b)",
    re.IGNORECASE,
)
# What says of a statement no more than that it is so, in the languages with tables of cues: "We learnt that the fee is
# 40 euros", "Beachte: …", "Resulta que …". What doubts or denies it ("we thought that", "nobody says that") is none.
_SO_IT_IS: Final = lazy_regex(
    r"^\W*(?:(?:(?:i|we|you|the (?:team|agent|user|run|session))(?:['\u2019]ve| have| has| had| also| now| just){0,2}"
    r" (?:learn(?:t|ed)?|found(?: out)?|noticed|noted|discovered|reali[sz]ed|confirmed|established|understood"
    r"|remember(?:ed)?|know|think|believe|saw|see|heard)(?:,? that\b|:)"
    r"|(?:please )?(?:also )?(?:note|beware|be aware|(?:keep|bear) in mind|don['\u2019]t forget|do not forget)"
    r"(?: also)?(?:,? that\b|:)"
    r"|(?:as )?(?:it )?(?:now )?turn(?:s|ed) out(?: that\b|:|,)?"
    r"|it(?: is|['\u2019]s) (?:known|true|clear|certain|a fact|worth (?:noting|knowing)|important(?: to (?:note|know"
    r"|remember))?|to be noted) that\b"
    r"|the (?:fact|truth|point|rule|result|finding|conclusion) is(?: that\b|:)"
    r"|as (?:we|you) know,|(?:in fact|actually|apparently|fyi|for the record)[,:]|according to [^,;:.!?\n]{1,40},)"
    r"|(?:(?:wir|ich) haben? (?:gelernt|festgestellt|herausgefunden|gemerkt|bemerkt|erfahren)|wir wissen)(?:, dass\b|:)"
    r"|es (?:hat sich herausgestellt|stellt(?:e)? sich heraus|ist bekannt)(?:, dass\b|:)"
    r"|(?:bitte )?(?:beachten?|beachte(?: bitte)?|merke?(?: dir)?|denke? daran|bedenke)(?:, dass\b|:)"
    r"|(?:hemos aprendido|aprendimos|descubrimos|sabemos|notamos|resulta|resultó|se sabe"
    r"|(?:por favor,? )?(?:ten(?:ga)? en cuenta|nota|recuerda|toma nota de))(?: que\b|:)"
    r"|(?:(?:nous avons|on a) (?:appris|constaté|découvert|remarqué)|nous savons|on sait"
    r"|il (?:s['\u2019]avère|se trouve)"
    r"|(?:à noter|notez?(?: bien)?|sachez|rappelle-toi|rappelons))(?: que\b| qu['\u2019]|:)"
    r"|(?:我们|我)(?:了解|发现|学到|得知|知道|注意)(?:到|了)*[，,：:]?|(?:请?(?:注意|记住)|原来|事实证明)[，,：:]"
    r"|(?:なお|注意|備考)[、：:])(?=\s*\S)",
    re.IGNORECASE,
)
_ENDS: Final = lazy_regex(
    # What the agent did before a correction, which is another time another: ", about `npm ci`".
    r"(?:: the user had to correct this(?:, about .*)?"
    r"|\(from [^()\n]{1,200}\)"  # the file of a run
    r"|, (?:says|said|according to) [^,;:.!?\n]{1,40}"
    r"|(?:という)?(?:こと|の)(?:が(?:わかった|分かった|わかりました|分かりました|判明した)|を学(?:んだ|びました))"
    r"|(?:\s\\?#[^\W\d][\w-]*)+)\W*$",  # tags, also where their sign is escaped; "#12" is an issue
    re.IGNORECASE | re.DOTALL,
)
_LABEL: Final = lazy_regex(r"^\W*([^\n:.!?“”]{1,40}):\s+(\S.*)$", re.DOTALL)
_FRAMES_MAX: Final = 4  # of one statement: "Rule: … (from r.md)" has two
_BEHIND_WORDS_MIN: Final = 3  # behind a label: of fewer many statements consist by chance

_ENDING: Final = re.compile(r"(?<=\w{3})(?:ing|ed|e)$")  # noqa: TID251 - used below; "asking" and "asked" are "ask"
_ENDING_CHARS: Final = frozenset("gde")  # with which it ends
_STEM_CHARS: Final = 5  # "migrations", "migrate" and "migrating" are one word
# "40 euros" and "40euros" are the same, "1 23" and "12 3" are not.
_BETWEEN_LETTERS: Final = lazy_regex(r"(?<=[^\W\d_])[ _-]+(?=\w)|(?<=\d) (?=[^\W\d_])")
_POLITE: Final = frozenset({"please"})
# Verbs of wishes that mean the same, in classes; "use" is no stem, since it says as little as "always".
_VERBS_TEXT: Final = (
    "answer reply respond talk speak write chat communicate converse | utilize employ choose pick prefer take want"
    " | run execute launch start invoke | explain describe | remove delete drop | add create make"
    " | keep leave | ask consult confirm | show print display | change edit modify | check verify"
    # The verb of the first class in German, Spanish and French, whose wishes have it in several forms.
    " | answer antworte antworten antwortest schreib schreibe sprich sprechen rede reden"
    " responde responder habla hablar escribe escribir | answer réponds répondre répondez parle parler écris écrire"
)
_VERBS: Final = {
    _ENDING.sub("", word)[:_STEM_CHARS]: "" if "utilize" in one else one.split()[0]
    for one in _VERBS_TEXT.split("|")
    for word in one.split()
}

# Words that a wish has in German, Spanish and French whatever it is about, as the stop words of English: "Bitte immer
# auf Kommentare verzichten" shares nothing else with "Bitte immer auf Deutsch antworten".
_WISH_WORDS_TEXT: Final = (
    "bitte ab jetzt sofort künftig zukünftig von nun an immer stets nie niemals nicht kein keine keinen auf in im vor"
    " nach bei zu für und oder der die das den dem des ein eine einen einem einer du sollst soll ich möchte dass mir"
    " jedem jede jeden jeder jedes"
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


def behind_label(text: str, words_min: int = _BEHIND_WORDS_MIN) -> str | None:
    """Return what a statement says behind its label: "the fee is 40 euros" of "Harbour: the fee is 40 euros"; or None.

    One label may be as right as another ("Staging: the port is 8080"), so what is behind it is not the same statement.
    """
    match = _LABEL.match(_bare(text))
    if match is None or len(parse_statement(match[2]).sequence) < words_min:
        return None
    return match[2]


def stems_in_order(text: str) -> tuple[str, ...]:
    """Return the stems of a statement's content words, in their order; of Chinese and Japanese pairs of characters."""
    words = analyze(_bare(text)).content  # not `parse_statement`, which would keep thousands of statements for this
    return tuple(stem for word in words if word not in _POLITE for stem in _stems_of(word))


def wish_stems(text: str) -> frozenset[str]:
    """Return the stems of a statement without words that a wish has whatever it is about, in other languages too."""
    words = (word for word in analyze(_bare(text)).content if word not in _POLITE and word not in _WISH_WORDS)
    return frozenset(stem for word in words for stem in _stems_of(word))


def wish_classes(stems: Iterable[str]) -> frozenset[str]:
    """Return the stems of a short wish with one name for verbs that mean the same, and without such as "prefer"."""
    return frozenset(_VERBS.get(stem, stem) for stem in stems) - {""}


def named_things(text: str) -> Named:
    """Return what a statement is about by name: languages, code and commands, and names such as `web3`."""
    return named_in(_bare(text))


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
        text = _SO_IT_IS.sub("", text)
        text = _ENDS.sub("", _BEGINS.sub(lambda frame: "never" if "never" in frame[0].casefold() else " ", text))
        text = _without_repeating_label(text)
        if text == before:
            break
    return text.strip()


def _without_repeating_label(text: str) -> str:
    """Return a text without a label all of whose words follow: "fee: The mooring fee is 40 euros"."""
    match = _LABEL.match(text) if ":" in text else None
    if match is None:
        return text
    label = analyze(match[1]).content
    return match[2] if label and set(label) <= set(analyze(match[2]).content) else text


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
