"""Statements that something is over and another thing is in its place: "`make test` now, `just test` is gone".

Such a statement retires a value: a command, a tool, a host, a day. An older fact or procedure that names the value, and
says nothing beyond what the newer statement says too, is replaced by it. Where it says more, a person is asked:

| older | newer | |
|---|---|---|
| Run the tests with `just test` | Run the tests with `make test` now, `just test` is gone | replaced |
| We deploy on Thursdays | From now on we deploy on Mondays, not on Thursdays | replaced |
| Run the tests with `just test`, it needs Docker | the same | a person is asked |
| `just test-all` runs the slow tests | the same | both hold: another value |
| Run the tests with `just test` | `just test` is gone from the README | both hold: nothing is over |
| Run the tests with `just test` | Run the linter, not `just test`, in a hurry | both hold: nothing has changed |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from reverie.consolidate.opposite_wishes import Opposition
from reverie.lazy_regex import lazy_regex
from reverie.sentence_word_analysis import analyze, count_negations, normalize, singular
from reverie.text_caches import text_cache

__all__ = ["Retirement", "parse_retirement", "retires"]

_CHARS_MAX: Final = 240  # of a statement; a longer text is about more than one value
# Of an older statement's other words the share that must be in common with the newer one, and their number, so that a
# person is asked about it. Beside "from now on the api uses port 8080 instead of 9090", "The api listens on port 9090
# in staging" has api and port of four words in common; "The web uses port 9090" has half of its two, but only the port.
_POSSIBLE_SHARE: Final = 0.5
_POSSIBLE_WORDS_MIN: Final = 2
_WORD: Final = lazy_regex(r"-{0,2}\w+(?:[./:_+\-@\\]+\w+)*")
_CLAUSE: Final = lazy_regex(r"[;,.!]\s|\s[-\u2013\u2014]\s")

# Without one of these nothing is over: a cheap test, since all statements are read.
_MAY: Final = lazy_regex(
    r"gone|remov|retired|obsolete|deprecat|decommission|shut down|(?:switched|turned) off|no longer|any ?more|replace"
    r"|\bfrom\b|\bvon\b|\bde\b|\bnow\b|nowadays|nicht mehr|\bweg\b|entfernt|abgesch|veraltet|jetzt|ab sofort|supprim"
    r"|n'existe|désormais|ya no|eliminad|ahora"
)
# What may come, is asked or is to be done is not over.
_OPEN: Final = lazy_regex(
    r"\?|^(?:if|when|whenever|once|until|unless|before|as soon as|wenn|sobald|falls|bevor|si|quand|dès|cuando)\b"
    r"|\b(?:will|would|should|could|might|may|going to|plan(?:s|ned)? to|want(?:s|ed)? to|wird|werden|soll(?:te)?)\b"
)
_VALUE: Final = r"(?P<gone>`[^`]+`|(?:[\w./:+@\\-]+ ){0,3}?[\w./:+@\\-]+)"
_BEGIN: Final = r"(?:^|[.;,:!(] |[-\u2013\u2014] |\b(?:and|but|since|because|und|aber|weil|et|mais|y|pero) )"
_ARTICLES: Final = r"(?:(?:the|our|old|der|die|das|le|la|el|los|las) )*"
_END: Final = (
    r"(?=\s*(?:[.,;:!)]|$)| [-\u2013\u2014] | (?:now|since|as of|because|in favou?r of|and|but|und|aber|et|y)\b)"
)
_USES: Final = (
    r"(?:uses?|runs?|calls?|needs?|supports?|ha(?:ve|s)|ships?|builds?|deploys?|works?|publish(?:es)?|release[sd]?)"
)
_PREPOSITION: Final = r"(?: (?:with|on|to|in|from|by|at|mit|am|auf|an|in|avec|le|con|los))?"
_OVER: Final = (
    r"(?:gone|removed|retired|obsolete|deprecated|decommissioned|shut down|switched off|turned off"
    r"|replaced(?: (?:by|with) [^.;,]+)?|no longer (?:used|there|available|supported|valid))"
)
_OVER_DE: Final = r"(?:weg|entfernt|abgeschaltet|abgeschafft|veraltet)"
_CHANGED: Final = lazy_regex(
    r"\b(?:now|nowadays|from now on|any ?more|as of|since|jetzt|nun|ab jetzt|ab sofort|désormais|maintenant|ahora)\b"
)
_GONE: Final = tuple(
    lazy_regex(pattern)
    for pattern in (
        rf"{_BEGIN}{_ARTICLES}{_VALUE} (?:is|are|was|were|has been|have been|got) (?:now |all )?{_OVER}{_END}",
        rf"{_BEGIN}{_ARTICLES}{_VALUE} (?:no longer exists?|does(?:n't| not) exist any ?more){_END}",
        rf"\bno longer {_USES}{_PREPOSITION} {_ARTICLES}{_VALUE}{_END}",
        rf"\bdo(?:es)?(?:n't| not) {_USES}{_PREPOSITION} {_ARTICLES}{_VALUE} any ?more{_END}",
        rf"\b(?:switched|moved|migrated|changed|upgraded|went)(?: [^.;,]{{1,40}}?)? from {_ARTICLES}{_VALUE} to \S",
        rf"\breplaced {_ARTICLES}{_VALUE} (?:with|by) \S",
        rf"\S replaces {_ARTICLES}{_VALUE}{_END}",
        rf"{_BEGIN}{_ARTICLES}{_VALUE} (?:gibt es nicht mehr|ist (?:jetzt |nun )?{_OVER_DE}){_END}",
        rf"\bvon {_ARTICLES}{_VALUE} (?:auf|zu) [^.;,]{{1,40}}? (?:umgestellt|gewechselt|umgestiegen|migriert){_END}",
        rf"\bnicht mehr{_PREPOSITION} {_ARTICLES}{_VALUE}{_END}",
        rf"{_BEGIN}{_ARTICLES}{_VALUE} (?:n'existe plus|a été (?:supprimée?|remplacée?)){_END}",
        rf"\bpassée?s? de {_ARTICLES}{_VALUE} à \S",
        rf"{_BEGIN}{_ARTICLES}{_VALUE} (?:ya no existe|fue eliminad[oa]){_END}",
        rf"\b(?:pasamos|cambiamos|migramos) de {_ARTICLES}{_VALUE} a \S",
    )
)
# "X, not Y" retires Y only where a word says that it changed: `_CHANGED`.
_INSTEAD: Final = lazy_regex(
    rf"(?:, (?:and |und )?(?:not|no longer|nicht|pas|no)|\b(?:instead of|rather than|statt|anstatt|au lieu de"
    rf"|en (?:lugar|vez) de)){_PREPOSITION} {_ARTICLES}{_VALUE}{_END}"
)
_PLACES: Final = frozenset("for in on at with since because when if".split())  # noqa: SIM905
# What is no value: "it is gone", "the problem is gone".
_NO_VALUE: Final = frozenset(
    "it this that they these those one ones thing old problem issue bug error warning failure all es er sie das".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Retirement:
    """The words of a value that is over, in order, and the other words of the statement."""

    gone: tuple[str, ...]
    words: frozenset[str]


@text_cache(bytes_max=8_000_000, entry_bytes=900, char_bytes=14)
def parse_retirement(text: str) -> Retirement | None:
    """Return the value that a statement says is over; None where it says that of none, or of several."""
    if len(text) > _CHARS_MAX:
        return None
    plain = normalize(text).replace("\u2019", "'")
    if _MAY.search(plain) is None or _OPEN.search(plain) is not None:
        return None
    patterns = (*_GONE, _INSTEAD) if _CHANGED.search(plain) else _GONE
    phrases = {_value(match["gone"]) for pattern in patterns for match in pattern.finditer(plain)}
    values = [
        value for value in phrases if value and not _NO_VALUE.issuperset(value) and analyze(" ".join(value)).content
    ]
    if len(values) != 1:
        return None
    rest = _without(_sequence(plain), values[0])
    return None if rest is None else Retirement(values[0], frozenset(rest))


def retires(new: Retirement, old: str, project: str = "") -> Opposition | None:
    """Return how surely `new` makes the statement `old` outdated; None where both may hold.

    The words of a project's own name and of a phrase such as "of the project" do not count.
    """
    plain = normalize(old)
    for clause in _CLAUSE.split(plain):
        if _without(_sequence(clause), new.gone) is not None and count_negations(_sequence(clause)) % 2:
            return None  # "never `just test`": that holds all the more
    rest = _without(_sequence(plain), new.gone)
    if rest is None or parse_retirement(old) is not None:
        return None
    words = set(analyze(" ".join(rest)).content) - {"project", *_sequence(project)}
    shared = words & new.words
    if words and shared == words:
        return Opposition.CERTAIN
    is_possible = len(shared) >= max(_POSSIBLE_WORDS_MIN, _POSSIBLE_SHARE * len(words))
    return Opposition.POSSIBLE if is_possible else None


def _value(text: str) -> tuple[str, ...]:
    """Return the words of a value: "redis for sessions" is redis, for the place that the statement is about."""
    words = _sequence(text)
    at = next((number for number, word in enumerate(words) if number and word in _PLACES), len(words))
    return words if text.startswith("`") else words[:at]


def _sequence(text: str) -> tuple[str, ...]:
    """Return the words of a text in the singular, in order."""
    return tuple(singular(word) for word in _WORD.findall(text.casefold()))


def _without(words: tuple[str, ...], part: tuple[str, ...]) -> list[str] | None:
    """Return the words without each occurrence of `part`, whose words follow each other; None where there is none."""
    left: list[str] = []
    at = 0
    while at < len(words):
        if words[at : at + len(part)] == part:
            at += len(part)
        else:
            left.append(words[at])
            at += 1
    return left if len(left) < len(words) else None
